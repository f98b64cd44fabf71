// Kinds of blur: what a pixel's neighbours count in its mean.

import { REACH, TAPS } from "./blur.js";

/**
 * A kernel whose weights are in the ratio of `weight`.
 *
 * @param {(x: number, y: number) => number} weight  of the neighbour that is so many pixels away
 */
const kernel = (weight) => {
  const weights = Float64Array.from({ length: TAPS ** 2 }, (_, k) =>
    weight((k % TAPS) - REACH, Math.floor(k / TAPS) - REACH),
  );
  const total = weights.reduce((a, b) => a + b);
  return weights.map((w) => w / total);
};

/** @type {Record<string, Float64Array>} */
export const KERNELS = {
  box: kernel((x, y) => (Math.abs(x) <= 1 && Math.abs(y) <= 1 ? 1 : 0)),
  wide: kernel((x, y) => (Math.abs(x) <= 2 && Math.abs(y) <= 2 ? 1 : 0)),
  focus: kernel((x, y) => (Math.hypot(x, y) <= 3.2 ? 1 : 0)),
  fog: kernel((x, y) => Math.exp(-(x * x + y * y) / (2 * 1.4 ** 2))),
  shake: kernel((x, y) => (x === -y ? 1 : 0)),
};
