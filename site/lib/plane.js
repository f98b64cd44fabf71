// Vectors in the plane, as pairs of Reals.

import { add, mul, sub } from "../../rose.js";

/** @typedef {import("../../rose.js").Real} Real */
/** @typedef {readonly Real[]} Pair  of two */

/** @param {Pair} a @param {Pair} b */
export const plus = (a, b) => [add(a[0], b[0]), add(a[1], b[1])];

/** @param {Pair} a @param {Pair} b */
export const minus = (a, b) => [sub(a[0], b[0]), sub(a[1], b[1])];

/** @param {Real} k @param {Pair} a */
export const times = (k, a) => [mul(k, a[0]), mul(k, a[1])];

/** @param {Pair} a @param {Pair} b */
export const dot = (a, b) => add(mul(a[0], b[0]), mul(a[1], b[1]));
