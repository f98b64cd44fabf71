// A compiled function as page scripts hold it.

import { copyOf, liesIn, plain } from "./alias";
import { type Argument, argumentsOf, putArguments } from "./arguments";
import {
  type Leaf,
  type MemoryCells,
  rowCells,
  type Slot,
  startOf,
  type User,
} from "./cells";
import type { Signature } from "../record/data";
import { giveBack } from "./memory";
import { within } from "../record/where";
import { type Filler, fillerOf, Result, valueOf } from "./results";
import { type Check, checksOf, type View, Views } from "./views";

/** A compiled function, on ordinary values. */
export interface Compiled {
  (...args: unknown[]): unknown;
  /** The same, the result put into `out`, an array or object of its form; gives `out`. */
  into(out: unknown, ...args: unknown[]): unknown;
  /**
   * The arguments in memory, to be filled for `run`: see `View`; a scalar is an array of one. Memory that
   * was given to `compile` may grow, which makes older views empty, and any call of a function that has
   * the same memory writes over them.
   */
  readonly args: readonly View[];
  /** The result in memory. */
  readonly result: View;
  /** Compute the result in memory from the arguments in memory, and give it. Allocates nothing. */
  run(): View;
  /**
   * Whether it runs compiled code, of one that was a draft first: a promise, of false if it stays one, which is
   * said in the console.
   */
  readonly settled: Promise<boolean>;
  /** Give back its memory, which empties the views of it; after that it cannot be called. */
  dispose(): void;
}

/** An instance of a module, and what its descriptor says. */
export interface Instance extends User {
  readonly args: readonly Slot[];
  readonly results: readonly Slot[];
  /** Whether it calls opaque functions. */
  readonly callsHost: boolean;
  readonly cells: MemoryCells;
}

/** What works until the module is there, in the form of an instance of it. */
export interface Draft extends Instance {
  /** Have `to` do the work from now on; whoever has views of the draft's memory keeps them. */
  relay(to: Callee): void;
}

export type Enter = (...scalars: number[]) => number;

/** Up to so many scalars are passed by `f`; to pass more is no faster than memory. */
const MOST_PASSED = 4;

/** What a compiled function does. */
export class Callee {
  readonly args: Views;
  readonly result: Views;
  readonly cells: MemoryCells;
  private readonly enter: () => number;
  private readonly inputs: readonly Argument[];
  /** What `f` returns, if its result is a scalar. */
  private readonly returned = new Float64Array(1);
  private readonly output: Result;
  private readonly fill: Filler;
  private readonly checks: readonly Check[];
  /** Whether its memory is its own, and stays as it is: nothing makes it grow or comes between. */
  private readonly isSteady: boolean;

  constructor(
    readonly data: Signature,
    readonly instance: Instance,
  ) {
    const { args, results, exports, cells, callsHost } = instance;
    this.cells = cells;
    this.isSteady = !cells.shared && !callsHost && !("t" in exports);
    const scalars = new Float64Array(args.filter(isPassed).length);
    const direct = scalars.length <= MOST_PASSED;
    const placeOf = (slot: Slot, row: Float64Array, start: number): Leaf =>
      direct && isPassed(slot)
        ? { cells: rowCells(row), start }
        : { cells, start: startOf(slot) };
    let passed = 0;
    this.inputs = argumentsOf(
      data.params,
      args.map((slot) => placeOf(slot, scalars, isPassed(slot) ? passed++ : 0)),
    );
    const leaves = results.map((slot) => placeOf(slot, this.returned, 0));
    this.output = new Result(data.ret, leaves);
    this.fill = fillerOf(data.ret, leaves);
    this.enter = direct
      ? withScalars(exports.f as Enter, scalars)
      : (exports.r as Enter);
    this.checks = checksOf(data, args);
    this.args = new Views(data.params, args, cells);
    this.result = new Views([data.ret], results, cells);
  }

  call(values: readonly unknown[]): unknown {
    if (this.cells.busy) return this.callMeanwhile(values);
    this.compute(values);
    return valueOf(this.output);
  }

  private callMeanwhile(values: readonly unknown[]): unknown {
    return this.meanwhile(() => this.call(values));
  }

  into(out: unknown, values: readonly unknown[]): unknown {
    const { cells, data } = this;
    if (cells.busy) return this.meanwhile(() => this.into(out, values));
    if (this.mayOverlap && liesIn(out, data.ret, cells.memory.buffer))
      throw TypeError(
        `${data.name}.into: the output lies in the memory that ${data.name} itself uses`,
      );
    this.compute(values);
    try {
      this.fill(out, 0);
    } catch (error) {
      throw within(error, `the result of ${data.name}`);
    }
    return out;
  }

  /** Whether anyone has views of its memory. */
  get isViewed(): boolean {
    return this.args.given || this.result.given;
  }

  /** Whether someone may hold views of its memory: its own, or those of what else has the memory. */
  private get mayOverlap(): boolean {
    return this.cells.shared || this.isViewed;
  }

  run(): View {
    const { cells, data } = this;
    if (cells.busy)
      throw Error(
        `${data.name}.run: an opaque function cannot use the memory of its caller`,
      );
    cells.refresh();
    if (this.args.stale)
      throw Error(
        `${data.name}.run: the memory has grown, so ${data.name}.args has to be read again`,
      );
    for (let k = 0; k < this.checks.length; ++k) this.checks[k](cells);
    this.go(this.instance.exports.r as Enter);
    return this.result.current()[0];
  }

  /** Run on these values; the result is in its leaves then. */
  private compute(values: readonly unknown[]): void {
    const { cells, data } = this;
    if (this.isSteady && !this.isViewed) {
      this.put(values);
      this.returned[0] = this.enter();
      return;
    }
    cells.refresh();
    if (this.mayOverlap) {
      const { params } = data;
      const { buffer } = cells.memory;
      values = values.map((x, k) =>
        params[k] && liesIn(x, params[k], buffer)
          ? copyOf(x, params[k], buffer)
          : x,
      );
    }
    this.put(values);
    this.returned[0] = this.go(this.enter);
  }

  /** Put the arguments of a call where they belong. */
  private put(values: readonly unknown[]): void {
    const { cells, data, inputs } = this;
    const turn = ++cells.turn;
    putArguments(data, inputs, values);
    // an accessor of an argument may have called what puts its own arguments there
    if (turn !== cells.turn) putArguments(data, inputs, plain(data, values));
  }

  /** Enter the module. */
  go(enter: Enter): number {
    const { cells, instance } = this;
    if (instance.callsHost) cells.busy = instance;
    try {
      return enter();
    } finally {
      cells.busy = undefined;
      cells.refresh(); // a tape or an opaque function may have made it grow
    }
  }

  /** Do something while a function waits for an opaque one: what it has in the memory will be there again. */
  meanwhile<T>(action: () => T): T {
    const { cells } = this;
    const waiting = cells.busy!;
    const top = waiting.exports.t as WebAssembly.Global | undefined;
    const end: number = top ? top.value : waiting.end;
    cells.refresh();
    const bytes = cells.b.slice(0, end);
    cells.busy = undefined;
    try {
      return action();
    } finally {
      cells.refresh();
      cells.b.set(bytes);
      if (top) top.value = end;
      cells.busy = waiting;
    }
  }
}

const isPassed = ([, , , passed]: Slot): boolean => passed;

/** `f` on the numbers in `row`. Spreading would take several times as long. */
const withScalars = (f: Enter, row: Float64Array): (() => number) => {
  switch (row.length) {
    case 0:
      return f;
    case 1:
      return () => f(row[0]);
    case 2:
      return () => f(row[0], row[1]);
    case 3:
      return () => f(row[0], row[1], row[2]);
    default:
      return () => f(row[0], row[1], row[2], row[3]);
  }
};

const isDraft = (instance: Instance): instance is Draft => "relay" in instance;

/** Empty all views of a memory, if it is one's own. */
const empty = (memory: Partial<WebAssembly.Memory> | undefined): void => {
  if (memory?.grow) memory.grow(0);
  else if (memory) structuredClone(0, { transfer: [memory.buffer!] });
};

/** A compiled function, and what it is at present: a draft's place another instance takes. */
export interface Held {
  readonly compiled: Compiled;
  /** Undefined when it was disposed of. */
  callee: Callee | undefined;
  /** The draft that does the work, or whose memory somebody has views of. */
  draft: Draft | undefined;
  /** Its memory, if that is its own. */
  own: WebAssembly.Memory | undefined;
}

/** An instance, and its memory, to be given back, if that is its own. */
export interface Entered {
  readonly instance: Instance;
  readonly own?: WebAssembly.Memory;
}

/** Let `dispose` end the use of `f`, under both names where engines have them. */
export const makeDisposable = (f: object, dispose: () => void): void => {
  for (const name of ["dispose", Symbol.dispose])
    if (name) Object.defineProperty(f, name, { value: dispose });
};

const NO_DRAFT = Promise.resolve(true);

/** The callable of a function. `settled`: of a draft, whether its module has come. */
export const callable = (
  { name, params, ret }: Signature,
  { instance, own }: Entered,
  settled = NO_DRAFT,
): Held => {
  const data = { name, params, ret }; // which holds on to nothing that was recorded
  const there = (): Callee => {
    if (held.callee === undefined) throw Error(`${name} was disposed of`);
    return held.callee;
  };
  const compiled = ((...values: unknown[]): unknown =>
    there().call(values)) as Compiled;
  const held: Held = {
    compiled,
    callee: new Callee(data, instance),
    draft: isDraft(instance) ? instance : undefined,
    own,
  };
  Object.defineProperties(compiled, {
    name: { value: name },
    into: {
      value: (out: unknown, ...values: unknown[]) => there().into(out, values),
    },
    args: { get: () => there().args.current() },
    result: { get: () => there().result.current()[0] },
    run: { value: () => there().run() },
    settled: { value: settled },
  });
  makeDisposable(compiled, () => {
    const { callee, draft, own } = held;
    // what an opaque function disposes of in its call comes to an end first
    if (callee?.isViewed && !draft?.cells.busy)
      empty(draft?.cells.memory ?? own);
    if (own) giveBack(own);
    // which live as long as who has the function, else
    held.callee = held.draft = held.own = undefined;
  });
  return held;
};
