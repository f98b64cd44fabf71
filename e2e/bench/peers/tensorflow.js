// TensorFlow.js with its cpu backend, in JavaScript: 32-bit numbers, no compilation.

export const tensorflow = {
  name: "TensorFlow.js",
  tolerance: 1e-4,
  has: ({ tensorflow }) => tensorflow !== undefined,
  async load() {
    const tf = await import("../libraries/tensorflow.js");
    await tf.setBackend("cpu");
    await tf.ready();
    return tf;
  },
  async first(tf, workload, n, input) {
    const { gradient, dispose } = await this.prepare(tf, workload, n, input);
    const start = performance.now();
    gradient();
    const end = performance.now();
    dispose();
    return { "first call": end - start };
  },
  async prepare(tf, workload, n, { x, data = [] }) {
    const tensors = data.map(({ values, shape }) =>
      tf.tensor(new Float32Array(values), shape),
    );
    const f = (x) => workload.tensorflow(tf, n)(x, ...tensors);
    const gradient = tf.grad(f);
    const call = (g) => () =>
      tf.tidy(() => g(tf.tensor1d(new Float32Array(x))).dataSync());
    return {
      value: call(f),
      gradient: call(gradient),
      numbers: (result) => result,
      dispose: () => tf.dispose(tensors),
    };
  },
};
