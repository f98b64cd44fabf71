// A place that calls are made from.

/** What calls `f` with these arguments. */
export const calling =
  (f, ...args) =>
  () =>
    f(...args);
