// Updates: the vectors that differ from another at one place, by its name `v.at[i]`.

import { add } from "./ops";
import { recorder } from "./recorder";
import { symbolicType, type Ty } from "./types";
import { leavesOf, wrap } from "./values";
import { vec } from "./vec";

/** What a symbolic vector can do. */
export interface Elements {
  readonly [i: number | symbol]: unknown;
  set(i: unknown, x: unknown): unknown;
}

/** Whether `v[key]` is meant to be an element of a vector. */
export const isIndex = (key: string | symbol): boolean =>
  typeof key === "symbol" || /^-?\d+(\.\d+)?$/.test(key);

/** The sum of `x` and `y`, which are of type `ty`, and whose tangents and numbers are its only scalars. */
const sumOf = (ty: Ty, x: any, y: any): unknown => {
  switch (ty.kind) {
    case "vec":
      return vec(ty.size, ty.elem, (i) => sumOf(ty.elem!, x[i], y[i]));
    case "struct":
      return Object.fromEntries(
        ty.fields.map(([name, field]) => [
          name,
          sumOf(field, x[name], y[name]),
        ]),
      );
  }
  return add(x, y);
};

/** The place of element `key` of `v`, and of those within it; `whole` is what has a new `v` in its place. */
const placeOf = (
  v: Elements,
  key: string | symbol,
  whole: (x: unknown) => unknown,
): unknown => {
  const i = typeof key === "symbol" ? key : Number(key);
  const set = (x: unknown): unknown => whole(v.set(i, x));
  const place = {
    set,
    add: (x: unknown): unknown => {
      const r = recorder();
      const ty = symbolicType(v)!.elem!;
      return set(sumOf(ty, v[i], wrap(r, ty, leavesOf(r, ty, x, "add"))));
    },
  };
  return new Proxy(place, {
    get(_, name) {
      if (!isIndex(name)) return Reflect.get(place, name);
      const inner = v[i] as Elements;
      if (symbolicType(inner)?.kind !== "vec")
        throw TypeError(`at: ${symbolicType(v)!.elem!.text} has no elements`);
      return placeOf(inner, name, set);
    },
  });
};

/** What `v.at` is: with an index in brackets the place of an element, and else the method of arrays. */
export const placesOf = (v: Elements, method: object): unknown =>
  new Proxy(method, {
    get: (_, key) =>
      isIndex(key) ? placeOf(v, key, (x) => x) : Reflect.get(method, key),
  });
