// The smallest changes of numbers that bring a pen where it shall be: Levenberg and Marquardt's method, for
// fewer equations than unknowns.

/**
 * @typedef {number[]} Numbers
 * @typedef {{ at: number[], slopes: number[][] }} Place  where the pen is; a row of slopes for x, one for y
 * @typedef {(numbers: Numbers, angle: number) => Place | undefined} Pen  undefined where there is no place
 * @typedef {{ angle: number, at: readonly number[] }} Goal
 */

/** So near is there. */
const ENOUGH = 1e-9;
const ROUNDS = 60;

/** No number changes by more in one round. */
const STRIDE = 0.3;

/** Damping: at first, and from where on nothing helps. */
const GENTLE = 1e-9;
const HOPELESS = 1e6;

/**
 * The solution of a system of linear equations, by elimination. The matrix is symmetric and positive
 * definite, so that no rows have to change places.
 *
 * @param {number[][]} matrix @param {number[]} right
 */
const solve = (matrix, right) => {
  const rows = matrix.map((row, i) => [...row, right[i]]);
  rows.forEach((pivot, k) => {
    for (const row of rows.slice(k + 1)) {
      const factor = row[k] / pivot[k];
      for (let j = k; j < row.length; ++j) row[j] -= factor * pivot[j];
    }
  });
  /** @type {number[]} */
  const solution = [];
  for (let i = rows.length - 1; i >= 0; --i) {
    const known = solution.reduce((sum, x, j) => sum + x * rows[i][j], 0);
    solution[i] = (rows[i][rows.length] - known) / rows[i][i];
  }
  return solution;
};

/** @param {number[]} a @param {number[]} b */
const dot = (a, b) => a.reduce((sum, x, k) => sum + x * b[k], 0);

/**
 * @param {Pen} pen
 * @param {Numbers} start
 * @param {readonly Goal[]} goals
 * @param {(number: number) => boolean} isFree  whether the one with this index may change
 * @param {(numbers: Numbers) => Numbers} within  the nearest numbers that are allowed
 * @returns {{ numbers: Numbers, rounds: number } | undefined}  undefined if it is out of reach
 */
export const reach = (pen, start, goals, isFree, within) => {
  /** How far the pen is from the goals, and the slopes of that. @param {Numbers} numbers */
  const look = (numbers) => {
    const places = goals.map(({ angle }) => pen(numbers, angle));
    /** @type {number[]} */
    const rest = [];
    /** @type {number[][]} */
    const slopes = [];
    for (const [k, place] of places.entries()) {
      if (!place) return undefined;
      place.at.forEach((c, i) => rest.push(goals[k].at[i] - c));
      for (const row of place.slopes)
        slopes.push(row.map((slope, j) => (isFree(j) ? slope : 0)));
    }
    return { numbers, rest, slopes, far: Math.hypot(...rest) };
  };
  let here = look(start);
  let damping = GENTLE;
  for (let round = 0; here && round < ROUNDS; ++round) {
    if (here.far < ENOUGH) return { numbers: here.numbers, rounds: round };
    const { numbers, rest, slopes, far } = here;
    const gram = slopes.map((a, i) =>
      slopes.map((b, j) => dot(a, b) + (i === j ? damping : 0)),
    );
    const pulls = solve(gram, rest);
    const step = numbers.map((_, j) =>
      slopes.reduce((sum, row, i) => sum + row[j] * pulls[i], 0),
    );
    const most = Math.max(...step.map(Math.abs)) / STRIDE;
    const next = look(
      within(numbers.map((x, j) => x + step[j] / Math.max(1, most))),
    );
    if (next && next.far < far) {
      here = next;
      damping = Math.max(GENTLE, damping / 100);
    } else if ((damping *= 100) > HOPELESS) return undefined;
  }
  return undefined;
};
