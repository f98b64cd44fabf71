// Expressions worth looking at, each with a place to look from.

/** @typedef {readonly [number, number]} Pair */

/** @type {Record<string, { text: string, x: Pair, y: Pair, point: Pair }>} */
export const PRESETS = {
  power: { text: "x**y", x: [0, 3], y: [0, 4], point: [2, 3] },
  waves: { text: "sin(x)*y", x: [-4, 4], y: [-2, 2], point: [1.5, 1.1] },
  hill: { text: "exp(-x*x-y*y)", x: [-2, 2], y: [-2, 2], point: [-0.6, -0.5] },
  saddle: { text: "x*y", x: [-2, 2], y: [-2, 2], point: [0.5, 0.5] },
  monkey: { text: "x^3-3*x*y^2", x: [-1, 1], y: [-1, 1], point: [0.3, 0.2] },
  eggs: { text: "cos(x)*cos(y)", x: [-3, 3], y: [-3, 3], point: [0.6, -0.4] },
  kink: {
    text: "max(abs(x),y*y)",
    x: [-1.5, 1.5],
    y: [-1.5, 1.5],
    point: [0.6, -0.3],
  },
  edge: { text: "sqrt(x)*log(y)", x: [-1, 4], y: [-1, 4], point: [2, 2] },
};
