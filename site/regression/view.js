// The three pictures of the regression page: the data, the landscape of the loss, and its decline.

import { drawHeights } from "./contours.js";
import { token } from "../lib/theme.js";
import { Scale, arrow, axes, clipped, dot, dots } from "../lib/plot.js";
import { line, lines, polyline } from "../lib/plot.js";
import { drawChart } from "../lib/line-chart.js";

/**
 * @typedef {import("./descent.js").Line} Line
 * @typedef {import("./descent.js").Descent} Descent
 * @typedef {import("./landscape.js").Landscape} Landscape
 * @typedef {import("../lib/picture.js").Size} Size
 * @typedef {import("../lib/plot.js").Pair} Pair
 */

const MARGIN = { left: 38, right: 12, top: 12, bottom: 26 };

/** @param {Size} size @param {Pair} x @param {Pair} y @param {boolean} [log] */
const scales = ({ width, height }, x, y, log = false, margin = MARGIN) => ({
  x: new Scale(x, [margin.left, width - margin.right], log),
  y: new Scale(y, [height - margin.bottom, margin.top], log),
});

/** Where data points may be. */
export const DATA_X = /** @type {const} */ ([0, 20]);
export const DATA_Y = /** @type {const} */ ([0, 14]);

/** @param {Size} size */
export const dataScales = (size) => scales(size, DATA_X, DATA_Y);

/**
 * The points, the line, and what the points pull at it.
 *
 * @param {CanvasRenderingContext2D} ctx
 * @param {Size} size
 * @param {import("./study.js").Study} study
 * @param {Line} at
 */
export const drawData = (ctx, size, { x, y, hinge, land }, at) => {
  const scale = dataScales(size);
  axes(ctx, scale.x, scale.y, { x: "x", y: "y" });
  const [left, right] = scale.x.range;
  const [bottom, top] = scale.y.range;
  const height = (/** @type {Line} */ l, /** @type {number} */ v) =>
    l.b0 + l.b * (v - hinge);
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top - 6, right - left + 6, bottom - top + 6);
  ctx.clip();
  ctx.strokeStyle = token("--gold");
  ctx.lineWidth = 1.5;
  /** @param {number} px @param {number} py @returns {Pair} */
  const spot = (px, py) => [scale.x.at(px), scale.y.at(py)];
  lines(
    ctx,
    x.map((xi, i) => [spot(xi, y[i]), spot(xi, height(at, xi))]),
  );
  /** @param {Line} l */
  const across = (l) => {
    const [a, b] = DATA_X;
    line(
      ctx,
      [left, scale.y.at(height(l, a))],
      [right, scale.y.at(height(l, b))],
    );
  };
  ctx.strokeStyle = token("--soft");
  ctx.lineWidth = 1.25;
  ctx.setLineDash([5, 5]);
  across(land.best);
  ctx.setLineDash([]);
  ctx.strokeStyle = token("--rose");
  ctx.lineWidth = 3;
  across(at);
  ctx.restore();
  const places = x.map((xi, i) => spot(xi, y[i]));
  dots(ctx, places, 6, token("--blue"));
  // the hinge, on the axis that the line turns about
  const h = scale.x.at(hinge);
  ctx.fillStyle = token("--rose");
  ctx.beginPath();
  ctx.moveTo(h, bottom - 9);
  ctx.lineTo(h + 6, bottom + 1);
  ctx.lineTo(h - 6, bottom + 1);
  ctx.fill();
};

/** Where the map's edges are: around a level line at zero and the best line. @param {Line} best */
const window = ({ b0, b }) => {
  const side = (/** @type {number} */ v, /** @type {number} */ least) => {
    const room = 0.45 * Math.abs(v) + least;
    return /** @type {Pair} */ ([Math.min(0, v) - room, Math.max(0, v) + room]);
  };
  return { x: side(b0, 1), y: side(b, 0.35) };
};

/** @param {Size} size @param {Line} best @param {typeof MARGIN} [margin] */
export const mapScales = (size, best, margin = MARGIN) => {
  const edges = window(best);
  return scales(size, edges.x, edges.y, false, margin);
};

/**
 * The loss of each line, and the way of the descent.
 *
 * @param {CanvasRenderingContext2D} ctx
 * @param {Size} size
 * @param {Landscape} land
 * @param {{ line: Line, descent?: Descent, before?: Descent }} playback
 * @param {boolean} [bare]  without axes
 */
export const drawMap = (
  ctx,
  size,
  land,
  { line: at, descent, before },
  bare = false,
) => {
  const none = { left: 0, right: 0, top: 0, bottom: 0 };
  const { x, y } = mapScales(size, land.best, bare ? none : MARGIN);
  const depth = (/** @type {number} */ loss) =>
    Math.log10(loss - land.lowest + 1);
  drawHeights(ctx, x, y, land, (b0, b) => land.loss({ b0, b }), {
    levels: [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4].map(
      (p) => land.lowest + 10 ** p,
    ),
    tint: (loss) => depth(loss) / 3.6,
  });
  if (!bare) axes(ctx, x, y, { x: "b₀", y: "b", grid: false });
  /** @param {Line} l @returns {Pair} */
  const spot = (l) => [x.at(l.b0), y.at(l.b)];
  clipped(ctx, { x, y }, () => {
    const [mx, my] = spot(land.best);
    ctx.strokeStyle = token("--ink");
    ctx.lineWidth = 1.5;
    line(ctx, [mx - 6, my], [mx + 6, my]);
    line(ctx, [mx, my - 6], [mx, my + 6]);
    ctx.strokeStyle = token("--rose");
    if (before && before.problem.hinge === descent?.problem.hinge) {
      ctx.globalAlpha = 0.3;
      ctx.lineWidth = 1.5;
      polyline(ctx, before.path.map(spot));
      ctx.globalAlpha = 1;
    }
    if (descent) {
      ctx.lineWidth = 2;
      polyline(ctx, [...descent.path, at].map(spot));
      footprints(ctx, descent.path.slice(0, 60).map(spot));
      const { grad } = descent.at;
      const down = [-grad.b0 * x.unit, -grad.b * y.unit];
      const size = Math.hypot(grad.b0, grad.b);
      // a steeper slope, a longer arrow, but never too long
      const long = (60 * size) / (size + 8) / (Math.hypot(...down) || 1);
      const [px, py] = spot(at);
      arrow(
        ctx,
        [px, py],
        [px + down[0] * long, py + down[1] * long],
        token("--gold"),
      );
    }
    dot(ctx, spot(at), 7, token("--rose"));
  });
};

/** Mark the first steps, but for those too close to the one before. @param {CanvasRenderingContext2D} ctx @param {Pair[]} spots */
const footprints = (ctx, spots) => {
  /** @type {Pair[]} */
  const apart = [];
  for (const spot of spots) {
    const [x, y] = apart[apart.length - 1] ?? [-99, -99];
    if (Math.hypot(spot[0] - x, spot[1] - y) >= 7) apart.push(spot);
  }
  dots(ctx, apart, 3, token("--rose"));
};

/**
 * How far the loss is above its lowest, over the number of steps, both logarithmic.
 *
 * @param {CanvasRenderingContext2D} ctx
 * @param {Size} size
 * @param {{ descent?: Descent, before?: Descent }} scene
 */
export const drawLosses = (ctx, size, { descent, before }) => {
  const most = Math.max(1e6, descent?.steps ?? 0);
  /** @param {Descent} run @returns {Pair[]} */
  const points = ({ losses, steps, at, problem: { lowest } }) =>
    [...losses, /** @type {const} */ ([steps, at.loss])].map(([k, loss]) => [
      k,
      loss - lowest,
    ]);
  const runs = [before, descent?.steps ? descent : undefined];
  drawChart(ctx, size, {
    x: { name: "steps", log: true, domain: [1, most] },
    y: { name: "loss above its lowest", log: true, domain: [1e-12, 1e4] },
    series: runs.flatMap((run) => {
      if (!run) return [];
      const dots = run === descent ? [run.losses.length] : [];
      const isPast = run === before;
      return { colour: "--rose", points: points(run), dots, isPast };
    }),
  });
};
