// jax-js, whose kernels are WebAssembly: `jit(grad(f))` on 64-bit numbers.
//
// Functions take ownership of the arrays that they are given; `.ref` keeps one.

export const jax = {
  name: "jax-js",
  tolerance: 1e-4, // its exp, log, sin and cos have five digits, whatever the type
  has: (workload) => workload.jax !== undefined,
  async load() {
    const lib = await import("@jax-js/jax");
    await lib.init("wasm");
    lib.defaultDevice("wasm");
    return lib;
  },
  async prepare(lib, workload, n, { x, data = [] }) {
    const { numpy: np, grad, jit } = lib;
    const array = (values) => np.array(values, { dtype: np.float64 });
    const arrays = data.map(({ values, shape }) =>
      array(values).reshape(shape),
    );
    const f = workload.jax(np, n);
    const compiled = { value: jit(f), gradient: jit(grad(f)) };
    const call = (g) => () => {
      const result = g(array(x), ...arrays.map((a) => a.ref));
      return result.dataSync();
    };
    return {
      value: call(compiled.value),
      gradient: call(compiled.gradient),
      numbers: (result) => result,
      async compile() {
        const start = performance.now();
        const gradient = jit(grad(workload.jax(np, n)));
        call(gradient)(); // it is traced and compiled when it is first called
        const compile = performance.now() - start;
        gradient.dispose?.();
        return { compile };
      },
      dispose() {
        for (const a of arrays) a.dispose();
        for (const g of Object.values(compiled)) g.dispose?.();
      },
    };
  },
};
