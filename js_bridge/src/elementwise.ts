// Values of any type of Reals as the vectors they are: sums, multiples, norms.

import { fori } from "./control";
import { sum, vec } from "./functions";
import { abs, add, max, mul, zero } from "./ops";
import { fieldOf, REAL, type Ty } from "./types";

/** The fields of a struct, or of what `value` gives for each of them, by name. */
export const byField = <T>(
  ty: Ty,
  value: (field: Ty, name: string) => T,
): Record<string, T> =>
  Object.fromEntries(
    ty.order.map((name) => [name, value(fieldOf(ty, name)!, name)]),
  );

/** `f` of the Reals at every place of `values`, which are of type `ty`; the result is an `out(ty)`. */
export const each = (
  ty: Ty,
  out: (ty: Ty) => Ty,
  f: (...xs: any[]) => unknown,
  ...values: any[]
): any =>
  ty.kind === "vec"
    ? vec(ty.size, out(ty.elem!), (i) =>
        each(ty.elem!, out, f, ...values.map((v) => v[i])),
      )
    : ty.kind === "struct"
      ? byField(ty, (field, name) =>
          each(field, out, f, ...values.map((v) => v[name])),
        )
      : f(...values);

/** `each` for results of the same type. */
export const combined = (
  ty: Ty,
  f: (...xs: any[]) => unknown,
  ...values: any[]
): any => each(ty, (u) => u, f, ...values);

/** The largest absolute value in `x`; NaN if one is. */
export const norm = (ty: Ty, x: any): any =>
  ty.kind === "vec"
    ? fori(ty.size, REAL, 0, (i, most) => max(most, norm(ty.elem!, x[i])))
    : ty.kind === "struct"
      ? Object.values(
          byField(ty, (field, name) => norm(field, x[name])),
        ).reduce((a, b) => max(a, b))
      : abs(x);

/** The sum of the products at all places. */
export const product = (ty: Ty, x: any, y: any): any =>
  ty.kind === "vec"
    ? sum(ty.size, (i) => product(ty.elem!, x[i], y[i]))
    : ty.kind === "struct"
      ? Object.values(
          byField(ty, (field, name) => product(field, x[name], y[name])),
        ).reduce((a, b) => add(a, b))
      : mul(x, y);

/** The dual of a Real that does not vary. */
export const still = (x: unknown) => ({ re: x, du: zero() });
