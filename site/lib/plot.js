// Pictures with two axes: scales, ticks, curves and dots.

import { layer } from "./layer.js";
import { font, token } from "./theme.js";

/**
 * @typedef {import("./layer.js").Context} Context
 * @typedef {readonly [number, number]} Pair
 */

/** From values on an axis to pixels, and back. */
export class Scale {
  /**
   * @param {Pair} domain  values at the two ends
   * @param {Pair} range  pixels there
   * @param {boolean} [log]
   */
  constructor(domain, range, log = false) {
    this.domain = domain;
    this.range = range;
    this.log = log;
    this.start = log ? Math.log10(domain[0]) : domain[0];
    const end = log ? Math.log10(domain[1]) : domain[1];
    this.unit = (range[1] - range[0]) / (end - this.start);
  }

  /** @param {number} value */
  at(value) {
    return (
      this.range[0] +
      ((this.log ? Math.log10(value) : value) - this.start) * this.unit
    );
  }

  /** The value at a pixel. @param {number} pixel */
  from(pixel) {
    const value = this.start + (pixel - this.range[0]) / this.unit;
    return this.log ? 10 ** value : value;
  }

  /** Round values along the axis, some `space` pixels apart. @param {number} space */
  ticks(space) {
    const [low, high] = this.domain;
    const length = Math.abs(this.range[1] - this.range[0]);
    if (this.log) {
      const first = Math.ceil(Math.log10(low) - 1e-9);
      const last = Math.floor(Math.log10(high) + 1e-9);
      const each = Math.max(1, Math.ceil(((last - first) * space) / length));
      return [...range(first, last, each)].map((power) => 10 ** power);
    }
    const step = niceStep(((high - low) * space) / length);
    return [
      ...range(Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9), 1),
    ].map((n) => n * step);
  }
}

/**
 * Scales with the same unit, for what must not be stretched: a window in the middle of the picture.
 *
 * @param {import("./picture.js").Size} size
 * @param {Pair} x
 * @param {Pair} y
 */
export const evenScales = ({ width, height }, x, y) => {
  const unit = Math.min(width / (x[1] - x[0]), height / (y[1] - y[0]));
  const [side, top] = [
    (width - unit * (x[1] - x[0])) / 2,
    (height - unit * (y[1] - y[0])) / 2,
  ];
  return {
    x: new Scale(x, [side, width - side]),
    y: new Scale(y, [height - top, top]),
  };
};

/** @param {number} first @param {number} last @param {number} step */
function* range(first, last, step) {
  // counted, as adding to a number that is large enough may leave it as it is; none of what is infinite
  const count = (last - first) / step;
  for (let k = 0; k <= count; ++k) yield first + k * step;
}

/** 1, 2 or 5 times a power of ten, at least `step`. @param {number} step */
const niceStep = (step) => {
  const power = 10 ** Math.floor(Math.log10(step));
  const part = step / power;
  const nice = (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10) * power;
  return Math.max(nice, Number.MIN_VALUE); // below which numbers have no steps
};

/** How a tick is written. @param {number} value @param {boolean} [log] */
export const label = (value, log) => {
  if (log) {
    const power = Math.round(Math.log10(value));
    const raised = [...String(Math.abs(power))]
      .map((d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(d)])
      .join("");
    return power === 0
      ? "1"
      : power === 1
        ? "10"
        : `10${power < 0 ? "⁻" : ""}${raised}`;
  }
  return String(Number(value.toPrecision(6))).replace("-", "−");
};

/**
 * Draw the grid, ticks and names of two axes.
 *
 * @param {CanvasRenderingContext2D} ctx
 * @param {Scale} x
 * @param {Scale} y
 * @param {{ x: string, y: string, grid?: boolean }} names
 */
export const axes = (ctx, x, y, names) => {
  const of = [x, y].flatMap((s) => [...s.domain, ...s.range, s.log]);
  layer(ctx, "axes", [...of, ...Object.values(names)], (still) =>
    drawAxes(still, x, y, names),
  );
};

/** @param {Context} ctx @param {Scale} x @param {Scale} y @param {{ x: string, y: string, grid?: boolean }} names */
const drawAxes = (ctx, x, y, names) => {
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  ctx.font = font();
  ctx.lineWidth = 1;
  ctx.strokeStyle = token("--grid");
  ctx.fillStyle = token("--soft");
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  for (const value of y.ticks(36)) {
    if (names.grid !== false)
      line(ctx, [left, y.at(value)], [right, y.at(value)]);
    // the name of the axis stands at its top, or above it where there is room
    if (y.at(value) > top + 14 || top > 20)
      ctx.fillText(label(value, y.log), left - 6, y.at(value));
  }
  ctx.textBaseline = "top";
  ctx.textAlign = "center";
  const end = right - ctx.measureText(names.x).width - 6;
  for (const value of x.ticks(48)) {
    if (names.grid !== false)
      line(ctx, [x.at(value), bottom], [x.at(value), top]);
    const text = label(value, x.log);
    if (x.at(value) + ctx.measureText(text).width / 2 < end)
      ctx.fillText(text, x.at(value), bottom + 6);
  }
  ctx.fillStyle = token("--ink");
  ctx.textAlign = "right";
  ctx.fillText(names.x, right, bottom + 6);
  ctx.textAlign = "left";
  ctx.fillText(names.y, 8, top > 20 ? top - 18 : top - 2);
};

/**
 * Draw within two axes only.
 *
 * @param {Context} ctx
 * @param {{ x: Scale, y: Scale }} scales
 * @param {() => void} draw
 */
export const clipped = (ctx, { x, y }, draw) => {
  const [[left, right], [bottom, top]] = [x.range, y.range];
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, right - left, bottom - top);
  ctx.clip();
  draw();
  ctx.restore();
};

/**
 * The curve of a function, with gaps where it has no finite value.
 *
 * @param {Context} ctx
 * @param {{ x: Scale, y: Scale }} scales
 * @param {(x: number) => number} f
 */
export const curve = (ctx, { x, y }, f) => {
  /** @type {Pair[]} */
  let piece = [];
  for (let px = x.range[0]; px <= x.range[1]; px += 1) {
    const value = f(x.from(px));
    if (Number.isFinite(value))
      // canvases take no numbers that are too large
      piece.push([px, Math.min(1e4, Math.max(-1e4, y.at(value)))]);
    else {
      polyline(ctx, piece);
      piece = [];
    }
  }
  polyline(ctx, piece);
};

/** @param {Context} ctx @param {Pair} from @param {Pair} to */
export const line = (ctx, from, to) => lines(ctx, [[from, to]]);

/** Lines that look alike, all at once. @param {Context} ctx @param {readonly (readonly [Pair, Pair])[]} all */
export const lines = (ctx, all) => {
  ctx.beginPath();
  for (const [from, to] of all) {
    ctx.moveTo(...from);
    ctx.lineTo(...to);
  }
  ctx.stroke();
};

/**
 * @param {Context} ctx
 * @param {readonly Pair[]} points  in pixels
 */
export const polyline = (ctx, points) => {
  ctx.beginPath();
  for (const point of points) ctx.lineTo(...point);
  ctx.stroke();
};

/** @param {Context} ctx @param {Pair} centre @param {number} radius @param {string} fill */
export const dot = (ctx, centre, radius, fill) =>
  dots(ctx, [centre], radius, fill);

/**
 * Dots that look alike, all at once.
 *
 * @param {Context} ctx
 * @param {readonly Pair[]} centres
 * @param {number} radius
 * @param {string} fill
 */
export const dots = (ctx, centres, radius, fill) => {
  ctx.beginPath();
  for (const [x, y] of centres) {
    ctx.moveTo(x + radius, y);
    ctx.arc(x, y, radius, 0, 2 * Math.PI);
  }
  ctx.fillStyle = fill;
  ctx.fill();
  ctx.lineWidth = 1.5;
  ctx.strokeStyle = token("--picture");
  ctx.stroke();
};

/**
 * An arrow of pixels; too short a one is left out.
 *
 * @param {Context} ctx
 * @param {Pair} from
 * @param {Pair} to
 * @param {string} colour
 */
export const arrow = (ctx, from, to, colour) => {
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  if (!(length > 3)) return;
  const head = Math.min(10, length);
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = 2.5;
  /** @param {number} back @param {number} aside @returns {Pair} */
  const near = (back, aside) => [
    to[0] - back * Math.cos(angle) - aside * Math.sin(angle),
    to[1] - back * Math.sin(angle) + aside * Math.cos(angle),
  ];
  line(ctx, from, near(head * 0.7, 0));
  ctx.beginPath();
  ctx.moveTo(...to);
  ctx.lineTo(...near(head, head * 0.45));
  ctx.lineTo(...near(head, -head * 0.45));
  ctx.fill();
};
