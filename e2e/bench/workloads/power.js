// xⁿ by n multiplications, one after the other: a loop in which nothing is independent.

import { gradientOfFirst } from "../vocabulary.js";

export const title = "xⁿ by multiplication, unrolled";
export const sizes = [10, 100, 1_000, 10_000];
export const input = () => ({ x: Float64Array.of(0.9999) });
export const first = (x) => x[0];
export const operations = (n) => n;
export const fails = { "rose 0.4.10": 10_000, "jax-js": 1_000 };

export const rose = (lib, n) =>
  gradientOfFirst(lib, [lib.Real], (x) => {
    let r = 1;
    for (let i = 0; i < n; ++i) r = lib.mul(r, x);
    return r;
  });

export const js = (n) => ({
  value(x) {
    let r = 1;
    for (let i = 0; i < n; ++i) r *= x[0];
    return r;
  },
  gradient(x) {
    let r = 1;
    let d = 0;
    for (let i = 0; i < n; ++i) {
      d = d * x[0] + r;
      r *= x[0];
    }
    return d;
  },
});

export const c = { file: "power" };

export const tensorflow = (tf, n) => (x) => {
  let r = x;
  for (let i = 1; i < n; ++i) r = tf.mul(r, x);
  return tf.squeeze(r);
};

export const jax = (np, n) => (x) => {
  let r = x.ref;
  for (let i = 1; i < n; ++i) r = r.mul(x.ref);
  x.dispose();
  return np.sum(r);
};

export const limits = { "TensorFlow.js": 1_000, "jax-js": 1_000 };
