// How soon a page has its first gradient. Run in pages of their own by startup.py.

import { ours, original } from "./peers/rose.js";

/** Milliseconds from nothing to a first gradient of Rosenbrock's function, with Rose so configured. */
export const first = async (configuration) => {
  const workload = await import("./workloads/rosenbrock.js");
  const began = performance.now();
  const lib = await import("../rose.js");
  lib.configure(configuration);
  await ours.first(lib, workload, 10, workload.input(10));
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

/** The longest time that the page did not answer while Python started and compiled a large program. */
export const longest = async () => {
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
  let done = false;
  let gap = 0;
  const compiled = lib.compile(gradient).finally(() => {
    done = true;
  });
  for (let last = performance.now(); !done;) {
    await new Promise((wake) => setTimeout(wake));
    const now = performance.now();
    gap = Math.max(gap, now - last);
    last = now;
  }
  await compiled;
  return gap;
};
