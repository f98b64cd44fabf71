// Built-in functions in loops: `build.py bench math`.

import { mustAgree } from "./agree.js";
import { callTimes, ratio, summary } from "./measure.js";

const PAGE = 65536;

/** Nobody else's memory, with these numbers in it, and their address. */
const place = (memory, numbers) => {
  const address = memory.grow(4) * PAGE;
  new Float64Array(memory.buffer, address, numbers.length).set(numbers);
  return address;
};

/**
 * Nanoseconds a call, of each contender: `free`, where no call waits for another, and `waiting`, where each
 * waits for the one before.
 *
 * @param {string} name
 * @param {Record<string, number[]>} modules  bytes, by contender; one of them is "import"
 * @param {number[]} x  the first operands
 * @param {number[]} y  the second ones
 * @param {{ folder?: string, calls?: object }} options  where the module of C is, if anywhere
 */
export const measure = async (name, modules, x, y, { folder, calls }) => {
  const contenders = Object.entries(modules).map(([key, bytes]) => [
    key,
    Uint8Array.from(bytes),
  ]);
  if (folder) {
    const url = new URL(`${folder}/functions.wasm`, import.meta.url);
    contenders.push(["C", await (await fetch(url)).arrayBuffer()]);
  }
  const tasks = {};
  const found = {};
  for (const [key, bytes] of contenders) {
    const { instance } = await WebAssembly.instantiate(bytes, { "": Math });
    const memory = instance.exports.m ?? instance.exports.memory;
    const at = place(memory, [...x, ...y]);
    found[key] = {};
    for (const what of ["free", "waiting"]) {
      const sum = instance.exports[`${name}_${what}`];
      const call = () => sum(x.length, at, at + 8 * x.length);
      tasks[`${key} ${what}`] = { call };
      const expected = tasks["import free"].call();
      mustAgree([call()], [expected], 1e-12, `${name}, ${key}`);
    }
  }
  const times = callTimes(tasks, calls);
  for (const [task, turns] of Object.entries(times)) {
    const [key, what] = task.split(" ");
    const each = turns.map((time) => (1000 * time) / x.length);
    found[key][what] = {
      ...summary(each),
      ratio: ratio(turns, times[`import ${what}`]),
    };
  }
  return found;
};
