// Pictures of the first page: searches that run once, a surface, a linkage, a walk and a sweep that follow the
// pointer, and a picture that becomes sharp.

import { approximation } from "../quadratic/approximation.js";
import { drawTable } from "../billiards/view.js";
import { blur, descent } from "../deblurring/blur.js";
import { CELLS, build } from "../robot/body.js";
import { Camera } from "../quadratic/camera.js";
import { aim, play } from "../billiards/collisions.js";
import { drawPixels } from "../deblurring/view.js";
import { evaluator, parse } from "../lib/expression.js";
import { expressions } from "../autodiff/formula.js";
import { drawGraph } from "../autodiff/graph.js";
import { KERNELS } from "../deblurring/kernels.js";
import { Learner } from "../robot/learner.js";
import { leastSquares } from "../regression/least-squares.js";
import { drawLinkage } from "../linkage/view.js";
import { LINKAGES } from "../linkage/linkages.js";
import { Mechanism } from "../linkage/mechanism.js";
import { calm, element } from "../lib/page.js";
import { Picture } from "../lib/picture.js";
import { Playback } from "../regression/playback.js";
import { PRESETS } from "../quadratic/presets.js";
import { RACK, RADIUS } from "../billiards/rack.js";
import { heightsOf } from "../lib/region.js";
import { drawMap } from "../regression/view.js";
import { Restoration } from "../deblurring/restoration.js";
import { barsAt, loadKept } from "../benchmark/results.js";
import { drawRobot } from "../robot/view.js";
import { Search } from "../lib/search.js";
import { SPECIMENS } from "../deblurring/specimens.js";
import { Study } from "../regression/study.js";
import { drawSurface } from "../quadratic/surface.js";
import { backward } from "../autodiff/sweep.js";
import { taylor } from "../quadratic/taylor.js";
import { FRAMES, SECONDS } from "../robot/walker.js";

const nextFrame = () => new Promise((done) => requestAnimationFrame(done));

/**
 * Take steps, one in a frame, as long as there are more; who wants little motion sees the end alone.
 *
 * @param {() => boolean} step  whether there are more
 * @param {() => void} show
 */
const stepwise = async (step, show) => {
  for (let more = true; more; await nextFrame()) {
    more = step();
    if (!more || !calm.matches) show();
  }
};

/**
 * Play something while its card has the pointer or the focus: `show` gets the part that has passed, up to 1.
 *
 * @param {HTMLElement} picture
 * @param {number} seconds
 * @param {(part: number) => void} show
 */
const whenPointedAt = (picture, seconds, show) => {
  let playing = false;
  const play = async () => {
    if (playing || calm.matches) return;
    playing = true;
    const began = performance.now();
    for (let part = 0; part < 1; await nextFrame()) {
      part = Math.min(1, (performance.now() - began) / 1000 / seconds);
      show(part);
    }
    playing = false;
  };
  const card = picture.closest("a");
  for (const kind of ["pointerenter", "focus"])
    card?.addEventListener(kind, play);
};

// ---- a descent -----------------------------------------------------------

const study = new Study("I");
const playback = new Playback(() => map.redraw());
playback.eta = 0.7 * study.land.limit;
const map = new Picture("map", (ctx, size) =>
  drawMap(ctx, size, study.land, playback, true),
);

const descend = async () => {
  const gradient = await leastSquares(study.x.length);
  playback.begin(playback.start, study.problem(gradient));
};

// ---- a surface, and its approximation where the pointer is ---------------

const { text, x, y, point: first } = PRESETS.waves;
const tree = parse(text);
const f = evaluator(tree);
const box = { x, y, z: heightsOf(f, x, y) ?? x };
const lookAt = (/** @type {import("../lib/picture.js").Size} */ size) =>
  new Camera().look(size, box, -14);
let point = first;
/** @type {Awaited<ReturnType<typeof approximation>> | undefined} */
let derivatives;

const surface = new Picture("surface", (ctx, size) => {
  const d = derivatives?.(...point);
  const patch = d && taylor(d, point, 2);
  const scene = { f, box, point, patch, gradient: d?.g, bare: true };
  drawSurface(ctx, lookAt(size), scene);
});

surface.canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
  point = lookAt(surface).pick([offsetX, offsetY], f, point) ?? point;
  surface.redraw();
});

const approximate = async () => {
  derivatives = await approximation(tree);
  surface.redraw();
};

// ---- billiards -----------------------------------------------------------

const table = {
  shot: { x: [0.1, 0.5], v: [0.3, 0] },
  ...{ goal: [0.9, 0.75], target: RACK.length, frame: 0 },
  frames: [[[0.1, 0.5], ...RACK]],
  /** @type {import("../billiards/view.js").Trail[]} */
  earlier: [],
};
const tablePicture = new Picture("table", (ctx, size) =>
  drawTable(ctx, size, table),
);

/** Run the search, and show where it ends. */
const shoot = async () => {
  const [gradient, game] = await Promise.all([aim(), play()]);
  const search = new Search(
    {
      evaluate: (shot) => gradient(shot, table.goal, table.target),
      stride: (size) => size,
      ...{ enough: (RADIUS / 2) ** 2, limit: 1, patience: 100 },
    },
    table.shot,
  );
  const step = () => {
    search.advance(0.01);
    return search.outcome === "going";
  };
  await stepwise(step, () => {
    table.shot = search.best.params;
    table.frames = [[table.shot.x, ...RACK], ...game(table.shot)];
    table.frame = table.frames.length - 1;
    tablePicture.redraw();
  });
};

// ---- the robot -----------------------------------------------------------

/** Enough to walk. */
const TRIES = 30;

const body = build(CELLS);
const still = { x: body.masses, signals: body.muscles.map(() => 0) };
const scene = {
  ...{ body, frame: still, trails: [] },
  /** @type {import("../lib/plot.js").Pair[]} */
  trail: [],
};
const robotPicture = new Picture("robot", (ctx, size) =>
  drawRobot(ctx, size, scene),
);

/** Learn to walk; after that, show it to who points at it. */
const learn = async () => {
  const learner = await Learner.of(CELLS);
  const search = new Search(learner.problem(TRIES), learner.weights(1));
  while (search.tries.length < TRIES) {
    search.advance(0.2);
    await nextFrame();
  }
  const frames = learner.frames(search.best.params);
  scene.trail = frames.map(({ x: [[x, y]] }) => [x, y]);
  const show = (/** @type {number} */ part) => {
    scene.frame = frames[Math.min(Math.floor(part * FRAMES), FRAMES - 1)];
    robotPicture.redraw();
  };
  show(1);
  whenPointedAt(robotPicture.canvas, SECONDS, show);
};

// ---- a blurred picture ---------------------------------------------------

/** Enough to see what is there. */
const STEPS = 60;

/** @type {Float64Array[]} */
let pair = [];
const pairPicture = new Picture("deblurred", (ctx, { width, height }) => {
  const [space, side] = [12, Math.min(height - 24, (width - 36) / 2)];
  ctx.translate((width - space) / 2 - side, (height - side) / 2);
  for (const numbers of pair) {
    drawPixels(ctx, { width: side, height: side }, numbers);
    ctx.translate(side + space, 0);
  }
});

/** Descend a while, from what is given. */
const deblur = async () => {
  const [gradient, plain] = await Promise.all([descent(), blur()]);
  const restoration = new Restoration({ descent: gradient, blur: plain });
  restoration.pose(SPECIMENS.house(), KERNELS.focus);
  restoration.begin(restoration.given, STEPS);
  pair = [restoration.given, restoration.guess];
  const step = () => {
    restoration.step(0.9);
    return restoration.outcome === "going";
  };
  await stepwise(step, () => pairPicture.redraw());
};

// ---- a linkage -----------------------------------------------------------

/** Seconds that its crank takes to go round. */
const TURN = 6;

const { numbers, angle } = LINKAGES.line;
const mechanism = new Mechanism(numbers, angle, []);
const linkagePicture = new Picture("linkage", (ctx, size) => {
  const joints = mechanism.jointsAt();
  if (!joints) return;
  const scene = { pivots: [numbers.slice(0, 2), numbers.slice(2, 4)], joints };
  const curves = [mechanism.curve()];
  drawLinkage(ctx, size, { ...scene, curves, arrows: [], pins: [] }, true);
});

const trace = async () => {
  await mechanism.prepare();
  linkagePicture.redraw();
  whenPointedAt(linkagePicture.canvas, TURN, (part) => {
    mechanism.turn((angle + 360 * part) % 360);
    linkagePicture.redraw();
  });
};

// ---- a sweep backwards ---------------------------------------------------

const formula = expressions().lift(parse("x*sin(x*y)+y^2"));
const sweep = backward(formula, { x: 1.3, y: 0.7 });
const graph = element("sweep");

/** Seconds that it takes to watch. */
const SWEEP = 5;

/** Show it as it is in the end; to who points at it, line by line. */
const explain = async () => {
  const show = (/** @type {number} */ part) =>
    drawGraph(graph, sweep, Math.ceil(part * sweep.lines.length));
  show(1);
  whenPointedAt(graph, SWEEP, show);
};

// ---- times ---------------------------------------------------------------

/** Show how long a gradient takes by several ways, as it was measured last. */
const compare = async () => {
  const { rosenbrock } = (await loadKept()).workloads;
  const name = "Times of a gradient, by several ways";
  element("times").append(barsAt(rosenbrock, "gradient", 100, name));
};

/** What begins them, by the ids of the pictures. @type {Record<string, () => Promise<void>>} */
export const MINIATURES = {
  ...{ map: descend, surface: approximate, table: shoot, robot: learn },
  ...{ deblurred: deblur, linkage: trace, sweep: explain, times: compare },
};
