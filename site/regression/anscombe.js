// Anscombe's quartet. F. J. Anscombe, "Graphs in Statistical Analysis", The American Statistician
// 27 (1973), 17-21.

const x = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5];

/** @type {Record<string, { x: readonly number[], y: readonly number[] }>} */
export const QUARTET = {
  I: {
    x,
    y: [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68],
  },
  II: {
    x,
    y: [9.14, 8.14, 8.74, 8.77, 9.26, 8.1, 6.13, 3.1, 9.13, 7.26, 4.74],
  },
  III: {
    x,
    y: [7.46, 6.77, 12.74, 7.11, 7.81, 8.84, 6.08, 5.39, 8.15, 6.42, 5.73],
  },
  IV: {
    x: [8, 8, 8, 8, 8, 8, 8, 19, 8, 8, 8],
    y: [6.58, 5.76, 7.71, 8.84, 8.47, 7.04, 5.25, 12.5, 5.56, 7.91, 6.89],
  },
};
