// The loss of k-means: Σ over n points of the squared distance to the nearest of five centres, which
// are x.

import { gradientOfFirst, smaller, wave } from "../vocabulary.js";

const CENTRES = 5;

export const title = "k-means loss, n points, 5 centres";
export const sizes = [100, 1_000, 10_000];

export const input = (n) => ({
  x: wave(2 * CENTRES, 4),
  data: [{ shape: [n, 2], values: wave(2 * n) }],
});

export const first = (x) =>
  Array.from({ length: CENTRES }, (_, k) => x.subarray(2 * k, 2 * k + 2));

export const rose = (lib, n) => {
  const { Real, Vec, add, mul, sub, sum } = lib;
  const Point = Vec(2, Real);
  const params = [Vec(CENTRES, Point), Vec(n, Point)];
  return gradientOfFirst(lib, params, (centres, points) =>
    sum(n, (i) => {
      const distance = (k) => {
        const dx = sub(points[i][0], centres[k][0]);
        const dy = sub(points[i][1], centres[k][1]);
        return add(mul(dx, dx), mul(dy, dy));
      };
      let least = distance(0);
      for (let k = 1; k < CENTRES; ++k)
        least = smaller(lib, least, distance(k));
      return least;
    }),
  );
};

export const js = (n) => {
  const squared = (x, k, p, i) => {
    const dx = x[2 * k] - p[2 * i];
    const dy = x[2 * k + 1] - p[2 * i + 1];
    return dx * dx + dy * dy;
  };
  return {
    value(x, p) {
      let loss = 0;
      for (let i = 0; i < n; ++i) {
        let least = squared(x, 0, p, i);
        for (let k = 1; k < CENTRES; ++k)
          least = Math.min(least, squared(x, k, p, i));
        loss += least;
      }
      return loss;
    },
    gradient(x, p) {
      const g = new Float64Array(2 * CENTRES);
      for (let i = 0; i < n; ++i) {
        let nearest = 0;
        let least = squared(x, 0, p, i);
        for (let k = 1; k < CENTRES; ++k) {
          const d = squared(x, k, p, i);
          if (d < least) {
            least = d;
            nearest = k;
          }
        }
        g[2 * nearest] += 2 * (x[2 * nearest] - p[2 * i]);
        g[2 * nearest + 1] += 2 * (x[2 * nearest + 1] - p[2 * i + 1]);
      }
      return g;
    },
  };
};

export const c = { file: "kmeans" };

export const tensorflow = (tf, n) => (x, points) => {
  const centres = tf.reshape(x, [1, CENTRES, 2]);
  const d = tf.sub(tf.reshape(points, [n, 1, 2]), centres);
  return tf.sum(tf.min(tf.sum(tf.square(d), 2), 1));
};

export const jax = (np, n) => (x, points) => {
  const d = points.reshape([n, 1, 2]).sub(x.reshape([1, CENTRES, 2]));
  return np.min(np.square(d).sum(2), 1).sum();
};
