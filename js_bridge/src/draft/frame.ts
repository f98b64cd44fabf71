// A recorded body, row by row, on ids of scalars.

import { enough, type Flat } from "./flat";
import { OP, S } from "../opcodes.gen";
import type { Recorder } from "../record/recorder";
import {
  type Pullback,
  reals,
  scalarsOf,
  shaped,
  taking,
  type Value,
  type Walk,
} from "./walk";

export class Frame {
  private readonly flat: Flat;
  private readonly env: Value[];
  private readonly literals: Value[];

  constructor(
    private readonly walk: Walk,
    private readonly r: Recorder,
    private readonly args: readonly Value[],
  ) {
    this.flat = walk.flat;
    this.env = new Array(r.rows.length / 3);
    this.literals = walk.literalsOf(r);
  }

  /** What it gives. */
  results(): Value[] {
    const { r } = this;
    this.run(0, r.rows.length / 3);
    return r.results.map((id) => this.at(id));
  }

  private at(id: number): Value {
    if (id >= 0) return this.env[id];
    const { literals, r } = this;
    return (literals[~id] ??= this.walk.filled(
      r.literalTypes[~id],
      r.literals[~id],
    ));
  }

  /** The values of operands in the extra list. */
  private all(start: number, end: number): Value[] {
    const { extra } = this.r;
    const found: Value[] = [];
    for (let k = start; k < end; ++k) found.push(this.at(extra[k]));
    return found;
  }

  /** Run rows, of which a loop's last one stands for it. */
  private run(from: number, to: number): void {
    const { env, flat } = this;
    const { rows } = this.r;
    for (let k = from; k < to; ++k) {
      const op = rows[3 * k];
      const x = rows[3 * k + 1];
      const y = rows[3 * k + 2];
      if (op < OP.add) env[k] = flat.operation(op, this.at(x), 0);
      else if (op < OP.defined || (op > OP.defined && op < OP.bound))
        env[k] = flat.operation(op, this.at(x), this.at(y));
      else if (op === S.FOR) {
        const end = this.endOf(k);
        env[end] = this.loop(k, end);
        k = end;
      } else env[k] = this.row(op, x, y);
    }
  }

  /** The last row of the loop whose first one is `k`. */
  private endOf(k: number): number {
    const { rows } = this.r;
    for (let depth = 1; depth;) {
      const op = rows[3 * ++k];
      depth += +(op === S.FOR) - +(op === S.END);
    }
    return k;
  }

  /** What a loop gives: of each result, that of all iterations. */
  private loop(start: number, end: number): Value[] {
    const { rows, extra, types } = this.r;
    const { size } = types[rows[3 * start + 1]];
    const first = rows[3 * end + 1];
    const count = rows[3 * end + 2];
    const columns = Array.from({ length: count }, (): Value[] => []);
    for (let i = 0; i < size; ++i) {
      this.env[start] = this.flat.number(i);
      this.run(start + 1, end);
      for (let c = 0; c < count; ++c)
        columns[c].push(this.at(extra[first + c]));
    }
    return columns;
  }

  private row(op: number, x: number, y: number): Value {
    const { flat, walk } = this;
    const { extra, callees } = this.r;
    switch (op) {
      case OP.bound:
      case OP.index: {
        const [i, size] = this.all(x, x + 2).map((id) => flat.known(id));
        return Number.isInteger(i) && i >= 0 && i < size
          ? flat.number(i + 0) // of no sign
          : enough();
      }
      case OP.select:
        return walk.select(
          this.at(extra[x]),
          this.at(extra[x + 1]),
          this.at(extra[x + 2]),
        );
      case S.PARAM:
        return this.args[x];
      case S.INDEX:
        return this.at(x)[flat.known(this.at(y))];
      case S.VEC:
        return this.all(x + 1, x + y);
      case S.GET: {
        const of = this.at(x);
        return (of.results ?? of)[y];
      }
      case S.CALL:
        return walk.call(callees[extra[x]], this.all(x + 1, x + y));
      case S.VJP: {
        const f = callees[extra[x]];
        const taken = walk.takeCall(f, this.all(x + 1, x + y));
        return { ...taken, signature: walk.signature(f) } satisfies Pullback;
      }
      case S.PULL: {
        const pullback: Pullback = this.at(extra[x]);
        const { args, results, signature } = pullback;
        const outs = reals(signature.outs, results);
        const cotangents = scalarsOf(this.all(x + 1, x + y));
        const next = taking(walk.pull(pullback, outs, cotangents));
        return args
          .filter((_, k) => signature.ins[k])
          .map((arg) => shaped(arg, next));
      }
      case S.COND: {
        const split = x + 4 + extra[x + 2];
        return flat.known(this.at(extra[x + 3]))
          ? walk.call(callees[extra[x]], this.all(x + 4, split))
          : walk.call(callees[extra[x + 1]], this.all(split, x + y));
      }
      case S.LOOP:
        return this.controlLoop(extra.slice(x, x + y));
      case S.SET: {
        const changed = [...this.at(extra[x])];
        changed[flat.known(this.at(extra[x + 1]))] = this.at(extra[x + 2]);
        return changed;
      }
      case S.ACCUM:
        return { sum: this.at(x) };
      case S.ADD_TO: {
        const to = this.at(x);
        to.sum = walk.sum(to.sum, this.at(y));
        return to;
      }
      case S.RESOLVE:
        return this.at(x).sum;
    }
    return enough();
  }

  /** A loop with a state: its last state, the number of iterations, and what it keeps of them. */
  private controlLoop(row: readonly number[]): Value[] {
    const { flat, walk } = this;
    const { callees, types } = this.r;
    const [body, test, carries, type, outputs, mustEnd, , ...ids] = row;
    const [limit, ...given] = ids.map((id) => this.at(id));
    const f = callees[body];
    const last = f.params.length + f.captures.length - 1;
    const goes = (state: readonly Value[]): boolean =>
      test < 0 ||
      flat.known(
        walk.call(callees[test], [...state, ...given.slice(last)])[0],
      ) === 1;
    const count = flat.known(limit);
    const args = given.slice(carries, last);
    let state: readonly Value[] = given.slice(0, carries);
    const kept = Array.from({ length: outputs }, (): Value[] => []);
    let i = 0;
    for (; i < count && goes(state); ++i) {
      const results = walk.call(f, [flat.number(i), ...state, ...args]);
      state = results.slice(0, carries);
      kept.forEach((column, k) => column.push(results[carries + k]));
    }
    if (mustEnd && i === count && goes(state)) enough();
    kept.forEach((column, k) => {
      const zero = walk.filled(f.recording!.resultTypes[carries + k], 0);
      while (column.length < types[type].size) column.push(zero);
    });
    return [...state, flat.number(i), ...kept];
  }
}
