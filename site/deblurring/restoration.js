// Gradient descent on a picture: the guess, the way it has come, and where to go on after a divergence.
//
// All pictures are numbers in a row. The guess is an argument of the compiled function, in its memory.

/**
 * @typedef {"going" | "over" | "lost"} Outcome
 *
 * @typedef {object} Models
 * @property {import("../../rose.js").Compiled<any[], { loss: number, grad: number[][][] }>} descent
 * @property {import("../../rose.js").Compiled<any[], number[][][]>} blur
 */

/** So many steps are enough for a while. */
export const PATIENCE = 1000;

/** How the limit of step sizes is found: in so many steps, with changes so small. */
const ROUNDS = 24;
const SMALL = 1e-3;

/** @param {Float64Array} a @param {Float64Array} b */
export const squaredDistance = (a, b) => {
  let total = 0;
  for (let k = 0; k < a.length; ++k) total += (a[k] - b[k]) ** 2;
  return total;
};

/** @param {Float64Array} a */
const length = (a) => Math.sqrt(a.reduce((total, x) => total + x * x, 0));

export class Restoration {
  /** @param {Models} models */
  constructor({ descent, blur }) {
    this.descent = descent;
    this.blurFunction = blur;
    const [kernel, guess, given, weight] = /** @type {Float64Array[]} */ (
      descent.args
    );
    this.kernel = kernel;
    this.guess = guess;
    this.given = given;
    this.weight = weight;
    this.gradient = /** @type {Float64Array} */ (
      /** @type {unknown} */ (descent.result.grad)
    );
    /** @type {Float64Array} */
    this.truth = new Float64Array(guess.length);
    /** The truth, blurred. */
    this.noiseless = this.truth;
    /** The quickest calls, in milliseconds. */
    this.took = { descent: Infinity, blur: Infinity };
    this.calls = 0;
    /** How often something else was given. */
    this.poses = 0;
    this.best = { loss: Infinity, error: Infinity, guess: this.truth };
    /** Of each guess: how far it is from what is given, blurred, and from the truth. @type {number[]} */
    this.losses = [];
    /** @type {number[]} */
    this.errors = [];
    /** The number of the step after which the error was least. */
    this.nearest = 0;
    /** Of the guess as it is: after a divergence, that is not the last one. */
    this.now = { loss: 0, error: 0 };
    /** @type {Outcome} */
    this.outcome = "going";
    this.until = PATIENCE;
  }

  get steps() {
    return this.losses.length - 1;
  }

  /**
   * What is to be found, and what is known of it.
   *
   * @param {Float64Array} truth
   * @param {Float64Array} kernel
   * @param {Float64Array} [noise]  is added after the blur
   */
  pose(truth, kernel, noise = new Float64Array()) {
    if (truth !== this.truth || kernel.some((w, k) => w !== this.kernel[k])) {
      this.truth = truth;
      this.kernel.set(kernel);
      this.noiseless = this.blurred(truth).slice();
    }
    this.poses += 1;
    this.given.set(this.noiseless);
    noise.forEach((x, k) => (this.given[k] += x));
  }

  /** A picture, blurred: good until the next call. @param {Float64Array} picture */
  blurred(picture) {
    const [kernel, image] = /** @type {Float64Array[]} */ (
      this.blurFunction.args
    );
    kernel.set(this.kernel);
    image.set(picture);
    const began = performance.now();
    const result = this.blurFunction.run();
    this.took.blur = Math.min(this.took.blur, performance.now() - began);
    return /** @type {Float64Array} */ (/** @type {unknown} */ (result));
  }

  /** Descend from here, for so many steps at first. @param {Float64Array} guess */
  begin(guess, steps = PATIENCE) {
    this.guess.set(guess);
    this.losses = [];
    this.errors = [];
    this.nearest = 0;
    const room = new Float64Array(guess.length);
    this.best = { loss: Infinity, error: Infinity, guess: room };
    this.until = steps;
    this.note();
  }

  /** The loss of the guess; its gradient is in memory. */
  evaluate() {
    const began = performance.now();
    const { loss } = this.descent.run();
    this.took.descent = Math.min(this.took.descent, performance.now() - began);
    this.calls += 1;
    return /** @type {Float64Array} */ (loss)[0];
  }

  note() {
    const { losses, errors, guess, best } = this;
    const loss = this.evaluate();
    const error = squaredDistance(guess, this.truth);
    losses.push(loss);
    errors.push(error);
    this.now = { loss, error };
    if (error < errors[this.nearest]) this.nearest = this.steps;
    this.outcome = this.steps < this.until ? "going" : "over";
    if (loss < best.loss) {
      this.best = { loss, error, guess: best.guess };
      best.guess.set(guess);
    } else if (!(loss <= 2 * losses[0] + 1)) {
      this.outcome = "lost";
      this.now = best;
      guess.set(best.guess);
      this.evaluate();
    }
  }

  /** @param {number} size */
  step(size) {
    if (this.outcome !== "going") this.until = this.steps + PATIENCE;
    const { guess, gradient } = this;
    for (let k = 0; k < guess.length; ++k) guess[k] -= size * gradient[k];
    this.note();
  }

  /**
   * Above this step size a descent comes apart: 2 over the largest curvature, which is found by power
   * iteration with differences of gradients. On a plain picture, where the roughness bends most.
   */
  limit() {
    const { guess, gradient } = this;
    const kept = guess.slice();
    guess.fill(0.5);
    this.evaluate();
    const level = gradient.slice();
    // brightness as a whole, and every other sort of change
    let way = guess.map((_, k) => 1 + Math.sin(k * k));
    for (let round = 0; round < ROUNDS; ++round) {
      const unit = SMALL / length(way);
      for (let k = 0; k < guess.length; ++k) guess[k] = 0.5 + unit * way[k];
      this.evaluate();
      way = gradient.map((g, k) => g - level[k]);
    }
    guess.set(kept);
    this.evaluate();
    return (2 * SMALL) / length(way);
  }
}
