// Arguments that are views of the memory that they go to: they must not be written over while arguments are put
// there.

import type { Signature } from "../record/data";
import type { Ty } from "../record/types";

/** Whether `x`, which is to be of type `ty`, or something in it, is a view of `buffer`. */
export const liesIn = (
  x: unknown,
  { kind, elem, fields }: Ty,
  buffer: ArrayBufferLike,
): boolean =>
  typeof x === "object" &&
  x !== null &&
  (ArrayBuffer.isView(x)
    ? x.buffer === buffer
    : kind === "struct"
      ? fields.some(([name, field]) =>
          liesIn((x as Record<string, unknown>)[name], field, buffer),
        )
      : // no look at every number of a long array
        (elem?.kind === "vec" || elem?.kind === "struct") &&
        Array.isArray(x) &&
        x.some((item) => liesIn(item, elem, buffer)));

/** `x`, which is to be of type `ty`, as ordinary values of its own, with a copy for every view of `buffer` in it. */
export const copyOf = (
  x: unknown,
  ty: Ty | undefined,
  buffer?: ArrayBufferLike,
): unknown => {
  if (typeof x !== "object" || x === null || !ty) return x;
  if (ArrayBuffer.isView(x))
    // a DataView has no copies, and is refused later
    return x.buffer === buffer ? ((x as Float64Array).slice?.() ?? x) : x;
  const { elem, fields, byName, kind } = ty;
  if (Array.isArray(x))
    return x.map((item, k) =>
      copyOf(item, elem ?? byName.get(`${k}`)?.ty, buffer),
    );
  // whether its own, or accessors of its class; what has not all of them, or is of another kind, is refused later
  return kind === "struct" && fields.every(([name]) => name in x)
    ? Object.fromEntries(
        fields.map(([name, field]) => [
          name,
          copyOf((x as Record<string, unknown>)[name], field, buffer),
        ]),
      )
    : x;
};

/** Arguments of a call of `f` as ordinary values, which say the same however often they are asked. */
export const plain = (
  { params }: Signature,
  values: readonly unknown[],
): unknown[] => values.map((x, k) => copyOf(x, params[k]));
