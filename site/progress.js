// A curve of what was reached, try by try.

import { token } from "./picture.js";
import { Scale, axes, dot, polyline } from "./plot.js";

/** @typedef {import("./plot.js").Pair} Pair */

/** So many tries have room before the axis grows. */
const ROOM = 100;

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {import("./picture.js").Size} size
 * @param {object} plot
 * @param {string} plot.name  of the values
 * @param {Pair} plot.domain  the values that are seen
 * @param {boolean} [plot.log]
 * @param {number[]} plot.values
 * @param {number} plot.shown  the try that has a dot
 */
export const drawProgress = (ctx, { width, height }, plot) => {
  const { name, domain, log, values, shown } = plot;
  const x = new Scale([0, Math.max(ROOM, values.length - 1)], [48, width - 14]);
  const y = new Scale(domain, [height - 26, 26], log);
  axes(ctx, x, y, { x: "tries", y: name });
  const [low, high] = domain;
  const points = values.map((value, k) => {
    const inside = Math.min(high, Math.max(low, value));
    return /** @type {Pair} */ ([x.at(k), y.at(inside)]);
  });
  if (!points.length) return;
  ctx.strokeStyle = token("--rose");
  ctx.lineWidth = 2;
  polyline(ctx, points);
  dot(ctx, points[shown], 4.5, token("--rose"));
};
