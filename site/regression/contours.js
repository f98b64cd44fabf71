// Heights over a plane as a map: tints, and lines of equal height.

import { layer } from "../lib/layer.js";
import { rgb, token } from "../lib/theme.js";

/**
 * @typedef {import("../lib/layer.js").Context} Context
 * @typedef {import("../lib/plot.js").Scale} Scale
 */

const CELLS = 96;

/**
 * Draw a map, which takes its time only where it is another than in the frame before.
 *
 * @param {CanvasRenderingContext2D} ctx
 * @param {Scale} x
 * @param {Scale} y
 * @param {object} of  what the function belongs to, another object where it is another function
 * @param {(x: number, y: number) => number} f
 * @param {{ levels: readonly number[], tint: (height: number) => number }} heights  `tint` gives 0
 *   for the colour of valleys, 1 for that of hills
 */
export const drawHeights = (ctx, x, y, of, f, heights) => {
  const axes = [x, y].flatMap(({ domain, range }) => [...domain, ...range]);
  const draw = (/** @type {Context} */ still) => paint(still, x, y, f, heights);
  layer(ctx, "heights", [of, ...axes], draw, true);
};

/**
 * @param {Context} ctx
 * @param {Scale} x
 * @param {Scale} y
 * @param {(x: number, y: number) => number} f
 * @param {{ levels: readonly number[], tint: (height: number) => number }} heights
 */
const paint = (ctx, x, y, f, { levels, tint }) => {
  const side = CELLS + 1;
  const width = (x.range[1] - x.range[0]) / CELLS;
  const height = (y.range[1] - y.range[0]) / CELLS;
  const heights = new Float64Array(side * side);
  for (let j = 0; j < side; ++j)
    for (let i = 0; i < side; ++i)
      heights[j * side + i] = f(
        x.from(x.range[0] + i * width),
        y.from(y.range[0] + j * height),
      );
  tints(ctx, x, y, heights, tint);
  ctx.strokeStyle = token("--contour");
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (let j = 0; j < CELLS; ++j)
    for (let i = 0; i < CELLS; ++i) {
      const at = j * side + i;
      const a = heights[at];
      const b = heights[at + 1];
      const c = heights[at + side + 1];
      const d = heights[at + side];
      const low = Math.min(a, b, c, d);
      const high = Math.max(a, b, c, d);
      for (const level of levels)
        if (low < level && level <= high) {
          const corners = [a - level, b - level, c - level, d - level];
          const left = x.range[0] + i * width;
          crossing(ctx, corners, left, y.range[0] + j * height, width, height);
        }
    }
  ctx.stroke();
};

const EDGES = /** @type {const} */ ([
  [0, 0, 1, 0],
  [1, 0, 1, 1],
  [1, 1, 0, 1],
  [0, 1, 0, 0],
]);

/**
 * Add to the path where a level passes through one cell (marching squares).
 *
 * @param {Context} ctx
 * @param {readonly number[]} corners  heights above the level, around the cell
 * @param {number} left
 * @param {number} top
 * @param {number} width
 * @param {number} height
 */
const crossing = (ctx, corners, left, top, width, height) => {
  let ends = 0;
  for (let k = 0; k < 4; ++k) {
    const a = corners[k];
    const b = corners[(k + 1) & 3];
    if (a < 0 === b < 0) continue;
    const [x0, y0, x1, y1] = EDGES[k];
    const t = a / (a - b);
    const px = left + (x0 + t * (x1 - x0)) * width;
    const py = top + (y0 + t * (y1 - y0)) * height;
    if (ends++ & 1) ctx.lineTo(px, py);
    else ctx.moveTo(px, py);
  }
};

/** What tints are put on before they are drawn, a pixel each: made once, as that takes longer. */
const small = new OffscreenCanvas(CELLS + 1, CELLS + 1);
const image = new ImageData(CELLS + 1, CELLS + 1);

/**
 * @param {Context} ctx
 * @param {Scale} x
 * @param {Scale} y
 * @param {Float64Array} heights
 * @param {(height: number) => number} tint
 */
const tints = (ctx, x, y, heights, tint) => {
  const side = CELLS + 1;
  const { data } = image;
  const low = rgb("--valley");
  const high = rgb("--hill");
  // heights begin at the bottom, images at the top
  for (let j = CELLS, at = 0; j >= 0; --j)
    for (let i = 0; i < side; ++i, at += 4) {
      const t = Math.min(1, Math.max(0, tint(heights[j * side + i])));
      for (let c = 0; c < 3; ++c)
        data[at + c] = low[c] + t * (high[c] - low[c]);
      data[at + 3] = 255;
    }
  const room = /** @type {OffscreenCanvasRenderingContext2D} */ (
    small.getContext("2d")
  );
  room.putImageData(image, 0, 0);
  ctx.imageSmoothingQuality = "high";
  // samples are pixels' centres: half a pixel of each border stands over
  const width = x.range[1] - x.range[0];
  const height = y.range[0] - y.range[1];
  ctx.drawImage(
    small,
    0.5,
    0.5,
    CELLS,
    CELLS,
    x.range[0],
    y.range[1],
    width,
    height,
  );
};
