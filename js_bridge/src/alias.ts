// Arguments that are views of a memory which several functions use: they must not be written over
// while arguments are put there.

/** Whether `x`, or something in it, is a view of `buffer`. */
export const liesIn = (x: unknown, buffer: ArrayBufferLike): boolean => {
  if (typeof x !== "object" || x === null) return false;
  if (ArrayBuffer.isView(x)) return x.buffer === buffer;
  if (!Array.isArray(x))
    return Object.values(x).some((field) => liesIn(field, buffer));
  // without a call for every number of a long array
  return x.some((item) => typeof item === "object" && liesIn(item, buffer));
};

/** `x`, with a copy for every view of `buffer` in it. */
export const copyOf = (x: unknown, buffer: ArrayBufferLike): unknown => {
  if (!liesIn(x, buffer)) return x;
  if (ArrayBuffer.isView(x)) return (x as Float64Array).slice();
  if (Array.isArray(x)) return x.map((item) => copyOf(item, buffer));
  return Object.fromEntries(
    Object.entries(x as object).map(([name, field]) => [
      name,
      copyOf(field, buffer),
    ]),
  );
};
