// The places of the Reals in values of any type, and values that differ from place to place.
//
// A place is the way to a Real from outside in: the names of fields, and symbolic indices.

import { vector } from "./functions";
import { and, ieq, select } from "./ops";
import { fin, REAL, Real, structOf, TAN, type Ty, vecOf } from "./types";

export type Place = readonly (string | symbol)[];

type Fields = Record<string | symbol, unknown>;

/** `ty` with `elem` in place of every Real. */
export const over = (ty: Ty, elem: Ty): Ty => {
  if (ty.kind === "vec") return vecOf(ty.size, over(ty.elem!, elem));
  if (ty.kind === "struct")
    return structOf(eachField(ty, (t) => over(t, elem)));
  return ty === REAL ? elem : ty;
};

/** How many Reals a value has. */
export const countReals = (ty: Ty): number => {
  if (ty.kind === "vec") return ty.size * countReals(ty.elem!);
  if (ty.kind === "struct")
    return ty.fields.reduce((n, [, field]) => n + countReals(field), 0);
  return +(ty === REAL);
};

/** Throw unless there are Reals in `ty`, and no tangents, which have no place in derivatives. */
export const needReals = (ty: Ty, what: string): void => {
  if (hasTangents(ty) || !countReals(ty))
    throw TypeError(
      `${what}: expected a type with Reals in it, and no tangents, got the type ${ty.text}`,
    );
};

const hasTangents = (ty: Ty): boolean =>
  ty === TAN ||
  (ty.kind === "vec" && hasTangents(ty.elem!)) ||
  ty.fields.some(([, field]) => hasTangents(field));

/** What `f` gives for every field of a struct, by name, in the author's order. */
const eachField = <T>(
  ty: Ty,
  f: (field: Ty, name: string) => T,
): [string, T][] => {
  const fields = new Map(ty.fields);
  return ty.order.map((name) => [name, f(fields.get(name)!, name)]);
};

/** The value of `over(ty, elem)` with `f(place)` at every place, and what is not Real from `x`. */
export const each = (
  ty: Ty,
  elem: Ty,
  f: (place: Place) => unknown,
  x: unknown,
  place: Place = [],
): unknown => {
  const part = (t: Ty, step: string | symbol): unknown =>
    each(t, elem, f, (x as Fields)[step], [...place, step]);
  if (ty.kind === "vec")
    return vector(fin(ty.size), over(ty.elem!, elem), (i) => part(ty.elem!, i));
  if (ty.kind === "struct") return Object.fromEntries(eachField(ty, part));
  return ty === REAL ? f(place) : x;
};

/** What `x` has at a place. */
export const at = (x: unknown, place: Place): unknown =>
  place.reduce((y, step) => (y as Fields)[step], x);

/** 1 at `place` and 0 at all others, and what is not Real from `x`. */
export const unit = (ty: Ty, place: Place, x: unknown): unknown =>
  ones(ty, place, true, x);

/** As `unit`, if `here` holds; else, or without a place, there are zeros only. */
const ones = (
  ty: Ty,
  place: Place | undefined,
  here: unknown,
  x: unknown,
): unknown => {
  if (ty.kind === "vec") {
    const size = fin(ty.size);
    const inner = place?.slice(1);
    return vector(size, ty.elem!, (j) => {
      const same = place && ieq(ty.size, place[0] as symbol, j);
      const both = here === true ? same : same && and(here, same);
      return ones(ty.elem!, inner, both, (x as Fields)[j]);
    });
  }
  if (ty.kind === "struct")
    return Object.fromEntries(
      eachField(ty, (field, name) => {
        const rest = place?.[0] === name ? place.slice(1) : undefined;
        return ones(field, rest, here, (x as Fields)[name]);
      }),
    );
  if (ty !== REAL) return x;
  if (place === undefined) return 0;
  return here === true ? 1 : select(here, Real, 1, 0);
};
