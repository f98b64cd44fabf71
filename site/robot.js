// The robot page: what the reader can do, and what is shown.

import { ready } from "../rose.js";
import { build } from "./body.js";
import { Clock } from "./clock.js";
import { count, fixed, format } from "./format.js";
import { network } from "./network.js";
import { announcer, calm, element, onActs, oncePerFrame } from "./page.js";
import { prepare, show, showSource } from "./page.js";
import { Picture } from "./picture.js";
import { drawProgress } from "./progress.js";
import { drawRobot } from "./robot-view.js";
import { PATIENCE, ending } from "./robot-words.js";
import { Trainer } from "./trainer.js";
import { FRAMES, HIDDEN, SECONDS, UPDATES, walker } from "./walker.js";

/** @typedef {import("./robot-view.js").Frame} Frame */

/** The way of a foot as it is kept: each of so many frames. */
const SPARSE = 4;

/** Milliseconds from try to try at least, so that one can watch. */
const PACE = 120;

/** At the end of a walk the robot stands for so many seconds. */
const PAUSE = 0.6;

const status = element("status");
const body = build();
const robot = walker(body);
const sizes = {
  inputs: robot.inputs,
  hidden: HIDDEN,
  outputs: body.muscles.length,
};
let seed = 1;
/** @type {Awaited<ReturnType<typeof robot.train>> | undefined} */
let gradient;
/** @type {Awaited<ReturnType<typeof robot.walk>> | undefined} */
let walk;
let calls = 0;
/** The quickest gradient and the quickest walk, in milliseconds. */
const took = { gradient: Infinity, walk: Infinity };
/** Of each try, where the foot went. @type {import("./plot.js").Pair[][]} */
let trails = [];

const trainer = new Trainer(PACE, () => refresh());
const clock = new Clock(FRAMES - 1, SECONDS, () => refresh(), PAUSE);

// ---- learning ------------------------------------------------------------

/** @template T @param {keyof typeof took} what @param {() => T} f @returns {T} */
const timed = (what, f) => {
  const began = performance.now();
  const found = f();
  took[what] = Math.min(took[what], performance.now() - began);
  return found;
};

/** @param {any} weights @returns {Frame[]} */
const frames = (weights) =>
  timed("walk", () => /** @type {NonNullable<typeof walk>} */ (walk)(weights));

/** @param {any} weights */
const evaluate = (weights) => {
  const kept = frames(weights).filter((_, k) => k % SPARSE === 0);
  trails.push(kept.map(({ x: [[x, y]] }) => [x, y]));
  calls += 1;
  return timed("gradient", () =>
    /** @type {NonNullable<typeof gradient>} */ (gradient)(weights),
  );
};

/** Forget everything, and learn anew. @param {number} from  the seed of the first weights */
const begin = (from) => {
  seed = from;
  if (!gradient) return;
  trails = [];
  trainer.begin(
    {
      evaluate,
      // the gradient says where to, not how far
      stride: (size, slope) => size / (slope + 1e-6),
      ...{ enough: -Infinity, limit: 1, patience: PATIENCE },
    },
    network(seed, sizes),
  );
};

element("brain").addEventListener("click", () => begin(seed + 1));

// and the buttons in the text
onActs({
  size: (size) => (trainer.size.value = String(Math.log10(Number(size)))),
  seed: (from) => begin(Number(from)),
  run: () => trainer.run(),
  play: () => clock.play(),
  best: () => {
    const { search } = trainer;
    if (!search) return;
    trainer.pause();
    trainer.look(search.tries.indexOf(search.best));
  },
});

// ---- what the reader sees ------------------------------------------------

const still = { x: body.masses, signals: body.muscles.map(() => 0) };
/** @type {{ number: number, try?: import("./search.js").Try, frames: Frame[], rounds: number }} */
let seen = { number: 0, frames: [still], rounds: 0 };

/** The walk that is seen; while the robot learns, it is seen to its end. */
const scene = () => {
  const { current, running, shown } = trainer;
  const { playing, rounds } = clock;
  const isBusy = seen.try && running && playing && rounds === seen.rounds;
  if (current && current !== seen.try && !isBusy)
    seen = {
      ...{ number: shown, try: current, rounds },
      frames: frames(current.params),
    };
  seen.rounds = rounds;
  return seen;
};

const picture = new Picture(
  element("robot", HTMLCanvasElement),
  (ctx, size) => {
    const { number, frames } = scene();
    const frame = frames[Math.min(clock.frame, frames.length - 1)];
    const known = trails.slice(0, trainer.shown + 1);
    drawRobot(ctx, size, { body, frame, trails: known, trail: trails[number] });
  },
);

const distances = new Picture(
  element("distances", HTMLCanvasElement),
  (ctx, size) =>
    drawProgress(ctx, size, {
      name: "where the foot gets to",
      domain: [0, 0.8],
      values: trainer.tries.map(({ loss }) => -loss),
      shown: trainer.shown,
    }),
);

const say = announcer(status);
const tell = () => {
  trainer.tell();
  const { current, search, stepSize } = trainer;
  for (const id of ["play", "brain"])
    element(id, HTMLButtonElement).disabled = !search;
  const milliseconds = (/** @type {number} */ time) =>
    calls ? `${format(time, 2)} ms` : "…";
  show({
    size: format(stepSize),
    number: count(trainer.shown),
    seen: count(seen.number),
    reached: current ? fixed(-current.loss, 4) : "…",
    best: search ? fixed(-search.best.loss, 4) : "…",
    slope: current ? format(current.slope, 3) : "…",
    seconds: `${fixed((clock.at / (FRAMES - 1)) * SECONDS, 2)} s`,
    calls: count(calls),
    gradient: milliseconds(took.gradient),
    walk: milliseconds(took.walk),
    ratio: calls ? format(took.gradient / took.walk, 2) : "…",
  });
  if (search) say(ending(search, stepSize), search.hasFailed);
};

const soon = oncePerFrame(tell);
const refresh = () => {
  for (const each of [picture, distances]) each.redraw();
  soon();
};

showSource("walker.js");
const { inputs, hidden, outputs } = sizes;
show({
  masses: count(body.masses.length),
  springs: count(body.struts.length + body.muscles.length),
  muscles: count(outputs),
  updates: count(FRAMES * UPDATES),
  all: `${format(SECONDS, 2)} seconds`,
  inputs: count(inputs),
  hidden: count(hidden),
  weights: count(hidden * (inputs + 1) + outputs * (hidden + 1)),
});
clock.set(0);

prepare(status, ready, async () => {
  [gradient, walk] = await Promise.all([robot.train(), robot.walk()]);
  trainer.paused = calm.matches;
  begin(seed);
  if (!calm.matches) clock.play();
});
