// Contenders that give different numbers are not compared.

/**
 * Throw unless two rows of numbers agree: each within `tolerance`, relative to the largest of them all.
 *
 * @param {ArrayLike<number>} found
 * @param {ArrayLike<number>} expected
 * @param {number} tolerance
 * @param {string} what
 */
export const mustAgree = (found, expected, tolerance, what) => {
  if (found.length !== expected.length)
    throw Error(`${what}: ${found.length} numbers, not ${expected.length}`);
  let scale = 0;
  for (let i = 0; i < expected.length; ++i)
    scale = Math.max(scale, Math.abs(expected[i]));
  for (let i = 0; i < found.length; ++i)
    if (!(Math.abs(found[i] - expected[i]) <= tolerance * scale))
      throw Error(`${what}[${i}] is ${found[i]}, not ${expected[i]}`);
};

/** All numbers of a value, in its own order: arrays and objects are taken apart. @param {unknown} value */
export const flatten = (value) => {
  /** @type {number[]} */
  const found = [];
  const add = (/** @type {any} */ part) => {
    if (typeof part === "number") found.push(part);
    else for (const item of Object.values(part)) add(item);
  };
  if (ArrayBuffer.isView(value)) return /** @type {any} */ (value);
  add(value);
  return found;
};
