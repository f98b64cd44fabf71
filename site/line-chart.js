// Charts of one or more series of numbers, as curves over two axes.

import { font, token } from "./picture.js";
import { Scale, axes, dot, polyline } from "./plot.js";
import { clamp } from "./region.js";

/**
 * @typedef {import("./plot.js").Pair} Pair
 *
 * @typedef {object} Axis
 * @property {string} name
 * @property {Pair} domain  values beyond it are drawn at its ends
 * @property {boolean} [log]
 *
 * @typedef {object} Series
 * @property {string} colour  of style.css
 * @property {readonly Pair[]} points
 * @property {readonly number[]} [dots]  the numbers of points that are marked
 * @property {string} [name]
 * @property {boolean} [isPast]  it is drawn faintly
 *
 * @typedef {{ x: Axis, y: Axis, series: readonly Series[], margin?: typeof MARGIN }} Chart
 */

const MARGIN = { left: 48, right: 14, top: 26, bottom: 26 };

/** @param {import("./picture.js").Size} size @param {Pick<Chart, "x" | "y" | "margin">} chart */
export const scalesOf = ({ width, height }, { x, y, margin = MARGIN }) => ({
  x: new Scale(x.domain, [margin.left, width - margin.right], x.log),
  y: new Scale(y.domain, [height - margin.bottom, margin.top], y.log),
});

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {import("./picture.js").Size} size
 * @param {Chart} chart
 */
export const drawChart = (ctx, size, chart) => {
  const { x, y } = scalesOf(size, chart);
  axes(ctx, x, y, { x: chart.x.name, y: chart.y.name });
  let right = x.range[1];
  for (const { colour, points, dots = [], name = "", isPast } of chart.series) {
    const spots = points.map(
      ([px, py]) =>
        /** @type {Pair} */ ([
          x.at(clamp(px, x.domain)),
          y.at(clamp(py, y.domain)),
        ]),
    );
    ctx.strokeStyle = ctx.fillStyle = token(colour);
    ctx.font = font();
    ctx.textAlign = "right";
    ctx.textBaseline = "top";
    ctx.fillText(name, right, y.range[1] - 20);
    if (name) right -= ctx.measureText(name).width + 14;
    ctx.globalAlpha = isPast ? 0.35 : 1;
    ctx.lineWidth = isPast ? 1.5 : 2;
    polyline(ctx, spots);
    ctx.globalAlpha = 1;
    for (const k of dots) if (spots[k]) dot(ctx, spots[k], 4.5, token(colour));
  }
};
