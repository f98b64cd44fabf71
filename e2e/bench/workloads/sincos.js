// sin(cos(x)): two calls, and what it costs to get there.

import { gradientOfFirst, math } from "../vocabulary.js";

export const title = "sin(cos(x))";
export const sizes = [1];
export const input = () => ({ x: Float64Array.of(0.7) });
export const first = (x) => x[0];

export const rose = (lib) => {
  const { cos, sin } = math(lib);
  return gradientOfFirst(lib, [lib.Real], (x) => sin(cos(x)));
};

export const js = () => ({
  value: ([x]) => Math.sin(Math.cos(x)),
  gradient: ([x]) => -Math.cos(Math.cos(x)) * Math.sin(x),
});

export const c = { file: "sincos", math: true };
export const tensorflow = (tf) => (x) => tf.squeeze(tf.sin(tf.cos(x)));
export const jax = (np) => (x) => np.sum(np.sin(np.cos(x)));
