// What stands around a surface: the floor with its axes, the scale of heights, and what the floor
// shows of the point above it.

import { HALF } from "./camera.js";
import { font, token } from "../lib/theme.js";
import { Scale, arrow, label, line } from "../lib/plot.js";
import { clamp } from "../lib/region.js";

/**
 * @typedef {import("./camera.js").Pair} Pair
 * @typedef {import("./camera.js").Box} Box
 * @typedef {import("./camera.js").Look} Look
 * @typedef {import("../lib/layer.js").Context} Context
 */

/** The floor is a little below the box. */
const LEVEL = -HALF - 0.22;

const CORNERS = /** @type {Pair[]} */ ([
  [-1, -1],
  [1, -1],
  [1, 1],
  [-1, 1],
]);

/** @param {Context} ctx @param {Look} look @param {Box} box */
export const drawFloor = (ctx, look, box) => {
  // names stand at the sides that are nearer
  const nearU = look.sin > 0 ? -1 : 1;
  const nearV = look.cos > 0 ? -1 : 1;
  ctx.font = font();
  ctx.textBaseline = "middle";
  ctx.textAlign = "center";
  ctx.lineWidth = 1;
  ctx.strokeStyle = token("--line");
  ctx.fillStyle = token("--soft");
  const length = 2 * look.scale;
  for (const x of new Scale(box.x, [0, length]).ticks(52)) {
    const u = look.x.to(x);
    line(ctx, look.place(u, -1, LEVEL), look.place(u, 1, LEVEL));
    ctx.fillText(label(x), ...look.place(u, nearV * 1.13, LEVEL));
  }
  for (const y of new Scale(box.y, [0, length]).ticks(52)) {
    const v = look.y.to(y);
    line(ctx, look.place(-1, v, LEVEL), look.place(1, v, LEVEL));
    ctx.fillText(label(y), ...look.place(nearU * 1.13, v, LEVEL));
  }
  ctx.fillStyle = token("--ink");
  ctx.fillText("x", ...look.place(0, nearV * 1.3, LEVEL));
  ctx.fillText("y", ...look.place(nearU * 1.3, 0, LEVEL));
  ctx.strokeStyle = token("--edge");
  ctx.beginPath();
  for (const [u, v] of CORNERS) ctx.lineTo(...look.place(u, v, LEVEL));
  ctx.closePath();
  ctx.stroke();
  heights(ctx, look, box);
};

/** The scale of heights, at the edge that is furthest to the left. @param {Context} ctx @param {Look} look @param {Box} box */
const heights = (ctx, look, box) => {
  const [u, v] = CORNERS.reduce((a, b) =>
    look.right(...b) < look.right(...a) ? b : a,
  );
  line(ctx, look.place(u, v, -HALF), look.place(u, v, HALF));
  ctx.textAlign = "right";
  ctx.fillStyle = token("--soft");
  const length = 2 * HALF * look.scale * look.up;
  for (const z of new Scale(box.z, [0, length]).ticks(30)) {
    const [px, py] = look.place(u, v, HALF * look.z.to(z));
    line(ctx, [px, py], [px - 4, py]);
    ctx.fillText(label(z), px - 8, py);
  }
  ctx.fillStyle = token("--ink");
  const [px, py] = look.place(u, v, HALF);
  ctx.fillText("z", px - 2, py - 14);
};

/**
 * Under the point: the patch's reach, and the way up. It comes last, and behind all that is there.
 *
 * @param {CanvasRenderingContext2D} ctx
 * @param {Look} look
 * @param {import("./surface.js").Scene} scene
 * @param {number} radius  of the patch
 */
export const drawShadow = (
  ctx,
  look,
  { f, box, point, patch, gradient },
  radius,
) => {
  const [u, v] = [look.x.to(point[0]), look.y.to(point[1])];
  ctx.globalCompositeOperation = "destination-over";
  const z = f(...point);
  if (Number.isFinite(z)) {
    ctx.strokeStyle = token("--soft");
    ctx.lineWidth = 1.25;
    ctx.setLineDash([3, 4]);
    line(ctx, look.place(u, v, LEVEL), look.at(...point, clamp(z, box.z)));
    ctx.setLineDash([]);
  }
  if (gradient) {
    // as it is in the picture, whose axes have scales of their own
    const gu = gradient[0] * (box.x[1] - box.x[0]);
    const gv = gradient[1] * (box.y[1] - box.y[0]);
    const size = Math.hypot(gu, gv);
    // a steeper slope, a longer arrow, but never too long
    const long = radius / (size + 0.6 * (box.z[1] - box.z[0]));
    const tip = look.place(u + gu * long, v + gv * long, LEVEL);
    arrow(ctx, look.place(u, v, LEVEL), tip, token("--gold"));
  }
  if (patch) {
    ctx.beginPath();
    for (let angle = 0; angle < 6.3; angle += 0.13) {
      const pu = clamp(u + radius * Math.cos(angle), [-1, 1]);
      const pv = clamp(v + radius * Math.sin(angle), [-1, 1]);
      ctx.lineTo(...look.place(pu, pv, LEVEL));
    }
    ctx.fillStyle = token("--rose");
    ctx.globalAlpha = 0.16;
    ctx.fill();
    ctx.globalAlpha = 1;
  }
  ctx.globalCompositeOperation = "source-over";
};
