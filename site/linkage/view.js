// The picture of a linkage: its bars, the curve of its pen, and how each number would move that.

import { layer } from "../lib/layer.js";
import { font, token } from "../lib/theme.js";
import { clamp } from "../lib/region.js";
import { arrow, dot, evenScales, line, polyline } from "../lib/plot.js";

/** @typedef {import("../lib/plot.js").Pair} Pair */
/** @typedef {readonly number[]} Point */

/**
 * @typedef {object} Scene
 * @property {readonly Point[]} pivots  A and D
 * @property {{ B: number[], C: number[], pen: number[] }} joints
 * @property {(Point | undefined)[][]} curves  of the pen: before the last change, and now
 * @property {{ name: string, by: Point }[]} arrows  how the pen would move
 * @property {readonly { at: Point }[]} pins
 * @property {Point} [wanted]  where the pen cannot get
 */

export const WIDE = /** @type {Pair} */ ([-3, 7.5]);
export const HIGH = /** @type {Pair} */ ([-1.25, 5.05]);

/** @param {import("../lib/picture.js").Size} size */
export const scales = (size) => evenScales(size, WIDE, HIGH);

/** Of an arrow for a slope of one, and at most. */
const UNIT = 0.55;
const LONGEST = 2.5;

/** @param {CanvasRenderingContext2D} ctx @param {import("../lib/picture.js").Size} size @param {Scene} scene @param {boolean} [bare] */
export const drawLinkage = (ctx, size, scene, bare = false) => {
  const { x, y } = scales(size);
  const spot = (/** @type {Point} */ [px, py]) =>
    /** @type {Pair} */ ([x.at(px), y.at(py)]);
  const [A, D] = scene.pivots.map(spot);
  const [B, C, P] = [scene.joints.B, scene.joints.C, scene.joints.pen].map(
    spot,
  );

  layer(ctx, "curves and pivots", [...scene.curves, ...A, ...D], (still) => {
    scene.curves.forEach((curve, k) => {
      const isNow = k === scene.curves.length - 1;
      still.strokeStyle = token(isNow ? "--rose" : "--line");
      still.lineWidth = 2;
      for (const part of whole(curve)) polyline(still, part.map(spot));
    });
    still.strokeStyle = token("--edge");
    still.lineWidth = 1.5;
    // the pivots, on the ground
    for (const [px, py] of [A, D]) {
      polyline(still, [
        [px, py],
        [px + 9, py + 16],
        [px - 9, py + 16],
        [px, py],
      ]);
      for (let k = -9; k <= 9; k += 6)
        line(still, [px + k, py + 16], [px + k - 4, py + 21]);
    }
  });

  ctx.fillStyle = token("--rose-wash");
  ctx.strokeStyle = token("--rose");
  ctx.lineWidth = 1.5;
  ctx.globalAlpha = 0.8;
  ctx.beginPath();
  for (const corner of [B, C, P, B]) ctx.lineTo(...corner);
  ctx.fill();
  ctx.stroke();
  ctx.globalAlpha = 1;
  ctx.lineWidth = 5;
  ctx.strokeStyle = token("--ink");
  line(ctx, A, B);
  line(ctx, C, D);
  ctx.lineWidth = 3;
  ctx.strokeStyle = token("--rose");
  line(ctx, B, C);
  for (const joint of [A, B, C, D]) dot(ctx, joint, 5, token("--ink"));

  const write = writer(ctx, size);
  if (!bare) {
    ctx.font = `italic ${font(14)}`;
    ctx.fillStyle = token("--ink");
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    write("a", besides(A, B));
    write("b", besides(B, C));
    write("c", besides(D, C));
    write(
      "A",
      [-16, 16].map((aside) => [A[0] + aside, A[1] + 6]),
    );
    write(
      "D",
      [16, -16].map((aside) => [D[0] + aside, D[1] + 6]),
    );
  }

  const steepest = Math.max(...scene.arrows.map(({ by }) => Math.hypot(...by)));
  const unit = Math.min(UNIT, LONGEST / steepest);
  for (const { name, by } of scene.arrows) {
    const [dx, dy] = [unit * by[0] * x.unit, unit * by[1] * y.unit];
    const tip = /** @type {Pair} */ ([P[0] + dx, P[1] + dy]);
    arrow(ctx, P, tip, token("--gold"));
    const long = Math.hypot(dx, dy);
    if (long < 12) continue;
    const [ex, ey] = [dx / long, dy / long];
    // beyond the tip, or beside what is there
    const places = BEYOND.map(([far, aside]) => [
      tip[0] + far * ex - aside * ey,
      tip[1] + far * ey + aside * ex,
    ]);
    write(name, places);
  }

  ctx.font = font(11);
  scene.pins.forEach(({ at }, k) => {
    dot(ctx, spot(at), 9, token("--blue"));
    ctx.fillStyle = token("--picture");
    ctx.fillText(String(k + 1), spot(at)[0], spot(at)[1] + 1);
  });
  if (scene.wanted) {
    const goal = spot(scene.wanted);
    ctx.strokeStyle = token("--bad");
    ctx.lineWidth = 2;
    ctx.setLineDash([4, 4]);
    line(ctx, P, goal);
    ctx.beginPath();
    ctx.arc(...goal, 10, 0, 2 * Math.PI);
    ctx.stroke();
    ctx.setLineDash([]);
  }
  dot(ctx, P, 8, token("--rose"));
};

/** Where the name of an arrow may be, as seen from its tip: ahead, and to the right. */
const BEYOND = [11, 26, -6].flatMap((far) =>
  [0, 18, -18, 34, -34].map((aside) => [far, aside]),
);

/**
 * Writes names within the picture, each in the first of its places that no other has, or else in the first.
 *
 * @param {CanvasRenderingContext2D} ctx @param {import("../lib/picture.js").Size} size
 */
const writer = (ctx, { width, height }) => {
  /** @type {Point[]} */
  const taken = [];
  return (/** @type {string} */ text, /** @type {Point[]} */ places) => {
    const within = places.map(([px, py]) => [
      clamp(px, [10, width - 10]),
      clamp(py, [10, height - 10]),
    ]);
    const isFree = (/** @type {Point} */ [px, py]) =>
      taken.every(
        ([qx, qy]) => Math.abs(px - qx) > 16 || Math.abs(py - qy) > 13,
      );
    const [px, py] = within.find(isFree) ?? within[0];
    taken.push([px, py]);
    ctx.fillText(text, px, py);
  };
};

/** Where the name of a bar may be: beside its middle. @param {Pair} from @param {Pair} to */
const besides = (from, to) => {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const far = 13 / (Math.hypot(dx, dy) || 1);
  return [far, -far].map((aside) => [
    (from[0] + to[0]) / 2 + dy * aside,
    (from[1] + to[1]) / 2 - dx * aside,
  ]);
};

/**
 * The parts of a closed curve between its gaps.
 *
 * @param {(Point | undefined)[]} curve
 * @returns {Point[][]}
 */
const whole = (curve) => {
  const gap = curve.indexOf(undefined);
  // from a gap on, so that no part is torn where the curve begins; without one, back to its first point
  const turned =
    gap < 0
      ? [...curve, curve[0]]
      : [...curve.slice(gap), ...curve.slice(0, gap)];
  /** @type {Point[][]} */
  const parts = [[]];
  for (const point of turned)
    if (point) parts[parts.length - 1].push(point);
    else parts.push([]);
  return parts.filter((part) => part.length);
};
