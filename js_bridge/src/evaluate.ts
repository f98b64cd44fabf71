// Recorded functions, run row by row: what `interp` does with a program without derivatives, for
// which it needs no core.

import type { FnData } from "./functions";
import { OP, S } from "./opcodes.gen";
import type { Recorder } from "./recorder";
import type { Ty } from "./types";

/** A leaf: a number, 0 or 1 for a Bool, or nested arrays of them. Loops and calls give several. */
export type Value = number | Value[];

/** What an opaque function runs, on leaves. */
export type Host = (f: FnData, args: Value[]) => Value[];

type Op = (x: number, y: number) => number;

const table: Op[] = [];
for (const [name, code] of Object.entries(OP)) {
  const same = (Math as unknown as Record<string, Op | undefined>)[name];
  if (same) table[code] = same;
}
Object.assign(table, {
  [OP.neg]: (x) => -x,
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
  [OP.iadd]: (x, y) => x + y,
  [OP.imod]: (x, y) => x % y,
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
  const { origin, recording } = f;
  if (origin || recording?.takesVjp) return true;
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
      case S.CALL: {
        const callee = this.r.callees[this.r.extra[x]] as FnData;
        return evaluate(callee, this.all(x + 1, y - 1), this.host);
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
      case OP.select: {
        const [p, a, b] = this.all(x, y);
        return p ? a : b;
      }
    }
    // an operation of one operand takes no notice of the other
    return table[op](this.at(x) as number, this.at(y) as number);
  }
}
