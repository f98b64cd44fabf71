// The diagram as the reader sees it: its shapes, the pull on them, and handles to drag them by.

import { nameOf } from "./diagram-words.js";
import { Handles } from "./drag.js";
import { fixed } from "./format.js";
import { drawArrows, drawShapes } from "./shapes.js";

/** @typedef {import("./layout.js").Layout} Layout */

/** An arrow key moves a shape by so much. */
const NUDGE = 4;

/**
 * @typedef {object} Hand
 * @property {() => void} take  a shape has been taken
 * @property {(path: string, to: readonly [number, number]) => void} put  it is moved
 * @property {() => void} leave  it has been let go
 */

export class DiagramView {
  /** @param {HTMLElement} stage @param {Hand} hand */
  constructor(stage, hand) {
    this.stage = stage;
    this.hand = hand;
    [this.svg] = stage.getElementsByTagName("svg");
    [this.shapes, this.pulls] = this.svg.getElementsByTagName("g");
    this.overlay = document.createElement("div");
    /** @type {Map<string, ReturnType<Handles["add"]>>} */
    this.places = new Map();
  }

  /** The size of the diagram, whose origin is in the middle of the stage. @param {Layout} layout */
  fit({ size: { width, height } }) {
    const { clientWidth, clientHeight } = this.stage;
    const scale = Math.min(clientWidth / width, clientHeight / height);
    return { scale, x: clientWidth / 2, y: clientHeight / 2, width, height };
  }

  /** Show another diagram. @param {Layout} layout */
  begin(layout) {
    const { width, height } = layout.size;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.overlay.remove();
    this.overlay = document.createElement("div");
    this.overlay.className = "overlay";
    this.stage.append(this.overlay);
    const handles = new Handles(this.overlay);
    this.places.clear();
    for (const path of layout.handles.keys()) {
      const put = (/** @type {number} */ x, /** @type {number} */ y) => {
        const inside = (
          /** @type {number} */ value,
          /** @type {number} */ whole,
        ) => Math.max(-whole / 2, Math.min(whole / 2, value));
        this.hand.put(path, [inside(x, width), inside(y, height)]);
      };
      const place = handles.add(nameOf(path), {
        start: this.hand.take,
        to: (px, py) => {
          const { scale, x, y } = this.fit(layout);
          put((px - x) / scale, (y - py) / scale);
        },
        by: (dx, dy) => {
          const [x, y] = layout.at(path);
          put(x + NUDGE * dx, y + NUDGE * dy);
        },
        end: this.hand.leave,
      });
      this.places.set(path, place);
    }
  }

  /** @param {Layout} layout @param {Float64Array | undefined} gradient  if the pull is to be seen */
  draw(layout, gradient) {
    drawShapes(this.shapes, layout.shapes, layout.size);
    const free = [...layout.handles].filter(([path]) => !layout.pins.has(path));
    const pulls = free.map(([path, indices]) => ({
      at: layout.at(path),
      by: indices.map((index) => -(gradient?.[index] ?? 0)),
    }));
    drawArrows(this.pulls, gradient ? pulls : [], layout.size);
    const fit = this.fit(layout);
    for (const [path, place] of this.places) {
      const [x, y] = layout.at(path);
      const held = layout.pins.has(path) ? ", held" : "";
      const value = `x ${fixed(x, 0)}, y ${fixed(y, 0)}${held}`;
      place(fit.x + x * fit.scale, fit.y - y * fit.scale, value);
    }
  }
}
