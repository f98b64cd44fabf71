// The billiards page: what the reader can do, and what is shown.

import * as view from "./billiards-view.js";
import { ENOUGH, PATIENCE, ending } from "./billiards-words.js";
import { Clock } from "./clock.js";
import { FRAMES, SECONDS, UPDATES, aim, play } from "./collisions.js";
import { Handles } from "./drag.js";
import { count, fixed, format } from "./format.js";
import { announcer, element, onActs, oncePerFrame } from "./page.js";
import { prepare, show, showSource } from "./page.js";
import { Picture } from "./picture.js";
import { drawProgress } from "./progress.js";
import { BALLS, RACK, RADIUS } from "./rack.js";
import { clamp } from "./region.js";
import { Trainer } from "./trainer.js";

/** @typedef {import("./billiards-view.js").Shot} Shot */

/** A way as it is kept for every try: each of so many frames. */
const SPARSE = 4;

const status = element("status");
const select = element("ball", HTMLSelectElement);
const first = { x: [0.1, 0.5], v: [0.3, 0] };
let goal = [0.9, 0.75];
let target = BALLS - 1;
/** The shot as long as there is no gradient. @type {Shot} */
let shot = first;
/** @type {Awaited<ReturnType<typeof aim>> | undefined} */
let gradient;
/** @type {Awaited<ReturnType<typeof play>> | undefined} */
let game;
let calls = 0;
/** The quickest of them, in milliseconds. */
let took = Infinity;

const trainer = new Trainer(0, () => refresh());
const clock = new Clock(FRAMES, SECONDS, () => refresh());

// ---- the game ------------------------------------------------------------

/** Where the balls are, frame by frame. @param {Shot} shot */
const frames = ({ x, v }) => [[x, ...RACK], ...(game?.({ x, v }) ?? [])];

/** @param {Shot} shot */
const evaluate = (shot) => {
  const balls = frames(shot).filter((_, k) => k % SPARSE === 0);
  const way = (/** @type {number} */ ball) =>
    balls.map((at) => /** @type {[number, number]} */ (at[ball]));
  calls += 1;
  const began = performance.now();
  const { loss, grad } = /** @type {NonNullable<typeof gradient>} */ (gradient)(
    shot,
    goal,
    target,
  );
  took = Math.min(took, performance.now() - began);
  return { loss, grad, trail: { cue: way(0), target: way(target) } };
};

/** The reader has changed something: descend from this shot. @param {Shot} [from] */
const changed = (from = current()) => {
  shot = from;
  if (!gradient) return refresh();
  trainer.begin(
    {
      evaluate,
      stride: (size) => size,
      enough: ENOUGH ** 2,
      limit: 100,
      patience: PATIENCE,
    },
    from,
  );
};

/** @returns {Shot} */
const current = () => trainer.current?.params ?? shot;

// ---- what the reader does ------------------------------------------------

/** @param {number} ball */
const choose = (ball) => {
  target = ball;
  select.value = String(ball);
  changed();
};

for (let ball = 1; ball < BALLS; ++ball)
  select.add(new Option(String(ball), String(ball)));
select.addEventListener("change", () => choose(Number(select.value)));

/** @param {number[]} at */
const inside = ([x, y]) => [clamp(x, view.WIDE), clamp(y, view.HIGH)];

/** @typedef {(at: number[]) => void} Put */
/** @type {Record<string, { name: string, at: () => number[], put: Put }>} */
const movable = {
  cue: {
    name: "Cue ball",
    at: () => current().x,
    put: (at) => changed({ x: inside(at), v: current().v }),
  },
  tip: {
    name: "Tip of the cue ball’s arrow",
    at: () => view.tip(current()),
    put: (at) => {
      const { x } = current();
      changed({ x, v: inside(at).map((c, k) => (c - x[k]) / view.AHEAD) });
    },
  },
  goal: {
    name: "Goal",
    at: () => goal,
    put: (at) => {
      goal = inside(at);
      changed();
    },
  },
};

const handles = new Handles(element("table-stage"));
const places = Object.values(movable).map(({ name, at, put }) => ({
  at,
  place: handles.add(name, {
    to: (px, py) => {
      const { x, y } = view.scales(table);
      put([x.from(px), y.from(py)]);
    },
    by: (dx, dy) => put([at()[0] + dx / 100, at()[1] + dy / 100]),
  }),
}));

element("table").addEventListener("click", ({ offsetX, offsetY }) => {
  const { x, y } = view.scales(table);
  const far = scene().frames[clock.frame].map(([bx, by]) =>
    Math.hypot(x.at(bx) - offsetX, y.at(by) - offsetY),
  );
  const ball = far.indexOf(Math.min(...far.slice(1)));
  if (far[ball] < Math.max(22, 1.5 * RADIUS * x.unit)) choose(ball);
});

// and the buttons in the text
onActs({
  ball: (ball) => choose(Number(ball)),
  goal: (at) => movable.goal.put(at.split(" ").map(Number)),
  size: (size) => (trainer.size.value = String(Math.log10(Number(size)))),
  over: () => changed(first),
  run: () => trainer.run(),
  play: () => clock.play(),
});

// ---- what the reader sees ------------------------------------------------

/** The game that is shown: played when it is first looked at. */
let shown = { shot: first, played: false, frames: frames(first) };
const scene = () => {
  const shot = current();
  if (shown.shot !== shot || shown.played !== !!game)
    shown = { shot, played: !!game, frames: frames(shot) };
  return {
    ...{ shot, goal, target, frames: shown.frames },
    frame: game ? clock.frame : 0,
    grad: trainer.current?.grad,
    earlier: trainer.tries.slice(0, trainer.shown).map(({ trail }) => trail),
  };
};

const table = new Picture(element("table", HTMLCanvasElement), (ctx, size) => {
  view.drawTable(ctx, size, scene());
  const { x, y } = view.scales(size);
  for (const { at, place } of places) {
    const [px, py] = at();
    place(x.at(px), y.at(py), `x ${fixed(px, 3)}, y ${fixed(py, 3)}`);
  }
});

const distances = new Picture(
  element("distances", HTMLCanvasElement),
  (ctx, size) => {
    drawProgress(ctx, size, {
      name: "distance from the goal",
      domain: [1e-3, 1],
      log: true,
      values: trainer.tries.map(({ loss }) => Math.sqrt(loss)),
      shown: trainer.shown,
    });
  },
);

const say = announcer(status);
const tell = () => {
  trainer.tell();
  const { current: now, search, stepSize } = trainer;
  const both = (/** @type {number[] | undefined} */ v, digits = 4) =>
    v ? v.map((c) => fixed(c, digits)).join(", ") : "…";
  element("play", HTMLButtonElement).disabled = !game;
  show({
    size: format(stepSize),
    number: count(trainer.shown),
    distance: now ? fixed(Math.sqrt(now.loss), 4) : "…",
    position: both(current().x, 3),
    velocity: both(current().v, 3),
    gx: both(now?.grad.x, 3),
    gv: both(now?.grad.v, 3),
    seconds: `${fixed((clock.at / FRAMES) * SECONDS, 2)} s`,
    calls: count(calls),
    took: calls ? `${format(took, 2)} ms` : "…",
    ball: String(target),
  });
  if (search) say(ending(search, target, stepSize), search.hasFailed);
};

const soon = oncePerFrame(tell);
const refresh = () => {
  for (const picture of [table, distances]) picture.redraw();
  soon();
};

showSource("collisions.js");
show({
  updates: count(FRAMES * UPDATES),
  wide: format(view.WIDE[1] - view.WIDE[0]),
  all: `${format(SECONDS, 2)} seconds`,
});
select.value = String(target);
clock.set(FRAMES);
tell();

prepare(status, async () => {
  [gradient, game] = await Promise.all([aim(), play()]);
  changed();
});
