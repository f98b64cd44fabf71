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

/** The steps in which the clock goes, in milliseconds: the smallest of a few. */
export const clockStep = () => {
  let least = Infinity;
  for (let k = 0; k < 5; ++k) {
    const start = performance.now();
    let now = start;
    while (now === start) now = performance.now();
    least = Math.min(least, now - start);
  }
  return least;
};

let places = 0;

/**
 * What calls `f` with these arguments, from a place of its own. Engines remember of each place what it calls, and
 * put in line what is the only one: as in a page that has one library, and not all that are compared.
 *
 * @param {(...args: any[]) => unknown} f
 * @param {...unknown} args
 * @returns {Promise<() => unknown>}
 */
export const calling = async (f, ...args) =>
  (await import(`./place.js?${++places}`)).calling(f, ...args);

/** Where results go, so that no engine finds out that nobody needs them. */
export const sink = { last: /** @type {unknown} */ (undefined) };

/**
 * Call for at least so many milliseconds, `batch` times between looks at the clock.
 *
 * @param {() => unknown} call
 * @param {number} least
 * @param {number} batch
 * @returns {number} milliseconds per call
 */
const timePerCall = (call, least, batch) => {
  const start = performance.now();
  let count = 0;
  let passed = 0;
  do {
    for (let i = 0; i < batch; ++i) sink.last = call();
    count += batch;
    passed = performance.now() - start;
  } while (passed < least);
  return passed / count;
};

/**
 * A contender that is warm: what runs for a turn, and gives microseconds per call.
 *
 * A turn is `turn` milliseconds or a little more, and never shorter than one call. Before, the contender
 * runs for `warm` milliseconds and one more for each `warmBytes` of its module, so that engines have
 * optimised what they will: for 2 MB of straight-line code that takes V8 four seconds.
 *
 * @param {{ call: () => unknown, bytes?: number }} contender
 * @param {{ turn?: number, warm?: number, warmBytes?: number }} [options]
 */
export const warmed = (
  { call, bytes = 0 },
  { turn = 4, warm = 40, warmBytes = 400 } = {},
) => {
  timePerCall(call, warm + bytes / warmBytes, 1);
  const each = timePerCall(call, turn, 1); // now that it is warm
  const batch = Math.max(1, Math.round(turn / 8 / each));
  return () => {
    globalThis.gc?.(); // what others have left behind is not to be swept at this one's cost
    return 1000 * timePerCall(call, turn, batch);
  };
};

/**
 * Time per call of each contender in each of its turns, in microseconds.
 *
 * Turns are many and short: what else the machine does then spoils few of them, and strikes neighbours
 * alike.
 *
 * @param {Record<string, { call: () => unknown, bytes?: number }>} contenders
 * @param {{ turns?: number, turn?: number, warm?: number, warmBytes?: number }} [options]
 * @returns {Record<string, number[]>}
 */
export const callTimes = (contenders, { turns = 15, ...options } = {}) => {
  const names = Object.keys(contenders);
  const runs = names.map((name) => warmed(contenders[name], options));
  /** @type {number[][]} */
  const times = names.map(() => []);
  for (let k = 0; k < turns; ++k)
    for (const [contender, run] of runs.entries()) times[contender].push(run());
  return Object.fromEntries(names.map((name, k) => [name, times[k]]));
};

/**
 * How many times longer `a` takes than `b`, turn by turn.
 *
 * @param {number[]} a
 * @param {number[]} b
 */
export const ratio = (a, b) => summary(a.map((time, k) => time / b[k])).median;

/** Milliseconds between turns: what an engine still sweeps or compiles for one, others need not wait for. */
const REST = 50;

/**
 * Times of the stages of tasks, in milliseconds, the tasks taking turns. A task gives the times of its
 * stages. What it does for warmth before is not counted: two turns, and as many more as it takes to have
 * run for `warm` milliseconds, since an engine optimises WebAssembly while that runs, function by function.
 *
 * @param {Record<string, () => Promise<Record<string, number>>>} tasks
 * @param {{ turns?: number, warm?: number }} [options]
 * @returns {Promise<Record<string, Record<string, Times>>>}
 */
export const stageTimes = async (tasks, { turns = 7, warm = 1_000 } = {}) => {
  const names = Object.keys(tasks);
  for (const name of names) {
    const start = performance.now();
    for (let k = 0; warm && (k < 2 || performance.now() - start < warm); ++k)
      await tasks[name]();
  }
  /** @type {Record<string, number>[][]} */
  const times = names.map(() => []);
  for (let k = 0; k < turns; ++k)
    for (const [task, name] of names.entries()) {
      await new Promise((done) => setTimeout(done, REST));
      times[task].push(await tasks[name]());
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
