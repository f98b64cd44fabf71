// How soon a page has its first gradient. Run in pages of their own by startup.py.

import { ours, original } from "./peers/rose.js";

/** Milliseconds from nothing to a first gradient of Rosenbrock's function, with Rose so configured and asked. */
export const first = async (configuration, options = {}) => {
  const workload = await import("./workloads/rosenbrock.js");
  const began = performance.now();
  const lib = await import("../rose.js");
  lib.configure(configuration);
  await ours.first(lib, workload, 10, workload.input(10), options);
  return performance.now() - began;
};

/** The same with npm's rose. */
export const theirs = async () => {
  const workload = await import("./workloads/rosenbrock.js");
  const began = performance.now();
  const lib = await original.load();
  await original.first(lib, workload, 10, workload.input(10));
  return performance.now() - began;
};

/** Milliseconds that Pyodide as it comes takes to load. */
export const stock = async () => {
  const began = performance.now();
  const { loadPyodide } = await import(
    new URL("../stock/pyodide.mjs", import.meta.url).href
  );
  await loadPyodide();
  return performance.now() - began;
};

/** Have Python start and compile a large program, from the mark "recorded" on. */
export const large = async () => {
  const lib = await import("../rose.js");
  lib.configure({ cache: false, frozen: false });
  const { Real, Vec, add, fn, mul, sin, vjp } = lib;
  const size = 100;
  const operations = 50_000;
  const f = fn([Vec(size, Real)], Real, (v) => {
    let x = v[0];
    for (let k = 0; k < operations / 2; ++k) x = add(sin(x), v[k % size]);
    return mul(x, x);
  });
  const gradient = fn([Vec(size, Real)], Vec(size, Real), (v) =>
    vjp(f)(v).grad(1),
  );
  // what the page itself takes to define its functions is another matter
  await new Promise((wake) => setTimeout(wake));
  performance.mark("recorded");
  await lib.compile(gradient);
};
