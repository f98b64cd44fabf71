// The page about linkages: what the reader can do, and what is shown.

import { Crank } from "./crank.js";
import { Handles } from "../lib/drag.js";
import { count, fixed, format } from "../lib/format.js";
import * as freedoms from "./freedoms.js";
import * as view from "./view.js";
import { outOfReach, pointInWords, refused, stopped } from "./words.js";
import { LINKAGES } from "./linkages.js";
import { Mechanism } from "./mechanism.js";
import { announcer, calm, element, onActs } from "../lib/page.js";
import { prepare, refresher, show, showSource } from "../lib/page.js";
import { Picture } from "../lib/picture.js";
import { clamp } from "../lib/region.js";
import { label, write } from "../lib/write.js";

/** @typedef {readonly number[]} Point */

/** So many places can have pins. */
const PINS = 4;

const status = element("status");
const kinds = element("kind", HTMLSelectElement);
const angleSlider = element("angle", HTMLInputElement);

const { numbers: first, angle } = LINKAGES.line;
const mechanism = new Mechanism(first, angle, freedoms.RANGES);
const crank = new Crank(
  (by) => mechanism.turn((mechanism.angle + by + 360) % 360),
  () => done(""),
);
/** Where the pen cannot get. @type {Point | undefined} */
let wanted;
/** What could not be done. */
let message = "";
/** The curve of the pen at the beginning of a change. @type {(Point | undefined)[]} */
let before = [];

// ---- what the reader does ------------------------------------------------

/** Something new is tried. */
const begin = () => {
  before = mechanism.curve();
  crank.stop();
};

/** @param {string} complaint  empty if all is well */
const done = (complaint) => {
  message = complaint;
  if (!complaint) wanted = undefined;
  refresh();
};

const freeCount = () => mechanism.free.filter(Boolean).length;

/** The answer is dragged, and the linkage follows. @param {Point} goal */
const lead = ([x, y]) => {
  const goal = [clamp(x, view.WIDE), clamp(y, view.HIGH)];
  const equations = 2 * (mechanism.pins.length + 1);
  const isThere = mechanism.lead(goal);
  wanted = isThere ? undefined : goal;
  done(isThere ? "" : outOfReach(equations, freeCount()));
};

/** The linkage is changed, and the rest of it follows. @param {string} name @param {[number, number][]} given  numbers' indices, and values */
const set = (name, ...given) => {
  const isDone = mechanism.set(new Map(given));
  done(isDone ? "" : refused(name, mechanism.pins.length > 0));
};

const setFree = () => {
  mechanism.free = freedoms.freedoms();
  if (wanted) lead(wanted);
  else refresh();
};

/** @param {number} degrees */
const turn = (degrees) => {
  crank.stop();
  done(mechanism.turn(degrees) ? "" : stopped(degrees));
};

const pin = () => {
  crank.stop();
  mechanism.pin(PINS);
  done("");
};

const unpin = () => {
  mechanism.pins = [];
  done("");
};

const choose = () => {
  crank.stop();
  const { numbers, angle } = LINKAGES[kinds.value];
  Object.assign(mechanism, { numbers: [...numbers], angle });
  before = [];
  unpin();
};

kinds.addEventListener("change", choose);
angleSlider.addEventListener("input", () => turn(angleSlider.valueAsNumber));
element("over").addEventListener("click", choose);
element("pin").addEventListener("click", pin);
element("unpin").addEventListener("click", unpin);
element("play").addEventListener("click", () => {
  if (!crank.running) return crank.run();
  crank.stop();
  refresh();
});
freedoms.onFreedom(setFree);
freedoms.onValue(begin, (k, value) => set(freedoms.NAMES[k], [k, value]));

const handles = new Handles(element("linkage-stage"));
/** @param {string} name @param {() => Point} at @param {(to: Point) => void} put */
const handle = (name, at, put) =>
  handles.addPoint(name, {
    ...{ at, put, begin, step: [0.05, 0.05], words: pointInWords },
    scales: () => view.scales(picture),
  });
/** @param {string} name @param {number} k  the first of its numbers */
const pivot = (name, k) =>
  handle(
    name,
    () => mechanism.numbers.slice(k, k + 2),
    ([x, y]) =>
      set(name, [k, clamp(x, view.WIDE)], [k + 1, clamp(y, view.HIGH)]),
  );
const places = [
  pivot("Pivot A", 0),
  pivot("Pivot D", 2),
  handle("The pen", () => mechanism.penAt()?.at ?? first, lead),
];

// and the buttons in the text
onActs({
  kind: (kind) => {
    kinds.value = kind;
    choose();
  },
  angle: (degrees) => turn(Number(degrees)),
  free: (letters) => {
    freedoms.setFree(letters.split(" "));
    setFree();
  },
  goal: (at) => {
    begin();
    lead(at.split(" ").map(Number));
  },
  pin,
  play: () => crank.run(),
});

// ---- what the reader sees ------------------------------------------------

const picture = new Picture("linkage", (ctx, size) => {
  const joints = mechanism.jointsAt();
  const slopes = mechanism.penAt()?.slopes;
  if (!joints || !slopes) return;
  const { numbers, free, pins } = mechanism;
  const arrows = freedoms.NAMES.map((name, k) => {
    return { name, by: slopes.map((row) => row[k]) };
  });
  view.drawLinkage(ctx, size, {
    ...{
      joints,
      pins,
      wanted,
      pivots: [numbers.slice(0, 2), numbers.slice(2, 4)],
    },
    curves: [before, mechanism.curve()],
    arrows: arrows.filter((_, k) => free[k]),
  });
  for (const place of places) place();
});

const fillTable = freedoms.slopeTable(
  element("slopes", HTMLTableSectionElement),
);
const say = announcer(status);
const tell = () => {
  const { numbers, pins, rounds, calls } = mechanism;
  const place = mechanism.penAt();
  const can = {
    ...{ play: true, over: true },
    ...{ pin: pins.length < PINS, unpin: pins.length > 0 },
  };
  for (const [id, isPossible] of Object.entries(can))
    element(id, HTMLButtonElement).disabled = !place || !isPossible;
  // who pressed the one for the last time goes on from the other
  if (place && document.activeElement?.matches(":disabled"))
    element(pins.length ? "unpin" : "pin").focus();
  write(element("play"), crank.running ? "Stop" : "Play");
  const angle = `${fixed(mechanism.angle, 0)}°`;
  angleSlider.value = String(mechanism.angle);
  label(angleSlider, "aria-valuetext", angle);
  freedoms.showNumbers(numbers);
  show({ angle, freeCount: count(freeCount()) });
  if (!place) return;
  fillTable(numbers, place.slopes);
  show({
    ...{ x: fixed(place.at[0], 3), y: fixed(place.at[1], 3) },
    crankX: format(place.slopes[0][4], 3),
    crankY: format(place.slopes[1][4], 3),
    rounds: count(rounds),
    calls: count(calls),
  });
  say(message, message !== "");
};

const refresh = refresher(() => [picture], tell);

showSource("linkage/four-bar.js");
setFree();

prepare(status, async () => {
  await mechanism.prepare();
  if (calm.matches) refresh();
  else crank.run();
});
