// The page about linear regression: what the reader can do, and what is shown.

import { Handles } from "../lib/drag.js";
import { count, format } from "../lib/format.js";
import { leastSquares } from "./least-squares.js";
import { announcer, choice, element, onActs, prepare } from "../lib/page.js";
import { refresher, show, showSource } from "../lib/page.js";
import { Picture } from "../lib/picture.js";
import { Playback } from "./playback.js";
import { clamp } from "../lib/region.js";
import * as view from "./view.js";
import { inWords, numbers, outcome, tabulate, views } from "./words.js";
import { Study } from "./study.js";
import { label, write } from "../lib/write.js";

/** @typedef {import("./descent.js").Line} Line */

const status = element("status");
const slider = element("eta", HTMLInputElement);
const centre = element("centre", HTMLInputElement);

const study = new Study();
const playback = new Playback(() => refresh());
/** @type {import("./study.js").Gradient | undefined} */
let gradient;

// ---- what the reader does ------------------------------------------------

/** The data have changed, or from where they are measured: descend from this line. */
const changed = (line = playback.line) => {
  const moved = study.measure(centre.checked);
  const from = moved(line);
  playback.start = moved(playback.start);
  if (gradient) playback.begin(from, study.problem(gradient));
  else refresh(); // all but the descent works without
};

/** @param {string} name */
const choose = (name) => {
  chooseSet(name);
  study.choose(name);
  changed(playback.start);
};

/** @param {boolean} on */
const setCentre = (on) => {
  centre.checked = on;
  changed(playback.start);
};

/** @param {number} eta */
const setEta = (eta) => {
  slider.value = String(Math.log10(eta));
  playback.setEta(Number(eta.toPrecision(3)));
};

const startOver = () => {
  playback.start = { b0: 0, b: 0 };
  playback.restart();
};

const chooseSet = choice("sets", choose);
element("undo").addEventListener("click", () => choose(study.name));
centre.addEventListener("change", () => setCentre(centre.checked));
slider.addEventListener("input", () => setEta(10 ** slider.valueAsNumber));
element("step").addEventListener("click", () => playback.step());
element("run").addEventListener("click", () =>
  playback.mode === "running" ? playback.pause() : playback.run(),
);
element("reset").addEventListener("click", () => {
  playback.pause();
  startOver();
});

// and the buttons in the text
onActs({
  set: choose,
  centre: (on) => setCentre(on === "yes"),
  eta: (size) => setEta(Number(size)),
  // of the largest step size there is
  share: (part) => setEta(Number(part) * study.land.limit),
  over: () => {
    startOver();
    playback.run();
  },
});

/** @param {number} i @param {number} x @param {number} y */
const movePoint = (i, x, y) => {
  study.x[i] = clamp(x, view.DATA_X);
  study.y[i] = clamp(y, view.DATA_Y);
  changed();
};

const pointHandles = new Handles(element("data-stage"));
const placePoints = study.x.map((_, i) =>
  pointHandles.addPoint(`Data point ${i + 1}`, {
    scales: () => view.dataScales(data),
    at: () => [study.x[i], study.y[i]],
    put: ([x, y]) => movePoint(i, x, y),
    step: [0.1, 0.1],
    words: ([x, y]) => `x ${format(x, 3)}, y ${format(y, 3)}`,
  }),
);

const mapScales = () => view.mapScales(map, study.land.best);
const placeLine = new Handles(element("map-stage")).addPoint(
  "The line, as a point of the map",
  {
    scales: mapScales,
    at: () => [playback.line.b0, playback.line.b],
    put: ([b0, b]) => {
      const { x, y } = mapScales();
      playback.start = { b0: clamp(b0, x.domain), b: clamp(b, y.domain) };
      if (gradient) playback.begin(playback.start, study.problem(gradient));
      else refresh();
    },
    step: [0.1, 0.02],
    words: ([b0, b]) => inWords({ b0, b }),
  },
);

// ---- what the reader sees ------------------------------------------------

const data = new Picture("data", (ctx, size) => {
  view.drawData(ctx, size, study, playback.line);
  for (const place of placePoints) place();
});

const map = new Picture("map", (ctx, size) => {
  view.drawMap(ctx, size, study.land, playback);
  placeLine();
});

const losses = new Picture(
  "losses",
  (ctx, size) => view.drawLosses(ctx, size, playback),
  { aside: true },
);

const say = announcer(status);
/** Say how things stand. */
const tell = () => {
  const { mode, descent, eta } = playback;
  const { land, hinge, calls } = study;
  for (const id of ["run", "step", "reset"])
    element(id, HTMLButtonElement).disabled = !descent;
  write(element("run"), mode === "running" ? "Pause" : "Run");
  const [low, high] = [Number(slider.min), Number(slider.max)];
  const limit = (Math.log10(land.limit) - low) / (high - low);
  element("limit").style.setProperty("--part", String(clamp(limit, [0, 1])));
  label(slider, "aria-valuetext", format(eta));
  show({
    ...numbers(playback, land),
    ...views(study.views),
    hinge: format(hinge, 3),
    calls: count(calls),
  });
  if (descent) say(outcome(playback, land), mode === "diverged");
};

const refresh = refresher(() => [data, map, losses], tell);

showSource("regression/least-squares.js");
tabulate(element("quartet", HTMLTableSectionElement));
tell();

prepare(status, async () => {
  gradient = await leastSquares(study.x.length);
  changed(playback.start);
});
