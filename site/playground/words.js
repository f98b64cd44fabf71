// What the playground says in words and numbers.

import { format } from "../lib/format.js";

/** @typedef {import("./workshop.js").Made} Made */

/** A value as one writes it: numbers, arrays and structs. @param {any} x @returns {string} */
export const written = (x) => {
  if (typeof x === "number") return format(x, 7);
  if (typeof x !== "object" || x === null) return String(x);
  if (Array.isArray(x)) return `[${x.map(written).join(", ")}]`;
  const fields = Object.entries(x).map(([k, v]) => `${k}: ${written(v)}`);
  return `{ ${fields.join(", ")} }`;
};

/** Milliseconds of calls from which their time is told, and how often that is done. */
const LONG = 3;
const ROUNDS = 3;

/** How many nanoseconds a call takes, on the average of many. @param {() => unknown} call */
const timed = (call) => {
  const began = performance.now();
  let calls = 0;
  let passed = 0;
  for (let each = 1; passed < LONG; each *= 2) {
    for (let k = 0; k < each; ++k) call();
    calls += each;
    passed = performance.now() - began;
  }
  return (passed / calls) * 1e6;
};

/** How long a call takes at best, as text. @param {() => unknown} call */
const perCall = (call) => {
  const times = Array.from({ length: ROUNDS }, () => timed(call));
  const best = Math.min(...times);
  if (best < 1e3) return `${format(best, 2)} ns`;
  if (best < 1e6) return `${format(best / 1e3, 2)} µs`;
  return `${format(best / 1e6, 2)} ms`;
};

/** How many operations a program in the IR has. @param {string} ir */
export const operations = (ir) => ir.match(/^\s*let /gm)?.length ?? 0;

/** What a program gives at a point, with its derivatives, and in what time: rows of names and values. @param {Made} made @param {unknown[]} point */
export const numbersOf = ({ value, gradient, refusal, took }, point) => {
  const rows = [["f", written(value(...point))]];
  if (refusal) rows.push(["derivatives", refusal]);
  else {
    const { grad } = gradient(...point);
    const parts = point.length === 1 ? [grad] : point.map((_, k) => grad[k]);
    parts.forEach((part, k) =>
      rows.push([`by argument ${k + 1}`, written(part)]),
    );
  }
  rows.push(["a call of f", perCall(() => value(...point))]);
  if (!refusal)
    rows.push(
      ["with derivatives", perCall(() => gradient(...point))],
      ["derived and compiled in", `${format(took ?? 0, 2)} ms`],
    );
  return rows;
};

/** The text of a program in this form. @param {Made} made @param {string} form */
export const listingOf = ({ seen, derived, refusal }, form) => {
  if (form === "program") return seen.ir;
  if (form === "wasm") return (derived ?? seen).wat;
  if (!derived) return refusal ?? "";
  return form === "asked" ? derived.recorded : derived.ir;
};

/** How two programs compare, as they were recorded and at a point. @param {Made} a @param {Made} b @param {unknown[]} point */
export const comparison = (a, b, point) => {
  if (a.seen.recorded === b.seen.recorded)
    return "Both record the same program, instruction by instruction.";
  const [x, y] = [a, b].map((made) => {
    try {
      return JSON.stringify((made.gradient ?? made.value)(...point));
    } catch {
      return NaN; // which is the same as nothing else
    }
  });
  return x === y
    ? "Two programs that give the same here, to the last digit."
    : "Two programs that do not give the same here.";
};
