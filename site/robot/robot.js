// The robot page: what the reader can do, and what is shown.

import { CELLS, build } from "./body.js";
import { cellEditor } from "./cells.js";
import { Clock } from "../lib/clock.js";
import { count, fixed, format } from "../lib/format.js";
import { latest } from "../lib/latest.js";
import { Learner } from "./learner.js";
import { announcer, calm, during, element, onActs } from "../lib/page.js";
import { prepare, refresher, show, showSource } from "../lib/page.js";
import { Picture } from "../lib/picture.js";
import { drawProgress } from "../lib/progress.js";
import { drawRobot } from "./view.js";
import { PATIENCE, ending } from "./words.js";
import { Trainer } from "../lib/trainer.js";
import { FRAMES, SECONDS, UPDATES } from "./walker.js";

/** @typedef {import("./learner.js").Frame} Frame */

/** Milliseconds from try to try at least, so that one can watch. */
const PACE = 120;

/** At the end of a walk the robot stands for so many seconds. */
const PAUSE = 0.6;

const status = element("status");
let seed = 1;
/** @type {Learner | undefined} */
let learner;

const trainer = new Trainer(PACE, () => refresh());
const clock = new Clock(FRAMES - 1, SECONDS, () => refresh(), PAUSE);

// ---- learning ------------------------------------------------------------

/** Forget everything, and learn anew. @param {number} from  the seed of the first weights */
const begin = (from) => {
  seed = from;
  if (!learner) return;
  const { body } = learner;
  const still = { x: body.masses, signals: body.muscles.map(() => 0) };
  seen = { ...seen, body, number: 0, try: undefined, frames: [still] };
  trainer.begin(learner.problem(PATIENCE), learner.weights(seed));
};

/** @param {Learner} made */
const embody = (made) => {
  learner?.dispose();
  learner = made;
  const { body, sizes } = made;
  show({
    masses: count(body.masses.length),
    springs: count(body.struts.length + body.muscles.length),
    muscles: count(sizes.outputs),
    inputs: count(sizes.inputs),
    hidden: count(sizes.hidden),
    weights: count(made.count),
  });
  begin(seed);
};

/** Another body: until it can move, the one before goes on. */
const rebuild = latest(
  async (/** @type {import("./body.js").Cell[]} */ cells, isLatest) => {
    const began = performance.now();
    const words = "Compiling the new body…";
    const made = await during(status, words, Learner.of(cells));
    if (!made) return;
    show({ compiled: `${format(performance.now() - began, 2)} ms` });
    if (isLatest()) embody(made);
    else made.dispose();
  },
);

element("brain").addEventListener("click", () => begin(seed + 1));
const putBody = cellEditor(element("cells"), CELLS, rebuild);

// and the buttons in the text
onActs({
  size: (size) => (trainer.size.value = String(Math.log10(Number(size)))),
  seed: (from) => begin(Number(from)),
  body: () => putBody(CELLS),
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

const body = build(CELLS);
/** @type {{ body: typeof body, number: number, try?: import("../lib/search.js").Try, frames: Frame[], rounds: number }} */
let seen = {
  ...{ body, number: 0, rounds: 0 },
  frames: [{ x: body.masses, signals: body.muscles.map(() => 0) }],
};

/** The walk that is seen; while the robot learns, it is seen to its end. */
const scene = () => {
  const { current, running, shown } = trainer;
  const { playing, rounds } = clock;
  const isBusy = seen.try && running && playing && rounds === seen.rounds;
  if (learner && current && current !== seen.try && !isBusy)
    seen = {
      ...{ body: seen.body, number: shown, try: current, rounds },
      frames: learner.frames(current.params),
    };
  seen.rounds = rounds;
  return seen;
};

const picture = new Picture("robot", (ctx, size) => {
  const { body, number, frames } = scene();
  const frame = frames[Math.min(clock.frame, frames.length - 1)];
  const known = trainer.tries.slice(0, trainer.shown + 1);
  const trails = known.map(({ trail }) => trail);
  const trail = trainer.tries[number]?.trail;
  drawRobot(ctx, size, { body, frame, trails, trail });
});

/** @type {import("../lib/line-chart.js").Axis} */
const reach = { name: "where the foot gets to", domain: [0, 0.8] };
const distances = new Picture(
  "distances",
  (ctx, size) => {
    const values = trainer.tries.map(({ loss }) => -loss);
    drawProgress(ctx, size, reach, values, trainer.shown);
  },
  { of: () => trainer.progress },
);

const say = announcer(status);
const tell = () => {
  trainer.tell();
  const { current, search, stepSize } = trainer;
  for (const id of ["play", "brain"])
    element(id, HTMLButtonElement).disabled = !search;
  const { calls = 0, took } = learner ?? {};
  const milliseconds = (/** @type {number | undefined} */ time) =>
    time ? `${format(time, 2)} ms` : "…";
  show({
    size: format(stepSize),
    number: count(trainer.shown),
    seen: count(seen.number),
    reached: current ? fixed(-current.loss, 4) : "…",
    best: search ? fixed(-search.best.loss, 4) : "…",
    slope: current ? format(current.slope, 3) : "…",
    seconds: `${fixed((clock.at / (FRAMES - 1)) * SECONDS, 2)} s`,
    calls: count(calls),
    gradient: milliseconds(took?.gradient),
    walk: milliseconds(took?.walk),
    ratio: took ? format(took.gradient / took.walk, 2) : "…",
  });
  if (search) say(ending(search, stepSize), search.hasFailed);
};

const refresh = refresher(() => [picture, distances], tell);

showSource("robot/walker.js");
show({
  updates: count(FRAMES * UPDATES),
  all: `${format(SECONDS, 2)} seconds`,
});
clock.set(0);

prepare(status, async () => {
  trainer.paused = calm.matches;
  embody(await Learner.of(CELLS));
  if (!calm.matches) clock.play();
});

/** For `rose freeze`: of robots that readers build there are too many. */
export const warmUp = async () => {};
