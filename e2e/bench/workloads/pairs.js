// The energy of n points that repel each other, each pair counted once: Σ 1 / √(distance² + 0.01). x is all
// points in rows, each x, y.

import { gradientOfFirst, wave } from "../vocabulary.js";

const SOFT = 0.01;

export const title = "Pairs of n points";
export const sizes = [10, 100, 1_000];

export const input = (n) => ({ x: wave(2 * n) });

export const first = (x) =>
  Array.from({ length: x.length / 2 }, (_, i) => x.subarray(2 * i, 2 * i + 2));

export const rose = (lib, n) => {
  const { Real, Vec, add, div, ilt, mul, select, sqrt, sub, sum } = lib;
  return gradientOfFirst(lib, [Vec(n, Vec(2, Real))], (p) => {
    const inverse = (i, j) => {
      const dx = sub(p[i][0], p[j][0]);
      const dy = sub(p[i][1], p[j][1]);
      return div(1, sqrt(add(add(mul(dx, dx), mul(dy, dy)), SOFT)));
    };
    return sum(n, (i) =>
      sum(n, (j) => select(ilt(n, j, i), Real, inverse(i, j), 0)),
    );
  });
};

export const js = (n) => ({
  value(x) {
    let sum = 0;
    for (let i = 0; i < n; ++i)
      for (let j = 0; j < i; ++j) {
        const dx = x[2 * i] - x[2 * j];
        const dy = x[2 * i + 1] - x[2 * j + 1];
        sum += 1 / Math.sqrt(dx * dx + dy * dy + SOFT);
      }
    return sum;
  },
  gradient(x) {
    const g = new Float64Array(2 * n);
    for (let i = 0; i < n; ++i)
      for (let j = 0; j < i; ++j) {
        const dx = x[2 * i] - x[2 * j];
        const dy = x[2 * i + 1] - x[2 * j + 1];
        const square = dx * dx + dy * dy + SOFT;
        const scale = 1 / (square * Math.sqrt(square));
        g[2 * i] -= scale * dx;
        g[2 * i + 1] -= scale * dy;
        g[2 * j] += scale * dx;
        g[2 * j + 1] += scale * dy;
      }
    return g;
  },
});

export const c = { file: "pairs" };

/** Of all pairs, also the other way around and of a point with itself, which is 1 / √SOFT. */
const half = (n) => ({ of: 0.5, less: (0.5 * n) / Math.sqrt(SOFT) });

export const tensorflow = (tf, n) => (x) => {
  const p = tf.reshape(x, [n, 2]);
  const d = tf.sub(tf.reshape(p, [n, 1, 2]), tf.reshape(p, [1, n, 2]));
  const square = tf.add(tf.sum(tf.square(d), 2), SOFT);
  const { of, less } = half(n);
  return tf.sub(tf.mul(of, tf.sum(tf.rsqrt(square))), less);
};

export const jax = (np, n) => (x) => {
  const p = x.reshape([n, 2]);
  const d = p.ref.reshape([n, 1, 2]).sub(p.reshape([1, n, 2]));
  const square = np.square(d).sum(2).add(SOFT);
  const { of, less } = half(n);
  return np.reciprocal(np.sqrt(square)).sum().mul(of).sub(less);
};
