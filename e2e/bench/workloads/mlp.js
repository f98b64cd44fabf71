// A network of two layers on one picture of 28 × 28: n hidden units with max(0, x), ten classes, and
// the cross entropy of their softmax. x is b1, b2, w1, w2 in a row.

import { gradientOfFirst, math, wave } from "../vocabulary.js";

const PIXELS = 784;
const CLASSES = 10;
const LABEL = 3;

export const title = "Network 784 → n → 10, one picture";
export const sizes = [32];

const shapes = (n) => ({
  b1: [n],
  b2: [CLASSES],
  w1: [n, PIXELS],
  w2: [CLASSES, n],
});

export const input = (n) => {
  const parameters = n + CLASSES + n * PIXELS + CLASSES * n;
  const label = new Float64Array(CLASSES);
  label[LABEL] = 1;
  const data = [
    { shape: [PIXELS], values: wave(PIXELS, 2) },
    { shape: [CLASSES], values: label },
  ];
  return { x: wave(parameters).map((w) => w / 8), data };
};

/** The parameters by name, of the row `x` of them: `make` makes one of a shape and its part of x. */
const parts = (n, x, make) => {
  let at = 0;
  return Object.fromEntries(
    Object.entries(shapes(n)).map(([name, shape]) => {
      const start = at;
      at += shape.reduce((a, b) => a * b);
      return [name, make(shape, start, at)];
    }),
  );
};

export const first = (x) => {
  const n = (x.length - CLASSES) / (PIXELS + CLASSES + 1);
  return parts(n, x, ([rows, columns], start, end) =>
    columns === undefined
      ? x.subarray(start, end)
      : Array.from({ length: rows }, (_, k) =>
          x.subarray(start + k * columns, start + (k + 1) * columns),
        ),
  );
};

export const rose = (lib, n) => {
  const { Real, Vec, add, gt, mul, select, sub, sum, vec } = lib;
  const { exp, log } = math(lib);
  const type = ([rows, columns]) =>
    Vec(rows, columns === undefined ? Real : Vec(columns, Real));
  const Parameters = Object.fromEntries(
    Object.entries(shapes(n)).map(([name, shape]) => [name, type(shape)]),
  );
  const params = [Parameters, Vec(PIXELS, Real), Vec(CLASSES, Real)];
  return gradientOfFirst(lib, params, ({ b1, b2, w1, w2 }, image, label) => {
    const hidden = vec(n, Real, (j) => {
      const z = add(
        b1[j],
        sum(PIXELS, (i) => mul(w1[j][i], image[i])),
      );
      return select(gt(z, 0), Real, z, 0);
    });
    const out = vec(CLASSES, Real, (k) =>
      add(
        b2[k],
        sum(n, (j) => mul(w2[k][j], hidden[j])),
      ),
    );
    return sub(
      log(sum(CLASSES, (k) => exp(out[k]))),
      sum(CLASSES, (k) => mul(label[k], out[k])),
    );
  });
};

export const js = (n) => {
  const layer = (to, from, x, b, w, rows, columns) => {
    for (let j = 0; j < rows; ++j) {
      let sum = x[b + j];
      for (let i = 0; i < columns; ++i) sum += x[w + j * columns + i] * from[i];
      to[j] = sum;
    }
  };
  const b2 = n;
  const w1 = b2 + CLASSES;
  const w2 = w1 + n * PIXELS;
  const hidden = new Float64Array(n);
  const out = new Float64Array(CLASSES);
  const forward = (x, image) => {
    layer(hidden, image, x, 0, w1, n, PIXELS);
    for (let j = 0; j < n; ++j) hidden[j] = Math.max(hidden[j], 0);
    layer(out, hidden, x, b2, w2, CLASSES, n);
    let sum = 0;
    for (let k = 0; k < CLASSES; ++k) sum += Math.exp(out[k]);
    return sum;
  };
  return {
    value(x, image, label) {
      let loss = Math.log(forward(x, image));
      for (let k = 0; k < CLASSES; ++k) loss -= label[k] * out[k];
      return loss;
    },
    gradient(x, image, label) {
      const g = new Float64Array(x.length);
      const sum = forward(x, image);
      for (let k = 0; k < CLASSES; ++k) {
        const d = Math.exp(out[k]) / sum - label[k];
        g[b2 + k] = d;
        for (let j = 0; j < n; ++j) {
          g[w2 + k * n + j] = d * hidden[j];
          if (hidden[j] > 0) g[j] += d * x[w2 + k * n + j];
        }
      }
      for (let j = 0; j < n; ++j)
        for (let i = 0; i < PIXELS; ++i)
          g[w1 + j * PIXELS + i] = g[j] * image[i];
      return g;
    },
  };
};

export const c = { file: "mlp", math: true };

export const tensorflow = (tf, n) => (x, image, label) => {
  const { b1, b2, w1, w2 } = parts(n, x, (shape, start, end) =>
    tf.reshape(tf.slice(x, start, end - start), shape),
  );
  const times = (w, v) => tf.squeeze(tf.matMul(w, tf.expandDims(v, 1)), [1]);
  const hidden = tf.relu(tf.add(b1, times(w1, image)));
  const out = tf.add(b2, times(w2, hidden));
  return tf.sub(tf.log(tf.sum(tf.exp(out))), tf.sum(tf.mul(label, out)));
};

export const jax = (np, n) => (x, image, label) => {
  const { b1, b2, w1, w2 } = parts(n, x, (shape, start, end) =>
    x.ref.slice([start, end]).reshape(shape),
  );
  const hidden = np.maximum(np.dot(w1, image).add(b1), 0);
  const out = np.dot(w2, hidden).add(b2);
  return np.log(np.exp(out.ref).sum()).sub(label.mul(out).sum());
};
