// The picture of the robot: its body, the ground, and the ways of a foot.

import { font, rgb, token } from "../lib/theme.js";
import { layer } from "../lib/layer.js";
import { dot, dots, evenScales, line, lines, polyline } from "../lib/plot.js";
import { GROUND } from "./walker.js";

/**
 * @typedef {import("../lib/plot.js").Pair} Pair
 * @typedef {{ x: number[][], signals: number[] }} Frame
 */

const WIDE = /** @type {const} */ ([0.05, 0.95]);
const HIGH = /** @type {const} */ ([0.055, 0.415]);

/** How many earlier tries are seen at most. */
const SEEN = 30;

/** The colour of a muscle: blue when it is short, gold when it is long. @param {number} signal */
const tint = (signal) => {
  const from = rgb("--edge");
  const to = rgb(signal < 0 ? "--blue" : "--gold");
  const part = Math.abs(signal);
  return `rgb(${from.map((c, k) => Math.round(c + part * (to[k] - c))).join()})`;
};

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {import("../lib/picture.js").Size} size
 * @param {object} scene
 * @param {import("./body.js").Body} scene.body
 * @param {Frame} scene.frame
 * @param {Pair[][]} scene.trails  of the foot, try by try
 * @param {Pair[]} [scene.trail]  that of the walk that is seen
 */
export const drawRobot = (ctx, size, scene) => {
  const { body, frame, trails, trail } = scene;
  const { x, y } = evenScales(size, WIDE, HIGH);
  /** @param {readonly number[]} p @returns {Pair} */
  const spot = ([px, py]) => [x.at(px), y.at(py)];
  layer(ctx, "ground and trails", [...trails, trail], (still) => {
    ground(still, size, x, y);
    still.strokeStyle = token("--rose");
    still.lineWidth = 1;
    still.globalAlpha = 0.25;
    const step = Math.ceil(trails.length / SEEN);
    for (let k = 0; k < trails.length; k += step)
      polyline(still, trails[k].map(spot));
    still.globalAlpha = 1;
    still.lineWidth = 2;
    if (trail) polyline(still, trail.map(spot));
  });

  const unit = Math.max(1, size.width / 500);
  const masses = frame.x.map(spot);
  ctx.strokeStyle = token("--edge");
  ctx.lineWidth = 1.5 * unit;
  lines(
    ctx,
    body.struts.map(({ a, b }) => [masses[a], masses[b]]),
  );
  ctx.lineWidth = 5 * unit;
  for (const [k, { a, b }] of body.muscles.entries()) {
    ctx.strokeStyle = tint(frame.signals[k]);
    line(ctx, masses[a], masses[b]);
  }
  dots(ctx, masses, 2.5 * unit, token("--ink"));
  dot(ctx, masses[0], 5 * unit, token("--rose"));
};

/**
 * @param {import("../lib/layer.js").Context} ctx
 * @param {import("../lib/picture.js").Size} size
 * @param {import("../lib/plot.js").Scale} x
 * @param {import("../lib/plot.js").Scale} y
 */
const ground = (ctx, { width, height }, x, y) => {
  const at = y.at(GROUND);
  ctx.fillStyle = token("--sunken");
  ctx.fillRect(0, at, width, height - at);
  ctx.strokeStyle = token("--edge");
  ctx.lineWidth = 1.5;
  line(ctx, [0, at], [width, at]);
  ctx.font = font();
  ctx.fillStyle = token("--soft");
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  for (let tenth = 1; tenth < 10; ++tenth) {
    const place = x.at(tenth / 10);
    line(ctx, [place, at], [place, at + 5]);
    if (tenth % 2 === 0) ctx.fillText(`0.${tenth}`, place, at + 7);
  }
};
