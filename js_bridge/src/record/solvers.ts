// Solutions of equations, integrals and minima, by functions of the core: see `rose_core/recording/named.py`.
//
// Here is checked what they are given, on the author's own line.

import type { MinimizeOptions, OdeOptions, SolveOptions } from "../../rose";
import { tangentTy } from "./functional";
import { call } from "./calls";
import { dataOf, fn, isFn, misfit } from "./functions";
import type { FnData } from "./data";
import {
  CHECKPOINT,
  checkOptions,
  NUMBER,
  oneOf,
  type Option,
  WHOLE,
} from "./options";
import { recorder } from "./recorder";
import { REAL, type Ty, vecOf, unlike } from "./types";
import { typeOf } from "./values";
import { place } from "./where";

type Options = Readonly<Record<string, Option>>;

const OPTIONS: Options = { tolerance: NUMBER, limit: WHOLE };

const ODE_OPTIONS: Options = {
  rtol: NUMBER,
  atol: NUMBER,
  limit: WHOLE,
  checkpoint: CHECKPOINT,
};

/** The type of `x`, a Real or a vector, which a tuple may stand for. */
const listed = (x: unknown, what: string): Ty => {
  const ty = typeOf(recorder(), x, what);
  return ty.isTuple && ty.fields.every(([, t]) => t === REAL)
    ? vecOf(ty.leaves, REAL)
    : ty;
};

/**
 * What the solver `name` gives, from `x0`, a Real or a vector of Reals: a value of the same type, which is
 * what `f` gives, too, unless that is of type `ret`.
 */
const from = (
  name: string,
  f: unknown,
  x0: unknown,
  options: object,
  known = OPTIONS,
  ret?: Ty,
): unknown => {
  const ty = listed(x0, `${name}: the start`);
  if (ty !== REAL && ty.elem !== REAL)
    throw unlike(x0, "a Real or a vector of Reals to start from", name);
  checkOptions(name, options, known);
  const data = functionOn(name, f, [ty], ret ?? ty);
  return solved(name, data, [ty], ty, [x0], options);
};

/**
 * `x` with `f(x) = 0`, near `x0`: a Real, or a vector of as many as `f` gives. By Newton's method, with
 * shorter steps where those lead astray. The derivative with respect to all that `f` uses from around it
 * is that of the root; `x0` has none.
 */
export const root = (
  f: unknown,
  x0: unknown,
  options: SolveOptions = {},
): unknown => from("root", f, x0, options);

/**
 * `x` with `f(x) = x`, from `x0` by `x = f(x)` again and again: a Real, or a vector of them. The derivative
 * is that of the fixed point, with respect to all that `f` uses from around it; `x0` has none.
 */
export const fixedPoint = (
  f: unknown,
  x0: unknown,
  options: SolveOptions = {},
): unknown => from("fixedPoint", f, x0, options);

/**
 * `x` near `x0` where `f(x)`, a Real, is smallest: a Real or a vector of Reals. It ends when no derivative of
 * `f` is larger than `tolerance`. The derivative is that of the minimum, with respect to all that `f` uses
 * from around it; `x0` has none.
 */
export const minimize = (
  f: unknown,
  x0: unknown,
  options: MinimizeOptions = {},
): unknown => {
  const method = oneOf(["lbfgs", "newton", "adam"]);
  const known = { ...OPTIONS, method, rate: NUMBER };
  return from("minimize", f, x0, options, known, REAL);
};

/**
 * The integral of `f` from `a` to `b`, each finite, or an infinite number. `f` gives a Real, or any type of Reals
 * if it was made with `fn`. The error is about `tolerance` at most, relative to the integral of |f|. The derivative
 * is that of the integral, with respect to `a`, `b` and all that `f` uses from around it; but for the part of a
 * jump of `f` at a place that depends on these.
 */
export const quad = (
  f: unknown,
  a: unknown,
  b: unknown,
  options: SolveOptions = {},
): unknown => {
  checkOptions("quad", options, OPTIONS);
  const ret = isFn(f) ? dataOf(f, "quad").ret : REAL;
  tangentTy(ret, "quad");
  const data = functionOn("quad", f, [REAL], ret);
  const bounds = [a, b];
  // passed as arguments, infinite ones would not be known to be that when it is compiled
  const signs = bounds.map((x) => +(x === Infinity) - +(x === -Infinity));
  const all = signs.some(Boolean) ? { ...options, signs } : options;
  return solved("quad", data, [REAL, REAL], ret, bounds, all);
};

/**
 * The solution of `y' = f(y, t)` that is `y0` at `ts[0]`, at all times `ts`, as a vector. `y` is of any type
 * of Reals. The derivative is that of the solution, with respect to `y0`, `ts` and all that `f` uses from
 * around it.
 */
export const odeint = (
  f: unknown,
  y0: unknown,
  ts: unknown,
  options: OdeOptions = {},
): unknown => {
  const ty = typeOf(recorder(), y0, "odeint: the start");
  tangentTy(ty, "odeint");
  const times = listed(ts, "odeint: the times");
  if (times.elem !== REAL || !times.size)
    throw unlike(ts, "a vector of Reals as the times", "odeint");
  checkOptions("odeint", options, ODE_OPTIONS);
  const data = functionOn("odeint", f, [ty, REAL], ty);
  const ret = vecOf(times.size, ty);
  return solved("odeint", data, [ty, times], ret, [y0, ts], options);
};

/** What the core's solver `name` gives for `f` and these arguments. */
const solved = (
  name: string,
  f: FnData,
  params: readonly Ty[],
  ret: Ty,
  args: readonly unknown[],
  options: object,
): unknown => call(f.derive(name, params, ret, options, place()), args);

/** `f`, or what a JavaScript function does, as a function of these types. */
const functionOn = (
  name: string,
  f: unknown,
  params: readonly Ty[],
  ret: Ty,
): FnData => {
  const data = dataOf(
    typeof f === "function" && !isFn(f)
      ? fn(params, ret, (...args) => f(...args))
      : f,
    name,
  );
  const fault = misfit(name, data, params, ret);
  if (fault) throw TypeError(fault);
  return data;
};
