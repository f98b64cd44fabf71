// One workload at one size: all contenders checked, then measured in turns.

import { mustAgree } from "./agree.js";
import { callTimes, ratio, stageTimes, summary } from "./measure.js";
import * as c from "./peers/c.js";
import { hand } from "./peers/hand.js";
import { jax } from "./peers/jax.js";
import * as rose from "./peers/rose.js";
import { tensorflow } from "./peers/tensorflow.js";

/** The first is what the others must agree with, or the first that is there. */
const PEERS = [
  hand,
  rose.ours,
  rose.original,
  c.plain,
  c.simd,
  c.libm,
  tensorflow,
  jax,
];

const libraries = new Map();

const library = async (peer) => {
  if (!libraries.has(peer)) libraries.set(peer, await peer.load());
  return libraries.get(peer);
};

/** Load what a contender needs. @param {string} name */
export const load = (name) => library(PEERS.find((peer) => peer.name === name));

/**
 * Measure the workload of a module at size `n`.
 *
 * @param {string} name  of the module in workloads/
 * @param {number} n
 * @param {{ omit: string[], lenient?: boolean, calls?: object, stages?: object }} options  names of
 *   contenders that are not there; whether one that fails or gives other numbers is left out, which is an
 *   error otherwise; how `callTimes` and `stageTimes` measure. What has contenders of its own gets them all
 */
export const bench = async (name, n, options) => {
  const { omit, lenient, calls, stages } = options;
  const workload = await import(`./workloads/${name}.js`);
  // what is more than a function has contenders of its own
  if (workload.measure)
    return { n, contenders: await workload.measure(n, options) };
  const input = workload.input(n);
  const contenders = new Map();
  /** @type {Record<string, object>} */
  const found = {};
  let expected;
  for (const peer of PEERS) {
    const most = workload.limits?.[peer.name] ?? Infinity;
    if (omit.includes(peer.name) || n > most || !peer.has(workload, n))
      continue;
    found[peer.name] = {};
    const { failure, contender, numbers } = await prepare(
      peer,
      workload,
      n,
      input,
      expected,
    );
    if (failure) {
      const known = n >= (workload.fails?.[peer.name] ?? Infinity);
      if (!known && !lenient)
        throw Error(`${peer.name}: ${failure}`, { cause: failure });
      const [line] = String(failure).split("\n");
      found[peer.name].failure = line.slice(0, 200);
      continue;
    }
    contenders.set(peer, contender);
    expected ??= numbers;
  }

  const times = {};
  for (const [peer, contender] of contenders)
    for (const what of ["value", "gradient"]) {
      const bytes = contender.bytes?.[what];
      times[`${peer.name}: ${what}`] = { call: contender[what], bytes };
      const call = contender.body?.[what];
      if (call) times[`${peer.name}: ${what}, body`] = { call, bytes };
    }
  const turns = callTimes(times, calls);
  for (const [key, time] of Object.entries(turns)) {
    const [peer, what] = key.split(": ");
    found[peer][what] = summary(time);
    const reference = turns[`this: ${what}`];
    if (reference) found[peer][what].ratio = ratio(reference, time);
    const value = turns[key.replace("gradient", "value")];
    if (what.startsWith("gradient"))
      found[peer][what]["of value"] = ratio(time, value);
  }

  const tasks = {};
  for (const [peer, contender] of contenders) {
    if (contender.bytes) found[peer.name].bytes = contender.bytes.gradient;
    if (peer.first)
      tasks[peer.name] = () =>
        peer.first(libraries.get(peer), workload, n, input);
  }
  const staged = await stageTimes(tasks, stages);
  for (const [peer, times] of Object.entries(staged))
    Object.assign(found[peer], times);
  for (const contender of contenders.values()) contender.dispose?.();
  return { n, operations: workload.operations?.(n), contenders: found };
};

/** A contender and the numbers that it gives, which must be those expected; or why there are none. */
const prepare = async (peer, workload, n, input, expected) => {
  try {
    const lib = await library(peer);
    const contender = await peer.prepare(lib, workload, n, input);
    const numbers = {};
    for (const what of ["value", "gradient"]) {
      numbers[what] = contender.numbers(contender[what]());
      if (expected)
        mustAgree(numbers[what], expected[what], peer.tolerance, what);
    }
    return { contender, numbers };
  } catch (failure) {
    return { failure };
  }
};

/**
 * Milliseconds from nothing to the first gradient, when this page has done nothing else: loading the
 * library, and all of it.
 *
 * @param {string} name  of a contender
 */
export const start = async (name) => {
  const workload = await import("./workloads/rosenbrock.js");
  const peer = PEERS.find((peer) => peer.name === name);
  const began = performance.now();
  const lib = await library(peer);
  const loaded = performance.now();
  await peer.first(lib, workload, 10, workload.input(10));
  return { load: loaded - began, start: performance.now() - began };
};
