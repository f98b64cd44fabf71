// Functions run by the interpreter: here, or where a derivative is taken, in the core.

import { plain } from "./alias";
import { argumentsOf, putArguments } from "./arguments";
import { mainCore } from "../core/core";
import { dataOf, epoch } from "../record/functions";
import type { FnData } from "../record/data";
import { evaluate, nested, takesDerivatives, type Value } from "./evaluate";
import { Row, rowHost } from "./opaque";
import { programOf } from "../known/program";
import { readerOf } from "./results";
import type { Ty } from "../record/types";

/** The leaves of these types, from a row of numbers. */
const leavesOf = (types: readonly Ty[], row: Float64Array): Value[] => {
  let at = 0;
  return types.flatMap((ty) =>
    ty.leafTypes.map((leaf) => nested(leaf, () => row[at++])),
  );
};

/** All numbers of leaves, in a row. */
const rowOf = (leaves: Value[]): Float64Array =>
  Float64Array.from((leaves as any[]).flat(Infinity));

/** Run an opaque function on leaves. */
const runHost = (f: FnData, args: Value[]): Value[] =>
  leavesOf([f.ret], rowHost(f)(new Uint8Array(rowOf(args).buffer)));

/** Numbers of interpreted programs, to be forgotten with the functions that `interp` gave. */
const interpreted = new FinalizationRegistry((forget: () => void) => forget());

/**
 * Run `f` by the interpreter, on ordinary values: slow, and by definition right.
 *
 * Where a derivative is taken in it, or an equation solved, it needs the core on this thread: the default in Node,
 * `configure({ core: "main" })` in a page, and `await ready()` before.
 */
export const interp = (f: unknown): ((...args: unknown[]) => unknown) => {
  const data = dataOf(f, "interp");
  let run: ((args: Float64Array) => Float64Array) | undefined;
  let made = -1;
  const args = new Row(data.params);
  const result = new Row([data.ret]);
  const into = argumentsOf(data.params, args.leaves);
  const read = readerOf(data.ret, result.leaves);
  const interpreter = (...values: unknown[]): unknown => {
    const given = plain(data, values); // before accessors could call this very function
    const row = args.use();
    putArguments(data, into, given);
    if (run === undefined || made !== epoch) {
      run = takesDerivatives(data) ? byCore(data, interpreter) : byRows(data);
      made = epoch;
    }
    result.use(run(row));
    return read(0);
  };
  return interpreter;
};

const byRows = (data: FnData) => {
  data.checkStandsAlone();
  return (row: Float64Array) =>
    rowOf(evaluate(data, leavesOf(data.params, row), runHost));
};

const byCore = (data: FnData, interpreter: object) => {
  const program = programOf(data);
  const kept = mainCore().interpret(program, program.opaque.map(rowHost));
  interpreted.register(interpreter, kept.forget);
  return kept.run;
};
