// jax-js, whose kernels are WebAssembly: `jit(grad(f))` on 64-bit numbers.
//
// Functions take ownership of the arrays that they are given; `.ref` keeps one.

/** x and the data as arrays. */
const put = ({ numpy: np }, { x, data = [] }) => {
  const array = (values) => np.array(values, { dtype: np.float64 });
  const arrays = data.map(({ values, shape }) => array(values).reshape(shape));
  return { x: array(x), arrays };
};

export const jax = {
  name: "jax-js",
  tolerance: 1e-4, // its exp, log, sin and cos have five digits, whatever the type
  has: (workload) => workload.jax !== undefined,
  async load() {
    const lib = await import("../libraries/jax.js");
    await lib.init("wasm");
    lib.defaultDevice("wasm");
    return lib;
  },
  async first(lib, workload, n, input) {
    const { grad, jit, numpy } = lib;
    const { x, arrays } = put(lib, input);
    const start = performance.now();
    const gradient = jit(grad(workload.jax(numpy, n)));
    gradient(x, ...arrays).dataSync(); // it is traced and compiled now
    const compile = performance.now() - start;
    gradient.dispose();
    return { compile };
  },
  async prepare(lib, workload, n, input) {
    const { numpy: np, grad, jit } = lib;
    const { arrays } = put(lib, input);
    const f = workload.jax(np, n);
    const compiled = { value: jit(f), gradient: jit(grad(f)) };
    const call = (g) => () => {
      const { x } = put(lib, { x: input.x });
      return g(x, ...arrays.map((a) => a.ref)).dataSync();
    };
    return {
      value: call(compiled.value),
      gradient: call(compiled.gradient),
      numbers: (result) => result,
      dispose() {
        for (const a of arrays) a.dispose();
        for (const g of Object.values(compiled)) g.dispose();
      },
    };
  },
};
