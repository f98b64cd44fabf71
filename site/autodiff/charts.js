// The charts of the page about automatic differentiation, as data: errors of differences, and growth.

import { LEAST, RANGE, around, onwards, steps, valley } from "./differences.js";
import { HUGE, clamp } from "../lib/region.js";

/**
 * @typedef {import("../lib/plot.js").Pair} Pair
 * @typedef {import("../lib/line-chart.js").Chart} Chart
 * @typedef {import("./view.js").Slopes} Slopes
 */

/** @param {Pair} exponents @returns {Pair} */
const powers = ([low, high]) => [10 ** low, 10 ** high];

/** Where there is anything to see of errors. @param {number} exact @returns {Pair} */
const errorsSeen = (exact) => {
  const size = Math.abs(exact);
  return [LEAST, 10 * (size < HUGE ? Math.max(1, size) : 1)];
};

/** The step, and the error that is seen there. @param {Slopes} slopes @returns {Pair} */
export const errorAt = ({ f, t, h, exact }) => [
  h,
  clamp(Math.abs(onwards(f, t, h) - exact), errorsSeen(exact)),
];

const DIFFERENCES = [
  { slope: around, colour: "--soft" },
  { slope: onwards, colour: "--rose" },
];

/** The errors of a difference, for these steps. @param {Slopes} slopes @param {typeof around} slope @param {number[]} hs */
const errorsOf = ({ f, t, exact }, slope, hs) =>
  valley((step) => slope(f, t, step), exact, hs).map(
    ({ h, error }) => /** @type {Pair} */ ([h, error]),
  );

/** Of steps of all sizes, by function, which is another one at another point. @type {WeakMap<Slopes["f"], Pair[][]>} */
const known = new WeakMap();

/** The errors of both differences, for steps of all sizes, and for the one that is taken. @param {Slopes} slopes @returns {Chart} */
export const errors = (slopes) => {
  const { f, h, exact } = slopes;
  const all =
    known.get(f) ??
    DIFFERENCES.map(({ slope }) => errorsOf(slopes, slope, steps(12)));
  known.set(f, all);
  return {
    x: { name: "h", log: true, domain: powers(RANGE) },
    y: { name: "error", log: true, domain: errorsSeen(exact) },
    still: true,
    series: DIFFERENCES.flatMap(({ slope, colour }, k) => [
      { colour, points: all[k] },
      { colour, points: errorsOf(slopes, slope, [h]), dots: [0] },
    ]),
  };
};

/**
 * Sizes of formulas and of programs, as a function is put into itself.
 *
 * @param {{ bulk: number[], shared: number[] }} growth
 * @returns {Chart}
 */
export const sizes = ({ bulk, shared }) => {
  const most = Math.ceil(Math.log10(Math.max(10, ...bulk, ...shared)));
  return {
    x: { name: "times", domain: [1, bulk.length] },
    y: { name: "operations", log: true, domain: powers([0, most]) },
    series: [
      { name: "formula", colour: "--rose", values: bulk },
      { name: "program", colour: "--blue", values: shared },
    ].map(({ name, colour, values }) => ({
      ...{ name, colour, dots: [...values.keys()] },
      points: values.map((value, k) => /** @type {Pair} */ ([k + 1, value])),
    })),
  };
};
