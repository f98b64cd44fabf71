// log Σ exp x[i]

import { gradientOfFirst, math, wave } from "../vocabulary.js";

export const title = "logsumexp";
export const sizes = [10, 100, 1_000, 10_000, 100_000];
export const input = (n) => ({ x: wave(n) });

export const rose = (lib, n) => {
  const { Real, Vec, sum } = lib;
  const { exp, log } = math(lib);
  return gradientOfFirst(lib, [Vec(n, Real)], (x) =>
    log(sum(n, (i) => exp(x[i]))),
  );
};

export const js = (n) => ({
  value(x) {
    let sum = 0;
    for (let i = 0; i < n; ++i) sum += Math.exp(x[i]);
    return Math.log(sum);
  },
  gradient(x) {
    const g = new Float64Array(n);
    let sum = 0;
    for (let i = 0; i < n; ++i) sum += g[i] = Math.exp(x[i]);
    for (let i = 0; i < n; ++i) g[i] /= sum;
    return g;
  },
});

export const c = { file: "logsumexp", math: true };

export const tensorflow = (tf) => (x) => tf.log(tf.sum(tf.exp(x)));
export const jax = (np) => (x) => np.log(np.exp(x).sum());
