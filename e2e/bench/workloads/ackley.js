// The Ackley function with loops: -20 exp(-0.2 √(Σ x²/n)) - exp(Σ cos(2πx)/n) + 20 + e.

import { gradientOfFirst, math, wave } from "../vocabulary.js";

export const title = "Ackley, with loops";
export const sizes = [10, 100, 1_000, 10_000, 100_000];
export const input = (n) => ({ x: wave(n) });

/** The function of its two sums. */
const combine = (lib, n, squares, cosines) => {
  const { add, div, mul, sqrt, sub } = lib;
  const { exp } = math(lib);
  const far = mul(-20, exp(mul(-0.2, sqrt(div(squares, n)))));
  return add(sub(far, exp(div(cosines, n))), 20 + Math.E);
};

export const rose = (lib, n) => {
  const { Real, Vec, mul, sum } = lib;
  const { cos } = math(lib);
  return gradientOfFirst(lib, [Vec(n, Real)], (x) => {
    const squares = sum(n, (i) => mul(x[i], x[i]));
    const cosines = sum(n, (i) => cos(mul(2 * Math.PI, x[i])));
    return combine(lib, n, squares, cosines);
  });
};

export const unrolled = (lib, n) => {
  const { Real, Vec, add, mul } = lib;
  const { cos } = math(lib);
  return gradientOfFirst(lib, [Vec(n, Real)], (x) => {
    let squares = 0;
    let cosines = 0;
    for (let i = 0; i < n; ++i) {
      squares = add(squares, mul(x[i], x[i]));
      cosines = add(cosines, cos(mul(2 * Math.PI, x[i])));
    }
    return combine(lib, n, squares, cosines);
  });
};

export const js = (n) => ({
  value(x) {
    let squares = 0;
    let cosines = 0;
    for (let i = 0; i < n; ++i) {
      squares += x[i] * x[i];
      cosines += Math.cos(2 * Math.PI * x[i]);
    }
    const far = -20 * Math.exp(-0.2 * Math.sqrt(squares / n));
    return far - Math.exp(cosines / n) + 20 + Math.E;
  },
  gradient(x) {
    const g = new Float64Array(n);
    let squares = 0;
    let cosines = 0;
    for (let i = 0; i < n; ++i) {
      const angle = 2 * Math.PI * x[i];
      squares += x[i] * x[i];
      cosines += Math.cos(angle);
      g[i] = Math.sin(angle);
    }
    const r = Math.sqrt(squares / n);
    const a = (4 * Math.exp(-0.2 * r)) / (n * r);
    const b = (2 * Math.PI * Math.exp(cosines / n)) / n;
    for (let i = 0; i < n; ++i) g[i] = a * x[i] + b * g[i];
    return g;
  },
});

export const c = { file: "ackley", math: true };

export const tensorflow = (tf) => (x) => {
  const r = tf.sqrt(tf.mean(tf.square(x)));
  const far = tf.mul(-20, tf.exp(tf.mul(-0.2, r)));
  const near = tf.exp(tf.mean(tf.cos(tf.mul(2 * Math.PI, x))));
  return tf.add(tf.sub(far, near), 20 + Math.E);
};

export const jax = (np) => (x) => {
  const r = np.sqrt(np.mean(np.square(x.ref)));
  const far = np.exp(r.mul(-0.2)).mul(-20);
  const near = np.exp(np.mean(np.cos(x.mul(2 * Math.PI))));
  return far.sub(near).add(20 + Math.E);
};
