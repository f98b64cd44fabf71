// Where a function is smallest nearby: L-BFGS, Newton's method, Adam.
//
// At a minimum the gradient is zero, so that moves with what the function uses from around it like any
// root, whichever method found it.

import { ensure } from "./ensure";
import { fori, turnsWhile } from "./control";
import { combined, norm, product } from "./elementwise";
import { functional } from "./functional";
import { type Fn, fn, vec, vjp } from "./functions";
import { solve, unit } from "./linear";
import {
  abs,
  add,
  and,
  div,
  gt,
  igt,
  imax,
  isub,
  leq,
  lt,
  max,
  mul,
  neg,
  not,
  or,
  select,
  sqrt,
  sub,
} from "./ops";
import {
  checked,
  functionOn,
  moved,
  type SolveOptions,
  startTy,
} from "./roots";
import { BOOL, describe, REAL, structOf, type Ty, vecOf } from "./types";
import { Construct } from "./where";

/** Steps that L-BFGS remembers. */
const MEMORY = 8;

/** A step must lower the function by this part of what the slope promises, and the slope to this part. */
const [DECREASE, CURVATURE] = [1e-4, 0.9];

/**
 * Where no step lowers the function, rounding is in the way; then what the gradient promises for a step as
 * long as x is no more than this, relative to the function, or there is no minimum nearby.
 */
const STALLED = 1e-6;

/** Values of the function that differ by no more than this, relatively, may be equal. */
const ROUNDING = 1e-12;

export interface MinimizeOptions extends SolveOptions {
  /** L-BFGS; Newton's method, for few variables; or Adam. */
  method?: "lbfgs" | "newton" | "adam";
  /** About how long the steps of Adam are. */
  rate?: number;
}

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
  const here = new Construct("minimize");
  const known = ["method", "tolerance", "limit", "rate"];
  const { method = "lbfgs" } = checked("minimize", options, known);
  if (!Object.hasOwn(METHODS, method))
    throw RangeError(
      `minimize: expected one of ${Object.keys(METHODS).join(", ")} as the method, got ${describe(method)}`,
    );
  const ty = startTy("minimize", x0);
  const [descend, most] = METHODS[method];
  const { tolerance = 1e-8, limit = most, rate = 0.01 } = options;
  const height = functionOn("minimize", f, [ty], REAL);
  const gradient = fn([ty], ty, (x) => vjp(height)(x).grad(1));
  return functional(
    [height, gradient],
    [ty],
    ty,
    (f: Fn, g: Fn, x0) =>
      descend(new Search(here, ty, f, g, { tolerance, limit, rate }), x0),
    (x, _, g: Fn) => moved(here, ty, g, x),
  )(x0);
};

/** What all methods have in common. */
class Search {
  readonly point: Ty;

  constructor(
    readonly here: Construct,
    readonly ty: Ty,
    readonly f: Fn,
    readonly gradient: Fn,
    readonly options: { tolerance: number; limit: number; rate: number },
  ) {
    this.point = structOf([
      ["x", ty],
      ["y", REAL],
      ["g", ty],
    ]);
  }

  at(x: unknown): { x: any; y: any; g: any } {
    const { ret, grad } = vjp(this.f)(x);
    return { x, y: ret, g: grad(1) };
  }

  /** Whether the gradient is as good as zero. */
  flat(p: any): unknown {
    return leq(norm(this.ty, p.g), this.options.tolerance);
  }

  /** The `x` of the last point, if that is a minimum. */
  found(p: any, stalled: unknown): unknown {
    const slope = mul(norm(this.ty, p.g), max(1, norm(this.ty, p.x)));
    const size = abs(p.y);
    const near = and(
      lt(size, Infinity),
      leq(slope, mul(STALLED, max(1, size))),
    );
    const good = or(this.flat(p), and(stalled, near));
    const complaint = `no minimum was found in ${this.options.limit} steps`;
    return combined(this.ty, (x) => ensure(this.here, good, x, complaint), p.x);
  }

  /**
   * A point in the direction `d` that is lower, and less steep, by halving and doubling the step. The
   * conditions are those of Wolfe in their weak form (Lewis and Overton 2013).
   */
  along(p: any, d: any): any {
    const { ty } = this;
    const slope = product(ty, p.g, d);
    const state = structOf([
      ["at", this.point],
      ["step", REAL],
      ["low", REAL],
      ["high", REAL],
    ]);
    const tried = (step: any) =>
      this.at(combined(ty, (x, d) => add(x, mul(step, d)), p.x, d));
    /** By enough; where rounding hides that, the slope says so (Hager and Zhang 2005). */
    const lower = (s: any) => {
      const promised = mul(mul(DECREASE, s.step), slope);
      const same = leq(s.at.y, add(p.y, mul(ROUNDING, abs(p.y))));
      const isBefore = leq(
        product(ty, s.at.g, d),
        mul(2 * DECREASE - 1, slope),
      );
      return or(leq(s.at.y, add(p.y, promised)), and(same, isBefore));
    };
    const test = (s: any) => {
      const flatter = leq(mul(CURVATURE, slope), product(ty, s.at.g, d));
      return not(and(lower(s), flatter));
    };
    const turn = (s: any) => {
      const low = select(lower(s), REAL, s.step, s.low);
      const high = select(lower(s), REAL, s.high, s.step);
      const middle = mul(0.5, add(low, high));
      const step = select(lt(high, Infinity), REAL, middle, mul(2, s.step));
      return { at: tried(step), step, low, high };
    };
    const start = { at: tried(1), step: 1, low: 0, high: Infinity };
    return turnsWhile(state, start, test, turn, 60).at;
  }

  /** Whether a point is better than another: lower, or as low within rounding and less steep. */
  better(p: any, than: any): unknown {
    const same = leq(p.y, add(than.y, mul(ROUNDING, abs(than.y))));
    const flatter = lt(norm(this.ty, p.g), norm(this.ty, than.g));
    return or(lt(p.y, than.y), and(same, flatter));
  }

  /** Steps in the directions that `direction` gives, of lengths that a search along them finds. */
  descended(
    x0: unknown,
    memory: Ty,
    empty: unknown,
    direction: (p: any, memory: any) => unknown,
    remember: (p: any, after: any, memory: any) => unknown,
  ): unknown {
    const { ty, point } = this;
    const state = structOf([
      ["at", point],
      ["memory", memory],
      ["lower", BOOL],
    ]);
    const turn = (s: any) => {
      const p = s.at;
      const after = this.along(p, direction(p, s.memory));
      const lower = this.better(after, p);
      const either = (a: any, b: any) =>
        combined(ty, (a, b) => select(lower, REAL, a, b), a, b);
      return {
        at: {
          x: either(after.x, p.x),
          y: select(lower, REAL, after.y, p.y),
          g: either(after.g, p.g),
        },
        memory: remember(p, after, s.memory),
        lower,
      };
    };
    const end = turnsWhile(
      state,
      { at: this.at(x0), memory: empty, lower: true },
      (s) => and(s.lower, not(this.flat(s.at))),
      turn,
      this.options.limit,
    );
    return this.found(end.at, not(end.lower));
  }
}

/** Newton's method; down the gradient where the second derivatives lead up. */
const newton = (search: Search, x0: unknown): unknown => {
  const { ty, gradient } = search;
  const towards = (p: any): any => {
    if (ty.kind !== "vec") return neg(div(p.g, vjp(gradient)(p.x).grad(1)));
    const n = ty.size;
    const hessian = vec(n, ty, (i) => vjp(gradient)(p.x).grad(unit(n, i)));
    const right = vec(n, vecOf(1, REAL), (i) => [neg(p.g[i])]);
    const step = solve(n, 1, hessian, right);
    return vec(n, REAL, (i) => step[i][0]);
  };
  const direction = (p: any) => {
    const d = towards(p);
    const down = lt(product(ty, p.g, d), 0);
    return combined(ty, (d, g) => select(down, REAL, d, neg(g)), d, p.g);
  };
  const none = structOf([]);
  return search.descended(x0, none, {}, direction, () => ({}));
};

/** The method of Broyden, Fletcher, Goldfarb and Shanno with a limited memory (Nocedal 1980). */
const lbfgs = (search: Search, x0: unknown): unknown => {
  const { ty } = search;
  const m = MEMORY;
  const numbers = vecOf(m, REAL);
  const memory = structOf([
    ["steps", vecOf(m, ty)],
    ["changes", vecOf(m, ty)],
    ["scale", REAL],
    ["inverse", numbers],
  ]);
  const pair = structOf([
    ["q", ty],
    ["parts", numbers],
  ]);
  const zeros = () => vec(m, REAL, () => 0);

  /** Nocedal's two loops; the newest step comes first, and a place without one has the inverse 0. */
  const direction = (p: any, { steps, changes, inverse, scale }: any) => {
    const down = (i: any, s: any) => {
      const part = mul(inverse[i], product(ty, steps[i], s.q));
      const q = combined(ty, (q, y) => sub(q, mul(part, y)), s.q, changes[i]);
      return { q, parts: s.parts.set(i, part) };
    };
    const s: any = fori(m, pair, { q: p.g, parts: zeros() }, down);
    const up = (k: any, r: any) => {
      const i: any = isub(m, m - 1, k);
      const back = sub(s.parts[i], mul(inverse[i], product(ty, changes[i], r)));
      return combined(ty, (r, x) => add(r, mul(back, x)), r, steps[i]);
    };
    const scaled = combined(ty, (q) => mul(scale, q), s.q);
    return combined(ty, neg, fori(m, ty, scaled, up));
  };

  /** The new step in front of all but the oldest, if the function curves upwards along it. */
  const remember = (p: any, after: any, memory: any) => {
    const step = combined(ty, sub, after.x, p.x);
    const change = combined(ty, sub, after.g, p.g);
    const curve = product(ty, step, change);
    const size = product(ty, change, change);
    const good = gt(curve, mul(1e-14, size));
    const shifted = (old: any, first: any, elem: Ty) =>
      vec(m, elem, (i) => {
        const before: any = isub(m, imax(m, i, 1), 1);
        const isOld = igt(m, i, 0);
        return combined(
          elem,
          (a, b, c) => select(good, REAL, select(isOld, REAL, a, b), c),
          old[before],
          first,
          old[i],
        );
      });
    return {
      steps: shifted(memory.steps, step, ty),
      changes: shifted(memory.changes, change, ty),
      scale: select(good, REAL, div(curve, size), memory.scale),
      inverse: shifted(memory.inverse, div(1, curve), REAL),
    };
  };
  const none = () => vec(m, ty, () => combined(ty, () => 0));
  const empty = {
    steps: none(),
    changes: none(),
    // the first step changes x by about 1 at most
    scale: div(1, max(1, norm(ty, search.at(x0).g))),
    inverse: zeros(),
  };
  return search.descended(x0, memory, empty, direction, remember);
};

/** Steps of about the same length, by running means of the gradient (Kingma and Ba 2015). */
const adam = (search: Search, x0: unknown): unknown => {
  const { ty, point, options } = search;
  const state = structOf([
    ["at", point],
    ["mean", ty],
    ["square", ty],
    ["b1", REAL],
    ["b2", REAL],
  ]);
  const turn = (s: any) => {
    const { x, g } = s.at;
    const [b1, b2] = [mul(0.9, s.b1), mul(0.999, s.b2)];
    const mean = combined(
      ty,
      (m, g) => add(mul(0.9, m), mul(0.1, g)),
      s.mean,
      g,
    );
    const square = combined(
      ty,
      (v, g) => add(mul(0.999, v), mul(mul(0.001, g), g)),
      s.square,
      g,
    );
    const next = (x: any, m: any, v: any) => {
      const length = add(sqrt(div(v, sub(1, b2))), 1e-8);
      return sub(x, div(mul(options.rate, div(m, sub(1, b1))), length));
    };
    const at = search.at(combined(ty, next, x, mean, square));
    return { at, mean, square, b1, b2 };
  };
  const none = () => combined(ty, () => 0);
  const end = turnsWhile(
    state,
    { at: search.at(x0), mean: none(), square: none(), b1: 1, b2: 1 },
    (s) => not(search.flat(s.at)),
    turn,
    options.limit,
  );
  return search.found(end.at, false);
};

/** By name, with the number of steps after which there is no hope. */
const METHODS = {
  lbfgs: [lbfgs, 1000],
  newton: [newton, 100],
  adam: [adam, 100_000],
} as const;
