// The pictures of the page about automatic differentiation.

import { LEAST, RANGE, around, onwards, steps, valley } from "./differences.js";
import { font, token } from "./picture.js";
import { Scale, axes, dot, line, polyline } from "./plot.js";
import { clamp, heightsOf } from "./region.js";

/**
 * @typedef {import("./picture.js").Size} Size
 * @typedef {import("./plot.js").Pair} Pair
 * @typedef {(t: number) => number} F
 *
 * @typedef {object} Slopes
 * @property {F} f
 * @property {number} t  where
 * @property {number} h
 * @property {number} exact  the derivative there
 * @property {string} name  of the variable
 */

const HALF = 2;

/** Where the function is seen, and in which heights. @param {Slopes} slopes @param {Size} size */
export const curveScales = ({ f, t }, { width, height }) => {
  const domain = /** @type {const} */ ([t - HALF, t + HALF]);
  const heights = heightsOf((s) => f(s), domain, [0, 1]);
  return {
    x: new Scale(domain, [40, width - 12]),
    y: new Scale(heights ?? [-1, 1], [height - 26, 24]),
  };
};

/**
 * The function, its tangent, and the line through two of its points.
 *
 * @param {CanvasRenderingContext2D} ctx
 * @param {Size} size
 * @param {Slopes} slopes
 */
export const drawCurve = (ctx, size, slopes) => {
  const { f, t, h, exact, name } = slopes;
  const { x, y } = curveScales(slopes, size);
  axes(ctx, x, y, { x: name, y: "f" });
  ctx.save();
  ctx.beginPath();
  ctx.rect(
    x.range[0],
    y.range[1],
    x.range[1] - x.range[0],
    y.range[0] - y.range[1],
  );
  ctx.clip();
  const straight = (/** @type {number} */ slope) => {
    const at = (/** @type {number} */ s) => y.at(f(t) + slope * (s - t));
    const [from, to] = x.domain;
    if (Number.isFinite(slope))
      line(ctx, [x.at(from), at(from)], [x.at(to), at(to)]);
  };
  ctx.lineWidth = 6;
  ctx.globalAlpha = 0.35;
  ctx.strokeStyle = token("--gold");
  straight(exact);
  ctx.globalAlpha = 1;
  ctx.lineWidth = 2;
  ctx.strokeStyle = token("--blue");
  /** @type {Pair[]} */
  let piece = [];
  for (let px = x.range[0]; px <= x.range[1]; px += 1) {
    const value = f(x.from(px));
    if (Number.isFinite(value))
      piece.push([px, clamp(y.at(value), [-1e4, 1e4])]);
    else {
      polyline(ctx, piece);
      piece = [];
    }
  }
  polyline(ctx, piece);
  ctx.strokeStyle = token("--rose");
  straight(onwards(f, t, h));
  if (Number.isFinite(f(t + h)))
    dot(ctx, [x.at(t + h), y.at(f(t + h))], 4.5, token("--rose"));
  ctx.restore();
};

/** Scales of the errors over the steps. @param {Size} size @param {number} exact */
export const valleyScales = ({ width, height }, exact) => ({
  x: new Scale([10 ** RANGE[0], 10 ** RANGE[1]], [48, width - 14], true),
  y: new Scale(
    [LEAST, 10 * Math.max(1, Math.abs(exact) || 1)],
    [height - 26, 24],
    true,
  ),
});

/** Where an error stands. @param {Scale} y @param {number} error */
export const heightOf = (y, error) => y.at(clamp(error, y.domain));

/**
 * The errors of both differences, for steps of all sizes.
 *
 * @param {CanvasRenderingContext2D} ctx
 * @param {Size} size
 * @param {Slopes} slopes
 */
export const drawValley = (ctx, size, { f, t, h, exact }) => {
  const { x, y } = valleyScales(size, exact);
  axes(ctx, x, y, { x: "h", y: "error" });
  ctx.lineWidth = 1.5;
  ctx.font = font();
  for (const [slope, colour] of /** @type {const} */ ([
    [around, "--soft"],
    [onwards, "--rose"],
  ])) {
    ctx.strokeStyle = token(colour);
    const at = (/** @type {number} */ step) => slope(f, t, step);
    polyline(
      ctx,
      valley(at, exact, steps(12)).map(({ h, error }) => [
        x.at(h),
        heightOf(y, error),
      ]),
    );
    const error = Math.abs(at(h) - exact);
    if (Number.isFinite(error))
      dot(
        ctx,
        [x.at(h), heightOf(y, error)],
        slope === onwards ? 5.5 : 4,
        token(colour),
      );
  }
};

/**
 * Sizes of formulas and of programs, as a function is put into itself.
 *
 * @param {CanvasRenderingContext2D} ctx
 * @param {Size} size
 * @param {{ name: string, colour: string, values: number[] }[]} series
 */
export const drawGrowth = (ctx, { width, height }, series) => {
  const count = series[0].values.length;
  const most = Math.max(10, ...series.flatMap(({ values }) => values));
  const x = new Scale([1, count], [48, width - 14]);
  const y = new Scale(
    [1, 10 ** Math.ceil(Math.log10(most))],
    [height - 26, 24],
    true,
  );
  axes(ctx, x, y, { x: "times", y: "operations" });
  ctx.lineWidth = 2;
  ctx.textAlign = "right";
  ctx.textBaseline = "bottom";
  for (const { name, colour, values } of series) {
    ctx.strokeStyle = ctx.fillStyle = token(colour);
    const points = values.map(
      (value, k) =>
        /** @type {Pair} */ ([x.at(k + 1), y.at(Math.max(1, value))]),
    );
    polyline(ctx, points);
    const [px, py] = points[count - 1];
    ctx.font = font();
    ctx.fillText(name, px - 4, py - 5);
    for (const point of points) dot(ctx, point, 3, token(colour));
  }
};
