// How much a function does, before anything is done about it.

import type { FnData, Named } from "../record/data";
import { S } from "../opcodes.gen";
import { sizeOf, type Ty, typeOfCapture } from "../record/types";

/** To take a derivative does about so many times what its function does. */
const DERIVED = 2;

/** How many numbers values of these types have. */
export const scalarsIn = (types: readonly Ty[]): number =>
  types
    .flatMap(({ leafTypes }) => leafTypes)
    .reduce((sum, leaf) => sum + sizeOf(leaf), 0);

/** How many times what a function does the derivatives do that the core makes of it by name. */
const TIMES: Readonly<Record<string, (f: FnData) => number>> = {
  jvp: () => DERIVED,
  grad: () => DERIVED,
  valueAndGrad: () => DERIVED,
  push: () => DERIVED,
  hvp: () => DERIVED ** 2,
  jacobian: ({ params, ret }) =>
    1 + Math.max(scalarsIn(params), scalarsIn([ret])),
  hessian: ({ params, ret }) =>
    DERIVED * scalarsIn([ret]) * (1 + scalarsIn(params)),
};

/** About how many operations on numbers a call of `f` takes; infinity where that only a call can tell. */
export const workOf = (
  f: FnData,
  known = new Map<FnData, number>(),
): number => {
  const found = known.get(f);
  if (found !== undefined) return found;
  const work = f.recording
    ? ofRows(f, known)
    : f.named
      ? ofNamed(f.named, known)
      : 1;
  known.set(f, work); // which a rule may need
  if (!f.jvp) return work;
  const all = Math.max(work, workOf(f.jvp, known));
  known.set(f, all);
  return all;
};

const ofNamed = ({ by, of }: Named, known: Map<FnData, number>): number => {
  const times = TIMES[by];
  return times ? times(of) * workOf(of, known) : Infinity;
};

/** How many elements the longest vector has that goes into a function, or comes out. */
const longest = ({ params, captures, ret }: FnData): number => {
  const types = [...params, ...captures.map(typeOfCapture), ret];
  return types
    .flatMap(({ leafTypes }) => leafTypes)
    .reduce(
      (most, { kind, size }) => (kind === "vec" ? Math.max(most, size) : most),
      1,
    );
};

const ofRows = (f: FnData, known: Map<FnData, number>): number => {
  const r = f.recording!;
  const { rows, extra, literals, callees, types } = r;
  const of = (callee: number): number => workOf(callees[callee], known);
  /** How often the rows of now are run, and those around the loops that they are in. */
  const times = [1];
  /** How many elements an update copies at most. */
  const copied = longest(f);
  let sum = scalarsIn(r.literalTypes);
  for (let k = 0; k < rows.length; k += 3) {
    const [op, x] = [rows[k], rows[k + 1]];
    const trips = times[times.length - 1];
    // what is no operation has to be passed on
    let work = 1;
    if (op === S.FOR) times.push(trips * types[x].size);
    else if (op === S.END) times.pop();
    else if (op === S.VEC) work = rows[k + 2];
    else if (op === S.SET) work = copied;
    else if (op === S.CALL) work = of(extra[x]);
    else if (op === S.VJP) work = DERIVED * of(extra[x]);
    else if (op === S.COND) work = Math.max(of(extra[x]), of(extra[x + 1]));
    else if (op === S.LOOP) {
      const [body, test] = extra.slice(x, x + 2);
      const count = extra[x + 7];
      work =
        count < 0
          ? literals[~count] *
            (1 + extra[x + 2] + of(body) + (test < 0 ? 0 : of(test)))
          : Infinity;
    }
    sum += trips * work;
  }
  return sum;
};
