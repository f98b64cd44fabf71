// All that is known of an expression at a point: its derivative in four ways, step by step.

import { evaluate, inOrder, tangents, whole } from "./calculus.js";
import { around, onwards, steps, valley } from "./differences.js";
import { evaluator } from "../lib/expression.js";
import { derivation, different, expressions, written } from "./formula.js";
import { heightsOf } from "../lib/region.js";
import { backward, forward, gradientOf } from "./sweep.js";

/**
 * @typedef {import("../lib/expression.js").Tree} Tree
 * @typedef {import("./calculus.js").Algebra} Algebra
 * @typedef {"x" | "y"} Name
 */

/** How often the function is put into itself, at most. */
const NESTED = 8;

/** Of the function, so much is seen on both sides of the point. */
const HALF = 2;

/** Differences have so many steps to a power of ten. */
const EACH = 2;

/** The size of a difference, from the number of its step. @param {number} step */
export const sizeAt = (step) => 10 ** (-step / EACH);

/** The inverse of `sizeAt`, as far as there are steps. @param {number} h */
export const stepAt = (h) =>
  Math.min(16 * EACH, Math.max(0, Math.round(-EACH * Math.log10(h))));

/**
 * Of the derivative of a function put into itself, once, twice and so on: how many operations the formula
 * has, and how many different ones function and derivative have.
 *
 * @param {Algebra} o
 * @param {Tree} formula
 * @param {Name} by
 */
const growth = (o, formula, by) => {
  const y = o.lift({ kind: "variable", name: "y" });
  /** @type {{ bulk: number[], shared: number[] }} */
  const found = { bulk: [], shared: [] };
  let nested = formula;
  for (let k = 0; k < NESTED; ++k) {
    const order = inOrder(nested);
    const itself = new Map(order.map((tree) => [tree, tree]));
    const sums = whole((sums) => tangents(order, o, itself, by, sums));
    const derivative = o.lift(sums.get(nested) ?? 0);
    found.bulk.push(written(derivative));
    found.shared.push(different(nested, derivative));
    const inner = { x: nested, y };
    nested = o.lift(evaluate(inOrder(formula), o, inner).get(formula));
  }
  return found;
};

/**
 * @param {Tree} tree
 * @param {Record<Name, number>} at
 * @param {Name} by
 */
export const study = (tree, at, by) => {
  const o = expressions();
  const formula = o.lift(tree);
  const f = evaluator(tree);
  const t = at[by];
  const along = (/** @type {number} */ s) =>
    by === "x" ? f(s, at.y) : f(at.x, s);
  const seen = /** @type {const} */ ([t - HALF, t + HALF]);
  const duals = forward(formula, at, by);
  const reverse = backward(formula, at);
  const formulas = derivation(o, formula, by);
  const exact = duals.lines.at(-1)?.change ?? 0;
  const errors = valley((h) => onwards(along, t, h), exact, steps(EACH));
  return {
    ...{ tree, formula, along, t, duals, reverse, formulas, exact },
    seen: { t: seen, f: heightsOf(along, seen, [0, 1]) ?? [-1, 1] },
    value: f(at.x, at.y),
    derivative: formulas[formulas.length - 1].formula,
    gradient: { x: gradientOf(reverse, "x"), y: gradientOf(reverse, "y") },
    /** The step at which the one-sided difference is closest. */
    best: errors.reduce((a, b) => (b.error < a.error ? b : a), {
      ...{ h: NaN, error: Infinity },
    }),
    size: written(formula),
    growth: growth(o, formula, by),
    steps: {
      differences: 16 * EACH,
      symbols: formulas.length - 1,
      duals: duals.lines.length,
      reverse: reverse.lines.length,
    },
    difference: (/** @type {number} */ h) => ({
      onwards: onwards(along, t, h),
      around: around(along, t, h),
    }),
  };
};
