// What the page about automatic differentiation says in words and numbers.

import { sizeAt } from "./derivation.js";
import { count, format } from "../lib/format.js";
import { pending, text, written } from "./formula.js";
import { html } from "../lib/html.js";
import { resultOf } from "./listing.js";

/**
 * @typedef {ReturnType<typeof import("./derivation.js").study>} Known
 * @typedef {import("./derivation.js").Name} Name
 *
 * @typedef {object} Said
 * @property {string} told  of the step
 * @property {number} [found]  the derivative, if it is known by now
 * @property {string} cost
 */

/** How many operations, lines, … @param {number} n @param {string} what */
const many = (n, what) =>
  `${n < 1e6 ? count(n) : format(n, 3)} ${what}${n === 1 ? "" : "s"}`;

/** How many digits of a number are right. @param {number} found @param {number} exact */
const digits = (found, exact) => {
  const part = Math.abs(found - exact) / Math.abs(exact);
  return Math.min(16, Math.max(0, Math.floor(-Math.log10(part))));
};

/** @param {Known} known @param {number} step @returns {Said} */
const differences = ({ difference, exact }, step) => {
  const h = sizeAt(step);
  const { onwards: found, around } = difference(h);
  const of = (/** @type {number} */ slope) =>
    Number.isFinite(slope) && exact
      ? `${many(digits(slope, exact), "digit")} right`
      : format(slope, 5);
  const told =
    `With h = ${format(h, 2)}, the one-sided difference has ${of(found)}, ` +
    `the central one ${of(around)}.`;
  return { told, found, cost: "2 evaluations per variable" };
};

/** @param {Known} known @param {number} step @param {Name} by @returns {Said} */
const symbols = ({ formulas, exact }, step, by) => {
  const { formula, rule } = formulas[step];
  const isDone = !pending(formula);
  const told =
    (rule ? `${rule}. ` : "") +
    (isDone
      ? "Nothing is left to differentiate."
      : `Next: the first d/d${by}.`);
  return {
    ...{ told, found: isDone ? exact : undefined },
    cost: many(written(formula), "operation"),
  };
};

/** @param {import("./sweep.js").Line[]} lines @param {number} step */
const sentence = (lines, step) =>
  step
    ? `${lines[step - 1].texts.join(" and ")}, that is ${resultOf(lines[step - 1])}.`
    : "";

/** @param {Known} known @param {number} step @param {Name} by @returns {Said} */
const duals = ({ duals: { lines }, exact, steps }, step, by) => ({
  told: sentence(lines, step) || `${by} changes by ε, the other does not.`,
  found: step === steps.duals ? exact : undefined,
  cost: `${many(steps.duals, "line")} per variable`,
});

/** @param {Known} known @param {number} step @param {Name} by @returns {Said} */
const reverse = ({ reverse: { lines }, gradient, steps }, step, by) => ({
  told: sentence(lines, step) || "First the values, from the top down.",
  found: step === steps.reverse ? gradient[by] : undefined,
  cost: `${many(steps.reverse, "line")} for both`,
});

/** What is said of the step that each way is at. */
export const STEPS = { differences, symbols, duals, reverse };

/** Numbers in the text. @param {Known} known @param {Name} by @returns {Record<string, string>} */
const numbersOf = (known, by) => {
  const { best, growth, size, derivative, gradient, exact, value } = known;
  const last = growth.bulk.length - 1;
  return {
    ...{ by, value: format(value), tangent: format(exact) },
    besth: format(best.h, 2),
    besterror: `an error of ${format(best.error, 2)}`,
    size: count(size),
    grown: count(written(derivative)),
    bulk:
      growth.bulk[last] < 1e6
        ? count(growth.bulk[last])
        : format(growth.bulk[last], 3),
    shared: count(growth.shared[last]),
    gx: format(gradient.x),
    gy: format(gradient.y),
  };
};

/**
 * All texts of the page, by the names of their places.
 *
 * @param {import("./lesson.js").Lesson} lesson
 * @param {Said} said  of its step
 * @param {Awaited<ReturnType<typeof import("./gradient.js").gradient>>} [native]
 * @returns {Record<string, string>}
 */
export const textsOf = (lesson, { found, cost }, native) => {
  const { known, by, step, last, at } = lesson;
  const rose = native?.call([at.x, at.y]);
  const number = (/** @type {number | undefined} */ x) =>
    x === undefined ? "…" : format(x, 8);
  return {
    ...numbersOf(known, by),
    ...{ x: format(at.x), y: format(at.y), cost },
    step: `${step} of ${last}`,
    found: number(found),
    exact: number(known.exact),
    error: found === undefined ? "…" : format(Math.abs(found - known.exact), 2),
    rosevalue: number(rose?.value),
    rosex: number(rose?.gradient[0]),
    rosey: number(rose?.gradient[1]),
    bytes: native ? count(native.seen.size) : "…",
  };
};

/** Formulas are cut off after so many characters: the latest, and those before. */
const LONGEST = [4000, 240];

/** A formula, with the derivative in it that is next. @param {import("./formula.js").Tree} formula @param {Name} by @param {number} longest */
const marked = (formula, by, longest) => {
  const whole = text(formula, by);
  const next = pending(formula);
  const start = next ? whole.indexOf(`d/d${by}[`) : longest;
  const end = start + (next ? text(next, by).length : 0);
  return html(
    "li",
    {},
    whole.slice(0, Math.min(start, longest)),
    html("mark", { textContent: whole.slice(start, Math.min(end, longest)) }),
    whole.slice(Math.min(end, longest), longest),
    whole.length > longest ? " …" : "",
  );
};

/**
 * Show a derivation up to a step.
 *
 * @param {HTMLElement} list
 * @param {Known} known
 * @param {number} step
 * @param {Name} by
 */
export const showDerivation = (list, { formulas }, step, by) => {
  const items = formulas
    .slice(0, step + 1)
    .map(({ formula }, k) => marked(formula, by, LONGEST[k < step ? 1 : 0]));
  for (const item of items.slice(1)) item.prepend("= ");
  list.replaceChildren(...items);
  const box = /** @type {HTMLElement} */ (list.parentElement);
  box.scrollTop = items[step].offsetTop - box.offsetTop - 8;
};
