// Pictures to be blurred, as numbers from 0 to 1: red, green and blue, pixel by pixel.

import { SIDE } from "./blur.js";

/** @typedef {OffscreenCanvasRenderingContext2D} Context */

/**
 * What is drawn, as numbers.
 *
 * @param {(ctx: Context) => void} draw  on a square of SIDE pixels, which is white
 */
export const numbersOf = (draw) => {
  const ctx = /** @type {Context} */ (
    new OffscreenCanvas(SIDE, SIDE).getContext("2d", {
      willReadFrequently: true,
    })
  );
  ctx.fillStyle = "#ffffff";
  ctx.fillRect(0, 0, SIDE, SIDE);
  draw(ctx);
  const { data } = ctx.getImageData(0, 0, SIDE, SIDE);
  return Float64Array.from(
    { length: SIDE ** 2 * 3 },
    (_, k) => data[4 * Math.floor(k / 3) + (k % 3)] / 255,
  );
};

/** A house on a hill: colours, and corners. @type {[string, number[]][]} */
const HOUSE = [
  ["#7d8fa6", [0, 84, 26, 52, 47, 74, 78, 44, 128, 88, 128, 128, 0, 128]],
  [
    "#5d8f3e",
    [0, 94, 20, 88, 45, 86, 75, 90, 100, 98, 128, 106, 128, 128, 0, 128],
  ],
  ["#79a94c", [50, 128, 64, 110, 84, 99, 105, 94, 128, 92, 128, 128]],
  ["#f4ece1", [42, 62, 92, 62, 92, 101, 42, 101]],
  ["#a8352a", [36, 63, 67, 35, 98, 63]],
  ["#6d5042", [80, 38, 87, 38, 87, 54, 80, 47]],
  ["#5a3a28", [61, 79, 73, 79, 73, 101, 61, 101]],
];

/** @param {Context} ctx */
const house = (ctx) => {
  const sky = ctx.createLinearGradient(0, 0, 0, SIDE);
  sky.addColorStop(0, "#2f6fb2");
  sky.addColorStop(0.7, "#f3d9b8");
  ctx.fillStyle = sky;
  ctx.fillRect(0, 0, SIDE, SIDE);
  ctx.fillStyle = "#fff3c4";
  ctx.beginPath();
  ctx.arc(101, 27, 11, 0, 2 * Math.PI);
  ctx.fill();
  for (const [colour, corners] of HOUSE) {
    ctx.fillStyle = colour;
    ctx.beginPath();
    for (let k = 0; k < corners.length; k += 2)
      ctx.lineTo(corners[k], corners[k + 1]);
    ctx.fill();
  }
  ctx.fillStyle = "#22384f"; // panes of two windows
  for (const x of [47, 52, 79, 84])
    for (const y of [71, 77]) ctx.fillRect(x, y, 4, 5);
  ctx.fillStyle = "#fdfaf5"; // a fence
  for (let x = 1; x < SIDE; x += 6)
    if (x < 38 || x > 94) ctx.fillRect(x, 97, 2, 12);
  ctx.fillRect(0, 101, 38, 2);
  ctx.fillRect(95, 101, 33, 2);
};

/** @param {Context} ctx */
const letters = (ctx) => {
  ctx.fillStyle = "#f7f1e3";
  ctx.fillRect(0, 0, SIDE, SIDE);
  ctx.textAlign = "center";
  ["R", "O S", "E F T", "I L N D", "B C O E P R", "A U T O D I F F S"].forEach(
    (row, k) => {
      ctx.fillStyle = ["#1d1a1b", "#a01f4c", "#1b507c"][k % 3];
      ctx.font = `bold ${[34, 25, 18, 14, 11, 9][k]}px "DejaVu Sans", Verdana, sans-serif`;
      ctx.fillText(row, SIDE / 2, [32, 57, 77, 94, 108, 121][k]);
    },
  );
};

/** Rings that become finer and finer: each blur has some that it wipes out. @param {Context} ctx */
const rings = (ctx) => {
  const image = ctx.getImageData(0, 0, SIDE, SIDE);
  for (let k = 0; k < SIDE ** 2; ++k) {
    const [x, y] = [k % SIDE, Math.floor(k / SIDE)];
    const r = Math.hypot(x, y) / SIDE;
    const grey = 127.5 * (1 + Math.cos(0.8 * Math.PI * r * r * (SIDE / 2)));
    for (let c = 0; c < 3; ++c) image.data[4 * k + c] = grey;
  }
  ctx.putImageData(image, 0, 0);
};

/** @type {Record<string, () => Float64Array>} */
export const SPECIMENS = {
  house: () => numbersOf(house),
  letters: () => numbersOf(letters),
  rings: () => numbersOf(rings),
};

/** Normal numbers, the same ones each time: by the method of Box and Muller, from a linear generator. @param {number} seed */
export const noise = (seed) => {
  let state = seed;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  return Float64Array.from(
    { length: SIDE ** 2 * 3 },
    () =>
      Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()),
  );
};
