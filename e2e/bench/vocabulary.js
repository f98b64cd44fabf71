// What several workloads need: numbers to begin with, and words that npm's rose lacks.

/** Numbers without a pattern that helps, from -1 to 1. */
export const wave = (/** @type {number} */ n, phase = 0) =>
  Float64Array.from({ length: n }, (_, i) => Math.sin(i + phase));

/** The sum of `body(i, i + 1)` over all i below n - 1. */
export const neighbours = (lib, n, body) => {
  const { Real, iadd, ilt, imod, select, sum } = lib;
  if (isOriginal(lib))
    // an index of its Vec(n, …) cannot come from a smaller size: go round, and leave out the last
    return sum(n, (i) =>
      select(ilt(n, i, n - 1), Real, body(i, imod(n, iadd(n, i, 1))), 0),
    );
  return sum(n - 1, (k) => {
    const i = imod(n, k);
    return body(i, iadd(n, i, 1));
  });
};

const isOriginal = (lib) => !("exp" in lib);

/**
 * The Real `f` of these parameters, and its gradient by the first of them.
 *
 * npm's rose differentiates functions of one argument, which use nothing from around them: there, all
 * is one struct, and its gradient is by all fields.
 */
export const gradientOfFirst = (lib, params, f) => {
  const { Real, fn, vjp } = lib;
  if (isOriginal(lib) && params.length > 1) {
    const Struct = { ...params };
    const value = fn([Struct], Real, (all) =>
      f(...params.map((_, k) => all[k])),
    );
    const gradient = fn(
      [Struct],
      params[0],
      (all) => vjp(value)(all).grad(1)[0],
    );
    return { value, gradient, pack: (...args) => [{ ...args }] };
  }
  const value = fn(params, Real, f);
  const gradient = fn(params, params[0], (x, ...data) => {
    if (data.length === 0) return vjp(value)(x).grad(1);
    const ofFirst = fn([params[0]], Real, (x) => f(x, ...data));
    return vjp(ofFirst)(x).grad(1);
  });
  return { value, gradient };
};

const words = new WeakMap();

/** `exp`, `log`, `sin`, `cos` of `lib`; of npm's rose as its README teaches to define them. */
export const math = (lib) => {
  if (!isOriginal(lib)) return lib;
  let found = words.get(lib);
  if (!found) words.set(lib, (found = define(lib)));
  return found;
};

const define = ({ Dual, Real, div, fn, mul, neg, opaque }) => {
  const exp = opaque([Real], Real, Math.exp);
  const log = opaque([Real], Real, Math.log);
  const sin = opaque([Real], Real, Math.sin);
  const cos = opaque([Real], Real, Math.cos);
  const derivative = (f, tangent) => {
    f.jvp = fn([Dual], Dual, ({ re, du }) => {
      const y = f(re);
      return { re: y, du: tangent(re, du, y) };
    });
  };
  derivative(exp, (_, du, y) => mul(du, y));
  derivative(log, (x, du) => div(du, x));
  derivative(sin, (x, du) => mul(du, cos(x)));
  derivative(cos, (x, du) => neg(mul(du, sin(x))));
  return { exp, log, sin, cos };
};

/** Arithmetic of jax-js that leaves its operands to be used again. */
export const keeping = (np) => {
  const kept = (x) => (typeof x === "number" ? x : x.ref);
  const op = (f) => (a, b) => f(kept(a), kept(b));
  return { add: op(np.add), mul: op(np.multiply), sub: op(np.subtract) };
};

/** The smaller of two numbers. */
export const smaller = (lib, a, b) =>
  isOriginal(lib) ? lib.select(lib.lt(a, b), lib.Real, a, b) : lib.min(a, b);
