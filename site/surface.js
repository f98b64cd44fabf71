// Draws a surface z = f(x, y), and a patch of another one around a point, on a canvas: cell by cell
// from the back to the front, so that what is in front covers what is behind.

import { HALF } from "./camera.js";
import { drawFloor, drawShadow } from "./floor.js";
import { rgb, token } from "./theme.js";
import { dot } from "./plot.js";
import { HUGE, clamp } from "./region.js";

/**
 * @typedef {import("./camera.js").Pair} Pair
 * @typedef {import("./camera.js").Box} Box
 * @typedef {import("./camera.js").Look} Look
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
 * @property {boolean} [rough]  of few cells
 */

/** Cells along each axis, every how many of them a line is drawn, and cells of the patch. */
const FINE = { cells: 36, line: 3, patch: 14 };
const ROUGH = { cells: 12, line: 1, patch: 8 };

/** The patch's radius, as a part of the axes' half lengths. */
const RADIUS = 0.42;

/** A corner of a polygon: its pixel, and what it may be cut by. @typedef {{ px: number, py: number, z: number, over: number, inside: number }} Corner */

/** @param {number} a @param {number} b @param {number} t */
const between = (a, b, t) => a + t * (b - a);

/**
 * The part of a polygon where `measure` is not negative.
 *
 * @param {readonly Corner[]} polygon
 * @param {(corner: Corner) => number} measure
 */
const cut = (polygon, measure) => {
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
        over: between(a.over, b.over, t),
        inside: between(a.inside, b.inside, t),
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

/**
 * Where the cells begin and end along one axis: at the lines that are drawn, evenly between them,
 * and within the patch's reach at the patch's own cells instead.
 *
 * @param {Pair} ends
 * @param {number} middle
 * @param {typeof FINE} counts
 */
const cellLines = ([low, high], middle, { cells, line, patch }) => {
  const radius = (RADIUS * (high - low)) / 2;
  const lines = [];
  for (let k = 0; k <= cells; ++k) {
    const at = between(low, high, k / cells);
    const drawn = k % line === 0;
    if (drawn || Math.abs(at - middle) > radius) lines.push({ at, drawn });
  }
  for (let k = 0; k <= patch; ++k) {
    const at = middle + radius * ((2 * k) / patch - 1);
    if (at > low && at < high) lines.push({ at, drawn: false });
  }
  return lines.sort((a, b) => a.at - b.at);
};

/**
 * Draw it all.
 *
 * @param {CanvasRenderingContext2D} ctx
 * @param {Look} look
 * @param {Scene} scene
 */
export const drawSurface = (ctx, look, scene) => {
  if (!scene.bare) drawFloor(ctx, look, scene.box);
  drawShadow(ctx, look, scene, RADIUS);
  cells(ctx, look, scene);
  const { box, point } = scene;
  const z = scene.f(...point);
  if (Number.isFinite(z))
    dot(ctx, look.at(...point, clamp(z, box.z)), 7.5, token("--rose"));
};

/** @param {CanvasRenderingContext2D} ctx @param {Look} look @param {Scene} scene */
const cells = (ctx, look, { f, box, point, patch, rough }) => {
  const counts = rough ? ROUGH : FINE;
  const xs = cellLines(box.x, point[0], counts);
  const ys = cellLines(box.y, point[1], counts);
  const rx = (RADIUS * (box.x[1] - box.x[0])) / 2;
  const ry = (RADIUS * (box.y[1] - box.y[0])) / 2;
  const corners = xs.map(({ at: x }) =>
    ys.map(({ at: y }) => {
      const z = f(x, y);
      const inside = patch
        ? 1 - ((x - point[0]) / rx) ** 2 - ((y - point[1]) / ry) ** 2
        : -1;
      const p = patch && inside > -0.5 ? patch(x, y) : NaN;
      return {
        below: corner(look, x, y, z, 0, 0),
        above: corner(look, x, y, p, Math.abs(z) < HUGE ? p - z : 1, inside),
      };
    }),
  );
  const paint = new Painter(ctx, look, box);
  const along = (/** @type {number} */ n, /** @type {boolean} */ down) =>
    Array.from({ length: n }, (_, k) => (down ? n - 1 - k : k));
  const js = along(ys.length - 1, look.cos > 0);
  for (const i of along(xs.length - 1, look.sin > 0))
    for (const j of js) {
      const cell = [
        corners[i][j],
        corners[i + 1][j],
        corners[i + 1][j + 1],
        corners[i][j + 1],
      ];
      // a line between two cells is left to the nearer one, which would cover it
      const drawn = [
        ys[j].drawn && (look.cos <= 0 || j === 0),
        xs[i + 1].drawn && (look.sin > 0 || i + 2 === xs.length),
        ys[j + 1].drawn && (look.cos > 0 || j + 2 === ys.length),
        xs[i].drawn && (look.sin <= 0 || i === 0),
      ];
      const du = look.x.to(xs[i + 1].at) - look.x.to(xs[i].at);
      const dv = look.y.to(ys[j + 1].at) - look.y.to(ys[j].at);
      if (du > 1e-9 && dv > 1e-9) paint.cell(cell, drawn, du, dv);
    }
  paint.shimmer();
};

/** @param {Look} look @param {number} x @param {number} y @param {number} z @param {number} over @param {number} inside @returns {Corner} */
const corner = (look, x, y, z, over, inside) => {
  const [px, py] = look.at(x, y, z);
  return { px, py, z, over, inside };
};

/** Whether one can calculate with its height. @param {Corner} corner */
const isSeen = ({ z }) => Math.abs(z) < HUGE;

/** @typedef {{ below: Corner, above: Corner }} Both  the surface's corner and the patch's */

class Painter {
  /** @param {CanvasRenderingContext2D} ctx @param {Look} look @param {Box} box */
  constructor(ctx, look, { z }) {
    this.ctx = ctx;
    this.look = look;
    this.low = z[0];
    this.high = z[1];
    this.surface = shades("--surface-low", "--surface-high");
    this.patch = shades("--patch-low", "--patch-high");
    this.mesh = token("--surface-line");
    this.rim = token("--patch-line");
    /** Parts of the patch that lie under the surface. @type {(readonly Corner[])[]} */
    this.hidden = [];
    // light falls from the upper left, wherever one looks from
    const { sin, cos } = look;
    const [right, away, up] = [-0.5, -0.35, 0.79];
    this.light = [right * cos + away * sin, away * cos - right * sin, up];
  }

  /**
   * One cell: what is lower first, seen from above.
   *
   * @param {readonly Both[]} cell
   * @param {readonly boolean[]} drawn  which of its sides are lines of the mesh
   * @param {number} du
   * @param {number} dv
   */
  cell(cell, drawn, du, dv) {
    const below = cell.map((c) => c.below);
    const above = cell.map((c) => c.above);
    const visible = below.every(isSeen);
    const slope = visible ? this.slope(below, du, dv) : [0, 0];
    const { look } = this;
    const fromAbove =
      look.up * (slope[0] * look.sin + slope[1] * look.cos) + look.back > 0;
    const sign = fromAbove ? 1 : -1;
    /** @type {readonly Corner[]} */
    let cap = above.every(isSeen) ? cut(above, (c) => c.inside) : [];
    if (cap.length) cap = this.inBox(cap);
    const tilt = cap.length ? this.slope(above, du, dv) : [0, 0];
    const behind = cut(cap, (c) => -sign * c.over);
    this.fillPatch(behind, tilt);
    if (visible && behind.length > 2) this.hidden.push(behind);
    if (visible) {
      this.fill(this.inBox(below), this.surface, slope);
      this.sides(below, drawn);
    }
    this.fillPatch(
      cut(cap, (c) => sign * c.over),
      tilt,
    );
  }

  /** What lies under the surface shimmers through. */
  shimmer() {
    const { ctx } = this;
    ctx.beginPath();
    for (const polygon of this.hidden) {
      polygon.forEach(({ px, py }, k) =>
        k ? ctx.lineTo(px, py) : ctx.moveTo(px, py),
      );
      ctx.closePath();
    }
    ctx.fillStyle = token("--rose");
    ctx.globalAlpha = 0.28;
    ctx.fill();
    ctx.globalAlpha = 1;
  }

  /** How steep a cell is along both axes, in units of the box. @param {readonly Corner[]} c @param {number} du @param {number} dv */
  slope([a, b, c, d], du, dv) {
    const unit = (2 * HALF) / (this.high - this.low) / 2;
    return [
      (unit * (b.z + c.z - a.z - d.z)) / du,
      (unit * (c.z + d.z - a.z - b.z)) / dv,
    ];
  }

  /** @param {readonly Corner[]} polygon */
  inBox(polygon) {
    if (polygon.every(({ z }) => z >= this.low && z <= this.high))
      return polygon;
    return cut(
      cut(polygon, (c) => c.z - this.low),
      (c) => this.high - c.z,
    );
  }

  /** @param {readonly Corner[]} polygon @param {readonly (readonly string[])[]} shades @param {readonly number[]} slope */
  fill(polygon, shades, [p, q]) {
    if (polygon.length < 3) return;
    const { light } = this;
    let z = 0;
    for (const c of polygon) z += c.z / polygon.length;
    const bright =
      Math.abs(light[2] - p * light[0] - q * light[1]) / Math.hypot(p, q, 1);
    const shade =
      shades[level((z - this.low) / (this.high - this.low))][level(bright)];
    this.area(polygon, shade);
  }

  /** @param {readonly Corner[]} polygon @param {string} colour */
  area(polygon, colour) {
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

  /** @param {readonly Corner[]} polygon @param {readonly number[]} slope */
  fillPatch(polygon, slope) {
    if (polygon.length < 3) return;
    this.fill(polygon, this.patch, slope);
    for (const [from, to] of [
      [0, 0.07],
      [0.5, 0.54],
    ]) {
      const ring = cut(
        cut(polygon, (c) => c.inside - from),
        (c) => to - c.inside,
      );
      if (ring.length < 3) continue;
      this.area(ring, this.rim);
    }
  }

  /** @param {readonly Corner[]} polygon @param {readonly boolean[]} drawn */
  sides(polygon, drawn) {
    const { ctx } = this;
    ctx.strokeStyle = this.mesh;
    ctx.lineWidth = 1;
    ctx.globalAlpha = 0.4;
    ctx.beginPath();
    drawn.forEach((is, k) => {
      if (!is) return;
      const side = this.inBox([polygon[k], polygon[(k + 1) & 3]]);
      if (side.length < 2) return;
      ctx.moveTo(side[0].px, side[0].py);
      ctx.lineTo(side[1].px, side[1].py);
    });
    ctx.stroke();
    ctx.globalAlpha = 1;
  }
}
