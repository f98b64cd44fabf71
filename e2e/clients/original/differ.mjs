// Runs random programs with npm's rose and with ours: `node differ.mjs FIRST COUNT right|wrong`.
//
// Prints in JSON how many programs had the same outcome, at how many the original panicked, and
// those that differ, by the name of the mistake in them.

import * as ours from "../../../dist/rose.js";
import { program } from "./random.mjs";

// Where the original panics, it throws again, out of nowhere, when what it held is collected.
globalThis.FinalizationRegistry = class {
  register() {}
  unregister() {}
};
const original = await import("rose");

// The original says there where it panics, which is told below.
console.error = () => {};

const NAMES = Object.keys(original);

/** The values of a program by each way to run it, or what it throws. */
const outcome = async (rose, source) => {
  let compiled;
  try {
    const { f, args } = new Function(...NAMES, source)(
      ...NAMES.map((name) => rose[name]),
    );
    compiled = await rose.compile(f);
    const interpreted = rose.interp(f);
    return { values: args.flatMap((x) => [compiled(...x), interpreted(...x)]) };
  } catch (error) {
    return { throws: `${error}` };
  } finally {
    compiled?.dispose?.();
  }
};

/** Whether values agree to rounding. */
const agree = (a, b) => {
  if (typeof a === "number" && typeof b === "number")
    return (
      Object.is(a, b) || Math.abs(a - b) <= 1e-12 * Math.max(1, Math.abs(a))
    );
  if (typeof a !== "object" || a === null || b === null) return a === b;
  const keys = Object.keys(a);
  return (
    Array.isArray(a) === Array.isArray(b) &&
    keys.length === Object.keys(b).length &&
    keys.every((key) => agree(a[key], b[key]))
  );
};

const same = (a, b) =>
  a.throws || b.throws ? !!a.throws === !!b.throws : agree(a.values, b.values);

await ours.ready();
const [first, count] = process.argv.slice(2, 4).map(Number);
const wrong = process.argv[4] === "wrong";
const report = { valued: 0, threw: 0, panicked: 0, differ: [] };
for (let seed = first; seed < first + count; ++seed) {
  const { source, mistake } = program(seed, wrong);
  const theirs = await outcome(original, source);
  const mine = await outcome(ours, source);
  if (same(theirs, mine)) ++report[mine.throws ? "threw" : "valued"];
  // neither a value nor an error of the author's, but one of its own
  else if (/unreachable|out of bounds/.test(theirs.throws)) ++report.panicked;
  else report.differ.push({ seed, mistake, source, theirs, mine });
}
console.log(JSON.stringify(report));
