// The page about automatic differentiation: what the reader can do, and what is shown.

import { errorAt, errors, sizes } from "./charts.js";
import { curveScales, drawCurve } from "./view.js";
import { STEPS, showDerivation, textsOf } from "./words.js";
import { sizeAt, stepAt } from "./derivation.js";
import { deriver } from "../lib/deriver.js";
import { Handles } from "../lib/drag.js";
import { parse } from "../lib/expression.js";
import { expressionField, listFunctions } from "../lib/field.js";
import { format } from "../lib/format.js";
import { text } from "./formula.js";
import { gradient } from "./gradient.js";
import { drawGraph } from "./graph.js";
import { Lesson } from "./lesson.js";
import { drawChart, scalesOf } from "../lib/line-chart.js";
import { showListing } from "./listing.js";
import { inPassing } from "../lib/pace.js";
import { announcer, choice, element, judge, onActs } from "../lib/page.js";
import { oncePerFrame, put, show, showSource } from "../lib/page.js";
import { Picture } from "../lib/picture.js";
import { Player } from "./player.js";
import { rounded } from "../lib/region.js";
import { label, write } from "../lib/write.js";

/** @typedef {import("../lib/expression.js").Tree} Tree */

/** Longer formulas than this cannot be typed. */
const LONGEST = 200;

const slider = element("step", HTMLInputElement);
const again = element("again", HTMLButtonElement);
const say = announcer(element("told"));

// ---- what is looked at ---------------------------------------------------

/** @type {Awaited<ReturnType<typeof gradient>> | undefined} */
let native;

/** Have the gradient compiled, to compare. */
const compile = deriver("the gradient", gradient, (made) => {
  native = made;
  element("ir").textContent = made.seen.ir.trim();
  redraw();
});

/** @param {Tree} tree */
const want = (tree) => {
  native = undefined;
  lesson.look(tree);
  compile({ tree });
};

const expression = expressionField(want);
const first = expression.put("x*sin(x*y)+y^2");
const lesson = new Lesson(first, () => redraw());
const player = new Player(
  () => lesson.advance(),
  () => redraw(),
);

/** For `rose freeze`: compile what the buttons can ask for. */
export const warmUp = async () => {
  for (const button of document.querySelectorAll(".presets button"))
    await gradient(parse(button.textContent ?? ""));
};

// ---- what the reader does ------------------------------------------------

/** @param {string} method */
const choose = (method) => {
  player.stop();
  lesson.choose(method);
};
const chooseMethod = choice("methods", choose);
const chooseVariable = choice("variables", (by) => lesson.vary(by));

/** @param {number} step */
const go = (step) => {
  player.stop();
  lesson.go(step);
};

onActs({
  preset: (formula) => want(expression.put(formula)),
  method: choose,
  by: (name) => lesson.vary(name),
  h: (power) => go(stepAt(10 ** Number(power))),
  step: (which) =>
    go(
      which === "sweep"
        ? lesson.known.reverse.lines.findIndex((l) => l.kind === "adjoint") + 1
        : which === "end"
          ? Infinity
          : Number(which),
    ),
});
slider.addEventListener("input", () => go(slider.valueAsNumber));
element("back").addEventListener("click", () => go(lesson.step - 1));
element("next").addEventListener("click", () => go(lesson.step + 1));
element("play").addEventListener("click", () => {
  if (player.isPlaying) return player.stop();
  if (lesson.step === lesson.last) lesson.go(0);
  player.play();
});
again.addEventListener("click", () =>
  want(expression.put(text(lesson.known.derivative))),
);
const fields = /** @type {const} */ (["x", "y"]).map((name) => {
  const field = element(name, HTMLInputElement);
  field.addEventListener("input", () => {
    judge(field, Number.isFinite(field.valueAsNumber));
    lesson.moveTo(name, field.valueAsNumber);
  });
  return field;
});

const placePoint = new Handles(element("curve-stage")).add("The point", {
  to: (px) => {
    const { x } = curveScales(slopes(), curve);
    lesson.moveTo(lesson.by, rounded(x.from(px), x.domain));
  },
  by: (dx) => {
    const { at, by } = lesson;
    lesson.moveTo(by, Number((at[by] + dx / 100).toFixed(6)));
  },
});
const placeStep = new Handles(element("valley-stage")).add("Size of the step", {
  to: (px) => go(stepAt(scalesOf(hills, errors(slopes())).x.from(px))),
  by: (dx) => go(lesson.step - dx),
});

// ---- what the reader sees ------------------------------------------------

const slopes = () => {
  const { along: f, t, exact, seen } = lesson.known;
  const h = sizeAt(lesson.reached.differences);
  return { f, t, exact, seen, h, name: lesson.by };
};

const curve = new Picture("curve", (ctx, size) => {
  const { x, y } = drawCurve(ctx, size, slopes());
  const { known, by } = lesson;
  const height = Number.isFinite(known.value) ? y.at(known.value) : y.range[0];
  placePoint(x.at(known.t), height, `${by} ${format(known.t)}`);
});
const hills = new Picture("valley", (ctx, size) => {
  const { x, y } = drawChart(ctx, size, errors(slopes()));
  const [h, error] = errorAt(slopes());
  placeStep(x.at(h), y.at(error), `h ${format(h, 2)}`);
});
const growth = new Picture("growth", (ctx, size) =>
  drawChart(ctx, size, sizes(lesson.known.growth)),
);

/** The panel of the way that is chosen. */
const showPanel = () => {
  const { method, known, step, by } = lesson;
  const isProgram = method === "duals" || method === "reverse";
  for (const place of document.querySelectorAll("[data-method]"))
    place.toggleAttribute(
      "hidden",
      place.getAttribute("data-method") !== (isProgram ? "program" : method),
    );
  if (isProgram) {
    drawGraph(element("graph"), known[method], step);
    showListing(element("listing"), known[method].lines, step);
  } else if (method === "symbols") {
    showDerivation(element("formula"), known, step, by);
    growth.redraw();
  } else for (const picture of [curve, hills]) picture.redraw();
};

const now = () => {
  const { known, method, by, step } = lesson;
  return STEPS[method](known, step, by);
};

const pose = oncePerFrame(() => {
  const { method, by, step, last } = lesson;
  showPanel();
  chooseMethod(method);
  chooseVariable(by);
  label(slider, "max", String(last));
  slider.value = String(step);
  label(slider, "aria-valuetext", now().told);
  write(element("play"), player.isPlaying ? "Stop" : "Play");
});

const tell = inPassing(() => {
  const { known, at } = lesson;
  const said = now();
  again.disabled = text(known.derivative).length > LONGEST;
  for (const [k, field] of fields.entries()) put(field, k ? at.y : at.x);
  const isThere = Number.isFinite(known.value);
  say(
    isThere ? said.told : "Here f has no finite value: move the point.",
    !isThere,
  );
  show(textsOf(lesson, said, native));
});

const redraw = () => {
  pose();
  tell();
};

listFunctions(element("functions"));
showSource("autodiff/gradient.js");
want(first);
