// Recorded functions, run row by row: what `interp` does with a program without derivatives, for
// which it needs no core.

import type { FnData } from "./functions";
import { FAILURES, OP, S } from "./opcodes.gen";
import { notes, type Recorder } from "./recorder";
import { LARGEST, type Ty } from "./types";

/** A leaf: a number, 0 or 1 for a Bool, or nested arrays of them. Loops and calls give several. */
export type Value = number | Value[];

/** What an opaque function runs, on leaves. */
export type Host = (f: FnData, args: Value[]) => Value[];

/** The largest index. */
const MOST = LARGEST - 1;

/**
 * What a program calls when it cannot go on: throws what is wrong, by its code in `FAILURES`, or after
 * those by the number of one of its notes, which are `texts`.
 */
export const fail = (
  code: number,
  x: number,
  y: number,
  texts: readonly string[] = notes,
): never => {
  const text = FAILURES[code] ?? texts[code - FAILURES.length];
  throw RangeError(text.replace("{x}", `${x}`).replace("{y}", `${y}`));
};

/** Throw what a note says. */
const noted = (note: number, x = 0, y = 0): never =>
  fail(FAILURES.length + note, x, y);

/** `x`, if it is a whole number from 0 to below `size`. */
const whole = (x: number, size: number, note: number): number =>
  Number.isInteger(x) && x >= 0 && x < size ? x : noted(note, x, size - 1);

type Op = (x: number, y: number) => number;

/**
 * What each operation does. Functions of `Math` may differ in the last digit from what the core computes,
 * which has some of its own: see rose_core/libm.
 */
const table: Op[] = [];
for (const [name, code] of Object.entries(OP)) {
  const same = (Math as unknown as Record<string, Op | undefined>)[name];
  if (same) table[code] = same;
}
Object.assign(table, {
  [OP.neg]: (x) => -x,
  [OP.sign]: (x) => Math.sign(x || 1 / x),
  [OP.not]: (x) => 1 - x,
  [OP.add]: (x, y) => x + y,
  [OP.sub]: (x, y) => x - y,
  [OP.mul]: (x, y) => x * y,
  [OP.div]: (x, y) => x / y,
  [OP.neq]: (x, y) => +(x !== y),
  [OP.lt]: (x, y) => +(x < y),
  [OP.leq]: (x, y) => +(x <= y),
  [OP.eq]: (x, y) => +(x === y),
  [OP.gt]: (x, y) => +(x > y),
  [OP.geq]: (x, y) => +(x >= y),
  [OP.and]: (x, y) => x & y,
  [OP.or]: (x, y) => x | y,
  [OP.xor]: (x, y) => x ^ y,
  [OP.iff]: (x, y) => +(x === y),
  [OP.real]: (x) => x,
  [OP.iadd]: (x, y) => x + y,
  [OP.isub]: (x, y) => x - y,
  [OP.imul]: (x, y) => Math.min(x * y, MOST),
  [OP.imin]: Math.min,
  [OP.imax]: Math.max,
  [OP.narrow]: (x) => x,
  [OP.imod]: (x, y) => x % y,
  [OP.defined]: (x, note) => (x === x ? x : noted(note)),
  [OP.ineq]: (x, y) => +(x !== y),
  [OP.ilt]: (x, y) => +(x < y),
  [OP.ileq]: (x, y) => +(x <= y),
  [OP.ieq]: (x, y) => +(x === y),
  [OP.igt]: (x, y) => +(x > y),
  [OP.igeq]: (x, y) => +(x >= y),
} satisfies Record<number, Op>);

/** Whether a derivative is taken anywhere in `f`, or in a function that it calls. */
export const takesDerivatives = (
  f: FnData,
  seen = new Set<FnData>(),
): boolean => {
  if (seen.has(f)) return false;
  seen.add(f);
  const { named, recording } = f;
  if (named || recording?.takesVjp) return true;
  return (recording?.callees ?? []).some((g) =>
    takesDerivatives(g as FnData, seen),
  );
};

/** The result leaves of `f` for argument leaves. */
export const evaluate = (f: FnData, args: Value[], host: Host): Value[] =>
  f.recording ? new Run(f.recording, args, host).results() : host(f, args);

/** One run of a recorded function. */
class Run {
  private readonly env: Value[] = [];

  constructor(
    private readonly r: Recorder,
    private readonly args: Value[],
    private readonly host: Host,
  ) {}

  results(): Value[] {
    this.rows(0, this.r.length / 3);
    return this.r.results.map((id) => this.at(id));
  }

  private at(id: number): Value {
    return id < 0 ? this.r.literals[~id] : this.env[id];
  }

  private all(start: number, count: number): Value[] {
    return this.r.extra.slice(start, start + count).map((id) => this.at(id));
  }

  private extra(start: number, count: number): number[] {
    return this.r.extra.slice(start, start + count);
  }

  private call(callee: number, args: Value[]): Value[] {
    return evaluate(this.r.callees[callee] as FnData, args, this.host);
  }

  /** Run a loop with a state: its last state, the number of turns, and what it keeps of them. */
  private turns(row: readonly number[]): Value[] {
    const [body, test, carries, type, outputs, mustEnd, , ...ids] = row;
    const index = (this.r.types as Ty[])[type];
    const [count, ...given] = ids.map((id) => this.at(id));
    const { params, captures } = this.r.callees[body] as FnData;
    const end = params.length + captures.length - 1;
    const args = given.slice(carries, end);
    let state = given.slice(0, carries);
    const goes = (): boolean =>
      test < 0 || this.call(test, [...state, ...given.slice(end)])[0] === 1;
    const kept = Array.from({ length: outputs }, (): Value[] => []);
    let i = 0;
    for (; i < (count as number) && goes(); ++i) {
      const results = this.call(body, [i, ...state, ...args]);
      state = results.slice(0, carries);
      kept.forEach((column, k) => column.push(results[carries + k]));
    }
    if (mustEnd && i === count && goes()) noted(mustEnd - 1);
    const { recording } = this.r.callees[body] as FnData;
    kept.forEach((column, k) => {
      while (column.length < index.size)
        column.push(zeroOf(recording!.resultTypes[carries + k]));
    });
    return [...state, i, ...kept];
  }

  private rows(from: number, to: number): void {
    const { rows } = this.r;
    for (let k = from; k < to; ++k) {
      const op = rows[3 * k];
      if (op === S.FOR) k = this.loop(k);
      else this.env[k] = this.row(op, rows[3 * k + 1], rows[3 * k + 2]);
    }
  }

  /** Run the loop that starts at row `start`; the number of its last row, which stands for it. */
  private loop(start: number): number {
    const { rows, types } = this.r;
    let end = start + 1;
    for (let depth = 1; ; ++end) {
      if (rows[3 * end] === S.FOR) ++depth;
      if (rows[3 * end] === S.END && --depth === 0) break;
    }
    const { size } = (types as Ty[])[rows[3 * start + 1]];
    const columns = Array.from(
      { length: rows[3 * end + 2] },
      (): Value[] => [],
    );
    for (let i = 0; i < size; ++i) {
      this.env[start] = i;
      this.rows(start + 1, end);
      this.all(rows[3 * end + 1], columns.length).forEach((x, c) =>
        columns[c].push(x),
      );
    }
    this.env[end] = columns;
    return end;
  }

  private row(op: number, x: number, y: number): Value {
    switch (op) {
      case S.PARAM:
        return this.args[x];
      case S.INDEX:
        return (this.at(x) as Value[])[this.at(y) as number];
      case S.VEC:
        return this.all(x + 1, y - 1);
      case S.GET:
        return (this.at(x) as Value[])[y];
      case S.CALL:
        return this.call(this.r.extra[x], this.all(x + 1, y - 1));
      case S.COND: {
        const [f, g, taken, ...ids] = this.extra(x, y);
        const [p, ...args] = ids.map((id) => this.at(id));
        return p
          ? this.call(f, args.slice(0, taken))
          : this.call(g, args.slice(taken));
      }
      case S.LOOP:
        return this.turns(this.extra(x, y));
      case S.SET: {
        const [array, i, element] = this.all(x, y);
        const changed = [...(array as Value[])];
        changed[i as number] = element;
        return changed;
      }
      case S.ACCUM:
        return [this.at(x)];
      case S.ADD_TO: {
        const sum = this.at(x) as number[];
        sum[0] += this.at(y) as number;
        return sum;
      }
      case S.RESOLVE:
        return (this.at(x) as Value[])[0];
      case OP.bound:
      case OP.index: {
        const [i, size, note] = this.all(x, y) as number[];
        return whole(i, size, note);
      }
      case OP.select: {
        const [p, a, b] = this.all(x, y);
        return p ? a : b;
      }
    }
    // an operation of one operand takes no notice of the other
    return table[op](this.at(x) as number, this.at(y) as number);
  }
}

/** Zero, False or the first index, as often as a leaf has it. */
const zeroOf = (leaf: Ty): Value =>
  leaf.kind === "vec"
    ? Array.from({ length: leaf.size }, () => zeroOf(leaf.elem!))
    : 0;
