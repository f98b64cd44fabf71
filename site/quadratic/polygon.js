// Pieces of surfaces: cutting them, and filling them with a colour that tells height and slope.

import { HALF } from "./camera.js";
import { clamp } from "../lib/region.js";
import { rgb, token } from "../lib/theme.js";

/**
 * @typedef {import("./camera.js").Box} Box
 * @typedef {import("./camera.js").Look} Look
 * @typedef {import("../lib/layer.js").Context} Context
 */

/** A corner of a polygon: its pixel, and what it may be cut by. @typedef {{ px: number, py: number, z: number, inside: number, over: number, above: number, below: number }} Corner */

/** @param {Look} look @param {number} x @param {number} y @param {number} z @returns {Corner} */
export const corner = (look, x, y, z) => {
  const [px, py] = look.at(x, y, z);
  return { px, py, z, inside: 0, over: 0, above: 0, below: 0 };
};

/** @param {number} a @param {number} b @param {number} t */
const between = (a, b, t) => a + t * (b - a);

/**
 * The part of a polygon where `measure` is not negative.
 *
 * @param {readonly Corner[]} polygon
 * @param {(corner: Corner) => number} measure
 * @returns {readonly Corner[]}
 */
export const cut = (polygon, measure) => {
  if (polygon.every((c) => measure(c) >= 0)) return polygon;
  /** @type {Corner[]} */
  const rest = [];
  polygon.forEach((b, k) => {
    const a = polygon[(k || polygon.length) - 1];
    const [ma, mb] = [measure(a), measure(b)];
    if (ma < 0 !== mb < 0) {
      const t = ma / (ma - mb);
      rest.push({
        px: between(a.px, b.px, t),
        py: between(a.py, b.py, t),
        z: between(a.z, b.z, t),
        inside: between(a.inside, b.inside, t),
        over: between(a.over, b.over, t),
        above: between(a.above, b.above, t),
        below: between(a.below, b.below, t),
      });
    }
    if (mb >= 0) rest.push(b);
  });
  return rest;
};

/** @type {Map<string, string[][]>} */
const known = new Map();

/** Shades by height and light: `shades[height][light]`. @param {string} low @param {string} high */
const shades = (low, high) => {
  const key = token(low) + token(high);
  let found = known.get(key);
  if (!found) known.set(key, (found = mix(rgb(low), rgb(high))));
  return found;
};

const LEVELS = 24;

/** @param {readonly number[]} low @param {readonly number[]} high */
const mix = (low, high) =>
  Array.from({ length: LEVELS }, (_, h) =>
    Array.from({ length: LEVELS }, (_, l) => {
      const light = 0.66 + 0.42 * (l / (LEVELS - 1));
      const parts = low.map(
        (c, k) => light * between(c, high[k], h / (LEVELS - 1)),
      );
      return `rgb(${parts.map((c) => Math.min(255, Math.round(c))).join(" ")})`;
    }),
  );

/** @param {number} part  from 0 to 1 */
const level = (part) => Math.floor(clamp(part, [0, 1]) * (LEVELS - 1) + 0.5);

/** The numbers below `n`, from the far end to the near one. @param {number} n @param {boolean} down  whether that is downwards */
export const fromAfar = (n, down) =>
  Array.from({ length: n }, (_, k) => (down ? n - 1 - k : k));

/** Paints one surface. */
export class Painter {
  /**
   * @param {Context} ctx
   * @param {Look} look
   * @param {Box} box
   * @param {string} low  the token of its colour at the bottom
   * @param {string} high  and at the top
   */
  constructor(ctx, look, { z }, low, high) {
    this.ctx = ctx;
    this.low = z[0];
    this.high = z[1];
    this.shades = shades(low, high);
    // light falls from the upper left, wherever one looks from
    const { sin, cos } = look;
    const [right, away, up] = [-0.5, -0.35, 0.79];
    this.light = [right * cos + away * sin, away * cos - right * sin, up];
  }

  /** What of it is in the box. @param {readonly Corner[]} polygon */
  inBox(polygon) {
    return cut(
      cut(polygon, (c) => c.z - this.low),
      (c) => this.high - c.z,
    );
  }

  /**
   * The shade of a cell.
   *
   * @param {readonly Corner[]} cell
   * @param {number} du  its width, in units of the box
   * @param {number} dv
   */
  shade([a, b, c, d], du, dv) {
    const { light, low, high } = this;
    const unit = HALF / (high - low);
    const p = (unit * (b.z + c.z - a.z - d.z)) / du;
    const q = (unit * (c.z + d.z - a.z - b.z)) / dv;
    const bright =
      Math.abs(light[2] - p * light[0] - q * light[1]) / Math.hypot(p, q, 1);
    const z = (a.z + b.z + c.z + d.z) / 4;
    return this.shades[level((z - low) / (high - low))][level(bright)];
  }

  /** @param {readonly Corner[]} polygon @param {string} colour */
  fill(polygon, colour) {
    if (polygon.length < 3) return;
    const { ctx } = this;
    let [mx, my] = [0, 0];
    for (const { px, py } of polygon) {
      mx += px / polygon.length;
      my += py / polygon.length;
    }
    ctx.beginPath();
    for (const { px, py } of polygon) {
      // a little larger than it is: between exact neighbours, the background would show
      const [dx, dy] = [px - mx, py - my];
      const grow = 0.6 / (Math.abs(dx) + Math.abs(dy) + 0.6);
      ctx.lineTo(px + dx * grow, py + dy * grow);
    }
    ctx.fillStyle = colour;
    ctx.fill();
  }
}
