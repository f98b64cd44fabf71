// The heights of a surface on a grid over its box: to draw it by, and to know what it hides.

import { HALF } from "./camera.js";
import { HUGE, clamp } from "../lib/region.js";

/**
 * @typedef {import("./camera.js").Box} Box
 * @typedef {import("./camera.js").Look} Look
 * @typedef {import("./camera.js").Pair} Pair
 */

/** Cells along each axis. */
export const CELLS = 36;

/** How far it is from one place to the next along a line of sight, in half widths of the box: at first, and at most. */
const FIRST = 1 / 64;
const LAST = 1 / 12;

/** How far it is to the side of the unit box. @param {number} u @param {number} direction */
const exit = (u, direction) =>
  direction ? (1 - u * Math.sign(direction)) / Math.abs(direction) : Infinity;

/** The value at a line of the grid. @param {Pair} ends @param {number} k */
const lineAt = ([low, high], k) => low + ((high - low) * k) / CELLS;

export class Relief {
  /** @param {(x: number, y: number) => number} f @param {Box} box */
  constructor(f, box) {
    const lines = Array.from({ length: CELLS + 1 }, (_, k) => k);
    this.x = lines.map((k) => lineAt(box.x, k));
    this.y = lines.map((k) => lineAt(box.y, k));
    /** `z[i][j]` is the height at `x[i]`, `y[j]`. */
    this.z = this.x.map((x) => this.y.map((y) => f(x, y)));
    const middle = (box.z[0] + box.z[1]) / 2;
    const unit = HALF / (box.z[1] - middle);
    const inBox = (/** @type {number} */ z) =>
      Math.abs(z) < HUGE ? unit * (clamp(z, box.z) - middle) : NaN;
    /** The same within the box and in its units, row by row. */
    this.heights = Float64Array.from(this.z.flat(), inBox);
  }

  /** The height over a point of the unit box, between the grid's. @param {number} u @param {number} v */
  over(u, v) {
    const { heights } = this;
    const [s, t] = [((u + 1) * CELLS) / 2, ((v + 1) * CELLS) / 2];
    const [i, j] = [Math.min(CELLS - 1, s | 0), Math.min(CELLS - 1, t | 0)];
    const k = i * (CELLS + 1) + j;
    const near = heights[k] + (t - j) * (heights[k + 1] - heights[k]);
    const far = k + CELLS + 1;
    return (
      near +
      (s - i) *
        (heights[far] + (t - j) * (heights[far + 1] - heights[far]) - near)
    );
  }

  /**
   * Along the line of sight, from a point of the unit box until it leaves the box: how far it stays above the
   * surface, and how far below, where each is negative if it does not.
   *
   * @param {Look} look
   * @param {number} u
   * @param {number} v
   * @param {number} w
   * @returns {Pair}
   */
  passes({ sin, cos, up, back }, u, v, w) {
    const rise = back / up;
    const end = Math.min(
      exit(u, -sin),
      exit(v, -cos),
      Math.max(0, (HALF - w) / rise),
    );
    let [above, below] = end ? [HALF, HALF] : [0, 0];
    let step = FIRST;
    for (let t = 0; t < end;) {
      t = Math.min(end, t + step);
      step = Math.min(LAST, 1.5 * step);
      const gap = w + t * rise - this.over(u - t * sin, v - t * cos);
      // and not where it is no number
      if (gap < above) above = gap;
      if (-gap < below) below = -gap;
    }
    return [above, below];
  }
}

/** @type {WeakMap<Function, { of: string, relief: Relief }>} */
const known = new WeakMap();

/** The relief of a function, which is kept until it is asked for in another box. @param {(x: number, y: number) => number} f @param {Box} box */
export const reliefOf = (f, box) => {
  const of = [...box.x, ...box.y, ...box.z].join();
  let found = known.get(f);
  if (found?.of !== of)
    known.set(f, (found = { of, relief: new Relief(f, box) }));
  return found.relief;
};
