// A canvas that stays sharp: drawn again when its size, the screen's resolution or the theme change.

import { roughly } from "./pace.js";
import { element } from "./page.js";

/** @typedef {{ width: number, height: number }} Size  in CSS pixels */

/** What is not in view is drawn so many milliseconds later. */
const LATER = 300;

/** @type {Set<Picture>} */
const pictures = new Set();

/** @type {Map<string, string>} */
const tokens = new Map();

/** The value of a custom property of style.css. @param {string} name */
export const token = (name) => {
  let value = tokens.get(name);
  if (value === undefined) {
    value = getComputedStyle(document.documentElement)
      .getPropertyValue(name)
      .trim();
    tokens.set(name, value);
  }
  return value;
};

/** A colour of style.css as red, green, blue. @param {string} name */
export const rgb = (name) => {
  const code = Number.parseInt(token(name).slice(1), 16);
  return [code >> 16, (code >> 8) & 255, code & 255];
};

/** The font for what is written on a canvas. @param {number} [pixels] */
export const font = (pixels = 12) => `${pixels}px ${token("--ui")}`;

const themeChanged = () => {
  tokens.clear();
  for (const picture of pictures) picture.paint();
};

for (const media of ["(prefers-color-scheme: dark)", "print"])
  matchMedia(media).addEventListener("change", themeChanged);

const watchResolution = () => {
  for (const picture of pictures) picture.fit();
  const query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
  query.addEventListener("change", watchResolution, { once: true });
};
watchResolution();

export class Picture {
  /**
   * @param {string} id  of the canvas
   * @param {(ctx: CanvasRenderingContext2D, size: Size, isRough: boolean) => void} draw  called in CSS
   *   pixels, on an empty canvas
   * @param {{ rough?: boolean }} [options]  whether there is a rough drawing, for while things move
   */
  constructor(id, draw, { rough = false } = {}) {
    const canvas = element(id, HTMLCanvasElement);
    this.canvas = canvas;
    this.draw = draw;
    // asking the element for its size would have the page laid out each time
    this.width = 0;
    this.height = 0;
    this.frame = rough
      ? roughly((isRough) => this.paint(isRough))
      : () => this.paint();
    this.ctx = /** @type {CanvasRenderingContext2D} */ (
      canvas.getContext("2d")
    );
    this.asked = false;
    this.isInView = true;
    pictures.add(this);
    // tells the first size, too
    new ResizeObserver(() => this.fit()).observe(canvas);
    new IntersectionObserver((entries) => {
      this.isInView = entries[entries.length - 1].isIntersecting;
      if (this.isInView && this.asked) this.paint();
    }).observe(canvas);
  }

  /** Ask for a new drawing; however often, it is drawn once per frame, and less often where nobody sees it. */
  redraw() {
    if (this.asked) return;
    this.asked = true;
    const frame = (/** @type {number} */ now) => {
      if (this.asked) this.frame(now);
    };
    if (this.isInView) requestAnimationFrame(frame);
    else setTimeout(requestAnimationFrame, LATER, frame);
  }

  fit() {
    const { canvas } = this;
    this.width = canvas.clientWidth;
    this.height = canvas.clientHeight;
    const width = Math.round(this.width * devicePixelRatio);
    const height = Math.round(this.height * devicePixelRatio);
    if (width !== canvas.width || height !== canvas.height) {
      canvas.width = width;
      canvas.height = height;
    }
    this.paint();
  }

  paint(isRough = false) {
    this.asked = false;
    const { canvas, ctx, width, height } = this;
    if (!width || !height) return;
    ctx.setTransform(canvas.width / width, 0, 0, canvas.height / height, 0, 0);
    ctx.clearRect(0, 0, width, height);
    ctx.lineJoin = "round";
    ctx.lineCap = "round";
    this.draw(ctx, { width, height }, isRough);
  }
}
