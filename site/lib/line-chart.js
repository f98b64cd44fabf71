// Charts of one or more series of numbers, as curves over two axes.

import { layer } from "./layer.js";
import { font, token } from "./theme.js";
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
 * @property {string} colour  of style/tokens.css
 * @property {readonly Pair[]} points
 * @property {readonly number[]} [dots]  the numbers of points that are marked
 * @property {string} [name]
 * @property {boolean} [isPast]  it is drawn faintly
 *
 * @typedef {object} Chart
 * @property {Axis} x
 * @property {Axis} y
 * @property {readonly Series[]} series
 * @property {boolean} [still]  whether points that are the same are in the same arrays, so that curves that are
 *   as they were need not be drawn again
 * @property {typeof MARGIN} [margin]
 */

const MARGIN = { left: 48, right: 14, top: 26, bottom: 26 };

/** @param {import("./picture.js").Size} size @param {Pick<Chart, "x" | "y" | "margin">} chart */
export const scalesOf = ({ width, height }, { x, y, margin = MARGIN }) => ({
  x: new Scale(x.domain, [margin.left, width - margin.right], x.log),
  y: new Scale(y.domain, [height - margin.bottom, margin.top], y.log),
});

/**
 * Draw a chart; gives its scales.
 *
 * @param {CanvasRenderingContext2D} ctx
 * @param {import("./picture.js").Size} size
 * @param {Chart} chart
 */
export const drawChart = (ctx, size, chart) => {
  const { x, y } = scalesOf(size, chart);
  axes(ctx, x, y, { x: chart.x.name, y: chart.y.name });
  /** @param {Pair} point @returns {Pair} */
  const spot = ([px, py]) => [
    x.at(clamp(px, x.domain)),
    y.at(clamp(py, y.domain)),
  ];
  const curves = chart.series.filter(
    ({ points, name }) => name || points.length > 1,
  );
  const draw = (/** @type {import("./layer.js").Context} */ still) => {
    let right = x.range[1];
    for (const { colour, points, name = "", isPast } of curves) {
      still.strokeStyle = still.fillStyle = token(colour);
      still.font = font();
      still.textAlign = "right";
      still.textBaseline = "top";
      still.fillText(name, right, y.range[1] - 20);
      if (name) right -= still.measureText(name).width + 14;
      still.globalAlpha = isPast ? 0.35 : 1;
      still.lineWidth = isPast ? 1.5 : 2;
      polyline(still, points.map(spot));
      still.globalAlpha = 1;
    }
  };
  const of = curves.flatMap((one) => [one.points, one.name, one.isPast]);
  if (chart.still)
    layer(ctx, "curves", [...of, ...x.domain, ...y.domain], draw);
  else draw(ctx);
  for (const { colour, points, dots = [] } of chart.series)
    for (const k of dots)
      if (points[k]) dot(ctx, spot(points[k]), 4.5, token(colour));
  return { x, y };
};
