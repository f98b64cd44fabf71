// From a recorded function to scalar instructions, derivatives and all.
//
// A walk does once what the function does, on ids of scalars in place of numbers; calls, and iterations of loops,
// are written out. What depends on numbers that only a call brings (a choice of which one side runs, the end
// of a loop, an index) is `enough`, and so are functions that the core alone can make.

import { enough, F, Flat } from "./flat";
import { Frame } from "./frame";
import type { FnData } from "../record/data";
import { makers } from "./makers";
import { OP } from "../opcodes.gen";
import type { Recorder } from "../record/recorder";
import { type Ruled, Sweeps } from "./sweeps";
import { isReal, type Ty, typeOfCapture } from "../record/types";

/** A value: the id of a scalar, or nested arrays of them. Calls and loops give several. */
export type Value = any;

/** Which leaves have derivatives: of what goes into a function, captured values last, and of what comes out. */
export interface Signature {
  readonly ins: readonly boolean[];
  readonly outs: readonly boolean[];
}

/** What a derivative will be taken of: the instructions from `start` to `end`. */
export interface Taken {
  readonly start: number;
  readonly end: number;
  /** The scalars of the arguments that have derivatives. */
  readonly ins: readonly number[];
  readonly args: readonly Value[];
  readonly results: readonly Value[];
}

/** What reverse mode is taken of in a recording. */
export interface Pullback extends Taken {
  readonly signature: Signature;
}

/** Calls in each other before there is too much of it for the engine's stack. */
const DEEPEST = 500;

/** The scalars in values, row by row. */
export const scalarsOf = (values: readonly Value[]): number[] =>
  values.flat(Infinity as 1);

/** A value like `shape`, of these scalars. */
export const shaped = (shape: Value, next: () => number): Value =>
  typeof shape === "number"
    ? next()
    : shape.map((item: Value) => shaped(item, next));

/** What gives one number after the other. */
export const taking = (numbers: readonly number[]): (() => number) => {
  let k = 0;
  return () => numbers[k++];
};

/** These values, before each of those that have derivatives its tangent. */
export const dualsOf = (
  isReal: readonly boolean[],
  values: readonly Value[],
  tangentOf: (value: Value, k: number) => Value,
): Value[] =>
  values.flatMap((value, k) =>
    isReal[k] ? [tangentOf(value, k), value] : [value],
  );

/** Duals apart: all values, and the tangents of those that have any. */
export const split = (
  isReal: readonly boolean[],
  duals: readonly Value[],
): { primals: Value[]; tangents: Value[] } => {
  const tangents: Value[] = [];
  let at = 0;
  const primals = isReal.map((isReal) => {
    if (isReal) tangents.push(duals[at++]);
    return duals[at++];
  });
  return { primals, tangents };
};

/** The scalars of those values that have derivatives. */
export const reals = (
  isReal: readonly boolean[],
  values: readonly Value[],
): number[] => scalarsOf(values.filter((_, k) => isReal[k]));

export class Walk {
  readonly flat: Flat;
  /** The opaque functions that are called, each with the scalars of its arguments. */
  readonly hosts: { readonly f: FnData; readonly args: readonly number[] }[] =
    [];
  private readonly ruled: Ruled[] = [];
  private readonly sweeps: Sweeps;
  /** How many derivatives will be taken of what is done now. */
  private taken = 0;
  /** The first instruction that may vary with what they are taken by. */
  private since = 0;
  private depth = 0;
  private readonly literals = new Map<Recorder, Value[]>();
  private readonly signatures = new Map<FnData, Signature>();

  /** `room`: for about how many instructions. */
  constructor(room: number) {
    this.flat = new Flat(room);
    this.sweeps = new Sweeps(this.flat, this.ruled);
  }

  /** What `f` gives. */
  call(f: FnData, args: readonly Value[]): readonly Value[] {
    if (++this.depth > DEEPEST) enough();
    const results =
      this.taken &&
      (f.jvp || f.isOpaque || f.fault) &&
      reals(this.signature(f).ins, args).some((id) => this.mayVary(id))
        ? this.withRule(f, args)
        : this.plain(f, args);
    --this.depth;
    return results;
  }

  /** Whether a value may vary with what derivatives are taken by. */
  private mayVary(id: number): boolean {
    return id >= this.since && !this.flat.isKnown(id);
  }

  private plain(f: FnData, args: readonly Value[]): readonly Value[] {
    if (f.recording) return new Frame(this, f.recording, args).results();
    if (!f.named) return this.host(f, args);
    const { by, of, options } = f.named;
    return (makers[by] ?? enough)(this, of, args, options);
  }

  signature(f: FnData): Signature {
    let found = this.signatures.get(f);
    if (found === undefined) {
      const ins = f.params.flatMap(({ leafTypes }) => leafTypes);
      found = {
        ins: [...ins, ...f.captures.map(typeOfCapture)].map(isReal),
        outs: f.ret.leafTypes.map(isReal),
      };
      this.signatures.set(f, found);
    }
    return found;
  }

  /** A function whose derivative is what its author says. */
  private withRule(f: FnData, given: readonly Value[]): readonly Value[] {
    const { flat, ruled } = this;
    const { ins, outs } = this.signature(f);
    const args = this.named(ins, given);
    const number = ruled.length;
    const start = flat.add(F.ENTER, number);
    const entry: Ruled = {
      start,
      end: start,
      args: reals(ins, args),
      results: [],
      push:
        f.jvp && !f.fault
          ? (tangents) => this.tangentsByRule(f, args, tangents)
          : undefined,
    };
    ruled.push(entry);
    const results = this.named(outs, this.valueByRule(f, args, entry));
    entry.results = reals(outs, results);
    entry.end = flat.add(F.LEAVE, number);
    return results;
  }

  /** What `f` gives where its derivative is taken: what its rule says of it, if it has one. */
  private valueByRule(
    f: FnData,
    args: readonly Value[],
    entry: Ruled,
  ): readonly Value[] {
    if (!entry.push) return this.plain(f, args);
    const { flat, since } = this;
    if (this.taken > 1) {
      // sweeps leave out what is done now, in which a second one could not see what varies
      --this.taken;
      const zeros = entry.args.map(() => flat.number(0));
      const { primals } = this.byRule(f, args, zeros);
      ++this.taken;
      return primals;
    }
    this.since = flat.length;
    const ins = entry.args.map(() => flat.add(F.GIVEN));
    const start = flat.length;
    const { primals, tangents } = this.byRule(f, args, ins);
    entry.linear = { start, end: flat.length, ins, outs: scalarsOf(tangents) };
    this.since = since;
    return primals;
  }

  /** The tangents of the results of `f`, as scalars; derivatives will be taken of what gives them. */
  private tangentsByRule(
    f: FnData,
    args: readonly Value[],
    given: readonly number[],
  ): readonly number[] {
    const since = given.reduce((a, b) => Math.min(a, b));
    const { tangents } = this.derived(since, () => this.byRule(f, args, given));
    return scalarsOf(tangents);
  }

  /** What the rule of `f` gives for these tangents of the arguments. */
  private byRule(
    f: FnData,
    args: readonly Value[],
    given: readonly number[],
  ): { primals: Value[]; tangents: Value[] } {
    const { ins, outs } = this.signature(f);
    const next = taking(given);
    const duals = dualsOf(ins, args, (arg) => shaped(arg, next));
    return split(outs, this.call(f.jvp!, duals));
  }

  /** These values, those that have derivatives under names of their own. */
  private named(isReal: readonly boolean[], values: readonly Value[]): Value[] {
    const { flat } = this;
    const named = (value: Value): Value =>
      typeof value === "number" ? flat.add(F.SAME, value) : value.map(named);
    return values.map((value, k) => (isReal[k] ? named(value) : value));
  }

  /** Do what a derivative will be taken of, by those of these values that have derivatives. */
  take(
    isReal: readonly boolean[],
    given: readonly Value[],
    work: (args: readonly Value[]) => readonly Value[],
  ): Taken {
    return this.derived(this.flat.length, () => {
      const args = this.named(isReal, given);
      const { length: start } = this.flat;
      const results = work(args);
      const { length: end } = this.flat;
      return { start, end, ins: reals(isReal, args), args, results };
    });
  }

  /** What `work` gives, of which a derivative will be taken by what varies from the instruction `since` on. */
  private derived<T>(since: number, work: () => T): T {
    const around = this.since;
    if (!this.taken++) this.since = since;
    const found = work();
    --this.taken;
    this.since = around;
    return found;
  }

  /** A call of which the derivative will be taken. */
  takeCall(f: FnData, given: readonly Value[]): Taken {
    return this.take(this.signature(f).ins, given, (args) =>
      this.call(f, args),
    );
  }

  /** The tangents of the scalars `outs`, from those of the arguments. */
  push(
    { start, end, ins }: Taken,
    tangents: readonly number[],
    outs: readonly number[],
  ): number[] {
    return this.sweeps.forward(start, end, ins, tangents, outs);
  }

  /** The cotangents of the arguments, from those of the scalars `outs`. */
  pull(
    { start, end, ins }: Taken,
    outs: readonly number[],
    cotangents: readonly number[],
  ): number[] {
    return this.sweeps.backward(start, end, ins, outs, cotangents);
  }

  private host(f: FnData, args: readonly Value[]): readonly Value[] {
    if ([...f.params, f.ret].some(({ kind }) => kind !== "real")) enough();
    this.hosts.push({ f, args: args as number[] });
    return [this.flat.add(F.HOST, this.hosts.length - 1)];
  }

  /** The values of the literals of a recording, as far as they were used: made when they are. */
  literalsOf(r: Recorder): Value[] {
    let known = this.literals.get(r);
    if (known === undefined) this.literals.set(r, (known = []));
    return known;
  }

  /** A value of type `ty` in which all numbers are `x`. */
  filled(ty: Ty, x: number): Value {
    if (ty.kind !== "vec") return this.flat.number(x);
    const elem = this.filled(ty.elem!, x);
    return Array.from({ length: ty.size }, () => elem);
  }

  select(p: number, a: Value, b: Value): Value {
    return typeof a === "number"
      ? this.flat.select(p, a, b)
      : a.map((item: Value, k: number) => this.select(p, item, b[k]));
  }

  sum(a: Value, b: Value): Value {
    return typeof a === "number"
      ? this.flat.operation(OP.add, a, b)
      : a.map((item: Value, k: number) => this.sum(item, b[k]));
  }
}
