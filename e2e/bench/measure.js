// Measuring side by side: contenders take turns, and what counts is the median of their turns.

/** @typedef {{ median: number, q1: number, q3: number, min: number, turns: number }} Times */

/**
 * Median and quartiles.
 *
 * @param {number[]} times
 * @returns {Times}
 */
export const summary = (times) => {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (/** @type {number} */ part) => {
    const k = part * (sorted.length - 1);
    const low = sorted[Math.floor(k)];
    return low + (k % 1) * (sorted[Math.ceil(k)] - low);
  };
  return {
    median: at(0.5),
    q1: at(0.25),
    q3: at(0.75),
    min: sorted[0],
    turns: times.length,
  };
};

/** Where results go, so that no engine finds out that nobody needs them. */
export const sink = { last: /** @type {unknown} */ (undefined) };

/** Call for at least so many milliseconds. */
const callsIn = (
  /** @type {number} */ least,
  /** @type {() => unknown} */ call,
) => {
  const start = performance.now();
  let count = 0;
  let passed = 0;
  do {
    sink.last = call();
    ++count;
    passed = performance.now() - start;
  } while (passed < least);
  return { count, passed };
};

/**
 * Time per call of each contender in each of its turns, in microseconds.
 *
 * Turns are many and short: what else the machine does then spoils few of them, and strikes neighbours
 * alike. A turn is as many calls as fill `turn` milliseconds, at least one; before the first, each contender
 * runs for `warm` milliseconds, so that engines have optimised what they will.
 *
 * @param {Record<string, () => unknown>} contenders
 * @param {{ turns?: number, turn?: number, warm?: number }} [options]
 * @returns {Record<string, number[]>}
 */
export const callTimes = (
  contenders,
  { turns = 15, turn = 4, warm = 40 } = {},
) => {
  const names = Object.keys(contenders);
  const calls = names.map((name) => {
    const call = contenders[name];
    callsIn(warm, call);
    const { count, passed } = callsIn(turn, call); // now that it is warm
    return Math.max(1, Math.round((count * turn) / passed));
  });
  /** @type {number[][]} */
  const times = names.map(() => []);
  for (let k = 0; k < turns; ++k)
    names.forEach((name, contender) => {
      const call = contenders[name];
      const n = calls[contender];
      const start = performance.now();
      for (let i = 0; i < n; ++i) sink.last = call();
      times[contender].push(((performance.now() - start) * 1000) / n);
    });
  return Object.fromEntries(names.map((name, k) => [name, times[k]]));
};

/**
 * How many times longer `a` takes than `b`, turn by turn.
 *
 * @param {number[]} a
 * @param {number[]} b
 */
export const ratio = (a, b) => summary(a.map((time, k) => time / b[k])).median;

/**
 * Times of the stages of tasks, in milliseconds, the tasks taking turns. A task gives the times of its
 * stages; the first turn is for warmth and not counted.
 *
 * @param {Record<string, () => Promise<Record<string, number>>>} tasks
 * @param {number} [turns]
 * @returns {Promise<Record<string, Record<string, Times>>>}
 */
export const stageTimes = async (tasks, turns = 5) => {
  const names = Object.keys(tasks);
  /** @type {Record<string, number>[][]} */
  const times = names.map(() => []);
  for (let k = -1; k < turns; ++k)
    for (const [task, name] of names.entries()) {
      const stages = await tasks[name]();
      if (k >= 0) times[task].push(stages);
    }
  return Object.fromEntries(
    names.map((name, k) => [
      name,
      Object.fromEntries(
        Object.keys(times[k][0]).map((stage) => [
          stage,
          summary(times[k].map((stages) => stages[stage])),
        ]),
      ),
    ]),
  );
};
