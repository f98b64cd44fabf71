// A patch of another surface around a point: what of it is to be seen, over the surface that it approximates.

import { HALF } from "./camera.js";
import { Painter, corner, cut, fromAfar } from "./polygon.js";
import { HUGE, clamp } from "../lib/region.js";
import { token } from "../lib/theme.js";

/**
 * @typedef {import("./camera.js").Look} Look
 * @typedef {import("./camera.js").Pair} Pair
 * @typedef {import("./polygon.js").Corner} Corner
 * @typedef {import("./relief.js").Relief} Relief
 */

/** Its radius, as a part of the axes' half lengths. */
export const RADIUS = 0.42;

/** Cells along each axis. */
const CELLS = 14;

/** Where two rings are drawn, the rim and one within: how far inside they begin and end. */
const RINGS = [
  [0, 0.07],
  [0.5, 0.54],
];

/** Where cells begin and end along an axis. @param {Pair} ends @param {number} middle */
const cellLines = (ends, middle) => {
  const radius = (RADIUS * (ends[1] - ends[0])) / 2;
  return Array.from({ length: CELLS + 1 }, (_, k) =>
    clamp(middle + radius * ((2 * k) / CELLS - 1), ends),
  );
};

/**
 * Draw the patch on a picture of the surface; what that hides of it shimmers through.
 *
 * @param {CanvasRenderingContext2D} ctx
 * @param {Look} look
 * @param {import("./surface.js").Scene & { patch: (x: number, y: number) => number }} scene
 * @param {Relief} relief  of the surface
 */
export const drawPatch = (ctx, look, { f, box, point, patch }, relief) => {
  const [xs, ys] = [cellLines(box.x, point[0]), cellLines(box.y, point[1])];
  const [us, vs] = [xs.map(look.x.to), ys.map(look.y.to)];
  const [u0, v0] = [look.x.to(point[0]), look.y.to(point[1])];
  const tall = box.z[1] - box.z[0];
  const [unit, least] = [(2 * HALF) / tall, 1e-9 * tall];
  const corners = xs.map((x, i) =>
    ys.map((y, j) => {
      const at = corner(look, x, y, patch(x, y));
      const [u, v] = [us[i] - u0, vs[j] - v0];
      at.inside = 1 - (u * u + v * v) / RADIUS ** 2;
      const z = f(x, y);
      const over = Math.abs(z) < HUGE ? at.z - z : 1;
      // where both are the same, the patch is on top
      at.over = Math.abs(over) < least ? least : over;
      const w = unit * (at.z - (box.z[0] + box.z[1]) / 2);
      [at.above, at.below] = relief.passes(look, us[i], vs[j], w);
      return at;
    }),
  );
  const paint = new Painter(ctx, look, box, "--patch-low", "--patch-high");
  /** @type {(readonly Corner[])[]} */
  const hidden = [];
  /** @type {{ polygon: readonly Corner[], shade: string }[]} */
  const seen = [];
  const js = fromAfar(CELLS, look.cos > 0);
  for (const i of fromAfar(CELLS, look.sin > 0))
    for (const j of js) {
      const [du, dv] = [us[i + 1] - us[i], vs[j + 1] - vs[j]];
      if (du < 1e-9 || dv < 1e-9) continue; // beyond the box
      const cell = [
        corners[i][j],
        corners[i + 1][j],
        corners[i + 1][j + 1],
        corners[i][j + 1],
      ];
      if (!cell.every(({ z }) => Math.abs(z) < HUGE)) continue;
      const cap = paint.inBox(cut(cell, (c) => c.inside));
      const over = cut(cap, (c) => c.over);
      const under = cut(cap, (c) => -c.over);
      hidden.push(
        cut(over, (c) => -c.above),
        cut(under, (c) => -c.below),
      );
      const shade = paint.shade(cell, du, dv);
      seen.push(
        { polygon: cut(under, (c) => c.below), shade },
        { polygon: cut(over, (c) => c.above), shade },
      );
    }
  shimmer(ctx, hidden);
  const rim = token("--patch-line");
  for (const { polygon, shade } of seen) {
    paint.fill(polygon, shade);
    for (const [from, to] of RINGS) {
      const ring = cut(polygon, (c) => c.inside - from);
      paint.fill(
        cut(ring, (c) => to - c.inside),
        rim,
      );
    }
  }
};

/** @param {readonly Corner[]} polygon */
const isClockwise = (polygon) => {
  let area = 0;
  let before = polygon[polygon.length - 1];
  for (const at of polygon) {
    area += before.px * at.py - at.px * before.py;
    before = at;
  }
  return area >= 0;
};

/** @param {CanvasRenderingContext2D} ctx @param {readonly (readonly Corner[])[]} polygons */
const shimmer = (ctx, polygons) => {
  ctx.beginPath();
  for (const polygon of polygons) {
    if (polygon.length < 3) continue;
    // all the same way round: where two lie over each other, one would cancel the other
    const all = isClockwise(polygon) ? polygon : [...polygon].reverse();
    all.forEach(({ px, py }, k) =>
      k ? ctx.lineTo(px, py) : ctx.moveTo(px, py),
    );
    ctx.closePath();
  }
  ctx.fillStyle = token("--rose");
  ctx.globalAlpha = 0.28;
  ctx.fill();
  ctx.globalAlpha = 1;
};
