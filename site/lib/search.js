// Gradient descent for something that may have no answer: every try is kept, and the best of them is
// where it goes on when it has lost its way.

import { map, norm } from "./tree.js";

/**
 * @typedef {object} Try
 * @property {any} params
 * @property {number} loss
 * @property {any} grad
 * @property {number} slope  the gradient's length
 * @property {any} [trail]  what else the problem says of it
 *
 * @typedef {object} Problem
 * @property {(params: any) => { loss: number, grad: any, trail?: any }} evaluate
 * @property {(size: number, slope: number) => number} stride  by how much of its gradient a step goes
 * @property {number} enough  a loss that is as good as the lowest
 * @property {number} limit  a loss that nothing comes back from
 * @property {number} patience  so many tries may be no better than the best
 *
 * @typedef {"going" | "arrived" | "flat" | "stuck" | "lost"} Outcome
 */

/** By this part of the loss a try has to be better to count as progress. */
const PROGRESS = 1e-3;

export class Search {
  /** @param {Problem} problem @param {any} start */
  constructor(problem, start) {
    this.problem = problem;
    /** @type {Try[]} */
    this.tries = [];
    this.best = this.attempt(start);
    /** The try after which there was no progress, and its loss. */
    this.mark = { at: 1, loss: this.best.loss };
    /** @type {Outcome} */
    this.outcome = this.judge(this.best);
  }

  /** Whether it has come to an end that is none. */
  get hasFailed() {
    return this.outcome !== "going" && this.outcome !== "arrived";
  }

  get last() {
    return this.tries[this.tries.length - 1];
  }

  /** @param {any} params @returns {Try} */
  attempt(params) {
    const found = this.problem.evaluate(params);
    const tried = { ...found, params, slope: norm(found.grad) };
    this.tries.push(tried);
    return tried;
  }

  /** One step down. @param {number} size */
  advance(size) {
    const { problem } = this;
    const from = this.hasFailed ? this.best : this.last;
    if (this.hasFailed) this.mark.at = this.tries.length;
    if (from.slope === 0) {
      this.outcome = from.loss <= problem.enough ? "arrived" : "flat";
      return;
    }
    const stride = problem.stride(size, from.slope);
    const next = this.attempt(
      map((p, d) => p - stride * d, from.params, from.grad),
    );
    if (next.loss < this.best.loss && Number.isFinite(next.slope))
      this.best = next;
    const { loss } = this.mark;
    if (this.best.loss < loss - PROGRESS * Math.abs(loss))
      this.mark = { at: this.tries.length, loss: this.best.loss };
    this.outcome = this.judge(next);
  }

  /** @param {Try} tried @returns {Outcome} */
  judge({ loss, slope }) {
    const { enough, limit, patience } = this.problem;
    if (!(loss <= limit && slope < Infinity)) return "lost";
    if (loss <= enough) return "arrived";
    if (slope === 0) return "flat";
    return this.tries.length - this.mark.at > patience ? "stuck" : "going";
  }
}
