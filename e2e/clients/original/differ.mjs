// Runs random programs with npm's rose and with ours: `node differ.mjs FIRST COUNT right|wrong`.
//
// Prints in JSON how many programs had the same outcome, at how many the original panicked, and
// those that differ, by the name of the mistake in them.

import * as ours from "../../../dist/rose.js";
import { agree, made, original } from "./original.mjs";
import { program } from "./random.mjs";

/** The values of a program by each way to run it, or what it throws. */
const outcome = async (rose, source) => {
  let compiled;
  try {
    const { f, args } = made(source, rose);
    compiled = await rose.compile(f);
    const interpreted = rose.interp(f);
    return { values: args.flatMap((x) => [compiled(...x), interpreted(...x)]) };
  } catch (error) {
    return { throws: `${error}` };
  } finally {
    compiled?.dispose?.();
  }
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
