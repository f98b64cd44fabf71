// The data points, which the reader may move, and the loss that lines have on them.

import { QUARTET } from "./anscombe.js";
import { landscapeOf } from "./landscape.js";

/**
 * @typedef {import("./descent.js").Line} Line
 * @typedef {import("./descent.js").Problem} Problem
 * @typedef {(x: Float64Array, y: Float64Array, line: Line) => { loss: number, grad: Line }} Gradient
 */

/** @param {number[]} x @param {number} origin */
const from = (x, origin) => Float64Array.from(x, (v) => v - origin);

export class Study {
  constructor(name = "I") {
    this.name = name;
    this.x = [...QUARTET[name].x];
    this.y = [...QUARTET[name].y];
    /** From where x is measured: a line's height there is its b0. */
    this.hinge = 0;
    this.land = landscapeOf(this.x, this.y);
    /** How often a gradient was asked for. */
    this.calls = 0;
  }

  /** Take a data set as Anscombe gave it. @param {string} name */
  choose(name) {
    this.name = name;
    this.x = [...QUARTET[name].x];
    this.y = [...QUARTET[name].y];
  }

  /**
   * Take account of changed data, measured from their mean or from zero. Gives what that makes of
   * lines: the same ones, measured from there.
   *
   * @param {boolean} centred
   */
  measure(centred) {
    const mean = this.x.reduce((a, b) => a + b) / this.x.length;
    const by = (centred ? mean : 0) - this.hinge;
    this.hinge += by;
    this.land = landscapeOf(this.measured, this.y);
    return (/** @type {Line} */ { b0, b }) => ({ b0: b0 + b * by, b });
  }

  get measured() {
    return from(this.x, this.hinge);
  }

  /** What the landscape is, or would be, with x as it is and with x from its mean. */
  get views() {
    const mean = this.x.reduce((a, b) => a + b) / this.x.length;
    return {
      plain: landscapeOf(this.x, this.y),
      centred: landscapeOf(from(this.x, mean), this.y),
    };
  }

  /** What gradient descent is to solve. @param {Gradient} gradient @returns {Problem} */
  problem(gradient) {
    const x = this.measured;
    const y = Float64Array.from(this.y);
    const evaluate = (/** @type {Line} */ line) => {
      this.calls += 1;
      return gradient(x, y, line);
    };
    return { evaluate, lowest: this.land.lowest, hinge: this.hinge };
  }
}
