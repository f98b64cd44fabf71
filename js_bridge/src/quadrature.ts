// Integrals over an interval; their derivatives are integrals of derivatives.
//
// ∂/∂a, ∂/∂b and ∂/∂θ of ∫ₐᵇ f(x, θ) dx are -f(a), f(b) and ∫ₐᵇ ∂f/∂θ dx (Leibniz). The last of these is taken
// apart where *it* is hard to integrate, and not where f is.
//
// The interval is halved until the rule of Gauss and Kronrod with 15 points is exact enough on every part.
// Parts are [l, l + w] with l a multiple of w, a power of 2, as fractions of the whole: after a part comes
// the one at l + w, twice as wide if that is a place where such a one may begin. So there is no stack.

import { ensure } from "./ensure";
import { fori, inline, turnsWhile } from "./control";
import { byField, combined, each, norm, still } from "./elementwise";
import { functional, tangentTy } from "./functional";
import {
  captured,
  dataOf,
  type Fn,
  FnData,
  isFn,
  jvp,
  makeFn,
  typeOfCapture,
  vec,
} from "./functions";
import { S } from "./opcodes.gen";
import {
  abs,
  add,
  and,
  div,
  eq,
  floor,
  ieq,
  leq,
  lt,
  max,
  mul,
  not,
  or,
  select,
  sqrt,
  sub,
  zero,
} from "./ops";
import { type Recorder, recorder } from "./recorder";
import { checked, functionOn, type SolveOptions } from "./roots";
import {
  isReal,
  numbersOf,
  REAL,
  structOf,
  TAN,
  type Ty,
  vecOf,
} from "./types";
import { lift, wrap } from "./values";
import { Construct } from "./where";

const POSITIVE = [
  0, 0.20778495500789848, 0.4058451513773972, 0.5860872354676911,
  0.7415311855993945, 0.8648644233597691, 0.9491079123427585,
  0.9914553711208126,
];
const KRONROD = [
  0.20948214108472782, 0.20443294007529889, 0.19035057806478542,
  0.1690047266392679, 0.14065325971552592, 0.10479001032225017,
  0.06309209262997856, 0.022935322010529224,
];
const GAUSS = [
  0.4179591836734694, 0, 0.3818300505051189, 0, 0.27970539148927664, 0,
  0.1294849661688697, 0,
];

const mirrored = (half: number[], sign: 1 | -1): number[] => [
  ...half
    .slice(1)
    .reverse()
    .map((x) => sign * x),
  ...half,
];
const POINTS = mirrored(POSITIVE, -1);
/** On [-1, 1], whose length is 2: of the rule with 15 points, and of that with 7 of them. */
const WEIGHTS = [KRONROD, GAUSS].map((half) => mirrored(half, 1));

/** As in QUADPACK: the error of 15 points is about (200 times the difference to 7) to the power 1.5. */
const DIFFERENCE = 200;

/** A part of the interval that is halved no more: there the integrand has no bounds, or no limit. */
const NARROWEST = 2 ** -48;

/** What the differences of both rules on such parts may be in all, relative to the integral of |f|. */
const ROUGH = 1e-6;

/**
 * The integral of `f` from `a` to `b`, both finite. `f` gives a Real, or any type of Reals if it was made
 * with `fn`. The error is about `tolerance` at most, relative to the integral of |f|. The derivative is
 * that of the integral, with respect to `a`, `b` and all that `f` uses from around it; it knows nothing
 * of jumps of `f`.
 */
export const quad = (
  f: unknown,
  a: unknown,
  b: unknown,
  options: SolveOptions = {},
): unknown => {
  const here = new Construct("quad");
  const known = ["tolerance", "limit"];
  const { tolerance = 1e-10, limit = 10_000 } = checked("quad", options, known);
  const ty = isFn(f) ? dataOf(f, "quad").ret : REAL;
  const tangents = tangentTy(ty);

  /** The sum over all parts of what `term` adds, where `measure` says which are exact enough. */
  const parts = (
    a: any,
    b: any,
    of: Ty,
    measure: (start: any, h: any) => any,
    term: (total: any, m: any, start: any, h: any) => any,
  ): any => {
    const state = structOf([
      ["total", of],
      ["from", REAL],
      ["width", REAL],
      ["size", REAL],
      ["rough", REAL],
    ]);
    const length = sub(b, a);
    const test = (s: any) => lt(s.from, 1);
    const turn = (s: any) => {
      const start = add(a, mul(length, s.from));
      const h = mul(length, s.width);
      const m = measure(start, h);
      const size = max(s.size, m.size);
      const difference = mul(DIFFERENCE, m.error);
      const exact = leq(
        mul(difference, sqrt(difference)),
        mul(mul(tolerance, size), sqrt(size)),
      );
      const ends = or(exact, leq(s.width, NARROWEST));
      const next = add(s.from, s.width);
      const twice = div(next, mul(2, s.width));
      const isPlace = eq(twice, floor(twice));
      const wider = select(isPlace, REAL, mul(2, s.width), s.width);
      const ignored = or(exact, not(ends));
      return {
        total: either(of, ends, term(s.total, m, start, h), s.total),
        from: select(ends, REAL, next, s.from),
        width: select(ends, REAL, wider, div(s.width, 2)),
        size,
        rough: add(s.rough, select(ignored, REAL, 0, m.error)),
      };
    };
    const start = {
      total: nothing(of),
      from: 0,
      width: 1,
      size: 0,
      rough: 0,
    };
    const end = turnsWhile(state, start, test, turn, limit);
    const complaint = `the integral does not converge, or not in ${limit} parts of the interval`;
    const found = and(not(test(end)), leq(end.rough, mul(ROUGH, end.size)));
    const done = ensure(here, found, 1, complaint);
    return combined(of, (x) => mul(x, done), end.total);
  };

  const value = (f: Fn, a: unknown, b: unknown): unknown =>
    parts(
      a,
      b,
      ty,
      (start, h) => measured(ty, f, start, h),
      (total, m) => combined(ty, add, total, m.sum),
    );

  const rule = (_: unknown, f: Fn, a: any, b: any): unknown => {
    const derivative = jvp(f) as (x: unknown) => unknown;
    const atEnds = each(
      ty,
      tangentTy,
      (y0, y1) => sub(mul(b.du, y1), mul(a.du, y0)),
      f(a.re),
      f(b.re),
    );
    const slopes = byClosure(dataOf(f, "quad"), ty);
    if (slopes === undefined) return atEnds;
    const j = dataOf(slopes, "quad").ret;
    const verdict = structOf([
      ["error", REAL],
      ["size", REAL],
    ]);
    // where the interval is taken apart has no derivative
    const frozen = functional(
      [slopes],
      [REAL, REAL],
      verdict,
      (g: Fn, start, h) => {
        const { error, size } = measured(j, g, start, h);
        return { error, size };
      },
      () => ({ error: zero(), size: zero() }),
    );
    const term = (total: any, _: any, start: any, h: any) =>
      overPoints(tangents, total, start, h, (x, k, s) => {
        const weight = mul(constant(WEIGHTS[0])[k], mul(0.5, h));
        return each(
          ty,
          tangentTy,
          (dy, s) => add(s, mul(dy.du, weight)),
          derivative(still(x)),
          s,
        );
      });
    const within = parts(a.re, b.re, tangents, frozen, term);
    return each(ty, tangentTy, add, atEnds, within);
  };
  return functional(
    [functionOn("quad", f, [REAL], ty)],
    [REAL, REAL],
    ty,
    value,
    rule,
  )(a, b);
};

/** The scalars of a type of numbers or tangents. */
const scalarOf = (ty: Ty): Ty =>
  ty.kind === "vec"
    ? scalarOf(ty.elem!)
    : ty.kind === "struct"
      ? scalarOf(ty.fields[0][1])
      : ty;

/** Zeros, of numbers or of tangents. */
const nothing = (ty: Ty): any =>
  combined(ty, () => (scalarOf(ty) === TAN ? zero() : 0));

const either = (ty: Ty, p: unknown, a: any, b: any): any =>
  combined(ty, (x, y) => select(p, scalarOf(ty), x, y), a, b);

/** A vector of these numbers, to be indexed by a symbolic index. */
const constant = (numbers: readonly number[]): any => {
  const r = recorder();
  const ids: number[] = [];
  const ty = vecOf(numbers.length, REAL);
  lift(r, ty, numbers, ids);
  return wrap(r, ty, ids);
};

/** `init`, and `term(x, k, sum)` for each point `x` of the part of length `h`. */
const overPoints = (
  ty: Ty,
  init: unknown,
  start: unknown,
  h: unknown,
  term: (x: unknown, k: any, sum: any) => unknown,
): any =>
  fori(POINTS.length, ty, init, (k, s) => {
    const place = add(0.5, mul(0.5, constant(POINTS)[k]));
    return term(add(start, mul(h, place)), k, s);
  });

/** The integral of `f` over a part, the difference of both rules, and the integral of |f|. */
const measured = (ty: Ty, f: Fn, start: unknown, h: unknown) => {
  const sums = structOf([
    ["kronrod", ty],
    ["gauss", ty],
    ["size", ty],
  ]);
  const none = nothing(ty);
  const zeros = { kronrod: none, gauss: none, size: none };
  const s = overPoints(sums, zeros, start, h, (x, k, s) => {
    const y = f(x);
    const [kronrod, gauss] = WEIGHTS.map((weights) =>
      mul(constant(weights)[k], mul(0.5, h)),
    );
    return {
      kronrod: combined(ty, (y, s) => add(s, mul(kronrod, y)), y, s.kronrod),
      gauss: combined(ty, (y, s) => add(s, mul(gauss, y)), y, s.gauss),
      size: combined(ty, (y, s) => add(s, abs(mul(kronrod, y))), y, s.size),
    };
  });
  return {
    sum: s.kronrod,
    error: norm(ty, combined(ty, sub, s.kronrod, s.gauss)),
    size: norm(ty, s.size),
  };
};

/** The derivatives of `f` at an `x` by all Reals that it uses from around it; unless there are none. */
const byClosure = (f: FnData, ty: Ty): Fn | undefined => {
  const reals = f.captures.map(typeOfCapture).filter(isReal).map(numbersOf);
  if (reals.length === 0) return undefined;
  const gradient = structOf(reals.map((leaf, k) => [`d${k}`, leaf]));
  /** `ty` with a gradient in place of every Real. */
  const derivatives = (ty: Ty): Ty =>
    ty.kind === "vec"
      ? vecOf(ty.size, derivatives(ty.elem!))
      : ty.kind === "struct"
        ? structOf(Object.entries(byField(ty, derivatives)))
        : gradient;

  const body = (r: Recorder, x: number): number[] => {
    r.takesVjp = true;
    const args = [r.callee(f.code), x, ...captured(r, f)];
    const call = r.rowOf(S.VJP, args);
    const pulled = (path: unknown[]): unknown => {
      const cotangents: number[] = [];
      lift(r, ty, unit(ty, path), cotangents);
      const pull = r.rowOf(S.PULL, [call, ...cotangents]);
      // the first result is the derivative by x
      const ids = reals.map((_, k) => r.row(S.GET, pull, 1 + k));
      return wrap(r, gradient, ids);
    };
    const rows = (ty: Ty, path: unknown[]): unknown =>
      ty.kind === "vec"
        ? vec(ty.size, derivatives(ty.elem!), (i) =>
            rows(ty.elem!, [...path, i]),
          )
        : ty.kind === "struct"
          ? byField(ty, (field, name) => rows(field, [...path, name]))
          : pulled(path);
    const ids: number[] = [];
    lift(r, derivatives(ty), rows(ty, []), ids);
    return ids;
  };
  const { recording } = inline("slopes", [REAL], (r, [x]) => body(r, x));
  return makeFn(new FnData("slopes", [REAL], derivatives(ty), recording));
};

/** What is 1 at one place, and 0 elsewhere; `path` has the index or the name of every step there. */
const unit = (ty: Ty, path: readonly any[], here: unknown = true): any =>
  ty.kind === "vec"
    ? vec(ty.size, ty.elem!, (i) =>
        unit(ty.elem!, path.slice(1), and(here, ieq(ty.size, i, path[0]))),
      )
    : ty.kind === "struct"
      ? byField(ty, (field, name) =>
          name === path[0] ? unit(field, path.slice(1), here) : nothing(field),
        )
      : select(here, REAL, 1, 0);
