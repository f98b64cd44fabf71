// The pictures of the page about deblurring, and the curves of loss and error.

import { SIDE } from "./blur.js";
import { font, token } from "./picture.js";
import { Scale, axes, dot, polyline } from "./plot.js";

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

const DOMAIN = /** @type {Pair} */ ([1e-3, 1e4]);

/**
 * Loss and error, step by step, both axes logarithmic.
 *
 * @param {CanvasRenderingContext2D} ctx
 * @param {Size} size
 * @param {{ losses: number[], errors: number[], nearest: number }} run
 */
export const drawCurves = (
  ctx,
  { width, height },
  { losses, errors, nearest },
) => {
  const most = Math.max(1000, losses.length);
  const x = new Scale([1, most], [36, width - 10], true);
  const y = new Scale(DOMAIN, [height - 24, 26], true);
  axes(ctx, x, y, { x: "steps", y: "" });
  ctx.font = font();
  ctx.textBaseline = "top";
  ctx.textAlign = "right";
  [
    { name: "error", values: errors, colour: token("--blue"), at: 56 },
    { name: "loss", values: losses, colour: token("--rose"), at: 10 },
  ].forEach(({ name, values, colour, at }) => {
    ctx.fillStyle = colour;
    ctx.fillText(name, width - at, 6);
    const points = values.map((value, k) => {
      const inside = Math.min(DOMAIN[1], Math.max(DOMAIN[0], value));
      return /** @type {Pair} */ ([x.at(k + 1), y.at(inside)]);
    });
    if (!points.length) return;
    ctx.strokeStyle = colour;
    ctx.lineWidth = 2;
    polyline(ctx, points);
    dot(ctx, points[points.length - 1], 4, colour);
    if (name === "error" && nearest < points.length - 1)
      dot(ctx, points[nearest], 4, colour);
  });
};
