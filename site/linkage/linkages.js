// Linkages to begin with: the pivots A and D, the lengths of crank, coupler and rocker, and where on the
// coupler the pen is, along it and aside. That of the line is K. Hoeken's.

/** @type {Record<string, { numbers: readonly number[], angle: number }>} */
export const LINKAGES = {
  line: { numbers: [0, 0, 2, 0, 1, 2.5, 2.5, 5, 0], angle: 150 },
  drop: { numbers: [0, 0.6, 3, 0.6, 1, 3, 1.8, 4.4, 0.6], angle: 100 },
  letter: { numbers: [0, 1.6, 2.6, 1, 1, 2.4, 2.2, 3.6, -0.9], angle: 70 },
};
