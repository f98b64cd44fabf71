// The two sweeps of automatic differentiation as programs, line by line, with what each line computes.

import { adjoints, evaluate, inOrder, numbers, tangents } from "./calculus.js";
import { expressions, text } from "./formula.js";

/**
 * @typedef {import("../lib/expression.js").Tree} Tree
 * @typedef {"value" | "dual" | "adjoint"} Kind
 *
 * @typedef {object} Line
 * @property {Kind} kind
 * @property {string[]} texts
 * @property {Tree} to  what it is about
 * @property {Tree[]} from  what it uses
 * @property {number} value
 * @property {number} [change]  its tangent, or its adjoint as far as it is known now
 * @property {number} [partial]  what an adjoint was multiplied by on its way
 *
 * @typedef {object} Sweep
 * @property {Tree[]} order
 * @property {Map<Tree, string>} names
 * @property {Map<Tree, number>} values
 * @property {Line[]} lines
 */

/** What stands above the names of tangents and adjoints. */
const DOT = "\u0307";
const BAR = "\u0304";

/** @param {string} name @param {string} accent */
const accented = (name, accent) =>
  (name[0] + accent + name.slice(1)).normalize();

/** What subexpressions are called: x, y, numbers, and v1, v2, … @param {Tree[]} order */
const namesOf = (order) => {
  let count = 0;
  return new Map(
    order.map((tree) => [
      tree,
      tree.kind === "call" ? `v${++count}` : text(tree),
    ]),
  );
};

/** @param {string} name @returns {Tree} */
const variable = (name) => ({ kind: "variable", name });

/** What the sweeps have in common. @param {Tree} tree @param {Record<string, number>} at */
const prepared = (tree, at) => {
  const order = inOrder(tree);
  const names = namesOf(order);
  const symbols = new Map(
    order.map((part) => [
      part,
      part.kind === "number" ? part.value : variable(names.get(part) ?? ""),
    ]),
  );
  const values = evaluate(order, numbers, at);
  const nameOf = (/** @type {Tree} */ part) => names.get(part) ?? "";
  const valueOf = (/** @type {Tree} */ part) => values.get(part) ?? NaN;
  /** @type {(part: import("./calculus.js").Call) => string} */
  const definition = ({ op, args }) =>
    text({ kind: "call", op, args: args.map((arg) => variable(nameOf(arg))) });
  return { order, names, symbols, values, nameOf, valueOf, definition };
};

/** Dual numbers: value and tangent together. @param {Tree} tree @param {Record<string, number>} at @param {string} by @returns {Sweep} */
export const forward = (tree, at, by) => {
  const p = prepared(tree, at);
  const o = expressions();
  /** @type {Map<Tree, string>} */
  const texts = new Map();
  const [found, dots] = [new Map(), new Map()];
  for (const { tree: part, sum } of tangents(p.order, o, p.symbols, by, dots)) {
    const name = accented(p.nameOf(part), DOT);
    texts.set(part, `${name} = ${text(o.lift(sum))}`);
    dots.set(part, variable(name));
  }
  for (const _ of tangents(p.order, numbers, p.values, by, found));
  /** @type {Line[]} */
  const lines = p.order
    .filter((part) => part.kind !== "number")
    .map((part) => ({
      kind: "dual",
      texts: [
        `${p.nameOf(part)} = ${part.kind === "call" ? p.definition(part) : p.valueOf(part)}`,
        texts.get(part) ?? `${accented(p.nameOf(part), DOT)} = 0`,
      ],
      to: part,
      from: part.kind === "call" ? part.args : [],
      value: p.valueOf(part),
      change: found.get(part) ?? 0,
    }));
  return { order: p.order, names: p.names, values: p.values, lines };
};

/** Values first, then adjoints, backwards. @param {Tree} tree @param {Record<string, number>} at @returns {Sweep} */
export const backward = (tree, at) => {
  const p = prepared(tree, at);
  const o = expressions();
  /** @type {Line[]} */
  const lines = p.order.flatMap((part) =>
    part.kind === "call"
      ? {
          kind: /** @type {const} */ ("value"),
          texts: [`${p.nameOf(part)} = ${p.definition(part)}`],
          ...{ to: part, from: part.args, value: p.valueOf(part) },
        }
      : [],
  );
  const [found, bars] = [new Map(), new Map()];
  const reached = new Set();
  const symbolic = adjoints(p.order, o, p.symbols, bars);
  for (const { from, to, partial, part } of adjoints(
    p.order,
    numbers,
    p.values,
    found,
  )) {
    const step = symbolic.next().value;
    const name = accented(p.nameOf(to), BAR);
    const sign = reached.has(to) ? "+=" : "=";
    reached.add(to);
    bars.set(to, variable(name));
    lines.push({
      kind: "adjoint",
      texts: [`${name} ${sign} ${text(o.lift(step ? step.part : part))}`],
      to,
      from: from ? [from] : [],
      value: p.valueOf(to),
      ...{ change: found.get(to), partial: from && partial },
    });
  }
  return { order: p.order, names: p.names, values: p.values, lines };
};

/** The part of what is known of the derivatives by x and y after a sweep. @param {Sweep} sweep @param {string} name */
export const gradientOf = ({ lines }, name) =>
  lines.findLast(
    ({ kind, to }) =>
      kind === "adjoint" && to.kind === "variable" && to.name === name,
  )?.change ?? 0;
