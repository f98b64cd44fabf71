// A network of two layers, before it has learned anything.

/** Numbers between 0 and 1, the same for the same seed: `mulberry32`. @param {number} seed */
const uniform = (seed) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let bits = Math.imul(seed ^ (seed >>> 15), seed | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
};

/** Normally distributed numbers, by the method of Box and Muller. @param {number} seed */
const normal = (seed) => {
  const draw = uniform(seed);
  return () =>
    Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
};

/**
 * Weights that neither swamp a layer nor starve it, and no bias.
 *
 * @param {number} seed
 * @param {{ inputs: number, hidden: number, outputs: number }} sizes
 */
export const network = (seed, { inputs, hidden, outputs }) => {
  const draw = normal(seed);
  /** @param {number} rows @param {number} columns @param {number} gain */
  const layer = (rows, columns, gain) => {
    const size = gain * Math.sqrt(2 / (rows + columns));
    const row = () => Array.from({ length: columns }, () => size * draw());
    return {
      weights: Array.from({ length: rows }, row),
      bias: Array(rows).fill(0),
    };
  };
  return {
    hidden: layer(hidden, inputs, 2),
    output: layer(outputs, hidden, 3),
  };
};
