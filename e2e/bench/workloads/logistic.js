// Logistic regression: Σ log(1 + exp(-y (X w))), y = ±1, of n samples with ten features.

import { gradientOfFirst, math, wave } from "../vocabulary.js";

const FEATURES = 10;

export const title = "Logistic regression, n samples × 10";
export const sizes = [10, 100, 1_000];

export const input = (n) => {
  const values = wave(n * FEATURES, 1);
  const signs = Float64Array.from({ length: n }, (_, k) =>
    Math.cos(3 * k) < 0 ? -1 : 1,
  );
  const data = [
    { shape: [n, FEATURES], values },
    { shape: [n], values: signs },
  ];
  return { x: wave(FEATURES), data };
};

export const rose = (lib, n) => {
  const { Real, Vec, add, mul, neg, sum } = lib;
  const { exp, log } = math(lib);
  const W = Vec(FEATURES, Real);
  const params = [W, Vec(n, W), Vec(n, Real)];
  const loss = (w, X, y) =>
    sum(n, (i) => {
      const z = sum(FEATURES, (j) => mul(X[i][j], w[j]));
      return log(add(1, exp(neg(mul(y[i], z)))));
    });
  return gradientOfFirst(lib, params, loss);
};

export const js = (n) => ({
  value(w, X, y) {
    let sum = 0;
    for (let i = 0; i < n; ++i) {
      let z = 0;
      for (let j = 0; j < FEATURES; ++j) z += X[i * FEATURES + j] * w[j];
      sum += Math.log(1 + Math.exp(-y[i] * z));
    }
    return sum;
  },
  gradient(w, X, y) {
    const g = new Float64Array(FEATURES);
    for (let i = 0; i < n; ++i) {
      let z = 0;
      for (let j = 0; j < FEATURES; ++j) z += X[i * FEATURES + j] * w[j];
      const e = Math.exp(-y[i] * z);
      const d = (-y[i] * e) / (1 + e);
      for (let j = 0; j < FEATURES; ++j) g[j] += d * X[i * FEATURES + j];
    }
    return g;
  },
});

export const c = { file: "logistic", math: true };

export const tensorflow = (tf) => (w, X, y) => {
  const z = tf.squeeze(tf.matMul(X, tf.expandDims(w, 1)), [1]);
  return tf.sum(tf.log(tf.add(1, tf.exp(tf.neg(tf.mul(y, z))))));
};

export const jax = (np) => (w, X, y) =>
  np.log(np.exp(y.mul(np.dot(X, w)).neg()).add(1)).sum();
