// A curve of what was reached, try by try.

import { drawChart } from "./line-chart.js";

/** So many tries have room before the axis grows. */
const ROOM = 100;

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {import("./picture.js").Size} size
 * @param {import("./line-chart.js").Axis} y
 * @param {number[]} values
 * @param {number} shown  the try that has a dot
 */
export const drawProgress = (ctx, size, y, values, shown) => {
  const most = Math.max(ROOM, values.length - 1);
  const x = { name: "tries", domain: /** @type {const} */ ([0, most]) };
  const points = values.map((value, k) => /** @type {const} */ ([k, value]));
  const series = [{ colour: "--rose", points, dots: [shown] }];
  drawChart(ctx, size, { x, y, series });
};
