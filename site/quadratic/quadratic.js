// The page about quadratic approximation: what is looked at, the controls, and what is shown.

import { approximation } from "./approximation.js";
import { Camera } from "./camera.js";
import { deriver } from "../lib/deriver.js";
import { Handles, onArrows } from "../lib/drag.js";
import { evaluator, parse } from "../lib/expression.js";
import { expressionField, listFunctions } from "../lib/field.js";
import { format } from "../lib/format.js";
import { choice, element, judge, onActs, put } from "../lib/page.js";
import { refresher, show, showSource } from "../lib/page.js";
import { Picture } from "../lib/picture.js";
import { PRESETS } from "./presets.js";
import { drawSurface } from "./surface.js";
import { areFinite, shape, taylor } from "./taylor.js";
import { clamp, heightsOf, nearestPoint, rounded } from "../lib/region.js";

/**
 * @typedef {import("../lib/region.js").Pair} Pair
 * @typedef {import("../lib/region.js").Region} Region
 * @typedef {import("../lib/expression.js").Tree} Tree
 */

/** @param {string[]} ids */
const fields = (...ids) => ids.map((id) => element(id, HTMLInputElement));
const ends = fields("x-low", "x-high", "y-low", "y-high");
const coordinates = fields("x", "y");

// ---- what is looked at ---------------------------------------------------

/** @type {(x: number, y: number) => number} */
let f = () => 0;
/** @type {Awaited<ReturnType<typeof approximation>> | undefined} */
let derivatives;
/** @type {import("./camera.js").Box} */
let box = { x: [-1, 1], y: [-1, 1], z: [-1, 1] };
/** @type {Pair} */
let point = [0, 0];
let order = 2;
const camera = new Camera();

/** Look at f over a region. @param {Region} region @param {Pair} [at] */
const look = ({ x, y }, at = point) => {
  const z = heightsOf(f, x, y);
  box = { x, y, z: z ?? box.z };
  point = nearestPoint(f, box, at) ?? at;
  element("nothing").hidden = !!z;
  ends.forEach((field, k) => put(field, [...x, ...y][k]));
  refresh();
};

/** Put the point somewhere; where f has no value, it stays where it was. @param {Pair} to */
const putPoint = (to) => {
  if (Number.isFinite(f(...to))) point = to;
  refresh();
};

/** Move it to round numbers: a hand has no more digits. @param {Pair} to */
const moveTo = ([x, y]) => putPoint([rounded(x, box.x), rounded(y, box.y)]);

// ---- a new expression ----------------------------------------------------

/** @typedef {{ tree: Tree, region?: Region, at?: Pair }} Wanted */

/** Until that is done, the picture stays as it is. */
const compile = deriver(
  "gradient and Hessian",
  approximation,
  (made, /** @type {Wanted} */ wanted) => {
    derivatives = made;
    lookAt(wanted);
  },
);

/** @param {Wanted} wanted */
const lookAt = ({ tree, region = box, at }) => {
  f = evaluator(tree);
  look(region, at);
};

/** @param {Wanted} wanted */
const want = (wanted) => {
  // the surface alone needs no compiler
  if (!derivatives) lookAt(wanted);
  compile(wanted);
};

const expression = expressionField((tree) => want({ tree }));

/** @param {string} name */
const preset = (name) => {
  const { text, x, y, point } = PRESETS[name];
  const tree = expression.put(text);
  want({ tree, region: { x, y }, at: point });
};

/** For `rose freeze`: compile what the buttons in the text can ask for. */
export const warmUp = async () => {
  for (const { text } of Object.values(PRESETS))
    await approximation(parse(text));
};

// ---- what the reader does ------------------------------------------------

/** How many derivatives the patch has. @param {string} n */
const setOrder = (n) => {
  order = Number(n);
  chooseOrder(n);
  refresh();
};
const chooseOrder = choice("orders", setOrder);

onActs({
  preset,
  order: setOrder,
  at: (xy) =>
    moveTo(/** @type {[number, number]} */ (xy.split(" ").map(Number))),
});

for (const field of ends)
  field.addEventListener("input", () => {
    const [a, b, c, d] = ends.map((end) => end.valueAsNumber);
    const [x, y] = /** @type {const} */ ([
      [a, b],
      [c, d],
    ]);
    ends.forEach((end, k) => judge(end, k < 2 ? a < b : c < d));
    if (a < b && c < d) look({ x, y });
  });
for (const field of coordinates)
  field.addEventListener("input", () => {
    const [x, y] = coordinates.map((coordinate) => coordinate.valueAsNumber);
    const isInside = x === clamp(x, box.x) && y === clamp(y, box.y);
    judge(field, isInside && Number.isFinite(f(x, y)));
    if (isInside) putPoint([x, y]);
  });

const stage = element("stage");
const placePoint = new Handles(stage).add("The point on the surface", {
  to: (px, py) => {
    const found = camera.look(picture, box).pick([px, py], f, point);
    if (found) moveTo(found);
  },
  by: (dx, dy) => {
    const step = (/** @type {Pair} */ [low, high]) => (high - low) / 100;
    moveTo([point[0] + dx * step(box.x), point[1] + dy * step(box.y)]);
  },
});

const canvas = element("surface", HTMLCanvasElement);
/** @param {number} dx @param {number} dy  in pixels */
const turn = (dx, dy) => {
  camera.turn(dx / 150, dy / 200);
  canvas.setAttribute("aria-valuetext", camera.words);
  refresh();
};
canvas.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  canvas.setPointerCapture(event.pointerId);
  let [x, y] = [event.clientX, event.clientY];
  canvas.onpointermove = (move) => {
    if (move.pointerId !== event.pointerId) return; // another finger
    if (!canvas.hasPointerCapture(move.pointerId)) return;
    turn(move.clientX - x, move.clientY - y);
    [x, y] = [move.clientX, move.clientY];
  };
});
onArrows(canvas, (dx, dy) => turn(dx * 12, -dy * 12));

// ---- what the reader sees ------------------------------------------------

const shown = () => {
  const d = derivatives?.(...point);
  return { d, z: f(...point) };
};

const picture = new Picture(
  "surface",
  (ctx, size, rough) => {
    const { d, z } = shown();
    const patch = d && areFinite(d) ? taylor(d, point, order) : undefined;
    const eye = camera.look(size, box);
    const gradient = patch && d?.g;
    drawSurface(ctx, eye, { f, box, point, patch, gradient, rough });
    const [px, py] = eye.at(...point, clamp(z, box.z));
    const [x, y, height] = [...point, z].map((v) => format(v, 5));
    placePoint(px, py, `x ${x}, y ${y}, z ${height}`);
  },
  { rough: true },
);

const tell = () => {
  const { d, z } = shown();
  const say = (/** @type {number | undefined} */ v) =>
    v === undefined ? "…" : format(v, 5);
  coordinates.forEach((field, k) => put(field, point[k]));
  show({
    z: say(z),
    gx: say(d?.g[0]),
    gy: say(d?.g[1]),
    hxx: say(d?.h[0][0]),
    hxy: say(d?.h[0][1]),
    hyx: say(d?.h[1][0]),
    hyy: say(d?.h[1][1]),
    shape: d ? shape(d) : "…",
  });
};

const refresh = refresher(() => [picture], tell);

listFunctions(element("functions"));
showSource("quadratic/approximation.js");
preset("power");
