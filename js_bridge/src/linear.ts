// Dense systems of linear equations, by elimination with pivots.

import { fori } from "./control";
import { vec } from "./functions";
import { abs, and, div, gt, ieq, igt, max, mul, select, sub } from "./ops";
import { fin, REAL, structOf, type Ty, vecOf } from "./types";

/**
 * A pivot that is so small, compared with what was in its column at first, is what rounding left of 0.
 */
const SMALL = 1e-15;

/** The type of matrices of `n` rows and `m` columns. */
export const matrix = (n: number, m: number): Ty => vecOf(n, vecOf(m, REAL));

/** The vector of `n` numbers that is 1 at `i` and 0 elsewhere. */
export const unit = (n: number, i: unknown): any =>
  vec(n, REAL, (j) => select(ieq(n, i, j), REAL, 1, 0));

/** `x` with `a x = b`, where `a` has `n` columns and `b` `m`; NaN if `a` is singular. */
export const solve = (n: number, m: number, a: any, b: any): any => {
  const state = structOf([
    ["a", matrix(n, n)],
    ["b", matrix(n, m)],
    ["pivots", vecOf(n, REAL)],
  ]);
  const eliminate = (k: any, s: any) => {
    const p: any = fori(n, fin(n), k, (i, p) =>
      select(
        and(igt(n, i, k), gt(abs(s.a[i][k]), abs(s.a[p][k]))),
        fin(n),
        i,
        p,
      ),
    );
    const largest = fori(n, REAL, 0, (i, most) => max(most, abs(a[i][k])));
    const found = s.a[p][k];
    const pivot = select(gt(abs(found), mul(SMALL, largest)), REAL, found, NaN);
    const swapped = (x: any) => x.set(p, x[k]).set(k, x[p]);
    const [left, right] = [swapped(s.a), swapped(s.b)];
    /** Row `i` less what row `k` takes away, which itself stays as it is. */
    const without = (i: any, x: any, columns: number) => {
      const factor = select(ieq(n, i, k), REAL, 0, div(left[i][k], pivot));
      return vec(columns, REAL, (j) => sub(x[i][j], mul(factor, x[k][j])));
    };
    return {
      a: vec(n, vecOf(n, REAL), (i) => without(i, left, n)),
      b: vec(n, vecOf(m, REAL), (i) => without(i, right, m)),
      pivots: s.pivots.set(k, pivot),
    };
  };
  const end: any = fori(
    n,
    state,
    { a, b, pivots: vec(n, REAL, () => 0) },
    eliminate,
  );
  return vec(n, vecOf(m, REAL), (i) =>
    vec(m, REAL, (j) => div(end.b[i][j], end.pivots[i])),
  );
};

/** The inverse of a matrix of `n` rows and columns; NaN if it is singular. */
export const inverse = (n: number, a: any): any =>
  solve(
    n,
    n,
    a,
    vec(n, vecOf(n, REAL), (i) => unit(n, i)),
  );
