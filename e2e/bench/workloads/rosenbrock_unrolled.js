// The Rosenbrock function, unrolled: every term is recorded.

import { gradientOfFirst, keeping, wave } from "../vocabulary.js";
import { js as loops, term } from "./rosenbrock.js";

export const title = "Rosenbrock, unrolled";
export const sizes = [10, 100, 1_000, 4_000, 20_000];
export const input = (n) => ({ x: wave(n) });
export const operations = (n) => 12 * (n - 1); // arithmetic, and reads of x
export const fails = { "rose 0.4.10": 4_000, "jax-js": 1_000 };

export const rose = (lib, n) => {
  const { Real, Vec, add } = lib;
  return gradientOfFirst(lib, [Vec(n, Real)], (x) => {
    let sum = 0;
    for (let i = 0; i < n - 1; ++i) sum = add(sum, term(lib, x[i], x[i + 1]));
    return sum;
  });
};

export const js = loops;
export const c = { file: "rosenbrock", straight: [10, 100] };

export const tensorflow = (tf) => (x) => {
  const all = tf.unstack(x);
  return all
    .slice(1)
    .map((b, i) => term(tf, all[i], b))
    .reduce((a, b) => tf.add(a, b));
};

export const jax = (np, n) => (x) => {
  const words = keeping(np);
  const all = Array.from({ length: n }, (_, i) => x.ref.slice(i));
  return all
    .slice(1)
    .map((b, i) => term(words, all[i], b))
    .reduce((a, b) => words.add(a, b));
};

export const limits = { "TensorFlow.js": 1_000, "jax-js": 1_000 };
