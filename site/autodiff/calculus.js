// Derivatives: one rule for each operation, and the two ways to chain them, forward and backward.
//
// An algebra says what is calculated with: `numbers`, or `expressions()`, which gives formulas. Where it
// is called, constants may be plain numbers. So the rules are written once, and the sweeps, too.

import { OPERATIONS } from "../lib/expression.js";

/**
 * @typedef {import("../lib/expression.js").Tree} Tree
 * @typedef {Extract<Tree, { kind: "call" }>} Call
 * @typedef {Record<string, (...args: any[]) => any>} Algebra
 * @typedef {{ r: any, x: any, y: any }} Given  the result of an operation, and its arguments
 * @typedef {(o: Algebra, given: Given) => any} Partial
 */

/** @type {Algebra} */
export const numbers = OPERATIONS;

/** @type {Partial} */
const zero = () => 0;
/** @type {Partial} */
const one = () => 1;
/** One over the sum of the squares. @param {Algebra} o @param {Given} given */
const inverse = (o, { x, y }) => o.div(1, o.add(o.mul(x, x), o.mul(y, y)));
/** One over the root of 1 − x². @param {Algebra} o @param {Given} given */
const arc = (o, { x }) => o.div(1, o.sqrt(o.sub(1, o.mul(x, x))));
/** 1 where a > b, 0 where a < b, and both halves where they are equal. @param {Algebra} o @param {any} a @param {any} b */
const larger = (o, a, b) => o.div(o.add(1, o.sign(o.sub(a, b))), 2);

/** The derivatives of each operation by its arguments. @type {Record<string, Partial[]>} */
export const RULES = {
  add: [one, one],
  sub: [one, () => -1],
  mul: [(_, { y }) => y, (_, { x }) => x],
  div: [(o, { y }) => o.div(1, y), (o, { r, y }) => o.neg(o.div(r, y))],
  neg: [() => -1],
  pow: [
    (o, { x, y }) => o.mul(y, o.pow(x, o.sub(y, 1))),
    (o, { r, x }) => o.mul(r, o.log(x)),
  ],
  sin: [(o, { x }) => o.cos(x)],
  cos: [(o, { x }) => o.neg(o.sin(x))],
  tan: [(o, { r }) => o.add(1, o.mul(r, r))],
  asin: [arc],
  acos: [(o, given) => o.neg(arc(o, given))],
  atan: [(o, { x }) => o.div(1, o.add(1, o.mul(x, x)))],
  sinh: [(o, { x }) => o.cosh(x)],
  cosh: [(o, { x }) => o.sinh(x)],
  tanh: [(o, { r }) => o.sub(1, o.mul(r, r))],
  exp: [(_, { r }) => r],
  log: [(o, { x }) => o.div(1, x)],
  log2: [(o, { x }) => o.div(1, o.mul(o.log(2), x))],
  log10: [(o, { x }) => o.div(1, o.mul(o.log(10), x))],
  sqrt: [(o, { r }) => o.div(1, o.mul(2, r))],
  cbrt: [(o, { r }) => o.div(1, o.mul(3, o.mul(r, r)))],
  abs: [(o, { x }) => o.sign(x)],
  sign: [zero],
  floor: [zero],
  ceil: [zero],
  min: [(o, { x, y }) => larger(o, y, x), (o, { x, y }) => larger(o, x, y)],
  max: [(o, { x, y }) => larger(o, x, y), (o, { x, y }) => larger(o, y, x)],
  atan2: [
    (o, given) => o.mul(given.y, inverse(o, given)),
    (o, given) => o.neg(o.mul(given.x, inverse(o, given))),
  ],
  hypot: [(o, { r, x }) => o.div(x, r), (o, { r, y }) => o.div(y, r)],
};

/** All different subexpressions, each after its arguments. @param {...Tree} roots */
export const inOrder = (...roots) => {
  /** @type {Set<Tree>} */
  const found = new Set();
  const visit = (/** @type {Tree} */ tree) => {
    if (found.has(tree)) return;
    if (tree.kind === "call") tree.args.forEach(visit);
    found.add(tree);
  };
  roots.forEach(visit);
  return [...found];
};

/** Those that depend on one of these variables. @param {Tree[]} order @param {string[]} names */
export const dependent = (order, names) => {
  /** @type {Set<Tree>} */
  const found = new Set();
  for (const tree of order)
    if (
      tree.kind === "call"
        ? tree.args.some((arg) => found.has(arg))
        : tree.kind === "variable" && names.includes(tree.name)
    )
      found.add(tree);
  return found;
};

/**
 * The values of subexpressions in order, from those of the variables.
 *
 * @param {Tree[]} order
 * @param {Algebra} o
 * @param {Record<string, any>} at
 */
export const evaluate = (order, o, at) => {
  /** @type {Map<Tree, any>} */
  const values = new Map();
  for (const tree of order)
    if (tree.kind === "number") values.set(tree, tree.value);
    else if (tree.kind === "variable") values.set(tree, at[tree.name]);
    else
      values.set(tree, o[tree.op](...tree.args.map((arg) => values.get(arg))));
  return values;
};

/**
 * The derivatives of a subexpression by its arguments, as far as they are in `active`.
 *
 * @param {Call} tree
 * @param {Algebra} o
 * @param {Map<Tree, any>} values
 * @param {Set<Tree>} active
 * @returns {{ arg: Tree, partial: any }[]}
 */
export const partials = (tree, o, values, active) => {
  const [x, y] = tree.args.map((arg) => values.get(arg));
  const given = { r: values.get(tree), x, y };
  return tree.args.flatMap((arg, k) =>
    active.has(arg) ? [{ arg, partial: RULES[tree.op][k](o, given) }] : [],
  );
};

/** @param {Algebra} o @param {any} a @param {any} b */
const plus = (o, a, b) => (a === undefined ? b : o.add(a, b));

/**
 * Forward: how fast each subexpression changes with the variable `by`, one after the other. Those that do
 * not are left out.
 *
 * @param {Tree[]} order
 * @param {Algebra} o
 * @param {Map<Tree, any>} values
 * @param {string} by
 * @param {Map<Tree, any>} found  empty; in the end, what was looked for
 */
export function* tangents(order, o, values, by, found) {
  const active = dependent(order, [by]);
  for (const tree of active) {
    let sum = tree.kind === "variable" ? 1 : undefined;
    if (tree.kind === "call")
      for (const { arg, partial } of partials(tree, o, values, active))
        sum = plus(o, sum, o.mul(partial, found.get(arg)));
    found.set(tree, sum);
    yield { tree, sum };
  }
}

/**
 * Backward: how fast the last subexpression changes with each. Gives one contribution at a time, the first
 * of which is that it changes as fast as itself.
 *
 * @param {Tree[]} order
 * @param {Algebra} o
 * @param {Map<Tree, any>} values
 * @param {Map<Tree, any>} found  empty; in the end, what was looked for
 * @returns {Generator<{ from?: Tree, to: Tree, partial: any, part: any }, void>}
 */
export function* adjoints(order, o, values, found) {
  const active = dependent(order, ["x", "y"]);
  const last = order[order.length - 1];
  if (!active.has(last)) return;
  found.set(last, 1);
  yield { to: last, partial: 1, part: 1 };
  for (const from of [...active].reverse()) {
    if (from.kind !== "call") continue;
    for (const { arg, partial } of partials(from, o, values, active)) {
      const part = o.mul(found.get(from), partial);
      found.set(arg, plus(o, found.get(arg), part));
      yield { from, to: arg, partial, part };
    }
  }
}

/** All that a sweep finds. @template T @param {(found: Map<Tree, T>) => Generator} sweep */
export const whole = (sweep) => {
  /** @type {Map<Tree, T>} */
  const found = new Map();
  for (const _ of sweep(found));
  return found;
};
