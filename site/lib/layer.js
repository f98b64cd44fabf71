// What stays as it is from frame to frame: kept as an image, so that only what moves is drawn again.

import { theme } from "./theme.js";

/**
 * @typedef {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} Context
 *
 * @typedef {object} Kept
 * @property {readonly unknown[]} of  what it was drawn of
 * @property {OffscreenCanvas} [image]
 */

/** By picture and by name. @type {WeakMap<Context, Map<string, Kept>>} */
const kept = new WeakMap();

/** @param {readonly unknown[]} a @param {readonly unknown[]} b */
export const isSame = (a, b) =>
  a.length === b.length && a.every((x, k) => Object.is(x, b[k]));

/** All that a part of a picture depends on. @param {Context} ctx @param {readonly unknown[]} of */
const whole = ({ canvas: { width, height } }, of) => [
  ...of,
  width,
  height,
  theme.number,
];

/** Whether `layer` would not draw a part anew, or not another time. @param {Context} ctx @param {string} name @param {readonly unknown[]} of */
export const isKept = (ctx, name, of) => {
  const before = kept.get(ctx)?.get(name);
  return before !== undefined && isSame(before.of, whole(ctx, of));
};

/**
 * Draw a part of a picture, or show what was drawn of the same before.
 *
 * @param {CanvasRenderingContext2D} ctx  of which nothing but the size is changed
 * @param {string} name  of the part, which no other of the picture has
 * @param {readonly unknown[]} of  all that the part depends on, but for the canvas and the theme
 * @param {(ctx: Context) => void} draw
 * @param {boolean} [atOnce]  an image is made of the first drawing, not of the second: where parts change in
 *   every frame, making images of them would take more time than it saves
 */
export const layer = (ctx, name, of, draw, atOnce = false) => {
  const { width, height } = ctx.canvas;
  const all = kept.get(ctx) ?? new Map();
  kept.set(ctx, all);
  const known = whole(ctx, of);
  const before = /** @type {Kept | undefined} */ (all.get(name));
  const isKnown = before !== undefined && isSame(before.of, known);
  if (!isKnown && !atOnce) {
    all.set(name, { of: known });
    ctx.save();
    draw(ctx);
    ctx.restore();
    return;
  }
  let image = isKnown ? before.image : undefined;
  if (!image) {
    image = new OffscreenCanvas(width, height);
    const room = /** @type {OffscreenCanvasRenderingContext2D} */ (
      image.getContext("2d")
    );
    room.setTransform(ctx.getTransform());
    room.lineJoin = ctx.lineJoin;
    room.lineCap = ctx.lineCap;
    draw(room);
    all.set(name, { of: known, image });
  }
  ctx.save();
  ctx.resetTransform();
  ctx.drawImage(image, 0, 0);
  ctx.restore();
};
