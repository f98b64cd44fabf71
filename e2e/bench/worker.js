// The benchmarks in a worker, for the page of the site that measures on the reader's machine. It is asked
// for one thing at a time, and answers with what came of it, or with why nothing did.

import { bench, load } from "./bench.js";
import { clockStep } from "./measure.js";

/** Milliseconds of a turn, so that the clock's steps do not matter: many are coarse without isolation. */
const turn = Math.max(4, 40 * clockStep());

const tasks = {
  load: async (/** @type {string} */ name) => void (await load(name)),
  bench: (
    /** @type {string} */ name,
    /** @type {number} */ n,
    /** @type {string[]} */ omit,
  ) => bench(name, n, { omit, lenient: true, calls: { turn } }),
};

addEventListener("message", async ({ data: [task, ...args] }) => {
  try {
    postMessage({ result: await tasks[task](...args) });
  } catch (error) {
    postMessage({ failure: error instanceof Error ? error.message : error });
  }
});
