// A canvas that stays sharp: drawn again when its size, the screen's resolution or the theme change.

import { isSame } from "./layer.js";
import { atNextFrame, inPassing, roughly } from "./pace.js";
import { element } from "./page.js";
import { onTheme } from "./theme.js";

/** @typedef {{ width: number, height: number }} Size  in CSS pixels */

/** What is not in view is drawn so many milliseconds later. */
const LATER = 300;

/** @type {Set<Picture>} */
const pictures = new Set();

onTheme(() => {
  for (const picture of pictures) picture.paint();
});

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
   * @param {object} [options]
   * @param {boolean} [options.rough]  whether there is a rough drawing, for while things move
   * @param {boolean} [options.aside]  whether it may be drawn less often, where there is no time for it
   * @param {() => readonly unknown[]} [options.of]  all that it is a picture of: while these are the same, it
   *   need not be drawn again
   * @param {number} [options.side]  of a square canvas that has so many pixels and no more, whatever its size:
   *   the browser magnifies what is drawn
   */
  constructor(
    id,
    draw,
    { rough = false, aside = false, of = () => [{}], side } = {},
  ) {
    const canvas = element(id, HTMLCanvasElement);
    this.canvas = canvas;
    this.draw = draw;
    this.of = of;
    this.side = side;
    /** @type {readonly unknown[]} */
    this.shown = [];
    // asking the element for its size would have the page laid out each time
    this.width = 0;
    this.height = 0;
    this.frame = () => this.paint();
    if (rough) this.frame = roughly((isRough) => this.paint(isRough));
    if (aside) this.frame = inPassing(() => this.paint());
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
      if (!this.asked) return;
      if (isSame(this.of(), this.shown)) this.asked = false;
      else this.frame(now);
    };
    if (this.isInView) atNextFrame(frame);
    else setTimeout(atNextFrame, LATER, frame);
  }

  fit() {
    const { canvas } = this;
    this.width = canvas.clientWidth;
    this.height = canvas.clientHeight;
    const { side } = this;
    const width = side ?? Math.round(this.width * devicePixelRatio);
    const height = side ?? Math.round(this.height * devicePixelRatio);
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
    this.shown = this.of();
    ctx.setTransform(canvas.width / width, 0, 0, canvas.height / height, 0, 0);
    ctx.clearRect(0, 0, width, height);
    ctx.lineJoin = "round";
    ctx.lineCap = "round";
    this.draw(ctx, { width, height }, isRough);
  }
}
