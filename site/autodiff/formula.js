// Formulas: trees in which nothing stands twice, simplified as they are made, and as text.

import { OPERATIONS } from "../lib/expression.js";
import { RULES, dependent, inOrder, partials } from "./calculus.js";

/**
 * @typedef {import("../lib/expression.js").Tree} Tree
 * @typedef {import("./calculus.js").Algebra} Algebra
 * @typedef {import("./calculus.js").Call} Call
 */

/** @param {Tree} tree @param {number} value */
const is = (tree, value) => tree.kind === "number" && tree.value === value;

/** @param {Tree} tree @returns {Tree | undefined} what it is the negative of */
const negated = (tree) =>
  tree.kind === "call" && tree.op === "neg" ? tree.args[0] : undefined;

/**
 * What can be written more simply: from the operation and its arguments, that, or else undefined.
 *
 * @type {Record<string, (o: Algebra, a: Tree, b: Tree) => Tree | number | undefined>}
 */
const SIMPLER = {
  neg: (_, a) => negated(a),
  add: (o, a, b) => {
    if (is(a, 0)) return b;
    if (is(b, 0)) return a;
    if (negated(b)) return o.sub(a, negated(b));
    return negated(a) && o.sub(b, negated(a));
  },
  sub: (o, a, b) => {
    if (is(a, 0)) return o.neg(b);
    if (is(b, 0)) return a;
    return negated(b) && o.add(a, negated(b));
  },
  mul: (o, a, b) => {
    if (is(a, 0) || is(b, 0)) return 0;
    if (is(a, 1)) return b;
    if (is(b, 1)) return a;
    if (is(a, -1)) return o.neg(b);
    if (is(b, -1)) return o.neg(a);
    if (negated(a)) return o.neg(o.mul(negated(a), b));
    return negated(b) && o.neg(o.mul(a, negated(b)));
  },
  div: (o, a, b) => {
    if (is(a, 0)) return 0;
    if (is(b, 1)) return a;
    return negated(a) && o.neg(o.div(negated(a), b));
  },
  pow: (_, a, b) => {
    if (is(b, 0)) return 1;
    return is(b, 1) ? a : undefined;
  },
};

/** Whether a number is as easily read as what it is computed from. @param {number} value */
const isShort = (value) =>
  Number.isFinite(value) && Number(value.toPrecision(6)) === value;

/** An algebra of formulas, in which equal ones are the same object. @returns {Algebra} */
export const expressions = () => {
  /** @type {Map<string, Tree>} */
  const known = new Map();
  /** @type {Map<Tree, number>} */
  const ids = new Map();
  const unique = (/** @type {string} */ key, /** @type {Tree} */ tree) => {
    const found = known.get(key) ?? tree;
    if (found === tree) {
      known.set(key, tree);
      ids.set(tree, ids.size);
    }
    return found;
  };
  /** @param {Tree | number} x @returns {Tree} */
  const lift = (x) =>
    typeof x === "number"
      ? unique(`${x}`, { kind: "number", value: x })
      : ids.has(x)
        ? x
        : x.kind === "call"
          ? call(x.op, x.args)
          : x.kind === "number"
            ? lift(x.value)
            : unique(`name ${x.name}`, x);
  /** @param {string} op @param {(Tree | number)[]} given @returns {Tree} */
  const call = (op, given) => {
    const args = given.map(lift);
    const values = args.map((arg) =>
      arg.kind === "number" ? arg.value : undefined,
    );
    const value = values.includes(undefined)
      ? NaN
      : OPERATIONS[op](.../** @type {number[]} */ (values));
    if (isShort(value)) return lift(value);
    const simpler = SIMPLER[op]?.(algebra, args[0], args[1]);
    if (simpler !== undefined) return lift(simpler);
    const key = [op, ...args.map((arg) => ids.get(arg))].join(" ");
    return unique(key, { kind: "call", op, args });
  };
  /** @type {Algebra} */
  const algebra = { lift };
  for (const op of [...Object.keys(OPERATIONS), "d"])
    algebra[op] = (...args) => call(op, args);
  return algebra;
};

/** How often operations stand in a formula when it is written out. @param {Tree} tree */
export const written = (tree) => {
  /** @type {Map<Tree, number>} */
  const sizes = new Map();
  for (const part of inOrder(tree))
    sizes.set(
      part,
      part.kind === "call"
        ? part.args.reduce((sum, arg) => sum + (sizes.get(arg) ?? 0), 1)
        : 0,
    );
  return sizes.get(tree) ?? 0;
};

/** How many different operations there are. @param {...Tree} trees */
export const different = (...trees) =>
  inOrder(...trees).filter((tree) => tree.kind === "call").length;

/** Operators: how tightly they bind, and how they are written. @type {Record<string, [number, string]>} */
const SIGNS = {
  add: [1, " + "],
  sub: [1, " − "],
  mul: [2, "·"],
  div: [2, "/"],
  pow: [4, "^"],
};

/** Numbers that have names. */
const NAMES = new Map([
  [Math.PI, "π"],
  [Math.E, "e"],
]);

/**
 * A formula as text, which can be typed again.
 *
 * @param {Tree} tree
 * @param {string} [by]  the variable of derivatives that stand in it
 * @param {number} [least]  how tightly the outermost operator must bind
 * @returns {string}
 */
export const text = (tree, by = "x", least = 0) => {
  const inside = (/** @type {Tree} */ part, /** @type {number} */ binds) =>
    text(part, by, binds);
  if (tree.kind === "variable") return tree.name;
  const [binds, sign] =
    tree.kind === "number" || tree.op === "neg"
      ? [3, "−"]
      : (SIGNS[tree.op] ?? [9, ""]);
  let found;
  if (tree.kind === "number") {
    const { value } = tree;
    if (value >= 0) return NAMES.get(value) ?? String(value);
    found = `−${-value}`;
  } else {
    const [a, b] = tree.args;
    if (tree.op === "d") return `d/d${by}[${inside(a, 0)}]`;
    if (binds === 9)
      return `${tree.op}(${tree.args.map((arg) => inside(arg, 0)).join(", ")})`;
    found =
      tree.op === "neg"
        ? `−${inside(a, 3)}`
        : tree.op === "pow"
          ? `${inside(a, 5)}^${inside(b, 3)}`
          : `${inside(a, binds)}${sign}${inside(b, binds + 1)}`;
  }
  return binds < least ? `(${found})` : found;
};

/** The sum of what each argument contributes to the derivative. @param {Algebra} o @param {Call} tree @param {string} by */
const chained = (o, tree, by) => {
  const active = dependent(inOrder(tree), [by]);
  const itself = new Map(inOrder(tree).map((part) => [part, part]));
  return partials(tree, o, itself, active)
    .map(({ arg, partial }) =>
      o.mul(partial, arg.kind === "variable" ? 1 : o.d(arg)),
    )
    .reduce((sum, term) => o.add(sum, term), o.lift(0));
};

/** The first derivative that stands in a formula, as one reads it. @param {Tree} tree @returns {Call | undefined} */
export const pending = (tree) => {
  if (tree.kind !== "call" || tree.op === "d")
    return tree.kind === "call" ? tree : undefined;
  for (const arg of tree.args) {
    const found = pending(arg);
    if (found) return found;
  }
  return undefined;
};

/** A formula with one part replaced wherever it stands. @param {Algebra} o @param {Tree} tree @param {Tree} part @param {Tree} by */
const replaced = (o, tree, part, by) => {
  /** @type {Map<Tree, Tree>} */
  const made = new Map();
  for (const piece of inOrder(tree))
    made.set(
      piece,
      piece === part
        ? by
        : piece.kind === "call"
          ? o[piece.op](...piece.args.map((arg) => made.get(arg)))
          : piece,
    );
  return /** @type {Tree} */ (made.get(tree));
};

/** A rule as it stands in a table: `d[sin(u)] = cos(u)·d[u]`; c is what is constant. @param {Call} tree @param {string} by */
const rule = (tree, by) => {
  const o = expressions();
  const active = dependent(inOrder(tree), [by]);
  const args = tree.args.map((arg, k) => ({
    kind: "variable",
    name: active.has(arg) ? "uv"[k] : "c",
  }));
  const r = o[tree.op](...args);
  const given = { r, x: args[0], y: args[1] };
  const sum = tree.args
    .map((arg, k) =>
      active.has(arg)
        ? o.mul(RULES[tree.op][k](o, given), o.d(args[k]))
        : o.lift(0),
    )
    .reduce((sum, term) => o.add(sum, term));
  return `${text(o.d(r))} = ${text(sum)}`.replaceAll("d/dx[", "d[");
};

/**
 * The derivative of a formula, one rule after the other.
 *
 * @param {Algebra} o
 * @param {Tree} tree
 * @param {string} by
 */
export const derivation = (o, tree, by) => {
  const isConstant = !dependent(inOrder(tree), [by]).has(tree);
  /** @type {Tree} */
  let now = isConstant
    ? o.lift(0)
    : tree.kind === "variable"
      ? o.lift(1)
      : o.d(tree);
  /** @type {{ formula: Tree, rule: string }[]} */
  const steps = [{ formula: now, rule: "" }];
  for (let d = pending(now); d; d = pending(now)) {
    const inner = /** @type {Call} */ (d.args[0]);
    now = replaced(o, now, d, chained(o, inner, by));
    steps.push({ formula: now, rule: rule(inner, by) });
  }
  return steps;
};
