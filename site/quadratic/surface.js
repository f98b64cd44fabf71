// Draws a surface z = f(x, y), and a patch of another one around a point, on a canvas: the surface cell by cell
// from the back to the front, so that what is in front covers what is behind, and kept while it stays the same.

import { drawFloor, drawShadow } from "./floor.js";
import { isKept, layer } from "../lib/layer.js";
import { RADIUS, drawPatch } from "./patch.js";
import { dot } from "../lib/plot.js";
import { Painter, corner, fromAfar } from "./polygon.js";
import { HUGE, clamp } from "../lib/region.js";
import { CELLS, reliefOf } from "./relief.js";
import { token } from "../lib/theme.js";

/**
 * @typedef {import("./camera.js").Pair} Pair
 * @typedef {import("./camera.js").Box} Box
 * @typedef {import("./camera.js").Look} Look
 * @typedef {import("../lib/layer.js").Context} Context
 * @typedef {import("./polygon.js").Corner} Corner
 * @typedef {import("./relief.js").Relief} Relief
 * @typedef {(x: number, y: number) => number} F
 */

/**
 * @typedef {object} Scene
 * @property {F} f
 * @property {Box} box
 * @property {Pair} point
 * @property {F} [patch]  the surface to show around the point
 * @property {readonly number[]} [gradient]
 * @property {boolean} [bare]  without axes
 * @property {boolean} [rough]  of few cells, unless a fine picture is there already
 */

/** Every so many cells there is a line; a rough picture has cells of this size. */
const LINE = 3;

/**
 * Draw it all.
 *
 * @param {CanvasRenderingContext2D} ctx
 * @param {Look} look
 * @param {Scene} scene
 */
export const drawSurface = (ctx, look, scene) => {
  const { f, box, point, patch, bare } = scene;
  const relief = reliefOf(f, box);
  const of = [relief, !!bare, ...look.of];
  const still = (/** @type {Context} */ ctx, /** @type {number} */ stride) => {
    if (!bare) drawFloor(ctx, look, box);
    drawMesh(ctx, look, box, relief, stride);
  };
  if (scene.rough && !isKept(ctx, "surface", of)) still(ctx, LINE);
  else layer(ctx, "surface", of, (ctx) => still(ctx, 1));
  drawShadow(ctx, look, scene, RADIUS);
  if (patch) drawPatch(ctx, look, { ...scene, patch }, relief);
  const z = f(...point);
  if (Number.isFinite(z))
    dot(ctx, look.at(...point, clamp(z, box.z)), 7.5, token("--rose"));
};

/**
 * @param {Context} ctx
 * @param {Look} look
 * @param {Box} box
 * @param {Relief} relief
 * @param {number} stride  how many cells of the relief are one of the picture, along each axis
 */
const drawMesh = (ctx, look, box, { x, y, z }, stride) => {
  const paint = new Painter(ctx, look, box, "--surface-low", "--surface-high");
  const corners = x.map((x, i) =>
    i % stride ? [] : y.map((y, j) => corner(look, x, y, z[i][j])),
  );
  const mesh = token("--surface-line");
  const count = CELLS / stride;
  const size = 2 / count;
  const js = fromAfar(count, look.cos > 0);
  for (const i of fromAfar(count, look.sin > 0))
    for (const j of js) {
      const [a, b] = [stride * i, stride * j];
      const [c, d] = [a + stride, b + stride];
      const cell = [corners[a][b], corners[c][b], corners[c][d], corners[a][d]];
      if (!cell.every(({ z }) => Math.abs(z) < HUGE)) continue;
      paint.fill(paint.inBox(cell), paint.shade(cell, size, size));
      // a line between two cells is left to the nearer one, which would cover it
      const drawn = [
        b % LINE === 0 && (look.cos <= 0 || b === 0),
        c % LINE === 0 && (look.sin > 0 || c === CELLS),
        d % LINE === 0 && (look.cos > 0 || d === CELLS),
        a % LINE === 0 && (look.sin <= 0 || a === 0),
      ];
      drawSides(paint, cell, drawn, mesh);
    }
};

/** @param {Painter} paint @param {readonly Corner[]} cell @param {readonly boolean[]} drawn  which of its sides @param {string} colour */
const drawSides = (paint, cell, drawn, colour) => {
  if (!drawn.includes(true)) return;
  const { ctx } = paint;
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1;
  ctx.globalAlpha = 0.4;
  ctx.beginPath();
  drawn.forEach((is, k) => {
    if (!is) return;
    const side = paint.inBox([cell[k], cell[(k + 1) & 3]]);
    if (side.length < 2) return;
    ctx.moveTo(side[0].px, side[0].py);
    ctx.lineTo(side[1].px, side[1].py);
  });
  ctx.stroke();
  ctx.globalAlpha = 1;
};
