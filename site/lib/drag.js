// Handles on a picture: things to take hold of with a mouse, a finger or the arrow keys.
//
// Each is an element of its own, so that it can be focused and read out, and so that only a touch
// that begins on a handle is kept from scrolling the page.

/**
 * @typedef {import("./plot.js").Scale} Scale
 *
 * @typedef {object} Move
 * @property {(x: number, y: number) => void} to  the handle is dragged to these CSS pixels
 * @property {(dx: number, dy: number) => void} by  an arrow key was pressed: ±1, or ±10 with Shift;
 *   up is positive
 * @property {() => void} [start]  the handle has been taken
 * @property {() => void} [end]  the handle has been let go
 */

import { label } from "./write.js";

const KEYS = /** @type {Record<string, readonly [number, number]>} */ ({
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
});

/** For a handle that is taken with a pointer: no ring around it. */
const FOCUS = { preventScroll: true, focusVisible: false };

/**
 * Call `by` for the arrow keys on an element.
 *
 * @param {HTMLElement} element
 * @param {(dx: number, dy: number) => void} by
 */
export const onArrows = (element, by) => {
  element.addEventListener("keydown", (event) => {
    const way = KEYS[event.key];
    if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault(); // the page would scroll
    const times = event.shiftKey ? 10 : 1;
    by(way[0] * times, way[1] * times);
  });
};

/** The handles of one picture. Where they crowd, the nearest to the pointer is taken. */
export class Handles {
  /** @param {HTMLElement} stage  the element that the picture fills */
  constructor(stage) {
    this.stage = stage;
    /** @type {{ element: HTMLElement, move: Move, x: number, y: number }[]} */
    this.all = [];
    stage.addEventListener("pointerdown", (event) => {
      if (
        event.button === 0 &&
        /** @type {Element} */ (event.target).matches(".handle")
      )
        this.take(event);
    });
  }

  /**
   * Add a handle; gives the function that places it and says its value.
   *
   * @param {string} name
   * @param {Move} move
   * @returns {(x: number, y: number, value: string) => void}
   */
  add(name, move) {
    const element = document.createElement("div");
    element.className = "handle";
    element.tabIndex = 0;
    // of the roles there are, the one whose arrow keys reach the page; it must have a number, but
    // what is read out is the text
    element.setAttribute("role", "slider");
    element.setAttribute("aria-roledescription", "point to drag");
    element.setAttribute("aria-label", name);
    element.setAttribute("aria-valuenow", "0");
    const handle = { element, move, x: Infinity, y: Infinity };
    this.all.push(handle);
    onArrows(element, move.by);
    this.stage.append(element);
    return (x, y, value) => {
      if (handle.x !== x || handle.y !== y)
        element.style.transform = `translate(${x}px, ${y}px)`;
      handle.x = x;
      handle.y = y;
      label(element, "aria-valuetext", value);
    };
  }

  /**
   * Add a handle of a point in a plot; gives the function that places it, and says where it is.
   *
   * @param {string} name
   * @param {object} point
   * @param {() => { x: Scale, y: Scale }} point.scales
   * @param {() => readonly number[]} point.at
   * @param {(to: [number, number]) => void} point.put
   * @param {readonly [number, number]} point.step  of an arrow key
   * @param {(at: readonly number[]) => string} point.words
   * @param {() => void} [point.begin]  it is about to be dragged, or moved by a key
   * @param {Pick<Move, "start" | "end">} [hand]
   */
  addPoint(name, { scales, at, put, step, words, begin }, hand = {}) {
    const place = this.add(name, {
      ...hand,
      start: () => {
        begin?.();
        hand.start?.();
      },
      to: (px, py) => {
        const { x, y } = scales();
        put([x.from(px), y.from(py)]);
      },
      by: (dx, dy) => {
        begin?.();
        const [x, y] = at();
        put([x + dx * step[0], y + dy * step[1]]);
      },
    });
    return () => {
      const { x, y } = scales();
      place(x.at(at()[0]), y.at(at()[1]), words(at()));
    };
  }

  /** @param {PointerEvent} event */
  take(event) {
    const { stage } = this;
    /** @param {PointerEvent} e */
    const at = (e) => {
      const box = stage.getBoundingClientRect();
      return [
        e.clientX - box.left - stage.clientLeft,
        e.clientY - box.top - stage.clientTop,
      ];
    };
    const [x, y] = at(event);
    const distance = (/** @type {typeof this.all[0]} */ h) =>
      Math.hypot(h.x - x, h.y - y);
    const held = this.all.reduce((a, b) => (distance(b) < distance(a) ? b : a));
    const { element, move } = held;
    if (element.matches(".held")) return; // by another finger
    // it keeps its distance to the pointer: nothing jumps when it is taken
    const [dx, dy] = [held.x - x, held.y - y];
    event.preventDefault();
    element.focus(FOCUS);
    element.setPointerCapture(event.pointerId);
    element.classList.add("held");
    move.start?.();
    const hold = new AbortController();
    /** @param {"pointermove" | "lostpointercapture"} kind @param {(e: PointerEvent) => void} act */
    const on = (kind, act) =>
      element.addEventListener(
        kind,
        (e) => e.pointerId === event.pointerId && act(e), // and of no second finger
        hold,
      );
    on("pointermove", (e) => {
      const [px, py] = at(e);
      move.to(px + dx, py + dy);
    });
    on("lostpointercapture", () => {
      hold.abort();
      element.classList.remove("held");
      move.end?.();
    });
  }
}
