// Where a function is zero, or gives its argument back; derivatives by the implicit function theorem.
//
// A root moves such that the function stays zero: f'(x) dx + df = 0, where df is what the function changes
// by itself. How the root was found has no part in that.

import { ensure } from "./ensure";
import { turnsWhile, typeOf } from "./control";
import { combined, norm, still } from "./elementwise";
import { dataOf, type Fn, fn, isFn, jvp, sum, vec, vjp } from "./functions";
import { functional } from "./functional";
import { inverse, solve, unit } from "./linear";
import {
  add,
  and,
  div,
  eq,
  gt,
  ieq,
  leq,
  lt,
  mul,
  neg,
  not,
  or,
  select,
  sub,
} from "./ops";
import { recorder } from "./recorder";
import {
  BOOL,
  describe,
  dualOf,
  REAL,
  structOf,
  TAN,
  type Ty,
  vecOf,
} from "./types";
import { Construct } from "./where";

/** The shortest part of a Newton step that is tried. */
const SHORTEST = 2 ** -30;

/**
 * Where no part of a Newton step makes the function smaller, rounding is in the way; then the whole step,
 * relative to the argument, is no longer than this, or there is no root nearby.
 */
const STALLED = 1e-6;

export interface SolveOptions {
  /** The change of the last step, relative to the result. */
  tolerance?: number;
  /** The number of steps after which there is no result. */
  limit?: number;
}

/** The options that are given; throws if there is one that is not in `known`. */
export const checked = <T extends object>(
  name: string,
  options: T,
  known: readonly string[],
): T => {
  for (const key of Object.keys(options))
    if (!known.includes(key))
      throw TypeError(`${name}: there is no option ${key}`);
  return options;
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
): unknown => {
  const here = new Construct("root");
  const ty = startTy("root", x0);
  const { tolerance = 1e-12, limit = 100 } = checked("root", options, OPTIONS);
  return functional(
    [functionOn("root", f, [ty], ty)],
    [ty],
    ty,
    (f, x0) => newton(here, ty, f, x0, tolerance, limit),
    (x, f) => moved(here, ty, f, x),
  )(x0);
};

/**
 * `x` with `f(x) = x`, from `x0` by `x = f(x)` again and again: a Real, or a vector of them. The derivative
 * is that of the fixed point, with respect to all that `f` uses from around it; `x0` has none.
 */
export const fixedPoint = (
  f: unknown,
  x0: unknown,
  options: SolveOptions = {},
): unknown => {
  const name = "fixedPoint";
  const here = new Construct(name);
  const ty = startTy(name, x0);
  const { tolerance = 1e-12, limit = 10_000 } = checked(name, options, OPTIONS);
  const state = structOf([
    ["x", ty],
    ["change", REAL],
  ]);
  const iterate = (f: Fn, x0: unknown) => {
    const test = (s: any) => {
      const rests = leq(s.change, mul(tolerance, norm(ty, s.x)));
      return not(and(rests, lt(s.change, Infinity)));
    };
    const again = (s: any) => {
      const x = f(s.x);
      return { x, change: norm(ty, combined(ty, sub, x, s.x)) };
    };
    const end = turnsWhile(
      state,
      { x: x0, change: Infinity },
      test,
      again,
      limit,
    );
    const complaint = `it did not come to rest in ${limit} turns`;
    const done = not(test(end));
    return combined(ty, (x) => ensure(here, done, x, complaint), end.x);
  };
  return functional(
    [functionOn(name, f, [ty], ty)],
    [ty],
    ty,
    iterate,
    (x, f) => moved(here, ty, f, x, true),
  )(x0);
};

const OPTIONS = ["tolerance", "limit"];

/** The type of `x0`, a Real or a vector of Reals. */
export const startTy = (name: string, x0: unknown): Ty => {
  const ty = typeOf(recorder(), x0, `${name}: the start`);
  if (ty !== REAL && ty.elem !== REAL)
    throw TypeError(
      `${name}: expected a Real or a vector of Reals to start from, got ${describe(x0)}`,
    );
  return ty;
};

/** `f`, or what a JavaScript function does, as a function of these types. */
export const functionOn = (
  name: string,
  f: unknown,
  params: readonly Ty[],
  ret: Ty,
): Fn => {
  if (typeof f === "function" && !isFn(f))
    return fn(params, ret, (...args) => f(...args));
  const data = dataOf(f, name);
  if (data.ret !== ret || params.some((ty, k) => ty !== data.params[k])) {
    const text = (tys: readonly Ty[]) => tys.map((ty) => ty.text).join(", ");
    throw TypeError(
      `${name}: expected a function (${text(params)}) -> ${ret.text}, ` +
        `got (${text(data.params)}) -> ${data.ret.text}`,
    );
  }
  return f as Fn;
};

/** Newton's method with steps that make the largest component of `f` smaller. */
const newton = (
  here: Construct,
  ty: Ty,
  f: Fn,
  x0: unknown,
  tolerance: number,
  limit: number,
): unknown => {
  const state = structOf([
    ["x", ty],
    ["y", ty],
    ["step", REAL],
    ["shorter", BOOL],
  ]);
  const point = structOf([
    ["part", REAL],
    ["x", ty],
    ["y", ty],
  ]);
  const test = (s: any) => {
    const near = leq(s.step, mul(tolerance, norm(ty, s.x)));
    return and(s.shorter, not(or(near, eq(norm(ty, s.y), 0))));
  };
  const turn = (s: any) => {
    const step = newtonStep(ty, f, s.x, s.y);
    const size = norm(ty, s.y);
    const at = (part: any) => {
      const x = combined(ty, (x, d) => sub(x, mul(part, d)), s.x, step);
      return { part, x, y: f(x) };
    };
    const end = turnsWhile(
      point,
      at(1),
      (p) => and(not(lt(norm(ty, p.y), size)), gt(p.part, SHORTEST)),
      (p) => at(div(p.part, 2)),
      100,
    );
    const shorter = lt(norm(ty, end.y), size);
    const chosen = (a: any, b: any) =>
      combined(ty, (a, b) => select(shorter, REAL, a, b), a, b);
    return {
      x: chosen(end.x, s.x),
      y: chosen(end.y, s.y),
      step: norm(ty, step),
      shorter,
    };
  };
  const start = { x: x0, y: f(x0), step: Infinity, shorter: true };
  const end = turnsWhile(state, start, test, turn, limit);
  const size = norm(ty, end.y);
  const isZero = eq(size, 0);
  const found = or(not(test(end)), isZero);
  const stalled = and(not(end.shorter), not(isZero));
  const nowhere = and(not(eq(end.step, end.step)), lt(size, Infinity));
  const regular = not(and(stalled, nowhere));
  const near = leq(end.step, mul(STALLED, add(1, norm(ty, end.x))));
  const complaint =
    "the derivative is singular, so there is no step towards a root";
  const failed = `no root was found in ${limit} steps`;
  const good = and(found, or(not(stalled), near));
  return combined(
    ty,
    (x) => ensure(here, good, ensure(here, regular, x, complaint), failed),
    end.x,
  );
};

/** The derivative of `f` at `x`, a number or a matrix, with `less` taken from the diagonal. */
const slopesOf = (ty: Ty, f: Fn, x: any, less = 0): any => {
  if (ty.kind !== "vec") return sub(vjp(f)(x).grad(1), less);
  const n = ty.size;
  return vec(n, ty, (i) => {
    const row: any = vjp(f)(x).grad(unit(n, i));
    return vec(n, REAL, (j) =>
      sub(row[j], select(ieq(n, i, j), REAL, less, 0)),
    );
  });
};

/** What Newton's method subtracts from `x`; NaN if the derivative is singular. */
const newtonStep = (ty: Ty, f: Fn, x: any, y: any): any => {
  const slopes = slopesOf(ty, f, x);
  if (ty.kind !== "vec")
    return div(y, select(eq(slopes, 0), REAL, NaN, slopes));
  const n = ty.size;
  const right = vec(n, vecOf(1, REAL), (i) => [y[i]]);
  const d = solve(n, 1, slopes, right);
  return vec(n, REAL, (i) => d[i][0]);
};

/** The tangent of a root `x` of `f`, or of its fixed point. */
export const moved = (
  here: Construct,
  ty: Ty,
  f: Fn,
  x: any,
  fixed = false,
): unknown => {
  const complaint = "the derivative is singular, so the result has none";
  const slopes = slopesOf(ty, f, x, fixed ? 1 : 0);
  if (ty.kind !== "vec") {
    const { du }: any = jvp(f)(still(x));
    return neg(div(du, ensure(here, not(eq(slopes, 0)), slopes, complaint)));
  }
  const n = ty.size;
  const at = vec(n, dualOf(REAL), (i) => still(x[i]));
  const change: any = jvp(f)(at);
  const back = inverse(n, slopes);
  return vec(n, TAN, (i) =>
    neg(
      sum(n, (j) => {
        const entry = back[i][j];
        const known = ensure(here, eq(entry, entry), entry, complaint);
        return mul(change[j].du, known);
      }),
    ),
  );
};
