// What the reader of the page about automatic differentiation looks at: an expression at a point, one of four
// ways to differentiate it, and the step that each way is at.

import { study } from "./derivation.js";

/**
 * @typedef {import("../lib/expression.js").Tree} Tree
 * @typedef {import("./derivation.js").Name} Name
 * @typedef {"differences" | "symbols" | "duals" | "reverse"} Method
 */

export class Lesson {
  /** @param {Tree} tree @param {() => void} changed */
  constructor(tree, changed) {
    this.changed = changed;
    /** @type {Method} */
    this.method = "differences";
    /** The variable that changes. @type {Name} */
    this.by = "x";
    this.at = { x: 1.3, y: 0.7 };
    this.reached = { differences: 0, symbols: 0, duals: 0, reverse: 0 };
    this.known = study(tree, this.at, this.by);
  }

  get step() {
    return this.reached[this.method];
  }

  get last() {
    return this.known.steps[this.method];
  }

  /** Go to another expression, if there is one, or to another point or variable. @param {Tree} tree */
  look(tree = this.known.tree) {
    this.known = study(tree, this.at, this.by);
    for (const way of /** @type {Method[]} */ (Object.keys(this.reached)))
      this.reached[way] = Math.min(this.reached[way], this.known.steps[way]);
    this.changed();
  }

  /** @param {number} step */
  go(step) {
    this.reached[this.method] = Math.min(this.last, Math.max(0, step));
    this.changed();
  }

  /** Go a step on; whether there are more. */
  advance() {
    this.go(this.step + 1);
    return this.step < this.last;
  }

  /** @param {string} method */
  choose(method) {
    this.method = /** @type {Method} */ (method);
    this.changed();
  }

  /** @param {string} by */
  vary(by) {
    this.by = /** @type {Name} */ (by);
    this.look();
  }

  /** Move the point; it stays where it is if that is nowhere. @param {Name} name @param {number} to */
  moveTo(name, to) {
    if (!Number.isFinite(to)) return;
    this.at = { ...this.at, [name]: to };
    this.look();
  }
}
