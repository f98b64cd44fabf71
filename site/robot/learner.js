// A body that can learn to walk: its functions, compiled, and what is kept of its tries.

import { build } from "./body.js";
import { network } from "./network.js";
import { HIDDEN, walker } from "./walker.js";

/** So many walks are kept, for who looks at them again. */
const WALKS = 50;

/** The way of a foot as it is kept: each of so many frames. */
const SPARSE = 4;

/**
 * @typedef {{ x: number[][], signals: number[] }} Frame
 * @typedef {Awaited<ReturnType<ReturnType<typeof walker>["train"]>>} Gradient
 * @typedef {Awaited<ReturnType<ReturnType<typeof walker>["walk"]>>} Walk
 */

export class Learner {
  /** @param {import("./body.js").Body} body @param {number} inputs @param {Gradient} gradient @param {Walk} walk */
  constructor(body, inputs, gradient, walk) {
    this.body = body;
    this.sizes = { inputs, hidden: HIDDEN, outputs: body.muscles.length };
    this.gradient = gradient;
    this.walk = walk;
    this.calls = 0;
    /** By weights. @type {Map<any, Frame[]>} */
    this.walks = new Map();
    /** The quickest gradient and the quickest walk, in milliseconds. */
    this.took = { gradient: Infinity, walk: Infinity };
  }

  /** @param {readonly import("./body.js").Cell[]} cells */
  static async of(cells) {
    const body = build(cells);
    if (!body.muscles.length)
      throw Error("Without muscles, no body moves: give it some.");
    const { inputs, train, walk } = walker(body);
    return new Learner(body, inputs, ...(await Promise.all([train(), walk()])));
  }

  /** Weights that know nothing. @param {number} seed */
  weights(seed) {
    return network(seed, this.sizes);
  }

  /** How many weights there are. */
  get count() {
    const { inputs, hidden, outputs } = this.sizes;
    return hidden * (inputs + 1) + outputs * (hidden + 1);
  }

  /** @template T @param {"gradient" | "walk"} what @param {any} weights @returns {T} */
  timed(what, weights) {
    const began = performance.now();
    const found = /** @type {any} */ (this[what](weights));
    this.took[what] = Math.min(this.took[what], performance.now() - began);
    return found;
  }

  /** @param {any} weights @returns {Frame[]} */
  frames(weights) {
    let frames = this.walks.get(weights);
    if (!frames) {
      frames = /** @type {Frame[]} */ (this.timed("walk", weights));
      this.walks.set(weights, frames);
      const [oldest] = this.walks.keys();
      if (this.walks.size > WALKS) this.walks.delete(oldest);
    }
    return frames;
  }

  /**
   * A try: its loss and gradient, and where the foot went.
   *
   * @param {any} weights
   * @returns {{ loss: number, grad: any, trail: number[][] }}
   */
  evaluate(weights) {
    const kept = this.frames(weights).filter((_, k) => k % SPARSE === 0);
    this.calls += 1;
    const { loss, grad } = this.timed("gradient", weights);
    return { loss, grad, trail: kept.map(({ x: [foot] }) => foot) };
  }

  /** What a search is to solve, giving up after so many tries without progress. @param {number} patience @returns {import("../lib/search.js").Problem} */
  problem(patience) {
    return {
      evaluate: this.evaluate.bind(this),
      // the gradient says where to, not how far
      stride: (size, slope) => size / (slope + 1e-6),
      ...{ enough: -Infinity, limit: 10, patience },
    };
  }

  dispose() {
    this.gradient.dispose();
    this.walk.dispose();
  }
}
