// Opaque functions as what calls them sees them: with numbers and addresses, or with numbers in a row.

import { writerOf, wrong } from "./arguments";
import {
  type Kind,
  type Leaf,
  type MemoryCells,
  rowCells,
  SHIFT,
} from "./cells";
import type { FnData } from "../record/data";
import { within } from "../record/where";
import { readerOf } from "./results";
import { partsOf, REAL, sizeOf, type Ty } from "../record/types";

/** A leaf of an opaque function's call: kind, count, number of the argument, whether that is an address. */
export type HostSlot = readonly [
  kind: Kind,
  count: number,
  position: number,
  inMemory: boolean,
];

/** An opaque function as a module calls it. */
export const hostImport = (
  f: FnData,
  cells: MemoryCells,
  args: readonly HostSlot[],
  results: readonly HostSlot[],
): ((...passed: number[]) => number | void) => {
  const host = f.host!;
  if ([...f.params, f.ret].every((ty) => ty === REAL))
    return function () {
      // as they are given, without an array in between
      const x: unknown = host.apply(undefined, arguments as never);
      if (typeof x !== "number")
        throw within(wrong(x, REAL), `the result of ${f.name}`);
      return x;
    };
  const scalars = rowCells(new Float64Array(args.length));
  const returned = rowCells(new Float64Array(1));
  const leafOf = ([, , position, inMemory]: HostSlot): Leaf => {
    if (inMemory) return { cells, start: 0 };
    return position < 0
      ? { cells: returned, start: 0 }
      : { cells: scalars, start: position };
  };
  const from = args.map(leafOf);
  const to = results.map(leafOf);
  const run = runner(f, from, to);
  return (...given) => {
    cells.refresh();
    scalars.f.set(given.slice(0, args.length));
    locate(args, from, given);
    run(() => {
      cells.refresh();
      locate(results, to, given); // now: the host may have called this very function
    });
    return returned.f[0];
  };
};

/** Set the leaves to the addresses of a call. */
const locate = (
  slots: readonly HostSlot[],
  leaves: readonly Leaf[],
  given: readonly number[],
): void =>
  slots.forEach(([kind, , position, inMemory], k) => {
    if (inMemory) leaves[k].start = given[position] >>> SHIFT[kind];
  });

/** Runs an opaque function on what lies in some leaves, and puts what it gives into others, once they are `ready`. */
const runner = (f: FnData, from: readonly Leaf[], to: readonly Leaf[]) => {
  const parts = partsOf(f.params, from);
  const readers = parts.map((own, k) => readerOf(f.params[k], own));
  const write = writerOf(f.ret, to);
  return (ready: () => void): void => {
    const result = f.host!(...readers.map((read) => read(0)));
    ready();
    try {
      write(result, 0);
    } catch (error) {
      throw within(error, `the result of ${f.name}`);
    }
  };
};

/** Leaves of values of some types in a row of numbers, which is another one every time. */
export class Row {
  readonly leaves: readonly Leaf[];
  readonly length: number;
  private readonly cells = rowCells(new Float64Array(0));

  constructor(types: readonly Ty[]) {
    let start = 0;
    this.leaves = types
      .flatMap((ty) => ty.leafTypes)
      .map((leaf) => {
        const at = start;
        start += sizeOf(leaf);
        return { cells: this.cells, start: at };
      });
    this.length = start;
  }

  /** Let the leaves be in this row. */
  use(row: Float64Array = new Float64Array(this.length)): Float64Array {
    Object.assign(this.cells, rowCells(row));
    return row;
  }
}

/** An opaque function from the numbers of its arguments, in a row, to those of its result. */
export const rowHost = (f: FnData): ((bytes: Uint8Array) => Float64Array) => {
  const args = new Row(f.params);
  const result = new Row([f.ret]);
  const run = runner(f, args.leaves, result.leaves);
  return (bytes) => {
    args.use(new Float64Array(bytes.slice().buffer));
    let row!: Float64Array;
    run(() => {
      row = result.use();
    });
    return row;
  };
};
