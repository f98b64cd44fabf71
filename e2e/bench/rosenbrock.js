// The Rosenbrock function, unrolled: Σ 100 (x[i+1] - x[i]²)² + (1 - x[i])².

import { Real, Vec, add, compile, fn, mul, ready, sub, vjp } from "../rose.js";
import { callTimes, mustAgree, taskTimes } from "./measure.js";

/** The gradient as a Rose function. */
const record = (/** @type {number} */ n) => {
  const f = fn([Vec(n, Real)], Real, (x) => {
    let total = 0;
    for (let i = 0; i < n - 1; ++i) {
      const a = sub(x[i + 1], mul(x[i], x[i]));
      const b = sub(1, x[i]);
      total = add(total, add(mul(100, mul(a, a)), mul(b, b)));
    }
    return total;
  });
  return fn([Vec(n, Real)], Vec(n, Real), (x) => vjp(f)(x).grad(1));
};

/** Operations that the loop above records: arithmetic, and reads of x. */
const operations = (/** @type {number} */ n) => 12 * (n - 1);

/** The gradient as one would write it by hand. */
const byHand = (/** @type {number} */ n) => (/** @type {Float64Array} */ x) => {
  const g = new Float64Array(n);
  for (let i = 0; i < n - 1; ++i) {
    const a = x[i + 1] - x[i] * x[i];
    g[i] += -400 * a * x[i] - 2 * (1 - x[i]);
    g[i + 1] += 200 * a;
  }
  return g;
};

export const title = "Rosenbrock, unrolled";

/** @param {(line: object) => void} report */
export const run = async (report) => {
  await ready();
  for (const n of [10, 100, 1000]) {
    const hand = byHand(n);
    const x = Float64Array.from({ length: n }, (_, i) => Math.sin(i));
    const gradient = await compile(record(n));
    mustAgree(gradient(x), hand(x), "gradient");

    let f = record(n);
    const { recording, compiling } = await taskTimes({
      recording: () => {
        f = record(n);
      },
      compiling: () => compile(f),
    });
    const { rose, "by hand": js } = callTimes({
      rose: () => gradient(x),
      "by hand": () => hand(x),
    });
    const ops = operations(n);
    report({
      n,
      "recorded ops": ops,
      "record (ms)": recording.median,
      "AD to callable (ms)": compiling.median,
      "all, per op (µs)": ((recording.median + compiling.median) * 1000) / ops,
      "gradient (µs)": rose.median,
      "by hand in JS (µs)": js.median,
      ratio: rose.median / js.median,
    });
  }
};
