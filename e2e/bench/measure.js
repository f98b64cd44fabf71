// Measuring side by side: contenders take turns, and what counts is the median of their turns.

/** @param {number[]} times */
const median = (times) => {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
};

/**
 * Time per call of each contender, in microseconds: `{ name: { median, min, max } }`.
 *
 * @param {Record<string, () => unknown>} contenders
 * @param {{ turns?: number, turn?: number }} [options] number of turns, and the least length of one in ms
 */
export const callTimes = (contenders, { turns = 9, turn = 20 } = {}) => {
  /** @type {Record<string, number[]>} */
  const times = {};
  const calls = {};
  for (const [name, call] of Object.entries(contenders)) {
    times[name] = [];
    // warm up until the engine has optimised it, and find out how many calls make a turn
    const start = performance.now();
    let count = 0;
    while (performance.now() - start < 5 * turn) {
      call();
      ++count;
    }
    calls[name] = Math.max(1, Math.round(count / 5));
  }
  for (let k = 0; k < turns; ++k)
    for (const [name, call] of Object.entries(contenders)) {
      const n = calls[name];
      const start = performance.now();
      for (let i = 0; i < n; ++i) call();
      times[name].push(((performance.now() - start) * 1000) / n);
    }
  return summaries(times);
};

/**
 * Time of one run of each task, in milliseconds, the tasks taking turns.
 *
 * @param {Record<string, () => unknown>} tasks which may be asynchronous
 * @param {number} [turns]
 */
export const taskTimes = async (tasks, turns = 7) => {
  /** @type {Record<string, number[]>} */
  const times = {};
  for (const name of Object.keys(tasks)) times[name] = [];
  for (let k = -1; k < turns; ++k)
    for (const [name, task] of Object.entries(tasks)) {
      const start = performance.now();
      await task();
      if (k >= 0) times[name].push(performance.now() - start); // the first turn is for warmth
    }
  return summaries(times);
};

/** @param {Record<string, number[]>} times */
const summaries = (times) =>
  Object.fromEntries(
    Object.entries(times).map(([name, list]) => [
      name,
      { median: median(list), min: Math.min(...list), max: Math.max(...list) },
    ]),
  );

/**
 * Throw unless two vectors agree.
 *
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 * @param {string} what
 */
export const mustAgree = (a, b, what) => {
  if (a.length !== b.length)
    throw Error(`${what}: ${a.length} and ${b.length} numbers`);
  let scale = 1;
  for (let i = 0; i < a.length; ++i) scale = Math.max(scale, Math.abs(a[i]));
  for (let i = 0; i < a.length; ++i)
    if (!(Math.abs(a[i] - b[i]) <= 1e-10 * scale))
      throw Error(`${what}[${i}]: ${a[i]} and ${b[i]}`);
};
