// Pictures of the first page: a search that runs once, a walk that has been learned, a linkage and a sweep, to
// be seen with the pointer on them, and a picture that becomes sharp.

import { drawTable } from "./billiards-view.js";
import { blur, descent } from "./blur.js";
import { CELLS, build } from "./body.js";
import { bars } from "./chart.js";
import { aim, play } from "./collisions.js";
import { drawPixels } from "./deblurring-view.js";
import { parse } from "./expression.js";
import { expressions } from "./formula.js";
import { drawGraph } from "./graph.js";
import { KERNELS } from "./kernels.js";
import { drawLinkage } from "./linkage-view.js";
import { LINKAGES } from "./linkages.js";
import { Mechanism } from "./mechanism.js";
import { network } from "./network.js";
import { calm, element } from "./page.js";
import { Picture } from "./picture.js";
import { RACK, RADIUS } from "./rack.js";
import { Restoration } from "./restoration.js";
import { drawRobot } from "./robot-view.js";
import { Search } from "./search.js";
import { SPECIMENS } from "./specimens.js";
import { backward } from "./sweep.js";
import { FRAMES, HIDDEN, SECONDS, walker } from "./walker.js";

const nextFrame = () => new Promise((done) => requestAnimationFrame(done));

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

// ---- billiards -----------------------------------------------------------

const table = {
  shot: { x: [0.1, 0.5], v: [0.3, 0] },
  ...{ goal: [0.9, 0.75], target: RACK.length, frame: 0 },
  frames: [[[0.1, 0.5], ...RACK]],
  /** @type {import("./billiards-view.js").Trail[]} */
  earlier: [],
};
const tablePicture = new Picture(
  element("table", HTMLCanvasElement),
  (ctx, size) => drawTable(ctx, size, table),
);

/** Run the search, and show where it ends. */
export const shoot = async () => {
  const [gradient, game] = await Promise.all([aim(), play()]);
  const search = new Search(
    {
      evaluate: (shot) => gradient(shot, table.goal, table.target),
      stride: (size) => size,
      ...{ enough: (RADIUS / 2) ** 2, limit: 1, patience: 100 },
    },
    table.shot,
  );
  while (search.outcome === "going") {
    search.advance(0.01);
    if (calm.matches && search.outcome === "going") continue;
    table.shot = search.best.params;
    table.frames = [[table.shot.x, ...RACK], ...game(table.shot)];
    table.frame = table.frames.length - 1;
    tablePicture.redraw();
    await nextFrame();
  }
};

// ---- the robot -----------------------------------------------------------

/** Enough to walk. */
const TRIES = 30;

const body = build(CELLS);
const still = { x: body.masses, signals: body.muscles.map(() => 0) };
const scene = {
  ...{ body, frame: still, trails: [] },
  /** @type {import("./plot.js").Pair[]} */
  trail: [],
};
const canvas = element("robot", HTMLCanvasElement);
const robotPicture = new Picture(canvas, (ctx, size) =>
  drawRobot(ctx, size, scene),
);

/** Learn to walk; after that, show it to who points at it. */
export const learn = async () => {
  const robot = walker(body);
  const [gradient, walk] = await Promise.all([robot.train(), robot.walk()]);
  const sizes = {
    ...{ inputs: robot.inputs, hidden: HIDDEN },
    outputs: body.muscles.length,
  };
  const search = new Search(
    {
      evaluate: gradient,
      stride: (size, slope) => size / (slope + 1e-6),
      ...{ enough: -Infinity, limit: 1, patience: TRIES },
    },
    network(1, sizes),
  );
  while (search.tries.length < TRIES) {
    search.advance(0.2);
    await nextFrame();
  }
  const frames = walk(search.best.params);
  scene.trail = frames.map(({ x: [[x, y]] }) => [x, y]);
  /** @param {number} at */
  const show = (at) => {
    scene.frame = frames[Math.min(at, FRAMES - 1)];
    robotPicture.redraw();
  };
  show(FRAMES - 1);
  whenPointedAt(canvas, SECONDS, (part) => show(Math.floor(part * FRAMES)));
};

// ---- a blurred picture ---------------------------------------------------

/** Enough to see what is there. */
const STEPS = 60;

/** @type {Float64Array[]} */
let pair = [];
const pairPicture = new Picture(
  element("deblurred", HTMLCanvasElement),
  (ctx, { width, height }) => {
    const [space, side] = [12, Math.min(height - 24, (width - 36) / 2)];
    ctx.translate((width - space) / 2 - side, (height - side) / 2);
    for (const numbers of pair) {
      drawPixels(ctx, { width: side, height: side }, numbers);
      ctx.translate(side + space, 0);
    }
  },
);

/** Descend a while, from what is given. */
export const deblur = async () => {
  const [gradient, plain] = await Promise.all([descent(), blur()]);
  const restoration = new Restoration({ descent: gradient, blur: plain });
  const truth = SPECIMENS.house();
  restoration.pose(
    truth,
    KERNELS.focus,
    truth.map(() => 0),
  );
  restoration.begin(restoration.given, STEPS);
  pair = [restoration.given, restoration.guess];
  while (restoration.outcome === "going") {
    restoration.step(0.9);
    if (calm.matches && restoration.outcome === "going") continue;
    pairPicture.redraw();
    await nextFrame();
  }
};

// ---- a linkage -----------------------------------------------------------

/** Seconds that its crank takes to go round. */
const TURN = 6;

const { numbers, angle } = LINKAGES.line;
const mechanism = new Mechanism(numbers, angle, []);
const linkage = element("linkage", HTMLCanvasElement);
const linkagePicture = new Picture(linkage, (ctx, size) => {
  const joints = mechanism.jointsAt();
  if (!joints) return;
  const scene = { pivots: [numbers.slice(0, 2), numbers.slice(2, 4)], joints };
  const curves = [mechanism.curve()];
  drawLinkage(ctx, size, { ...scene, curves, arrows: [], pins: [] }, true);
});

export const trace = async () => {
  await mechanism.prepare();
  linkagePicture.redraw();
  whenPointedAt(linkage, TURN, (part) => {
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
export const explain = () => {
  const { lines } = sweep;
  const show = (/** @type {number} */ part) =>
    drawGraph(graph, sweep, lines.slice(0, Math.ceil(part * lines.length)));
  show(1);
  whenPointedAt(graph, SWEEP, show);
};

// ---- times ---------------------------------------------------------------

/** Show how long a gradient takes by several ways, as it was measured last: of Rosenbrock, n = 100. */
export const compare = async () => {
  const response = await fetch(new URL("benchmark.json", import.meta.url));
  if (!response.ok) throw Error("The page could not load benchmark.json.");
  const { workloads } = await response.json();
  const { contenders } = workloads.rosenbrock.sizes.find(
    (/** @type {{ n: number }} */ { n }) => n === 100,
  );
  const times = Object.entries(contenders).map(([name, { gradient }]) => [
    name,
    gradient.median,
  ]);
  element("times").append(bars(times, "Times of a gradient, by several ways"));
};
