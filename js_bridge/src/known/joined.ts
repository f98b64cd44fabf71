// Arrays one after the other.

/** All numbers of `parts` in one array of the kind `Typed`. */
export const joined = <
  T extends {
    [k: number]: number;
    set(part: ArrayLike<number>, at: number): void;
  },
>(
  Typed: { new (length: number): T },
  parts: readonly ArrayLike<number>[],
): T => {
  const all = new Typed(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts)
    // to `set` numbers of a list takes engines ten times as long
    if (Array.isArray(part)) for (const x of part) all[at++] = x;
    else {
      all.set(part, at);
      at += part.length;
    }
  return all;
};
