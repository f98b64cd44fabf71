// Runs drafts of random programs beside what is compiled: `node drafts.mjs FIRST COUNT`.
//
// Prints in JSON how many programs had a draft, how many calls gave the same as compiled code, also to the bit,
// and the programs of which a call did not.

import * as ours from "../../../dist/rose.js";
import { agree, made } from "./original.mjs";
import { program } from "./random.mjs";

const attempt = (work) => {
  try {
    return work();
  } catch (error) {
    return `${error}`;
  }
};

/** Whether values are the same to the bit; all that is no number is one. */
const same = (a, b) =>
  typeof a === "object" && a !== null
    ? Object.keys(a).every((key) => same(a[key], b[key]))
    : Object.is(a, b);

await ours.ready();
const [first, count] = process.argv.slice(2).map(Number);
const report = { drafts: 0, calls: 0, bits: 0, differ: [] };
for (let seed = first; seed < first + count; ++seed) {
  const { source } = program(seed, false);
  const { f, args } = made(source, ours);
  const draft = await ours.compile(f, { draft: true });
  let isDraft = true;
  void draft.settled.then(() => (isDraft = false));
  const run = (compiled) => args.map((x) => attempt(() => compiled(...x)));
  await undefined; // of what is no draft, that is said by now
  report.drafts += isDraft;
  const early = run(draft);
  const settled = await draft.settled;
  const compiled = await ours.compile(f, { draft: false });
  const [late, expected] = [run(draft), run(compiled)];
  const isRight = expected.map(
    (x, k) => agree(x, early[k]) && same(x, late[k]),
  );
  if (!settled || isRight.includes(false))
    report.differ.push({ seed, source, early, late, expected });
  report.calls += args.length;
  report.bits += expected.filter((x, k) => same(x, early[k])).length;
  draft.dispose();
  compiled.dispose();
}
console.log(JSON.stringify(report));
