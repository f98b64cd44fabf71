// The picture of a function, its tangent, and the line through two of its points.

import { onwards } from "./differences.js";
import { token } from "./picture.js";
import { axes, clipped, curve, dot, line } from "./plot.js";
import { heightsOf } from "./region.js";
import { scalesOf } from "./line-chart.js";

/**
 * @typedef {import("./picture.js").Size} Size
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
const MARGIN = { left: 40, right: 12, top: 24, bottom: 26 };

/** Where the function is seen, and in which heights. @param {Slopes} slopes @param {Size} size */
export const curveScales = ({ f, t, name }, size) => {
  const domain = /** @type {const} */ ([t - HALF, t + HALF]);
  const heights = heightsOf((s) => f(s), domain, [0, 1]) ?? [-1, 1];
  const [x, y] = [
    { name, domain },
    { name: "f", domain: heights },
  ];
  return scalesOf(size, { x, y, margin: MARGIN });
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
  const straight = (/** @type {number} */ slope) => {
    const at = (/** @type {number} */ s) => y.at(f(t) + slope * (s - t));
    const [from, to] = x.domain;
    if (Number.isFinite(slope))
      line(ctx, [x.at(from), at(from)], [x.at(to), at(to)]);
  };
  axes(ctx, x, y, { x: name, y: "f" });
  clipped(ctx, { x, y }, () => {
    ctx.lineWidth = 6;
    ctx.globalAlpha = 0.35;
    ctx.strokeStyle = token("--gold");
    straight(exact);
    ctx.globalAlpha = 1;
    ctx.lineWidth = 2;
    ctx.strokeStyle = token("--blue");
    curve(ctx, { x, y }, f);
    ctx.strokeStyle = token("--rose");
    straight(onwards(f, t, h));
    if (Number.isFinite(f(t + h)))
      dot(ctx, [x.at(t + h), y.at(f(t + h))], 4.5, token("--rose"));
  });
};
