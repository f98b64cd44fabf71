// The page about quadratic approximation: what is looked at, the controls, and what is shown.

import { ready } from "../rose.js";
import { approximation } from "./approximation.js";
import { Camera } from "./camera.js";
import { Handles, onArrows } from "./drag.js";
import { evaluator, parse } from "./expression.js";
import { expressionField, listFunctions } from "./field.js";
import { format } from "./format.js";
import { latest } from "./latest.js";
import { during, element, onActs, show, showSource } from "./page.js";
import { Picture } from "./picture.js";
import { PRESETS } from "./presets.js";
import { drawSurface } from "./surface.js";
import { areFinite, shape, taylor } from "./taylor.js";
import { clamp, heightsOf, nearestPoint, rounded } from "./region.js";

/**
 * @typedef {import("./region.js").Pair} Pair
 * @typedef {import("./region.js").Region} Region
 * @typedef {import("./expression.js").Tree} Tree
 */

/** @param {string[]} ids */
const fields = (...ids) => ids.map((id) => element(id, HTMLInputElement));
const ends = fields("x-low", "x-high", "y-low", "y-high");
const coordinates = fields("x", "y");
const status = element("status");
const curved = element("order-2", HTMLInputElement);

// ---- what is looked at ---------------------------------------------------

/** @type {(x: number, y: number) => number} */
let f = () => 0;
/** @type {Awaited<ReturnType<typeof approximation>> | undefined} */
let derivatives;
/** @type {import("./camera.js").Box} */
let box = { x: [-1, 1], y: [-1, 1], z: [-1, 1] };
/** @type {Pair} */
let point = [0, 0];
const camera = new Camera();

/** Look at f over a region. @param {Region} region @param {Pair} [at] */
const look = ({ x, y }, at = point) => {
  const z = heightsOf(f, x, y);
  box = { x, y, z: z ?? box.z };
  point = nearestPoint(f, box, at) ?? at;
  element("nothing").hidden = !!z;
  ends.forEach((field, k) => put(field, [...x, ...y][k]));
  picture.redraw();
};

/** Move the point; where f has no value, it stays where it was. @param {Pair} to */
const moveTo = ([x, y]) => {
  const to = /** @type {const} */ ([rounded(x, box.x), rounded(y, box.y)]);
  if (Number.isFinite(f(...to))) point = to;
  picture.redraw();
};

/** Show a number, but not where the reader is typing. @param {HTMLInputElement} field @param {number} value */
const put = (field, value) => {
  if (document.activeElement !== field) field.value = String(value);
};

// ---- a new expression ----------------------------------------------------

/** @typedef {{ tree: Tree, region?: Region, at?: Pair }} Wanted */

/** Derive and compile. Until that is done, the picture stays as it is. */
const compile = latest(async (/** @type {Wanted} */ wanted, isLatest) => {
  const began = performance.now();
  const words = derivatives
    ? "Deriving…"
    : "Loading the compiler, to derive gradient and Hessian…";
  const compiled = await during(status, words, approximation(wanted.tree));
  if (!compiled || !isLatest()) return;
  const waited = `${format(performance.now() - began, 2)} ms`;
  show({ waited });
  status.textContent = `Derived and compiled in ${waited}.`;
  derivatives = compiled;
  lookAt(wanted);
});

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

const expression = expressionField(
  element("expression", HTMLInputElement),
  element("marker"),
  element("message"),
  (tree) => want({ tree }),
);

/** @param {string} name */
const preset = (name) => {
  const { text, x, y, point } = PRESETS[name];
  const tree = expression.put(text);
  want({ tree, region: { x, y }, at: point });
};

// Who looks at the field may type something that nobody has compiled before.
element("expression").addEventListener(
  "focus",
  () => ready().catch(() => {}), // which is told when it is needed
  { once: true },
);

/** For `rose freeze`: compile what the buttons in the text can ask for. */
export const warmUp = async () => {
  for (const { text } of Object.values(PRESETS))
    await approximation(parse(text));
};

// ---- what the reader does ------------------------------------------------

onActs({
  preset,
  order: (n) => {
    element(`order-${n}`, HTMLInputElement).checked = true;
    picture.redraw();
  },
  at: (xy) =>
    moveTo(/** @type {[number, number]} */ (xy.split(" ").map(Number))),
});
for (const n of [1, 2])
  element(`order-${n}`).addEventListener("change", () => picture.redraw());

for (const field of ends)
  field.addEventListener("input", () => {
    const [a, b, c, d] = ends.map((end) => end.valueAsNumber);
    const [x, y] = /** @type {const} */ ([
      [a, b],
      [c, d],
    ]);
    ends.forEach((end, k) =>
      end.setAttribute("aria-invalid", String(!(k < 2 ? a < b : c < d))),
    );
    if (a < b && c < d) look({ x, y });
  });
for (const field of coordinates)
  field.addEventListener("input", () => {
    const [x, y] = coordinates.map((coordinate) => coordinate.valueAsNumber);
    const isInside = x === clamp(x, box.x) && y === clamp(y, box.y);
    field.setAttribute(
      "aria-invalid",
      String(!(isInside && Number.isFinite(f(x, y)))),
    );
    if (isInside) moveTo([x, y]);
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
  picture.redraw();
};
canvas.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  canvas.setPointerCapture(event.pointerId);
  let [x, y] = [event.clientX, event.clientY];
  canvas.onpointermove = (move) => {
    if (!canvas.hasPointerCapture(move.pointerId)) return;
    turn(move.clientX - x, move.clientY - y);
    [x, y] = [move.clientX, move.clientY];
  };
});
onArrows(canvas, (dx, dy) => turn(dx * 12, -dy * 12));

// ---- what the reader sees ------------------------------------------------

const picture = new Picture(canvas, (ctx, size) => {
  const d = derivatives?.(...point);
  const patch =
    d && areFinite(d) ? taylor(d, point, curved.checked ? 2 : 1) : undefined;
  const z = f(...point);
  const eye = camera.look(size, box);
  drawSurface(ctx, eye, { f, box, point, patch, gradient: patch && d?.g });
  const [px, py] = eye.at(...point, clamp(z, box.z));
  const say = (/** @type {number | undefined} */ v) =>
    v === undefined ? "…" : format(v, 5);
  placePoint(px, py, `x ${say(point[0])}, y ${say(point[1])}, z ${say(z)}`);
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
});

listFunctions(element("functions"));
showSource("approximation.js");
preset("power");
