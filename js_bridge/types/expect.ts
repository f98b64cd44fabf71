// Statements about types, which the compiler checks, and about values, which are checked in a run.

/** Whether two types are the same, and not only assignable to each other; `any` is no other type's same. */
export type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2
    ? true
    : false;

/** `is<T>()(x)`: the type of `x` is just `T`. */
export const is =
  <T>() =>
  <X>(x: Equal<X, T> extends true ? X : never): X =>
    x;

/** What programs gave, and what they should have given. */
export const given: { value: unknown; expected: unknown }[] = [];

/** `gives<T>()(x, y)`: the type of `x` is just `T`, and its value in a run is `y`, which is a `T` too. */
export const gives =
  <T>() =>
  <X>(value: X, expected: Equal<X, T> extends true ? T : never): void => {
    given.push({ value, expected });
  };
