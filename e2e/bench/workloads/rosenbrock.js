// The Rosenbrock function with loops: Σ 100 (x[i+1] - x[i]²)² + (1 - x[i])².

import { gradientOfFirst, keeping, neighbours, wave } from "../vocabulary.js";

export const title = "Rosenbrock, with loops";
export const sizes = [10, 100, 1_000, 10_000, 100_000];
export const input = (/** @type {number} */ n) => ({ x: wave(n) });

/** One term of the sum. */
export const term = ({ add, mul, sub }, a, b) => {
  const c = sub(b, mul(a, a));
  const d = sub(1, a);
  return add(mul(100, mul(c, c)), mul(d, d));
};

export const rose = (lib, n) => {
  const { Real, Vec } = lib;
  return gradientOfFirst(lib, [Vec(n, Real)], (x) =>
    neighbours(lib, n, (i, j) => term(lib, x[i], x[j])),
  );
};

export const js = (n) => ({
  value(x) {
    let sum = 0;
    for (let i = 0; i < n - 1; ++i) {
      const a = x[i + 1] - x[i] * x[i];
      const b = 1 - x[i];
      sum += 100 * a * a + b * b;
    }
    return sum;
  },
  gradient(x) {
    const g = new Float64Array(n);
    for (let i = 0; i < n - 1; ++i) {
      const a = x[i + 1] - x[i] * x[i];
      g[i] += -400 * a * x[i] - 2 * (1 - x[i]);
      g[i + 1] += 200 * a;
    }
    return g;
  },
});

export const c = { file: "rosenbrock" };

export const tensorflow = (tf, n) => (x) => {
  const a = tf.slice(x, 0, n - 1);
  return tf.sum(term(tf, a, tf.slice(x, 1, n - 1)));
};

export const jax = (np, n) => (x) => {
  const a = x.ref.slice([0, n - 1]);
  return term(keeping(np), a, x.slice([1, n])).sum();
};
