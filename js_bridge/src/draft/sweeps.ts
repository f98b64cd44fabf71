// Derivatives of a stretch of scalar instructions: tangents in a sweep forward, cotangents in one backward.
//
// The rules are those of `rose_core/language/ops.py`, generated. What a sweep computes are instructions, too,
// appended to the others: so derivatives nest to any order.

import { enough, F, type Flat } from "./flat";
import { OP } from "../opcodes.gen";
import { PULL, PUSH, type Writer } from "../rules.gen";

/** The instructions from `start` to `end`, which make tangents `outs` of the tangents `ins`, whatever those are. */
interface Linear {
  readonly start: number;
  readonly end: number;
  readonly ins: readonly number[];
  readonly outs: readonly number[];
}

/** A call of a function with a derivative of its own, between `ENTER` and `LEAVE`. */
export interface Ruled {
  readonly start: number;
  end: number;
  /** The scalars of its arguments and results that have derivatives. */
  readonly args: readonly number[];
  results: readonly number[];
  /** The tangents of the results, from those of the arguments; undefined where there is no derivative. */
  readonly push:
    ((tangents: readonly number[]) => readonly number[]) | undefined;
  /** What gives those, if it is there already. */
  linear?: Linear;
}

/** Rules by number: engines look up lists without holes faster than objects. */
const listed = <T>(rules: Readonly<Record<number, T>>): (T | undefined)[] =>
  Array.from({ length: 8 * (OP.select + 1) }, (_, k) => rules[k]);

const PUSHES = listed(PUSH);
const PULLS = listed(PULL);

/** No value: the first instruction is nobody's. */
const NONE = 0;

/** The rule of an operation for those of its operands that have something. */
const ruleAt = (op: number, x: number, y: number, z: number): number =>
  8 * op +
  (op < OP.add
    ? +!!x
    : op === OP.select
      ? 2 * +!!y + 4 * +!!z
      : +!!x + 2 * +!!y);

export class Sweeps implements Writer {
  /** Id → its tangent, in a sweep forward, or the sum of its cotangents, in one backward. */
  private sums = new Int32Array(0);
  /** Id → the number of the last sweep backward in which it varies. */
  private varies = new Int32Array(0);
  /** The number of the sweep of now: one may begin while another goes on. */
  private sweep = 0;
  private count = 0;

  constructor(
    private readonly flat: Flat,
    private readonly ruled: readonly Ruled[],
  ) {}

  number(x: number): number {
    return this.flat.number(x);
  }

  operation(op: number, x: number, y: number): number {
    return this.flat.operation(op, x, y);
  }

  select(p: number, a: number, b: number): number {
    return this.flat.select(p, a, b);
  }

  add(id: number, c: number): void {
    if (this.varies[id] !== this.sweep) return;
    const sum = this.sums[id];
    this.sums[id] = sum ? this.flat.operation(OP.add, sum, c) : c;
  }

  take(id: number, c: number): void {
    if (this.varies[id] !== this.sweep) return;
    const sum = this.sums[id];
    this.sums[id] = sum
      ? this.flat.operation(OP.sub, sum, c)
      : this.flat.operation(OP.neg, c, NONE);
  }

  /** The tangents of `outs`, from those of `ins`, through the instructions from `start` to `end`. */
  forward(
    start: number,
    end: number,
    ins: readonly number[],
    tangents: readonly number[],
    outs: readonly number[],
  ): number[] {
    this.reserve();
    const { flat } = this;
    this.give(ins, tangents);
    for (let k = start; k < end; ++k) {
      const op = flat.op[k];
      const { sums } = this;
      if (op >= F.KNOWN) {
        if (op === F.SAME) sums[k] = sums[flat.x[k]];
        else if (op === F.ENTER) k = this.pushed(this.ruled[flat.x[k]]);
        continue;
      }
      const x = flat.x[k];
      const y = flat.y[k];
      const z = flat.z[k];
      const rule = PUSHES[ruleAt(op, sums[x], sums[y], sums[z])];
      if (rule) sums[k] = rule(this, x, y, z, k, sums[x], sums[y], sums[z]);
    }
    const found = outs.map((id) => this.sums[id] || flat.number(0));
    for (const id of ins) this.sums[id] = NONE;
    this.sums.fill(NONE, start, end);
    return found;
  }

  /** Say what the tangents of values are: zeros are none. */
  private give(ids: readonly number[], tangents: readonly number[]): void {
    ids.forEach((id, k) => {
      this.sums[id] = this.isZero(tangents[k]) ? NONE : tangents[k];
    });
  }

  private isZero(id: number): boolean {
    const { flat } = this;
    return flat.isKnown(id) && flat.value[id] === 0;
  }

  /** Pass on the tangents through a call; where it ends. */
  private pushed({ end, args, results, push = enough }: Ruled): number {
    if (args.some((id) => this.sums[id])) {
      const zero = this.flat.number(0);
      this.give(results, push(args.map((id) => this.sums[id] || zero)));
    }
    return end;
  }

  /** The cotangents of `ins`, from those of `outs`, back through the instructions from `end` to `start`. */
  backward(
    start: number,
    end: number,
    ins: readonly number[],
    outs: readonly number[],
    cotangents: readonly number[],
  ): number[] {
    this.reserve();
    const { flat } = this;
    const around = this.sweep;
    const sweep = (this.sweep = ++this.count);
    this.activate(start, end, ins);
    outs.forEach((id, k) => this.add(id, cotangents[k]));
    let { op, x, y, z } = flat;
    let { sums, varies } = this;
    for (let k = end - 1; k >= start; --k) {
      const code = op[k];
      const c = sums[k];
      if (code === F.LEAVE) {
        k = this.pulled(this.ruled[x[k]]);
        ({ sums, varies } = this);
      } else if (c) {
        sums[k] = NONE;
        const [a, b, d] = [x[k], y[k], z[k]];
        if (code === F.SAME) this.add(a, c);
        else
          PULLS[
            ruleAt(
              code,
              +(varies[a] === sweep),
              +(varies[b] === sweep),
              +(varies[d] === sweep),
            )
          ]!(this, a, b, d, k, c);
      } else continue;
      if (op !== flat.op) ({ op, x, y, z } = flat); // there were too many to go on where they were
    }
    this.sweep = around;
    return ins.map((id) => {
      const found = sums[id];
      sums[id] = NONE;
      return found || flat.number(0);
    });
  }

  /** Find out what varies with `ins`. */
  private activate(start: number, end: number, ins: readonly number[]): void {
    const { sweep, varies } = this;
    const { op, x, y, z } = this.flat;
    for (const id of ins) varies[id] = sweep;
    for (let k = start; k < end; ++k) {
      const code = op[k];
      if (code < F.KNOWN) {
        const rule = ruleAt(
          code,
          +(varies[x[k]] === sweep),
          +(varies[y[k]] === sweep),
          +(varies[z[k]] === sweep),
        );
        if (rule & 7 && PULLS[rule]) varies[k] = sweep;
      } else if (code === F.SAME) varies[k] = varies[x[k]];
      else if (code === F.ENTER) {
        const { args, results, end, push } = this.ruled[x[k]];
        if (args.some((id) => varies[id] === sweep)) {
          if (!push) enough();
          for (const id of results) varies[id] = sweep;
        }
        k = end;
      }
    }
  }

  /** Pass on the cotangents through a call; where it begins. */
  private pulled(call: Ruled): number {
    const { start, args, results } = call;
    if (results.some((id) => this.sums[id])) {
      const linear = call.linear ?? this.linear(call);
      const reached = results.map((id) => this.sums[id] > 0);
      const cotangents = results.map((id) => this.sums[id]);
      for (const id of results) this.sums[id] = NONE;
      const found = this.backward(
        linear.start,
        linear.end,
        linear.ins,
        linear.outs.filter((_, k) => reached[k]),
        cotangents.filter((_, k) => reached[k]),
      );
      args.forEach((id, k) => {
        if (!this.isZero(found[k])) this.add(id, found[k]);
      });
    }
    return start;
  }

  /** What passes on tangents through a call. */
  private linear({ args, push = enough }: Ruled): Linear {
    const { flat } = this;
    const ins = args.map(() => flat.add(F.GIVEN));
    const start = flat.length;
    const outs = push(ins);
    return { start, end: flat.length, ins, outs };
  }

  /** Room for the sums of all values that there are, and for as many more as there is for instructions. */
  private reserve(): void {
    const { length } = this.flat.op;
    if (this.sums.length >= length) return;
    const sums = new Int32Array(length);
    sums.set(this.sums);
    this.sums = sums;
    const varies = new Int32Array(length);
    varies.set(this.varies);
    this.varies = varies;
  }
}
