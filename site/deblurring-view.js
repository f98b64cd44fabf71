// The pictures of the page about deblurring, and the curves of loss and error.

import { SIDE } from "./blur.js";
import { drawChart } from "./line-chart.js";

/** @typedef {import("./picture.js").Size} Size */
/** @typedef {import("./plot.js").Pair} Pair */

const small = new OffscreenCanvas(SIDE, SIDE);
const image = new ImageData(SIDE, SIDE);

/** @param {CanvasRenderingContext2D} ctx @param {Size} size @param {ArrayLike<number>} numbers */
export const drawPixels = (ctx, { width, height }, numbers) => {
  for (let at = 0, k = 0; k < numbers.length; at += 4, k += 3) {
    for (let c = 0; c < 3; ++c) image.data[at + c] = 255 * numbers[k + c];
    image.data[at + 3] = 255;
  }
  const canvas = /** @type {OffscreenCanvasRenderingContext2D} */ (
    small.getContext("2d")
  );
  canvas.putImageData(image, 0, 0);
  ctx.drawImage(small, 0, 0, width, height);
};

/** Around grey: what is to become darker is bright. @param {CanvasRenderingContext2D} ctx @param {Size} size @param {Float64Array} slopes */
export const drawSlopes = (ctx, size, slopes) => {
  const most = slopes.reduce((m, x) => Math.max(m, Math.abs(x)), 1e-300);
  drawPixels(
    ctx,
    size,
    slopes.map((x) => 0.5 + x / (2 * most)),
  );
};

const STEPS = { name: "steps", log: true };
const LOSSES = {
  name: "",
  log: true,
  domain: /** @type {Pair} */ ([1e-3, 1e4]),
};
const MARGIN = { left: 36, right: 10, top: 26, bottom: 24 };

/**
 * Loss and error, step by step, both axes logarithmic.
 *
 * @param {CanvasRenderingContext2D} ctx
 * @param {Size} size
 * @param {{ losses: number[], errors: number[], nearest: number }} run
 */
export const drawCurves = (ctx, size, { losses, errors, nearest }) => {
  const last = losses.length - 1;
  const domain = /** @type {Pair} */ ([1, Math.max(1000, losses.length)]);
  const points = (/** @type {number[]} */ values) =>
    values.map((value, k) => /** @type {Pair} */ ([k + 1, value]));
  drawChart(ctx, size, {
    ...{ x: { ...STEPS, domain }, y: LOSSES, margin: MARGIN },
    series: [
      { name: "loss", colour: "--rose", points: points(losses), dots: [last] },
      {
        ...{ name: "error", colour: "--blue", points: points(errors) },
        dots: [nearest, last],
      },
    ],
  });
};
