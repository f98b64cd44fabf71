// What value, gradient and Hessian at a point say of a function near it.

/**
 * @typedef {readonly [number, number]} Pair
 * @typedef {readonly number[]} Row
 * @typedef {{ z: number, g: Row, h: readonly Row[] }} Derivatives
 */

/** Whether all of them are there. @param {Derivatives} derivatives */
export const areFinite = ({ z, g, h }) =>
  [z, ...g, ...h[0], ...h[1]].every(Number.isFinite);

/**
 * The approximation around `point`: the tangent plane, and with it the curvature if `order` is 2.
 *
 * @param {Derivatives} derivatives
 * @param {Pair} point
 * @param {number} order
 * @returns {(x: number, y: number) => number}
 */
export const taylor = ({ z, g, h }, point, order) => {
  const [[a, b], [c, d]] =
    order === 2
      ? h
      : [
          [0, 0],
          [0, 0],
        ];
  return (x, y) => {
    const dx = x - point[0];
    const dy = y - point[1];
    const bend = a * dx * dx + (b + c) * dx * dy + d * dy * dy;
    return z + g[0] * dx + g[1] * dy + bend / 2;
  };
};

/**
 * The smallest and the largest curvature: the eigenvalues of the Hessian.
 *
 * @param {Derivatives["h"]} h
 * @returns {Pair}
 */
export const curvatures = ([[a, b], [, d]]) => {
  const middle = (a + d) / 2;
  const half = Math.hypot((a - d) / 2, b);
  return [middle - half, middle + half];
};

/** The shape that curvatures make, in words: by the signs of the two. @type {Record<string, string>} */
const SHAPES = {
  "1 1": "a bowl: it bends up whichever way you go",
  "-1 -1": "a dome: it bends down whichever way you go",
  "-1 1": "a saddle: it bends up one way and down the other",
  "0 1": "a trough: it bends up one way and not at all the other",
  "-1 0": "a ridge: it bends down one way and not at all the other",
  "0 0": "flat: it does not bend at all",
};

/** @param {Derivatives} derivatives */
export const shape = (derivatives) => {
  if (!areFinite(derivatives))
    return "nothing: a derivative is not finite here";
  const found = curvatures(derivatives.h);
  const tiny = 1e-9 * Math.max(...found.map(Math.abs));
  const signs = found.map((v) => (Math.abs(v) <= tiny ? 0 : Math.sign(v)));
  return SHAPES[signs.join(" ")];
};
