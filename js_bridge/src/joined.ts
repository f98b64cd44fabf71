// Arrays one after the other.

/** All numbers of `parts` in one array of the kind `Array`. */
export const joined = <
  T extends { set(part: ArrayLike<number>, at: number): void },
>(
  Array: { new (length: number): T },
  parts: readonly ArrayLike<number>[],
): T => {
  const all = new Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};
