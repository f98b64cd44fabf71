// The gradient of a whole simulation, with our rose as the site has it and with npm's.

import { flatten, mustAgree } from "./agree.js";
import { callTimes, ratio, stageTimes, summary } from "./measure.js";
import { original as npm, ours as here } from "./peers/rose.js";

/** What a gradient gives, in an order that both have: npm's rose sorts the fields. */
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

/**
 * Measure two programs for one gradient; each gives a promise of the compiled one. A small difference
 * may grow: what they give has to agree to `tolerance`.
 *
 * @param {Record<"ours" | "original", (lib: object) => Promise<{ call: () => unknown, dispose?: () => void }>>} programs
 * @param {{ omit?: string[], calls?: object, stages?: object }} options  as those of `bench`
 */
export const sideBySide = async (programs, { omit = [], calls, stages }) => {
  const peers = Object.entries({ ours: here, original: npm }).filter(
    ([, { name }]) => !omit.includes(name),
  );
  /** @type {Record<string, object>} */
  const found = {};
  const tasks = {};
  const called = {};
  let expected;
  for (const [program, peer] of peers) {
    const lib = await peer.load();
    const make = () => programs[program](lib);
    tasks[peer.name] = async () => {
      const start = performance.now();
      const made = await make();
      const end = performance.now();
      made.dispose?.();
      return { compile: end - start };
    };
    const { call } = await make();
    const given = numbers(call());
    expected ??= given;
    mustAgree(given, expected, 1e-9, `the gradient of ${peer.name}`);
    called[peer.name] = { call };
  }
  const times = callTimes(called, calls);
  const staged = await stageTimes(tasks, { turns: 5, ...stages });
  for (const [name, each] of Object.entries(times))
    found[name] = {
      ...staged[name],
      gradient: { ...summary(each), ratio: ratio(times[here.name], each) },
    };
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
