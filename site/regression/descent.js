// Gradient descent that can be watched: it keeps its way, and notices its end.

/**
 * @typedef {{ b0: number, b: number }} Line
 *
 * @typedef {object} Problem
 * @property {(line: Line) => { loss: number, grad: Line }} evaluate
 * @property {number} lowest  the lowest loss there is
 * @property {number} hinge  from where the data's x are measured
 *
 * @typedef {"going" | "settled" | "diverged"} Outcome
 */

/** Early steps are all kept; later ones when the count has grown by this factor. */
const SPARSE = 1.01;
const DENSE_UNTIL = 250;

export class Descent {
  /**
   * @param {Line} start
   * @param {Problem} problem
   */
  constructor(start, problem) {
    this.problem = problem;
    this.steps = 0;
    this.line = start;
    this.at = problem.evaluate(start);
    /** The state of the lowest loss so far: where to go on after a divergence. */
    this.best = { line: start, at: this.at };
    /** Losses above this are those of a descent that has come apart. */
    this.limit = 10 * this.at.loss + 1;
    /** @type {Outcome} */
    this.outcome = "going";
    /** @type {Line[]} */
    this.path = [start];
    /** @type {(readonly [steps: number, loss: number])[]} */
    this.losses = [];
    this.nextKept = 1;
  }

  /**
   * Make up to `count` steps, or stop before the clock says `deadline` (milliseconds).
   *
   * @param {number} eta  the step size
   * @param {number} count
   * @param {number} [deadline]
   */
  advance(eta, count, deadline = Infinity) {
    for (let k = 0; k < count && this.outcome === "going"; ++k) {
      if (k % 256 === 255 && performance.now() > deadline) break;
      this.step(eta);
    }
  }

  /** @param {number} eta */
  step(eta) {
    const { b0, b } = this.line;
    const { grad } = this.at;
    const line = { b0: b0 - eta * grad.b0, b: b - eta * grad.b };
    if (isSame(line.b0, b0) && isSame(line.b, b)) {
      this.outcome = "settled";
      return;
    }
    this.line = line;
    this.at = this.problem.evaluate(line);
    this.steps += 1;
    const { loss } = this.at;
    if (loss < this.best.at.loss) this.best = { line, at: this.at };
    if (this.steps >= this.nextKept) {
      this.path.push(line);
      this.losses.push([this.steps, loss]);
      this.nextKept =
        this.steps < DENSE_UNTIL ? this.steps + 1 : this.steps * SPARSE;
    }
    if (!(loss <= this.limit)) this.outcome = "diverged";
  }
}

/** Whether a step has left a number where it was, up to its last bit. */
const isSame = (/** @type {number} */ x, /** @type {number} */ y) =>
  Math.abs(x - y) <= 2 ** -52 * Math.abs(y);
