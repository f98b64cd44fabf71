// A program as scalar instructions in a row, without loops, calls or branches: what a draft runs.
//
// An instruction's number is the id of its value, and its operands are smaller. What has one value whenever
// the program runs is known at once. What nobody needs is there, too, and is run: to find out takes longer than
// most drafts live.

import { OP } from "../opcodes.gen";
import { operations } from "../call/operations";

/** Instructions besides the operations of the table. */
export const enum F {
  /** A number. */
  KNOWN = 200,
  /** A scalar from outside: an argument, or a tangent that stands for any. */
  GIVEN,
  /** Another name of `x`, so that it has a cotangent of its own. */
  SAME,
  /** The result of the opaque function that is called with the number `x`. */
  HOST,
  /** Before and after what the call `x` does of a function with a derivative of its own. */
  ENTER,
  LEAVE,
}

/** To make more instructions would hold the page up. */
const MOST = 1 << 20;

/** What is said of a program of which there is no draft. */
export class NoDraft extends Error {}

export const enough = (): never => {
  throw new NoDraft();
};

const run = operations();

/** A number by itself, of which there are two zeros. */
const keyOf = (x: number): unknown => (Object.is(x, -0) ? "-0" : x);

/** The instructions, in lists of the same length; the first is nobody's. */
export class Flat {
  length = 0;
  op: Uint8Array;
  x: Int32Array;
  y: Int32Array;
  z: Int32Array;
  /** The values that are known. */
  value: Float64Array;
  private readonly numbers = new Map<unknown, number>();

  /** `room`: for about how many instructions. */
  constructor(room: number) {
    const length = Math.min(Math.max(room, 256), MOST);
    this.op = new Uint8Array(length);
    this.x = new Int32Array(length);
    this.y = new Int32Array(length);
    this.z = new Int32Array(length);
    this.value = new Float64Array(length);
    this.add(F.KNOWN);
  }

  /** Append an instruction; its id. */
  add(op: number, x = 0, y = 0, z = 0): number {
    const k = this.length;
    if (k === this.op.length) this.grow();
    this.op[k] = op;
    this.x[k] = x;
    this.y[k] = y;
    this.z[k] = z;
    this.length = k + 1;
    return k;
  }

  private grow(): void {
    if (this.op.length >= MOST) enough();
    const { op, x, y, z, value } = this;
    const length = Math.min(2 * op.length, MOST);
    (this.op = new Uint8Array(length)).set(op);
    (this.x = new Int32Array(length)).set(x);
    (this.y = new Int32Array(length)).set(y);
    (this.z = new Int32Array(length)).set(z);
    (this.value = new Float64Array(length)).set(value);
  }

  /** The id of a number. */
  number(x: number): number {
    const key = keyOf(x);
    let id = this.numbers.get(key);
    if (id === undefined) {
      id = this.add(F.KNOWN);
      this.value[id] = x;
      this.numbers.set(key, id);
    }
    return id;
  }

  isKnown(id: number): boolean {
    return this.op[id] === F.KNOWN;
  }

  /** The number that `id` is; there is no draft if that is not known. */
  known(id: number): number {
    return this.isKnown(id) ? this.value[id] : enough();
  }

  /** The id of an operation of the table on one or two operands. */
  operation(op: number, x: number, y: number): number {
    const { op: ops, value } = this;
    if (ops[x] === F.KNOWN) {
      if (ops[y] === F.KNOWN) return this.number(run[op](value[x], value[y]));
      if (op === OP.mul && value[x] === 1) return y;
    } else if (ops[y] === F.KNOWN && op === OP.mul && value[y] === 1) return x;
    return this.add(op, x, y);
  }

  /** `a` where `p` holds, else `b`. */
  select(p: number, a: number, b: number): number {
    if (this.isKnown(p)) return this.value[p] ? a : b;
    return a === b ? a : this.add(OP.select, p, a, b);
  }
}
