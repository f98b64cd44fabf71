// The billiards page: what the reader can do, and what is shown.

import * as view from "./view.js";
import { ENOUGH, PATIENCE, ending } from "./words.js";
import { Clock } from "../lib/clock.js";
import { FRAMES, SECONDS, UPDATES, aim, play } from "./collisions.js";
import { Handles } from "../lib/drag.js";
import { count, fixed, format } from "../lib/format.js";
import { announcer, element, onActs, prepare } from "../lib/page.js";
import { refresher, show, showSource } from "../lib/page.js";
import { Picture } from "../lib/picture.js";
import { drawProgress } from "../lib/progress.js";
import { BALLS, RACK, RADIUS } from "./rack.js";
import { clamp } from "../lib/region.js";
import { Trainer } from "../lib/trainer.js";

/** @typedef {import("./view.js").Shot} Shot */

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

/** @param {number[]} to */
const setGoal = (to) => {
  goal = inside(to);
  changed();
};

const handles = new Handles(element("table-stage"));
/** @param {string} name @param {() => number[]} at @param {(to: number[]) => void} put */
const movable = (name, at, put) =>
  handles.addPoint(name, {
    ...{ at, put, step: [0.01, 0.01] },
    scales: () => view.scales(table),
    words: ([x, y]) => `x ${fixed(x, 3)}, y ${fixed(y, 3)}`,
  });
const places = [
  movable(
    "Cue ball",
    () => current().x,
    (to) => changed({ x: inside(to), v: current().v }),
  ),
  movable(
    "Tip of the cue ball’s arrow",
    () => view.tip(current()),
    (to) => {
      const { x } = current();
      changed({ x, v: inside(to).map((c, k) => (c - x[k]) / view.AHEAD) });
    },
  ),
  movable("Goal", () => goal, setGoal),
];

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
  goal: (at) => setGoal(at.split(" ").map(Number)),
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

const table = new Picture("table", (ctx, size) => {
  view.drawTable(ctx, size, scene());
  for (const place of places) place();
});

/** @type {import("../lib/line-chart.js").Axis} */
const distance = {
  name: "distance from the goal",
  domain: [1e-3, 1],
  log: true,
};
const distances = new Picture(
  "distances",
  (ctx, size) => {
    const values = trainer.tries.map(({ loss }) => Math.sqrt(loss));
    drawProgress(ctx, size, distance, values, trainer.shown);
  },
  { of: () => trainer.progress },
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

const refresh = refresher(() => [table, distances], tell);

showSource("billiards/collisions.js");
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
