// The energy of n × n masses, each held to its neighbours, the diagonal ones too: Σ ½ (length - rest)².
// x is all points in rows, each x, y.

import { gradientOfFirst, neighbours } from "../vocabulary.js";

const DIAGONAL = Math.SQRT2;

export const title = "Springs between n × n masses";
export const sizes = [12, 100];

export const input = (n) => ({
  x: Float64Array.from({ length: 2 * n * n }, (_, k) => {
    const point = k >> 1;
    const place = k & 1 ? Math.floor(point / n) : point % n;
    return place + Math.sin(k) / 10;
  }),
});

export const first = (x) => {
  const n = Math.sqrt(x.length / 2);
  return Array.from({ length: n }, (_, i) =>
    Array.from({ length: n }, (_, j) =>
      x.subarray(2 * (n * i + j), 2 * (n * i + j) + 2),
    ),
  );
};

export const rose = (lib, n) => {
  const { Real, Vec, add, fn, mul, sqrt, sub, sum } = lib;
  const Point = Vec(2, Real);
  const spring = fn([Point, Point, Real], Real, ([a, b], [c, d], rest) => {
    const dx = sub(a, c);
    const dy = sub(b, d);
    const stretch = sub(sqrt(add(mul(dx, dx), mul(dy, dy))), rest);
    return mul(0.5, mul(stretch, stretch));
  });
  return gradientOfFirst(lib, [Vec(n, Vec(n, Point))], (p) => {
    const across = sum(n, (i) =>
      neighbours(lib, n, (j, k) => spring(p[i][j], p[i][k], 1)),
    );
    const down = neighbours(lib, n, (i, k) =>
      sum(n, (j) => spring(p[i][j], p[k][j], 1)),
    );
    const diagonal = neighbours(lib, n, (i, h) =>
      neighbours(lib, n, (j, k) =>
        add(
          spring(p[i][j], p[h][k], DIAGONAL),
          spring(p[h][j], p[i][k], DIAGONAL),
        ),
      ),
    );
    return add(add(across, down), diagonal);
  });
};

const energy = (x, a, b, rest) => {
  const dx = x[2 * a] - x[2 * b];
  const dy = x[2 * a + 1] - x[2 * b + 1];
  const stretch = Math.sqrt(dx * dx + dy * dy) - rest;
  return 0.5 * stretch * stretch;
};

const force = (x, g, a, b, rest) => {
  const dx = x[2 * a] - x[2 * b];
  const dy = x[2 * a + 1] - x[2 * b + 1];
  const scale = 1 - rest / Math.sqrt(dx * dx + dy * dy);
  g[2 * a] += scale * dx;
  g[2 * b] -= scale * dx;
  g[2 * a + 1] += scale * dy;
  g[2 * b + 1] -= scale * dy;
};

export const js = (n) => ({
  value(x) {
    let sum = 0;
    for (let i = 0; i < n; ++i)
      for (let j = 0; j < n; ++j) {
        const a = n * i + j;
        if (j + 1 < n) sum += energy(x, a, a + 1, 1);
        if (i + 1 < n) sum += energy(x, a, a + n, 1);
        if (i + 1 < n && j + 1 < n) {
          sum += energy(x, a, a + n + 1, DIAGONAL);
          sum += energy(x, a + n, a + 1, DIAGONAL);
        }
      }
    return sum;
  },
  gradient(x) {
    const g = new Float64Array(x.length);
    for (let i = 0; i < n; ++i)
      for (let j = 0; j < n; ++j) {
        const a = n * i + j;
        if (j + 1 < n) force(x, g, a, a + 1, 1);
        if (i + 1 < n) force(x, g, a, a + n, 1);
        if (i + 1 < n && j + 1 < n) {
          force(x, g, a, a + n + 1, DIAGONAL);
          force(x, g, a + n, a + 1, DIAGONAL);
        }
      }
    return g;
  },
});

export const c = { file: "springs" };

/** Pairs of blocks of points that springs connect, as slices: row, column, rows, columns. */
const blocks = (n) => [
  [[0, 0, n, n - 1], [0, 1, n, n - 1], 1],
  [[0, 0, n - 1, n], [1, 0, n - 1, n], 1],
  [[0, 0, n - 1, n - 1], [1, 1, n - 1, n - 1], DIAGONAL],
  [[1, 0, n - 1, n - 1], [0, 1, n - 1, n - 1], DIAGONAL],
];

export const tensorflow = (tf, n) => (x) => {
  const p = tf.reshape(x, [n, n, 2]);
  const block = ([i, j, rows, columns]) =>
    tf.slice(p, [i, j, 0], [rows, columns, 2]);
  return blocks(n)
    .map(([a, b, rest]) => {
      const d = tf.sub(block(a), block(b));
      const stretch = tf.sub(tf.sqrt(tf.sum(tf.square(d), 2)), rest);
      return tf.mul(0.5, tf.sum(tf.square(stretch)));
    })
    .reduce((a, b) => tf.add(a, b));
};

export const jax = (np, n) => (x) => {
  const p = x.reshape([n, n, 2]);
  const block = ([i, j, rows, columns]) =>
    p.ref.slice([i, i + rows], [j, j + columns]);
  return blocks(n)
    .map(([a, b, rest]) => {
      const d = block(a).sub(block(b));
      const stretch = np.sqrt(np.square(d).sum(2)).sub(rest);
      return np.square(stretch).sum().mul(0.5);
    })
    .reduce((a, b) => a.add(b));
};
