// The page about deblurring: what the reader can do, and what is shown.

import { SIDE, blur, descent } from "./blur.js";
import { drawCurves, drawPixels, drawSlopes } from "./view.js";
import { ending, levels } from "./words.js";
import { onFile } from "./drop.js";
import { count, format } from "../lib/format.js";
import { KERNELS } from "./kernels.js";
import { latest } from "../lib/latest.js";
import { announcer, calm, during, element, onActs } from "../lib/page.js";
import { oncePerFrame, prepare, refresher } from "../lib/page.js";
import { show, showSource } from "../lib/page.js";
import { pictureIn } from "./photo.js";
import { inTurn } from "../lib/pace.js";
import { Picture } from "../lib/picture.js";
import { clamp } from "../lib/region.js";
import { Restoration, squaredDistance } from "./restoration.js";
import { SPECIMENS, noise } from "./specimens.js";
import { write } from "../lib/write.js";

/** Milliseconds of steps between two pictures: for who wants little motion, more. */
const SLICE = 8;
const CALM_SLICE = 60;

const status = element("status");
const [pictures, blurs, starts] = ["picture", "blur", "start"].map((id) =>
  element(id, HTMLSelectElement),
);
const [noiseSlider, weightSlider, sizeSlider] = ["noise", "weight", "size"].map(
  (id) => element(id, HTMLInputElement),
);

let truth = SPECIMENS.house();
/** The reader's own picture. @type {Float64Array | undefined} */
let own;
const [normal, other] = [noise(1), noise(2)];
/** @type {Restoration | undefined} */
let restoration;
/** Of step sizes, and of which loss. */
let limit = { of: "", size: Infinity };
/** The error of what is given. */
let givenError = 0;
let [running, paused] = [false, false];
let since = 0; // the reader changed something: so many steps
let isNew = false; // nobody has seen yet where it begins

// ---- the descent ---------------------------------------------------------

const stepSize = () => Number(sizeSlider.valueAsNumber.toFixed(2));

/** @type {Record<string, () => Float64Array>} */
const STARTS = {
  grey: () => truth.map(() => 0.5),
  given: () => /** @type {Restoration} */ (restoration).given,
  noise: () => other.map((x) => 0.5 + 0.2 * x),
};

/** The reader has changed something: descend from the start. @param {number} [steps] */
const begin = (steps) => {
  if (restoration) {
    const level = noiseSlider.valueAsNumber / 255;
    restoration.weight[0] = weightSlider.valueAsNumber;
    restoration.pose(
      truth,
      KERNELS[blurs.value],
      normal.map((x) => level * x),
    );
    givenError = squaredDistance(restoration.given, truth);
    restoration.begin(STARTS[starts.value](), steps);
    since = 0;
    isNew = true;
    if (!paused) run();
  }
  refresh();
};

const run = () => {
  paused = false;
  since = 0;
  if (!restoration || running) return;
  running = true;
  goOn();
  refresh();
};

/** @param {number} [steps] */
const runAnew = (steps) => {
  paused = false;
  begin(steps);
};

const pause = () => {
  running = false;
  paused = true;
  refresh();
};

const step = () => {
  restoration?.step(stepSize());
  since += 1;
};

const goOn = inTurn(() => {
  if (!restoration || !running) return;
  if (isNew) {
    // while the reader moves something, there is time for no more than that
    isNew = false;
    goOn();
    return;
  }
  const deadline = performance.now() + (calm.matches ? CALM_SLICE : SLICE);
  // slowly at first
  let most = calm.matches ? Infinity : 1 + Math.floor(since / 50);
  do step();
  while (
    restoration.outcome === "going" &&
    --most > 0 &&
    performance.now() < deadline
  );
  running = restoration.outcome === "going";
  if (running) goOn();
  // who wants little motion sees the way's end, not the way
  if (running && calm.matches) soon();
  else refreshGuess();
});

// ---- what the reader does ------------------------------------------------

const choosePicture = () => {
  truth = SPECIMENS[pictures.value]?.() ?? own ?? truth;
  begin();
};

pictures.addEventListener("change", choosePicture);
for (const select of [blurs, starts])
  select.addEventListener("change", () => begin());
for (const slider of [noiseSlider, weightSlider])
  slider.addEventListener("input", () => begin());
sizeSlider.addEventListener("input", () => {
  since = 0;
  if (restoration && !paused) run();
  refresh();
});
element("run").addEventListener("click", () => (running ? pause() : run()));
element("step").addEventListener("click", () => {
  pause();
  step();
});
element("over").addEventListener("click", () => {
  pause();
  begin();
});

/** Take a picture of the reader's; one that cannot be taken changes nothing. */
const take = latest(async (/** @type {File} */ file, isLatest) => {
  const words = `Reading “${file.name}”…`;
  const found = await during(element("reading"), words, pictureIn(file));
  if (!found || !isLatest()) return;
  own = found;
  if (!pictures.querySelector("[value=own]"))
    pictures.add(new Option("Yours", "own"));
  pictures.value = "own";
  choosePicture();
});

onFile(element("file", HTMLInputElement), element("workbench"), take);

// and the buttons in the text
onActs({
  picture: (name) => {
    pictures.value = name;
    truth = SPECIMENS[name]();
  },
  blur: (name) => (blurs.value = name),
  start: (name) => (starts.value = name),
  noise: (level) => (noiseSlider.value = level),
  weight: (weight) => (weightSlider.value = weight),
  size: (size) => (sizeSlider.value = size),
  run: () => runAnew(),
  // to where the error was least the last time
  least: () => runAnew(restoration?.nearest || undefined),
});

// ---- what the reader sees ------------------------------------------------

/**
 * A picture whose numbers are its pixels, empty until there is a restoration.
 *
 * @param {string} id
 * @param {(
 *   ctx: CanvasRenderingContext2D,
 *   size: import("../lib/picture.js").Size,
 *   restoration: Restoration,
 * ) => void} draw
 */
const pictureOf = (id, draw, options = {}) =>
  new Picture(id, (ctx, size) => restoration && draw(ctx, size, restoration), {
    ...options,
    side: SIDE,
  });

const posed = [
  new Picture("truth", (ctx, size) => drawPixels(ctx, size, truth), {
    side: SIDE,
    of: () => [truth],
  }),
  pictureOf("given", (ctx, size, { given }) => drawPixels(ctx, size, given), {
    of: () => [restoration?.poses],
  }),
];
const ofGuess = [
  new Picture(
    "guess",
    (ctx, size) => drawPixels(ctx, size, restoration?.guess ?? STARTS.grey()),
    { side: SIDE, of: () => [truth, restoration?.calls] },
  ),
  pictureOf(
    "again",
    (ctx, size, of) => drawPixels(ctx, size, of.blurred(of.guess)),
    { aside: true },
  ),
  new Picture("losses", (ctx, size) => drawCurves(ctx, size, restoration), {
    aside: true,
  }),
  pictureOf(
    "gradient",
    (ctx, size, { gradient }) => drawSlopes(ctx, size, gradient),
    { aside: true },
  ),
];

const say = announcer(status);
const tell = () => {
  const milliseconds = (/** @type {number} */ time) => `${format(time, 2)} ms`;
  for (const id of ["run", "step", "over"])
    element(id, HTMLButtonElement).disabled = !restoration;
  write(element("run"), running ? "Pause" : "Run");
  show({
    size: format(stepSize()),
    noise: format(noiseSlider.valueAsNumber),
    weight: format(weightSlider.valueAsNumber),
    taps: count(KERNELS[blurs.value].filter((w) => w > 1e-3).length),
  });
  if (!restoration) return;
  const { steps, now, took, calls, outcome } = restoration;
  const of = `${blurs.value} ${weightSlider.value}`;
  if (of !== limit.of) limit = { of, size: restoration.limit() };
  const [low, high] = [Number(sizeSlider.min), Number(sizeSlider.max)];
  const part = clamp((limit.size - low) / (high - low), [0, 1]);
  element("limit").style.setProperty("--part", String(part));
  show({
    steps: count(steps),
    loss: format(now.loss, 4),
    off: levels(now.error),
    givenOff: levels(givenError),
    limit: format(limit.size, 2),
    calls: count(calls),
    gradient: milliseconds(took.descent),
    blurring: milliseconds(took.blur),
    ratio: format(took.descent / took.blur, 2),
  });
  const words = ending(restoration, givenError, stepSize(), limit.size);
  say(words, outcome === "lost");
};

const soon = oncePerFrame(tell);
const refresh = refresher(() => [...posed, ...ofGuess], tell);
const refreshGuess = refresher(() => ofGuess, tell);

showSource("deblurring/blur.js");
show({ unknowns: count(truth.length) });
tell();

prepare(status, async () => {
  const [gradient, plain] = await Promise.all([descent(), blur()]);
  restoration = new Restoration({ descent: gradient, blur: plain });
  begin();
});
