// Ordinary differential equations, by Dormand and Prince's adaptive Runge-Kutta method of order 5.
//
// The steps are chosen by the error of the solution and are constants to every derivative, so what is
// differentiated is the method with these steps. Forwards that is the method on the equation of the
// tangents, backwards the method's adjoint, both of order 5; the steps' own derivatives, which have no
// meaning, have no part in it. Reverse mode keeps the solution every so many steps.

import { ensure } from "./ensure";
import {
  distanceOf,
  type LoopOptions,
  scan,
  turnsWhile,
  typeOf,
} from "./control";
import { combined, norm } from "./elementwise";
import { functional, tangentTy } from "./functional";
import type { Fn } from "./functions";
import {
  abs,
  add,
  and,
  div,
  gt,
  leq,
  max,
  min,
  mul,
  not,
  pow,
  select,
  sign,
  sub,
  zero,
} from "./ops";
import { recorder } from "./recorder";
import { checked, functionOn } from "./roots";
import { BOOL, describe, REAL, structOf, type Ty } from "./types";
import { lift, wrap } from "./values";
import { Construct } from "./where";

const TIMES = [1 / 5, 3 / 10, 4 / 5, 8 / 9, 1];
const STAGES = [
  [1 / 5],
  [3 / 40, 9 / 40],
  [44 / 45, -56 / 15, 32 / 9],
  [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
  [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
];
const SOLUTION = [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84];
/** The difference of the solutions of orders 5 and 4; its last stage is the first of the next step. */
const ERROR = [
  71 / 57600,
  0,
  -71 / 16695,
  71 / 1920,
  -17253 / 339200,
  22 / 525,
  -1 / 40,
];

/** The next step is so much shorter than what would just do, and changes by no more than these factors. */
const [SAFETY, SHRINK, GROW] = [0.9, 0.2, 5];

export interface OdeOptions extends LoopOptions {
  /** The error of a step, relative to the solution. */
  rtol?: number;
  /** The error of a step where the solution is near zero. */
  atol?: number;
  /** The number of steps from one time to the next that is an error. */
  limit?: number;
}

/**
 * The solution of `y' = f(y, t)` that is `y0` at `ts[0]`, at all times `ts`, as a vector. `y` is of any type
 * of Reals. The derivative is that of the solution, with respect to `y0`, `ts` and all that `f` uses from
 * around it.
 */
export const odeint = (
  f: unknown,
  y0: unknown,
  ts: any,
  options: OdeOptions = {},
): unknown => {
  const here = new Construct("odeint");
  const known = ["rtol", "atol", "limit", "checkpoint"];
  const {
    rtol = 1e-8,
    atol = 1e-10,
    limit = 100_000,
  } = checked("odeint", options, known);
  const { checkpoint = "revolve" } = options;
  const distance = distanceOf({ checkpoint }, "odeint", limit, []);
  const r = recorder();
  const ty = typeOf(r, y0, "odeint: the start");
  tangentTy(ty);
  const times = typeOf(r, ts, "odeint: the times");
  if (times.elem !== REAL || times.size === 0)
    throw TypeError(
      `odeint: expected a vector of Reals as the times, got ${describe(ts)}`,
    );
  const slopeAt = functionOn("odeint", f, [ty, REAL], ty);
  const at = lifted(ts, times);
  const first = lifted(y0, ty);
  const state = structOf([
    ["y", ty],
    ["slope", ty],
    ["t", REAL],
    ["h", REAL],
    ["ends", BOOL],
  ]);

  /** The norm of `x` in units of the error that is allowed. */
  const scaled = (x: any, y: any, z: any) => {
    const allowed = (y: any, z: any) =>
      add(atol, mul(rtol, max(abs(y), abs(z))));
    const scale = combined(ty, allowed, y, z);
    return norm(ty, combined(ty, div, x, scale));
  };
  /** A step in which the solution changes by about a hundredth (Hairer, Nørsett, Wanner, II.4). */
  const firstStep = functional(
    [],
    [ty, ty],
    REAL,
    (y, slope) => {
      const [size, speed] = [scaled(y, y, y), scaled(slope, y, y)];
      const isKnown = and(gt(size, 1e-5), gt(speed, 1e-5));
      return select(isKnown, REAL, div(mul(0.01, size), speed), 1e-6);
    },
    () => zero(),
  );
  /** The error of a step of length `h` in units of what is allowed, and the next length. */
  const judge = functional(
    [],
    [ty, ty, ty, REAL],
    structOf([
      ["ratio", REAL],
      ["next", REAL],
    ]),
    (y, after, error, h) => {
      const ratio = scaled(error, y, after);
      const factor = min(GROW, max(SHRINK, mul(SAFETY, pow(ratio, -0.2))));
      const chosen = select(leq(ratio, 1e300), REAL, factor, SHRINK);
      return { ratio, next: mul(abs(h), chosen) };
    },
    () => ({ ratio: zero(), next: zero() }),
  );
  const step = (target: any, s: any) => {
    const left = sub(target, s.t);
    const last = leq(abs(left), s.h);
    const h = select(last, REAL, left, mul(sign(left), s.h));
    const [after, slope, error] = oneStep(ty, slopeAt, s.y, s.t, h, s.slope);
    const { ratio, next }: any = judge(s.y, after, error, h);
    const good = leq(ratio, 1);
    const either = (a: any, b: any) =>
      combined(ty, (a, b) => select(good, REAL, a, b), a, b);
    const t = select(last, REAL, target, add(s.t, h));
    const ends = and(good, last);
    return {
      y: either(after, s.y),
      slope: either(slope, s.slope),
      t: select(good, REAL, t, s.t),
      h: select(ends, REAL, max(next, s.h), next),
      ends,
    };
  };
  const to = (s: any, i: any) => {
    const target = at[i];
    const { y, slope, t, h } = s;
    const end = turnsWhile(
      state,
      { y, slope, t, h, ends: false },
      (s) => not(s.ends),
      (s) => step(target, s),
      limit,
      distance,
    );
    const complaint = `more than ${limit} steps from one time to the next`;
    const there = ensure(here, end.ends, 1, complaint);
    return [end, combined(ty, (x) => mul(x, there), end.y)] as const;
  };
  const slope = slopeAt(first, at[0]);
  const h = firstStep(first, slope);
  const start = { y: first, slope, t: at[0], h, ends: false };
  return scan(times.size, state, start, to)[1];
};

/** The solution after one step, its slope there, and the estimated error. */
const oneStep = (
  ty: Ty,
  f: Fn,
  y: any,
  t: any,
  h: any,
  slope: any,
): [any, any, any] => {
  const slopes = [slope];
  const advanced = (weights: readonly number[], isError = false): any => {
    const used = weights.flatMap((w, k) => (w ? [k] : []));
    return combined(
      ty,
      (y, ...ks) => {
        const change = mul(
          h,
          ks
            .map((k, j) => mul(weights[used[j]], k))
            .reduce((a, b) => add(a, b)),
        );
        return isError ? change : add(y, change);
      },
      y,
      ...used.map((k) => slopes[k]),
    );
  };
  STAGES.forEach((weights, k) => {
    slopes.push(f(advanced(weights), add(t, mul(TIMES[k], h))));
  });
  const after = advanced(SOLUTION);
  slopes.push(f(after, add(t, h)));
  return [after, slopes[slopes.length - 1], advanced(ERROR, true)];
};

/** `x`, which may be made of numbers, as a symbolic value. */
const lifted = (x: unknown, ty: Ty): any => {
  const r = recorder();
  const ids: number[] = [];
  lift(r, ty, x, ids);
  return wrap(r, ty, ids);
};
