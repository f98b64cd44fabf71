// Arguments that are views of the memory that they go to: they must not be written over while arguments are put
// there.

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

/** `x`, with a copy for every view of `buffer` in it. */
export const copyOf = (x: unknown, buffer: ArrayBufferLike): unknown => {
  if (typeof x !== "object" || x === null) return x;
  if (ArrayBuffer.isView(x))
    return x.buffer === buffer ? (x as Float64Array).slice() : x;
  if (Array.isArray(x)) return x.map((item) => copyOf(item, buffer));
  return Object.fromEntries(
    Object.entries(x).map(([name, field]) => [name, copyOf(field, buffer)]),
  );
};
