// The sparse Hessian of the Rosenbrock function, in units of its gradient.

import { flatten, mustAgree } from "./agree.js";
import { callTimes, ratio, summary } from "./measure.js";
import { ours } from "./peers/rose.js";
import { input, rose } from "./workloads/rosenbrock.js";

/** What the second derivatives are, along the rows. */
const byHand = (x) => {
  const n = x.length;
  const found = [];
  for (let i = 0; i < n; ++i) {
    if (i > 0) found.push(-400 * x[i - 1]);
    const left = i > 0 ? 200 : 0;
    const right = i < n - 1 ? 1200 * x[i] ** 2 - 400 * x[i + 1] + 2 : 0;
    found.push(left + right);
    if (i < n - 1) found.push(-400 * x[i]);
  }
  return found;
};

/**
 * Microseconds of a gradient and of all elements of the Hessian that may not be zero, and how many times
 * longer these take.
 *
 * @param {number} n
 * @param {{ calls?: object }} [options]
 */
export const measure = async (n, { calls } = {}) => {
  const lib = await ours.load();
  const { value, gradient } = rose(lib, n);
  const { x } = input(n);
  const { passes, values } = await lib.sparseHessian(value);
  const [g, h] = [await lib.compile(gradient), await lib.compile(values)];
  mustAgree(flatten(h(x)), byHand(x), 1e-9, "the sparse Hessian");
  const times = callTimes(
    { gradient: { call: () => g(x) }, hessian: { call: () => h(x) } },
    calls,
  );
  for (const call of [g, h]) call.dispose();
  return {
    n,
    passes,
    gradient: summary(times.gradient),
    hessian: summary(times.hessian),
    ratio: ratio(times.hessian, times.gradient),
  };
};
