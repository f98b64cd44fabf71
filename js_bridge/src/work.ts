// How much a function does, before anything is done about it.

import type { FnData } from "./functions";
import { S } from "./opcodes.gen";

/** To take a derivative does about so many times what its function does. */
const DERIVED = 2;

/** About how many operations on numbers a call of `f` takes; infinity where that only a call can tell. */
export const workOf = (
  f: FnData,
  known = new Map<FnData, number>(),
): number => {
  const found = known.get(f);
  if (found !== undefined) return found;
  const work = f.recording
    ? ofRows(f, known)
    : f.named?.by === "jvp"
      ? DERIVED * workOf(f.named.of, known)
      : f.host
        ? 1
        : Infinity;
  known.set(f, work); // which a rule may need
  if (!f.jvp) return work;
  const all = Math.max(work, workOf(f.jvp, known));
  known.set(f, all);
  return all;
};

const ofRows = (f: FnData, known: Map<FnData, number>): number => {
  const { rows, length, extra, literals, callees, types } = f.recording!;
  const of = (callee: number): number => workOf(callees[callee], known);
  /** How often the rows of now are run, and those around the loops that they are in. */
  const times = [1];
  let sum = 0;
  for (let k = 0; k < length; k += 3) {
    const [op, x] = [rows[k], rows[k + 1]];
    const turns = times[times.length - 1];
    let work = op < S.PARAM ? 1 : 0;
    if (op === S.FOR) times.push(turns * types[x].size);
    else if (op === S.END) times.pop();
    else if (op === S.CALL) work = of(extra[x]);
    else if (op === S.VJP) work = DERIVED * of(extra[x]);
    else if (op === S.COND) work = Math.max(of(extra[x]), of(extra[x + 1]));
    else if (op === S.LOOP) {
      const [body, test] = extra.slice(x, x + 2);
      const count = extra[x + 7];
      work =
        count < 0
          ? literals[~count] * (of(body) + (test < 0 ? 0 : of(test)))
          : Infinity;
    }
    sum += turns * work;
  }
  return sum;
};
