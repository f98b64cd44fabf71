// Running the instructions of a draft.

import { F, type Flat } from "./flat";
import { OP } from "../opcodes.gen";
import { operations } from "../call/operations";

/** A call of an opaque function: the ids of its arguments, and what runs it. */
export interface HostCall {
  readonly args: readonly number[];
  readonly run: (...args: number[]) => number;
}

const table = operations();

export class Tape {
  private isRunning = false;

  /** `given` and `outs` are the ids of what goes in and comes out. */
  constructor(
    private readonly flat: Flat,
    private readonly given: readonly number[],
    private readonly outs: readonly number[],
    private readonly hosts: readonly HostCall[],
  ) {}

  /** Compute the results in a row, from all that is given in a row. */
  run(row: Float64Array, results: Float64Array): void {
    const { given, outs, isRunning } = this;
    // an opaque function may have called what calls it
    const values = isRunning ? this.flat.value.slice() : this.flat.value;
    for (let k = 0; k < given.length; ++k) values[given[k]] = row[k];
    this.isRunning = true;
    try {
      this.compute(values);
    } finally {
      this.isRunning = isRunning;
    }
    for (let k = 0; k < outs.length; ++k) results[k] = values[outs[k]];
  }

  private compute(v: Float64Array): void {
    const { op, x, y, z, length } = this.flat;
    for (let k = 0; k < length; ++k) {
      const code = op[k];
      const a = v[x[k]];
      const b = v[y[k]];
      // the most frequent ones are written out: engines do not know which function of a table they call
      switch (code) {
        case F.KNOWN:
        case F.GIVEN:
        case F.ENTER:
        case F.LEAVE:
          break;
        case F.SAME:
          v[k] = a;
          break;
        case OP.add:
          v[k] = a + b;
          break;
        case OP.sub:
          v[k] = a - b;
          break;
        case OP.mul:
          v[k] = a * b;
          break;
        case OP.div:
          v[k] = a / b;
          break;
        case OP.neg:
          v[k] = -a;
          break;
        case OP.select:
          v[k] = a ? b : v[z[k]];
          break;
        case OP.gt:
          v[k] = a > b ? 1 : 0;
          break;
        case OP.lt:
          v[k] = a < b ? 1 : 0;
          break;
        case F.HOST: {
          const { args, run } = this.hosts[x[k]];
          v[k] = run(...args.map((id) => v[id]));
          break;
        }
        default:
          v[k] = table[code](a, b);
      }
    }
  }
}
