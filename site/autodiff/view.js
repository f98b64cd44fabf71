// The picture of a function, its tangent, and the line through two of its points.

import { onwards } from "./differences.js";
import { layer } from "../lib/layer.js";
import { token } from "../lib/theme.js";
import { axes, clipped, curve, dot, line } from "../lib/plot.js";
import { scalesOf } from "../lib/line-chart.js";

/**
 * @typedef {import("../lib/picture.js").Size} Size
 * @typedef {import("../lib/plot.js").Pair} Pair
 * @typedef {(t: number) => number} F
 *
 * @typedef {object} Slopes
 * @property {F} f
 * @property {number} t  where
 * @property {number} h
 * @property {number} exact  the derivative there
 * @property {string} name  of the variable
 * @property {{ t: Pair, f: Pair }} seen  where the function is seen, and in which heights
 */

const MARGIN = { left: 40, right: 12, top: 24, bottom: 26 };

/** Where the function is seen, and in which heights. @param {Slopes} slopes @param {Size} size */
export const curveScales = ({ seen, name }, size) =>
  scalesOf(size, {
    x: { name, domain: seen.t },
    y: { name: "f", domain: seen.f },
    margin: MARGIN,
  });

/**
 * The function, its tangent, and the line through two of its points; gives the scales.
 *
 * @param {CanvasRenderingContext2D} ctx
 * @param {Size} size
 * @param {Slopes} slopes
 */
export const drawCurve = (ctx, size, slopes) => {
  const { f, t, h, exact, name } = slopes;
  const { x, y } = curveScales(slopes, size);
  /** @param {import("../lib/layer.js").Context} on @param {number} slope */
  const straight = (on, slope) => {
    const at = (/** @type {number} */ s) => y.at(f(t) + slope * (s - t));
    const [from, to] = x.domain;
    if (Number.isFinite(slope))
      line(on, [x.at(from), at(from)], [x.at(to), at(to)]);
  };
  axes(ctx, x, y, { x: name, y: "f" });
  layer(ctx, "curve", [f, t], (still) =>
    clipped(still, { x, y }, () => {
      still.lineWidth = 6;
      still.globalAlpha = 0.35;
      still.strokeStyle = token("--gold");
      straight(still, exact);
      still.globalAlpha = 1;
      still.lineWidth = 2;
      still.strokeStyle = token("--blue");
      curve(still, { x, y }, f);
    }),
  );
  clipped(ctx, { x, y }, () => {
    ctx.lineWidth = 2;
    ctx.strokeStyle = token("--rose");
    straight(ctx, onwards(f, t, h));
    if (Number.isFinite(f(t + h)))
      dot(ctx, [x.at(t + h), y.at(f(t + h))], 4.5, token("--rose"));
  });
  return { x, y };
};
