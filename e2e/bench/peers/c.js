// C by hand, compiled to wasm: c/WORKLOAD.c, built by c/build.py in several ways.
//
//   double value(int n, const double *x, ...data)
//   void gradient(int n, const double *x, double *g, ...data)
//
// The data stay in the module's memory; x goes in and the gradient comes out with every call.

import { calling } from "../measure.js";

const PAGE = 65536;

const c = (name, suffix, folder, fits = () => true) => ({
  name,
  tolerance: 1e-9,
  has: ({ c }, n) =>
    c !== undefined && fits(c) && (c.straight?.includes(n) ?? true),
  load: async () => undefined,
  async prepare(_, workload, n, { x, data = [] }) {
    const { file, straight } = workload.c;
    const path = `../${folder}/${file}${straight ? `_${n}` : ""}${suffix}`;
    const response = await fetch(new URL(`${path}.wasm`, import.meta.url));
    if (!response.ok) throw Error(`${path} is missing`);
    const bytes = await response.arrayBuffer();
    const { instance } = await WebAssembly.instantiate(bytes, { env: Math });
    const { memory, value, gradient, __heap_base } = instance.exports;
    let end = (__heap_base.value + 15) & ~15;
    const place = (values) => {
      const address = end;
      end = (end + 8 * values.length + 15) & ~15;
      return address;
    };
    const at = place(x);
    const to = place(x);
    const places = data.map(({ values }) => place(values));
    const missing = Math.ceil((end - memory.buffer.byteLength) / PAGE);
    if (missing > 0) memory.grow(missing);
    const cells = new Float64Array(memory.buffer);
    cells.set(x, at >> 3);
    data.forEach(({ values }, k) => cells.set(values, places[k] >> 3));
    const bodies = {
      value: await calling(value, n, at, ...places),
      gradient: await calling(gradient, n, at, to, ...places),
    };
    return {
      value() {
        cells.set(x, at >> 3);
        return bodies.value();
      },
      gradient() {
        cells.set(x, at >> 3);
        bodies.gradient();
        const from = to >> 3;
        return x.length > 1 ? cells.slice(from, from + x.length) : cells[from];
      },
      body: bodies,
      numbers: (result) => (typeof result === "number" ? [result] : result),
      bytes: { gradient: bytes.byteLength },
    };
  },
});

export const plain = c("C -O3", "", "c");
export const simd = c("C -O3 simd", ".simd", "c");
export const libm = c("C -O3 simd, libm", ".libm", "libm", (c) => c.math);
