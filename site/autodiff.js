// The page about automatic differentiation: what the reader can do, and what is shown.

import { ready } from "../rose.js";
import * as view from "./autodiff-view.js";
import { STEPS, numbersOf, showDerivation } from "./autodiff-words.js";
import { sizeAt, stepAt, study } from "./derivation.js";
import { Handles } from "./drag.js";
import { parse } from "./expression.js";
import { expressionField, listFunctions } from "./field.js";
import { count, format } from "./format.js";
import { text } from "./formula.js";
import { gradient } from "./gradient.js";
import { drawGraph } from "./graph.js";
import { latest } from "./latest.js";
import { showListing } from "./listing.js";
import { announcer, during, element, onActs, show } from "./page.js";
import { oncePerFrame, showSource } from "./page.js";
import { Picture } from "./picture.js";
import { Player } from "./player.js";
import { rounded } from "./region.js";

/**
 * @typedef {import("./expression.js").Tree} Tree
 * @typedef {import("./derivation.js").Name} Name
 * @typedef {"differences" | "symbols" | "duals" | "reverse"} Method
 */

/** Longer formulas than this cannot be typed. */
const LONGEST = 200;

const NAMES = /** @type {const} */ (["x", "y"]);

const slider = element("step", HTMLInputElement);
const again = element("again", HTMLButtonElement);
const fields = {
  x: element("x", HTMLInputElement),
  y: element("y", HTMLInputElement),
};
const say = announcer(element("told"));

// ---- what is looked at ---------------------------------------------------

let method = /** @type {Method} */ ("differences");
let by = /** @type {Name} */ ("x");
let at = { x: 1.3, y: 0.7 };
/** The step that each way is at. */
const reached = { differences: 0, symbols: 0, duals: 0, reverse: 0 };
/** @type {ReturnType<typeof study>} */
let known;

/** Go to another expression, variable or point. @param {Tree} tree */
const look = (tree = known.tree) => {
  known = study(tree, at, by);
  for (const name of /** @type {Method[]} */ (Object.keys(reached)))
    reached[name] = Math.min(reached[name], known.steps[name]);
  redraw();
};

/** @param {number} step */
const go = (step) => {
  reached[method] = Math.min(known.steps[method], Math.max(0, step));
  redraw();
};

/** @param {string} name */
const choose = (name) => {
  method = /** @type {Method} */ (name);
  player.stop();
};

/** Move the point; it stays where it is if that is nowhere. @param {Name} name @param {number} to */
const moveTo = (name, to) => {
  if (!Number.isFinite(to)) return;
  at = { ...at, [name]: to };
  look();
};

const player = new Player(
  () => {
    go(reached[method] + 1);
    return reached[method] < known.steps[method];
  },
  () => redraw(),
);

// ---- the same by Rose ----------------------------------------------------

const status = element("status");

/** Have the gradient compiled, and compare. */
const compile = latest(async (/** @type {Tree} */ tree, isLatest) => {
  const began = performance.now();
  const words = isLoaded
    ? "Deriving and compiling…"
    : "Loading the compiler, to derive the gradient…";
  const compiled = await during(status, words, gradient(tree));
  if (!compiled || !isLatest()) return;
  native = compiled;
  element("ir").textContent = compiled.seen.ir.trim();
  isLoaded = true;
  const waited = format(performance.now() - began, 2);
  status.textContent = `Derived and compiled in ${waited} ms.`;
  redraw();
});

let isLoaded = false;
/** @type {Awaited<ReturnType<typeof gradient>> | undefined} */
let native;

/** @param {Tree} tree */
const want = (tree) => {
  native = undefined;
  look(tree);
  compile(tree);
};

const expression = expressionField(
  element("expression", HTMLInputElement),
  element("marker"),
  element("message"),
  want,
);

// who looks at the field may type something that nobody has compiled before
element("expression").addEventListener(
  "focus",
  () => ready().catch(() => {}), // which is told when it is needed
  { once: true },
);

/** For `rose freeze`: compile what the buttons can ask for. */
export const warmUp = async () => {
  for (const button of document.querySelectorAll(".presets button"))
    await gradient(parse(button.textContent ?? ""));
};

// ---- what the reader does ------------------------------------------------

onActs({
  preset: (formula) => want(expression.put(formula)),
  method: choose,
  by: (name) => {
    by = /** @type {Name} */ (name);
    look();
  },
  h: (power) => go(stepAt(10 ** Number(power))),
  step: (which) =>
    go(
      which === "sweep"
        ? known.reverse.lines.findIndex(({ kind }) => kind === "adjoint") + 1
        : which === "end"
          ? Infinity
          : Number(which),
    ),
});
element("methods").addEventListener("change", ({ target }) => {
  choose(/** @type {HTMLInputElement} */ (target).value);
});
element("variables").addEventListener("change", ({ target }) => {
  by = /** @type {Name} */ (/** @type {HTMLInputElement} */ (target).value);
  look();
});
slider.addEventListener("input", () => {
  player.stop();
  go(slider.valueAsNumber);
});
for (const [id, way] of /** @type {const} */ ([
  ["back", -1],
  ["next", 1],
]))
  element(id).addEventListener("click", () => {
    player.stop();
    go(reached[method] + way);
  });
element("play").addEventListener("click", () => {
  if (player.isPlaying) return player.stop();
  if (reached[method] === known.steps[method]) go(0);
  player.play();
});
again.addEventListener("click", () =>
  want(expression.put(text(known.derivative))),
);
for (const name of NAMES)
  fields[name].addEventListener("input", () => {
    const value = fields[name].valueAsNumber;
    fields[name].setAttribute("aria-invalid", String(!Number.isFinite(value)));
    moveTo(name, value);
  });

const placePoint = new Handles(element("curve-stage")).add("The point", {
  to: (px) => {
    const { x } = view.curveScales(slopes(), curve);
    moveTo(by, rounded(x.from(px), x.domain));
  },
  by: (dx) => moveTo(by, Number((at[by] + dx / 100).toFixed(6))),
});
const placeStep = new Handles(element("valley-stage")).add("Size of the step", {
  to: (px) => go(stepAt(view.valleyScales(hills, known.exact).x.from(px))),
  by: (dx) => go(reached.differences - dx),
});

// ---- what the reader sees ------------------------------------------------

const slopes = () => ({
  ...{ f: known.along, t: known.t, exact: known.exact, name: by },
  h: sizeAt(reached.differences),
});

const curve = new Picture(element("curve", HTMLCanvasElement), (ctx, size) => {
  view.drawCurve(ctx, size, slopes());
  const { x, y } = view.curveScales(slopes(), size);
  const height = Number.isFinite(known.value) ? y.at(known.value) : y.range[0];
  placePoint(x.at(known.t), height, `${by} ${format(known.t)}`);
});
const hills = new Picture(element("valley", HTMLCanvasElement), (ctx, size) => {
  view.drawValley(ctx, size, slopes());
  const { x, y } = view.valleyScales(size, known.exact);
  const { h } = slopes();
  const error = Math.abs(known.difference(h).onwards - known.exact);
  placeStep(x.at(h), view.heightOf(y, error), `h ${format(h, 2)}`);
});
const growth = new Picture(element("growth", HTMLCanvasElement), (ctx, size) =>
  view.drawGrowth(ctx, size, [
    { name: "formula", colour: "--rose", values: known.growth.bulk },
    { name: "program", colour: "--blue", values: known.growth.shared },
  ]),
);

/** The panel of the way that is chosen. */
const showPanel = () => {
  const { lines } = known[method === "reverse" ? "reverse" : "duals"];
  const step = reached[method];
  const panel = method === "duals" || method === "reverse" ? "program" : method;
  for (const place of document.querySelectorAll("[data-method]"))
    place.toggleAttribute(
      "hidden",
      place.getAttribute("data-method") !== panel,
    );
  if (panel === "program") {
    const sweep = known[/** @type {"duals" | "reverse"} */ (method)];
    drawGraph(element("graph"), sweep, lines.slice(0, step));
    showListing(element("listing"), lines, step);
  } else if (panel === "symbols") {
    showDerivation(element("formula"), known, step, by);
    growth.redraw();
  } else for (const picture of [curve, hills]) picture.redraw();
};

const redraw = oncePerFrame(() => {
  const step = reached[method];
  const { told, found, cost } = STEPS[method](known, step, by);
  showPanel();
  for (const [group, value] of [
    ["methods", method],
    ["variables", by],
  ])
    for (const choice of element(group).querySelectorAll("input"))
      choice.checked = choice.value === value;
  slider.max = String(known.steps[method]);
  slider.value = String(step);
  slider.setAttribute("aria-valuetext", told);
  element("play").textContent = player.isPlaying ? "Stop" : "Play";
  again.disabled = text(known.derivative).length > LONGEST;
  for (const name of NAMES)
    if (document.activeElement !== fields[name])
      fields[name].value = String(at[name]);
  const isThere = Number.isFinite(known.value);
  say(isThere ? told : "Here f has no finite value: move the point.", !isThere);
  const rose = native?.call([at.x, at.y]);
  const number = (/** @type {number | undefined} */ x) =>
    x === undefined ? "…" : format(x, 8);
  show({
    ...numbersOf(known, by),
    ...{ x: format(at.x), y: format(at.y), cost },
    step: `${step} of ${known.steps[method]}`,
    found: number(found),
    exact: number(known.exact),
    error: found === undefined ? "…" : format(Math.abs(found - known.exact), 2),
    rosevalue: number(rose?.value),
    rosex: number(rose?.gradient[0]),
    rosey: number(rose?.gradient[1]),
    bytes: native ? count(native.seen.size) : "…",
  });
});

listFunctions(element("functions"));
showSource("gradient.js");
want(expression.put("x*sin(x*y)+y^2"));
