// From a recorded function to scalar instructions, derivatives and all.
//
// A walk does once what the function does, on ids of scalars in place of numbers; calls, and turns of loops,
// are written out. What depends on numbers that only a call brings (a choice of which one side runs, the end
// of a loop, an index) is `enough`, and so are functions that the core alone can make.

import { enough, F, Flat } from "./flat";
import type { Capture, FnData } from "./functions";
import { OP, S } from "./opcodes.gen";
import type { Recorder } from "./recorder";
import { type Ruled, Sweeps } from "./sweeps";
import type { Ty } from "./types";

/** A value: the id of a scalar, or nested arrays of them. Calls and loops give several. */
type Value = any;

/** A call whose derivative will be asked for. */
interface Taken {
  readonly f: FnData;
  readonly start: number;
  readonly end: number;
  readonly args: readonly Value[];
  readonly results: readonly Value[];
}

/** Which leaves have derivatives: of what goes into a function, captured values last, and of what comes out. */
interface Signature {
  readonly ins: readonly boolean[];
  readonly outs: readonly boolean[];
}

/** Calls in each other before there is too much of it for the engine's stack. */
const DEEPEST = 500;

const isReal = (leaf: Ty): boolean =>
  leaf.kind === "real" ||
  leaf.kind === "tan" ||
  (leaf.kind === "vec" && isReal(leaf.elem!));

const typeOf = (x: Capture): Ty => ("leafTypes" in x ? x : x.ty);

/** The scalars in values, row by row. */
const scalarsOf = (values: readonly Value[]): number[] =>
  values.flat(Infinity as 1);

/** A value like `shape`, of these scalars. */
const shaped = (shape: Value, next: () => number): Value =>
  typeof shape === "number"
    ? next()
    : shape.map((item: Value) => shaped(item, next));

const mapped = (value: Value, f: (id: number) => number): Value =>
  typeof value === "number"
    ? f(value)
    : value.map((item: Value) => mapped(item, f));

/** The scalars of those values that have derivatives. */
const reals = (
  isReal: readonly boolean[],
  values: readonly Value[],
): number[] => scalarsOf(values.filter((_, k) => isReal[k]));

/** What gives one number after the other. */
const taking = (numbers: readonly number[]): (() => number) => {
  let k = 0;
  return () => numbers[k++];
};

export class Walk {
  readonly flat: Flat;
  /** The opaque functions that are called, each with the scalars of its arguments. */
  readonly hosts: { readonly f: FnData; readonly args: readonly number[] }[] =
    [];
  private readonly ruled: Ruled[] = [];
  private readonly sweeps: Sweeps;
  /** How many derivatives will be taken of what is done now. */
  private taken = 0;
  private depth = 0;
  private readonly literals = new Map<Recorder, Value[]>();

  private readonly signatures = new Map<FnData, Signature>();

  /** `work`: about how many instructions there will be. */
  constructor(work: number) {
    this.flat = new Flat(work);
    this.sweeps = new Sweeps(this.flat, this.ruled);
  }

  /** What `f` gives. */
  call(f: FnData, args: readonly Value[]): readonly Value[] {
    if (++this.depth > DEEPEST) enough();
    const results =
      this.taken && (f.jvp || f.isOpaque || f.fault)
        ? this.withRule(f, args)
        : this.plain(f, args);
    --this.depth;
    return results;
  }

  private plain(f: FnData, args: readonly Value[]): readonly Value[] {
    if (f.recording) return new Frame(this, f.recording, args).results();
    if (f.named)
      return f.named.by === "jvp" ? this.forward(f.named.of, args) : enough();
    return this.host(f, args);
  }

  private signature(f: FnData): Signature {
    let found = this.signatures.get(f);
    if (found === undefined) {
      const ins = f.params.flatMap(({ leafTypes }) => leafTypes);
      found = {
        ins: [...ins, ...f.captures.map(typeOf)].map(isReal),
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
          ? (tangents) => this.pushed(f, f.jvp!, args, tangents)
          : undefined,
    };
    ruled.push(entry);
    const results = this.named(outs, this.plain(f, args));
    entry.results = reals(outs, results);
    entry.end = flat.add(F.LEAVE, number);
    return results;
  }

  /** The tangents of the results of `f`, by its `rule`, as scalars. */
  private pushed(
    f: FnData,
    rule: FnData,
    args: readonly Value[],
    tangents: readonly number[],
  ): readonly number[] {
    const { ins, outs } = this.signature(f);
    const next = taking(tangents);
    const duals = args.flatMap((arg, k) =>
      ins[k] ? [shaped(arg, next), arg] : [arg],
    );
    ++this.taken;
    const results = this.call(rule, duals);
    --this.taken;
    let at = 0;
    const found: Value[] = [];
    for (const isReal of outs) {
      if (isReal) found.push(results[at++]);
      ++at;
    }
    return scalarsOf(found);
  }

  /** These values, those that have derivatives under names of their own. */
  private named(isReal: readonly boolean[], values: readonly Value[]): Value[] {
    const { flat } = this;
    return values.map((value, k) =>
      isReal[k] ? mapped(value, (id) => flat.add(F.SAME, id)) : value,
    );
  }

  /** A call of which the derivative will be taken. */
  take(f: FnData, given: readonly Value[]): Taken {
    const args = this.named(this.signature(f).ins, given);
    const start = this.flat.length;
    ++this.taken;
    const results = this.call(f, args);
    --this.taken;
    return { f, start, end: this.flat.length, args, results };
  }

  /** The forward derivative of `f`, on duals: its own rule, or a sweep. */
  private forward(f: FnData, duals: readonly Value[]): readonly Value[] {
    if (f.jvp) return this.call(f.jvp, duals);
    const { ins, outs } = this.signature(f);
    const tangents: Value[] = [];
    let at = 0;
    const primals = ins.map((isReal) => {
      if (isReal) tangents.push(duals[at++]);
      return duals[at++];
    });
    const { start, end, args, results } = this.take(f, primals);
    const next = taking(
      this.sweeps.forward(
        start,
        end,
        reals(ins, args),
        scalarsOf(tangents),
        reals(outs, results),
      ),
    );
    return results.flatMap((result, k) =>
      outs[k] ? [shaped(result, next), result] : [result],
    );
  }

  /** The cotangents of the arguments that have derivatives, from those of such results. */
  pull(
    { f, start, end, args, results }: Taken,
    cotangents: readonly Value[],
  ): readonly Value[] {
    const { ins, outs } = this.signature(f);
    const next = taking(
      this.sweeps.backward(
        start,
        end,
        reals(ins, args),
        reals(outs, results),
        scalarsOf(cotangents),
      ),
    );
    return args.filter((_, k) => ins[k]).map((arg) => shaped(arg, next));
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

/** A recorded body that is walked through. */
class Frame {
  private readonly flat: Flat;
  private readonly env: Value[];
  private readonly literals: Value[];

  constructor(
    private readonly walk: Walk,
    private readonly r: Recorder,
    private readonly args: readonly Value[],
  ) {
    this.flat = walk.flat;
    this.env = new Array(r.length / 3);
    this.literals = walk.literalsOf(r);
  }

  /** What it gives. */
  results(): Value[] {
    const { r } = this;
    this.run(0, r.length / 3);
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

  /** What a loop gives: of each result, that of all turns. */
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
          ? flat.number(i)
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
      case S.VJP:
        return walk.take(callees[extra[x]], this.all(x + 1, x + y));
      case S.PULL:
        return walk.pull(this.at(extra[x]), this.all(x + 1, x + y));
      case S.COND: {
        const split = x + 4 + extra[x + 2];
        return flat.known(this.at(extra[x + 3]))
          ? walk.call(callees[extra[x]], this.all(x + 4, split))
          : walk.call(callees[extra[x + 1]], this.all(split, x + y));
      }
      case S.LOOP:
        return this.turns(extra.slice(x, x + y));
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

  /** A loop with a state: its last state, the number of turns, and what it keeps of them. */
  private turns(row: readonly number[]): Value[] {
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
