// Finite differences: what they give for a function of one number, and how far off that is.

/** @typedef {(t: number) => number} F */

/** The slope from t to t + h. @param {F} f @param {number} t @param {number} h */
export const onwards = (f, t, h) => (f(t + h) - f(t)) / h;

/** The slope from t − h to t + h. @param {F} f @param {number} t @param {number} h */
export const around = (f, t, h) => (f(t + h) - f(t - h)) / (2 * h);

/** The exponents of the smallest and the largest step. */
export const RANGE = /** @type {const} */ ([-16, 0]);

/** Powers of ten within the range, so many to each. @param {number} each */
export const steps = (each) =>
  Array.from(
    { length: (RANGE[1] - RANGE[0]) * each + 1 },
    (_, k) => 10 ** (RANGE[0] + k / each),
  );

/**
 * How far off a difference is for each step, where that is a number.
 *
 * @param {(h: number) => number} slope
 * @param {number} exact
 * @param {number[]} hs
 */
export const valley = (slope, exact, hs) =>
  hs
    .map((h) => ({ h, error: Math.abs(slope(h) - exact) }))
    .filter(({ error }) => Number.isFinite(error));

/** Errors less than this cannot be told from none. */
export const LEAST = 1e-16;
