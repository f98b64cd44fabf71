// A region of x and y, and what a function does there.

/**
 * @typedef {readonly [number, number]} Pair
 * @typedef {{ x: Pair, y: Pair }} Region
 * @typedef {(x: number, y: number) => number} F
 */

/** @param {number} value @param {Pair} range */
export const clamp = (value, [low, high]) =>
  Math.min(high, Math.max(low, value));

/** A round number nearby, of which there are about a thousand in the range. @param {number} value @param {Pair} range */
export const rounded = (value, range) => {
  const digits = 3 - Math.floor(Math.log10(range[1] - range[0]));
  return clamp(Number(value.toFixed(clamp(digits, [0, 30]))), range);
};

const SIDE = 32;

/** Larger numbers are as good as infinite: differences of them may be so. */
export const HUGE = 1e300;

/** Points all over the region. @param {Region} region */
function* grid({ x, y }) {
  for (let i = 0; i <= SIDE; ++i)
    for (let j = 0; j <= SIDE; ++j)
      yield /** @type {const} */ ([
        x[0] + ((x[1] - x[0]) * i) / SIDE,
        y[0] + ((y[1] - y[0]) * j) / SIDE,
      ]);
}

/**
 * A sensible range of heights for a picture: all that there are, but for a few that would dwarf the
 * rest. Undefined where f has no finite value.
 *
 * @param {F} f
 * @param {Pair} x
 * @param {Pair} y
 * @returns {Pair | undefined}
 */
export const heightsOf = (f, x, y) => {
  const found = [...grid({ x, y })]
    .map(([px, py]) => f(px, py))
    .filter((z) => Math.abs(z) < HUGE)
    .sort((a, b) => a - b);
  if (!found.length) return undefined;
  const at = (/** @type {number} */ part) =>
    found[Math.round(part * (found.length - 1))];
  const spread = at(0.96) - at(0.04);
  const low = Math.max(at(0), at(0.04) - 0.6 * spread);
  const high = Math.min(at(1), at(0.96) + 0.6 * spread);
  // and some room for what goes beyond, as an approximation does
  const more = (high - low) / 8;
  if (more > 1e-9 * Math.max(Math.abs(low), Math.abs(high)))
    return [low - more, high + more];
  // a level surface goes to the middle of its box
  const room = Math.abs(at(0.5)) / 2 || 1;
  return [at(0.5) - room, at(0.5) + room];
};

/**
 * The point itself if it is in the region and f has a value there, else the nearest that is.
 *
 * @param {F} f
 * @param {Region} region
 * @param {Pair} point
 * @returns {Pair | undefined}
 */
export const nearestPoint = (f, { x, y }, [px, py]) => {
  const inside = /** @type {const} */ ([clamp(px, x), clamp(py, y)]);
  if (Number.isFinite(f(...inside))) return inside;
  const distance = (/** @type {Pair} */ [qx, qy]) =>
    Math.hypot((qx - px) / (x[1] - x[0]), (qy - py) / (y[1] - y[0]));
  return [...grid({ x, y })]
    .filter((q) => Number.isFinite(f(...q)))
    .sort((p, q) => distance(p) - distance(q))[0];
};
