// npm's rose, and what random programs with its names need.

// Where the original panics, it throws again, out of nowhere, when what it held is collected.
globalThis.FinalizationRegistry = class {
  register() {}
  unregister() {}
};
export const original = await import("rose");

// The original says there where it panics, which is told below.
console.error = () => {};

const NAMES = Object.keys(original);

/** The function of a random program and its arguments, with the names of `rose`. */
export const made = (source, rose) =>
  new Function(...NAMES, source)(...NAMES.map((name) => rose[name]));

/** Whether values agree to rounding. */
export const agree = (a, b) => {
  if (typeof a === "number" && typeof b === "number")
    return (
      Object.is(a, b) || Math.abs(a - b) <= 1e-12 * Math.max(1, Math.abs(a))
    );
  if (typeof a !== "object" || a === null || b === null) return a === b;
  const keys = Object.keys(a);
  return (
    Array.isArray(a) === Array.isArray(b) &&
    keys.length === Object.keys(b).length &&
    keys.every((key) => agree(a[key], b[key]))
  );
};
