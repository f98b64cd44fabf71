// The picture of the billiard table.

import { layer } from "../lib/layer.js";
import { RADIUS } from "./rack.js";
import { font, token } from "../lib/theme.js";
import { arrow, dot, evenScales, line, polyline } from "../lib/plot.js";
import { waysOf } from "./ways.js";

/**
 * @typedef {import("../lib/picture.js").Size} Size
 * @typedef {import("../lib/layer.js").Context} Context
 * @typedef {import("../lib/plot.js").Pair} Pair
 * @typedef {{ x: number[], v: number[] }} Shot
 * @typedef {{ cue: Pair[], target: Pair[] }} Trail
 */

/** What is seen of the table, which has no edge. */
export const WIDE = /** @type {const} */ ([0, 1.4]);
export const HIGH = /** @type {const} */ ([0.1, 0.9]);

/** The arrow of the shot: where the cue ball would be after so many seconds. */
export const AHEAD = 0.4;

/** How many earlier tries are seen at most. */
const SEEN = 40;

/** @param {Size} size */
export const scales = (size) => evenScales(size, WIDE, HIGH);

/** @param {Shot} shot */
export const tip = ({ x, v }) => x.map((at, c) => at + AHEAD * v[c]);

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Size} size
 * @param {object} scene
 * @param {Shot} scene.shot
 * @param {Shot} [scene.grad]
 * @param {number[]} scene.goal
 * @param {number} scene.target
 * @param {number[][][]} scene.frames  where the balls are, frame by frame
 * @param {number} scene.frame
 * @param {Trail[]} scene.earlier
 */
export const drawTable = (ctx, size, scene) => {
  const { shot, grad, goal, target, frames, frame, earlier } = scene;
  const { x, y } = scales(size);
  /** @param {readonly number[]} p @returns {Pair} */
  const spot = ([px, py]) => [x.at(px), y.at(py)];
  const radius = RADIUS * x.unit;

  layer(ctx, "earlier", [...earlier], (still) => {
    still.lineWidth = 1;
    const step = Math.ceil(earlier.length / SEEN);
    still.globalAlpha = 0.22;
    for (let k = 0; k < earlier.length; k += step) {
      still.strokeStyle = token("--rose");
      polyline(still, earlier[k].cue.map(spot));
      still.strokeStyle = token("--blue");
      polyline(still, earlier[k].target.map(spot));
    }
  });

  // the ways of all balls to the end, faintly, and what they have gone of them
  const ways = (/** @type {Context} */ on, /** @type {number} */ end) => {
    for (const [ball, way] of waysOf(frames, end).entries()) {
      const colour =
        ball === 0 ? "--rose" : ball === target ? "--blue" : "--edge";
      on.strokeStyle = token(colour);
      on.lineWidth = ball === 0 || ball === target ? 2.25 : 1;
      polyline(on, way.map(spot));
    }
  };
  const last = frames.length - 1;
  if (frame < last)
    layer(ctx, "ways", [frames, target], (still) => {
      still.globalAlpha = 0.35;
      ways(still, last);
    });
  ways(ctx, frame);

  ring(ctx, spot(goal), radius);
  ctx.strokeStyle = token("--rose");
  ctx.lineWidth = 1.5;
  circle(ctx, spot(shot.x), radius);
  ctx.stroke();
  if (grad) {
    const down = (/** @type {number[]} */ at, /** @type {number[]} */ g) => {
      // a steeper slope, a longer arrow, but never too long
      const length = Math.hypot(...g);
      const long = (0.16 * length) / (length + 0.3) / (length || 1);
      const end = at.map((c, k) => c - long * g[k]);
      arrow(ctx, spot(at), spot(end), token("--gold"));
    };
    down(shot.x, grad.x);
    down(tip(shot), grad.v);
  }
  arrow(ctx, spot(shot.x), spot(tip(shot)), token("--rose"));
  dot(ctx, spot(tip(shot)), 4, token("--rose"));

  ctx.font = `600 ${font(Math.max(9, radius * 0.95))}`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  for (const [ball, at] of frames[frame].entries()) {
    const [px, py] = spot(at);
    circle(ctx, [px, py], radius);
    ctx.fillStyle = token(
      ball === 0 ? "--rose" : ball === target ? "--blue" : "--hill",
    );
    ctx.fill();
    ctx.strokeStyle = token("--picture");
    ctx.lineWidth = 1;
    ctx.stroke();
    ctx.fillStyle = token(ball === target ? "--picture" : "--ink");
    if (ball) ctx.fillText(String(ball), px, py + 0.5);
  }
};

/** @param {CanvasRenderingContext2D} ctx @param {Pair} at @param {number} radius */
const circle = (ctx, at, radius) => {
  ctx.beginPath();
  ctx.arc(...at, radius, 0, 2 * Math.PI);
};

/** The goal. @param {CanvasRenderingContext2D} ctx @param {Pair} at @param {number} radius */
const ring = (ctx, [x, y], radius) => {
  ctx.strokeStyle = token("--blue");
  ctx.lineWidth = 2;
  ctx.setLineDash([4, 4]);
  circle(ctx, [x, y], radius + 2);
  ctx.stroke();
  ctx.setLineDash([]);
  line(ctx, [x - 5, y], [x + 5, y]);
  line(ctx, [x, y - 5], [x, y + 5]);
};
