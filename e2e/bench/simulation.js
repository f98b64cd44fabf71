// The gradient of a whole simulation, with our rose as the site has it, with npm's, and with libraries for
// Python.

import { flatten, mustAgree } from "./agree.js";
import { ratio, stageTimes, summary, warmed } from "./measure.js";
import { original as npm, ours as here } from "./peers/rose.js";

const TOLERANCE = 1e-9;

/** What a gradient gives, in an order that all have: npm's rose sorts the fields. */
const numbers = (found) => {
  const sorted = (value) =>
    Array.isArray(value)
      ? value.map(sorted)
      : typeof value === "object"
        ? Object.keys(value)
            .sort()
            .map((name) => sorted(value[name]))
        : value;
  return flatten(sorted(found));
};

/** The bytes of memory that a compiled function of ours has now. */
export const memoryOf = ({ args }) => {
  let view = args[0];
  while (!ArrayBuffer.isView(view)) view = Object.values(view)[0];
  return view.buffer.byteLength;
};

/**
 * Measure programs for one gradient: those of our rose and of npm's, each of which gives a promise of the
 * compiled one, and those of contenders outside of the page, which get the problem. A small difference may
 * grow: what they give has to agree to `TOLERANCE`.
 *
 * @typedef {{ call: () => unknown, memory?: () => number, settled?: Promise<boolean>, dispose?: () => void }} Compiled
 * @param {Record<"ours" | "original", (lib: object) => Promise<Compiled>> & { problem: object }} programs
 * @param {{ omit?: string[], calls?: object, stages?: object, elsewhere?: string[] }} options  as those of
 *   `bench`; and whom the page's function `elsewhere` can ask: for the numbers that a problem has, and then
 *   for milliseconds per call
 */
export const sideBySide = async (
  programs,
  { omit = [], calls, stages, elsewhere = [] },
) => {
  // so long that what others have pushed out of the caches costs little
  const { turns, ...options } = { turns: 15, turn: 40, ...calls };
  const peers = Object.entries({ ours: here, original: npm }).filter(
    ([, { name }]) => !omit.includes(name),
  );
  /** @type {Record<string, Record<string, object | number>>} */
  const found = {};
  const tasks = {};
  /** @type {Record<string, () => number | Promise<number>>} */
  const runs = {};
  let expected;
  const check = (name, given) => {
    expected ??= numbers(given);
    mustAgree(numbers(given), expected, TOLERANCE, `the gradient of ${name}`);
  };
  for (const [program, peer] of peers) {
    const lib = await peer.load();
    const make = () => programs[program](lib);
    tasks[peer.name] = async () => {
      const start = performance.now();
      const made = await make();
      const callable = performance.now() - start;
      await made.settled;
      const compile = performance.now() - start;
      made.dispose?.();
      return { callable, compile };
    };
    const { call, memory, settled } = await make();
    await settled;
    check(peer.name, call());
    found[peer.name] = memory ? { memory: memory() } : {};
    runs[peer.name] = warmed({ call }, options);
  }
  for (const name of elsewhere) {
    check(name, await globalThis.elsewhere(name, programs.problem));
    found[name] = {};
    runs[name] = async () =>
      1000 * (await globalThis.elsewhere(name, options.turn));
    await runs[name]();
  }

  /** @type {Record<string, number[]>} */
  const times = Object.fromEntries(Object.keys(runs).map((name) => [name, []]));
  for (let k = 0; k < turns; ++k)
    for (const [name, run] of Object.entries(runs))
      times[name].push(await run());
  const staged = await stageTimes(tasks, { turns: 5, ...stages });
  for (const [name, each] of Object.entries(times)) {
    const gradient = { ...summary(each), ratio: ratio(times[here.name], each) };
    found[name] = { ...staged[name], gradient, ...found[name] };
  }
  return found;
};

/**
 * Milliseconds of a first compilation: of a page that has loaded the library, and compiled nothing.
 *
 * @param {string} name  of the module in workloads/
 * @param {string} library
 */
export const cold = async (name, library) => {
  const programs = await import(`./workloads/${name}.js`);
  const peer = [here, npm].find((peer) => peer.name === library);
  const lib = await peer.load();
  const start = performance.now();
  await (peer === here ? programs.ours : programs.original)(lib);
  return performance.now() - start;
};
