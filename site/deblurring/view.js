// The pictures of the page about deblurring, and the curves of loss and error.

import { SIDE } from "./blur.js";
import { drawChart } from "../lib/line-chart.js";

/** @typedef {import("../lib/picture.js").Size} Size */
/** @typedef {import("../lib/plot.js").Pair} Pair */

const small = new OffscreenCanvas(SIDE, SIDE);
const image = new ImageData(SIDE, SIDE);

/** Of numbers the `scale` times, from `dark` on. @param {CanvasRenderingContext2D} ctx @param {Size} size @param {Float64Array} numbers */
export const drawPixels = (
  ctx,
  { width, height },
  numbers,
  scale = 1,
  dark = 0,
) => {
  const { data } = image;
  const [times, from] = [255 * scale, 255 * dark];
  for (let at = 0, k = 0; k < numbers.length; at += 4, k += 3) {
    data[at] = from + times * numbers[k];
    data[at + 1] = from + times * numbers[k + 1];
    data[at + 2] = from + times * numbers[k + 2];
    data[at + 3] = 255;
  }
  const canvas = /** @type {OffscreenCanvasRenderingContext2D} */ (
    small.getContext("2d")
  );
  canvas.putImageData(image, 0, 0);
  ctx.drawImage(small, 0, 0, width, height);
};

/** Around grey: what is to become darker is bright. @param {CanvasRenderingContext2D} ctx @param {Size} size @param {Float64Array} slopes */
export const drawSlopes = (ctx, size, slopes) => {
  let most = 1e-300;
  for (let k = 0; k < slopes.length; ++k)
    most = Math.max(most, Math.abs(slopes[k]));
  drawPixels(ctx, size, slopes, 0.5 / most, 0.5);
};

const STEPS = { name: "steps", log: true };
const LOSSES = {
  name: "",
  log: true,
  domain: /** @type {Pair} */ ([1e-3, 1e4]),
};
const NO_STEPS = { losses: [], errors: [], nearest: 0 };
const MARGIN = { left: 36, right: 10, top: 26, bottom: 24 };

/**
 * Loss and error, step by step, both axes logarithmic.
 *
 * @param {CanvasRenderingContext2D} ctx
 * @param {Size} size
 * @param {{ losses: number[], errors: number[], nearest: number }} [run]  none: the axes alone
 */
export const drawCurves = (ctx, size, run = NO_STEPS) => {
  const { losses, errors, nearest } = run;
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
