// The diagram as the reader sees it: its shapes, the pull on them, and handles to drag them by.

import { nameOf } from "./words.js";
import { Handles } from "../lib/drag.js";
import { fixed } from "../lib/format.js";
import { html } from "../lib/html.js";
import { evenScales } from "../lib/plot.js";
import { clamp } from "../lib/region.js";
import { arrowsAsSvg, shapesAsSvg } from "./shapes.js";
import { fill } from "../lib/svg.js";

/**
 * @typedef {import("./layout.js").Layout} Layout
 * @typedef {import("../lib/plot.js").Pair} Pair
 */

/** An arrow key moves a shape by so much. */
const NUDGE = /** @type {const} */ ([4, 4]);

/**
 * @typedef {object} Hand
 * @property {() => void} take  a shape has been taken
 * @property {(path: string, to: Pair) => void} put  it is moved
 * @property {() => void} leave  it has been let go
 */

export class DiagramView {
  /** @param {HTMLElement} stage @param {Hand} hand */
  constructor(stage, hand) {
    this.stage = stage;
    this.hand = hand;
    this.svg = stage.getElementsByTagName("svg")[0];
    this.shapes = this.svg.getElementsByTagName("g")[0];
    this.pulls = this.svg.getElementsByTagName("g")[1];
    this.overlay = html("div", {});
    /** Put the handles where their shapes are. @type {(() => void)[]} */
    this.places = [];
  }

  /** Show another diagram, whose origin is in the middle of the stage. @param {Layout} layout */
  begin(layout) {
    const { width, height } = layout.size;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.overlay.remove();
    this.overlay = html("div", { className: "overlay" });
    this.stage.append(this.overlay);
    const handles = new Handles(this.overlay);
    const wide = /** @type {Pair} */ ([-width / 2, width / 2]);
    const high = /** @type {Pair} */ ([-height / 2, height / 2]);
    const scales = () => {
      const { clientWidth, clientHeight } = this.stage;
      const size = { width: clientWidth, height: clientHeight };
      return evenScales(size, wide, high);
    };
    const hand = { start: this.hand.take, end: this.hand.leave };
    this.places = [...layout.handles.keys()].map((path) => {
      const point = {
        ...{ scales, step: NUDGE, at: () => layout.at(path) },
        put: (/** @type {Pair} */ [x, y]) =>
          this.hand.put(path, [clamp(x, wide), clamp(y, high)]),
        words: (/** @type {readonly number[]} */ [x, y]) =>
          `x ${fixed(x, 0)}, y ${fixed(y, 0)}${layout.pins.has(path) ? ", held" : ""}`,
      };
      return handles.addPoint(nameOf(path), point, hand);
    });
  }

  /** @param {Layout} layout @param {Float64Array | undefined} gradient  if the pull is to be seen */
  draw(layout, gradient) {
    fill(this.shapes, shapesAsSvg(layout.shapes, layout.size));
    const free = [...layout.handles].filter(([path]) => !layout.pins.has(path));
    const pulls = free.map(([path, indices]) => ({
      at: layout.at(path),
      by: indices.map((index) => -(gradient?.[index] ?? 0)),
    }));
    fill(this.pulls, arrowsAsSvg(gradient ? pulls : [], layout.size));
    for (const place of this.places) place();
  }
}
