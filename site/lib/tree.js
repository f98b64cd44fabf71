// Parameters in whatever order a model has them: numbers, in arrays and structs.

/** @typedef {number | Tree[] | { [name: string]: Tree }} Tree */

/**
 * The tree of `f` of the numbers of trees of one shape.
 *
 * @param {(...numbers: number[]) => number} f
 * @param {...any} trees
 * @returns {any}
 */
export const map = (f, ...trees) => {
  const [first] = trees;
  if (typeof first === "number") return f(...trees);
  const at = (/** @type {string | number} */ k) =>
    map(f, ...trees.map((tree) => tree[k]));
  if (Array.isArray(first)) return first.map((_, k) => at(k));
  return Object.fromEntries(Object.keys(first).map((k) => [k, at(k)]));
};

/** The length of a tree, as one vector. @param {Tree} tree */
export const norm = (tree) => {
  let total = 0;
  map((x) => (total += x * x), tree);
  return Math.sqrt(total);
};
