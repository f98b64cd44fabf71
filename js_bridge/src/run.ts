// From functions to numbers: `compile` and `interp`.

import { type Leaf, putArgs, putResult, take } from "./convert";
import { mainCore } from "./core";
import { dataOf, epoch, type FnData } from "./functions";
import { MATH } from "./opcodes.gen";
import { evaluate, fail, takesDerivatives, type Value } from "./evaluate";
import { moduleOf } from "./known";
import { checkStandsAlone, programOf } from "./program";
import type { Ty } from "./types";

const PAGE = 65536;

/** A leaf as the descriptor of a module gives it: kind of scalar, address or -1, number of scalars. */
export type Slot = readonly [
  kind: "f" | "i" | "b",
  address: number,
  count: number,
];

/** A leaf of an opaque function's call: kind, count, number of the argument, whether that is an address. */
export type HostSlot = readonly [
  kind: Slot[0],
  count: number,
  position: number,
  inMemory: boolean,
];

/** What the core says of a compiled module. */
export interface Descriptor {
  readonly pages: number;
  /** The first address that the module does not use. */
  readonly end: number;
  readonly args: readonly Slot[];
  readonly results: readonly Slot[];
  /** Of each opaque function: its number, and where a call has its arguments and results. */
  readonly hosts: readonly (readonly [
    number,
    readonly HostSlot[],
    readonly HostSlot[],
  ])[];
}

export interface CompileOptions {
  /** The memory to use, which is grown as needed; else the function gets one of its own. */
  memory?: WebAssembly.Memory;
}

/** A compiled function, on ordinary values. */
export interface Compiled {
  (...args: unknown[]): unknown;
  /** Give back its memory; after that it cannot be called. */
  dispose(): void;
}

/** Views of a memory, made again when it has grown. */
class Views {
  private buffer: ArrayBufferLike | undefined;
  private views: Record<Slot[0], Float64Array | Int32Array | Uint8Array>;

  constructor(private readonly memory: WebAssembly.Memory) {
    this.views = this.make();
  }

  private make() {
    const { buffer } = this.memory;
    this.buffer = buffer;
    return {
      f: new Float64Array(buffer),
      i: new Int32Array(buffer),
      b: new Uint8Array(buffer),
    };
  }

  of(kind: Slot[0]): Float64Array | Int32Array | Uint8Array {
    if (this.buffer !== this.memory.buffer) this.views = this.make();
    return this.views[kind];
  }
}

const SHIFT = { f: 3, i: 2, b: 0 };

/** A leaf in memory. */
const memoryLeaf = (views: Views, [kind, address]: Slot): Leaf => ({
  start: address >> SHIFT[kind],
  cells: () => views.of(kind),
});

/** An opaque function as a module calls it, with numbers and addresses. */
const hostImport = (
  f: FnData,
  views: Views,
  args: readonly HostSlot[],
  results: readonly HostSlot[],
): ((...passed: number[]) => number | void) => {
  const host = f.host!;
  const plain = (ty: Ty): boolean => ty.kind === "real";
  if (f.params.every(plain) && plain(f.ret))
    return host as (...passed: number[]) => number;
  let passed: number[] = [];
  const returned = [0];
  const leaf = ([kind, , position, inMemory]: HostSlot): Leaf => ({
    get start() {
      return inMemory ? passed[position] >> SHIFT[kind] : Math.max(position, 0);
    },
    cells: () => (inMemory ? views.of(kind) : position < 0 ? returned : passed),
  });
  const from = args.map(leaf);
  const to = results.map(leaf);
  return (...given) => {
    passed = given;
    let at = 0;
    const values = f.params.map((ty) => {
      const value = take(from, at, 0, ty);
      at += ty.leaves;
      return value;
    });
    const result = host(...values);
    passed = given; // the host may have called this very function
    putResult(f, to, result);
    return returned[0];
  };
};

/** Memories that no function uses any more, for functions to come: a few. */
const pool: WebAssembly.Memory[] = [];
const POOLED = 8;

/** Take a memory of so many pages, all zeros up to `end`. */
const takeMemory = (pages: number, end: number): WebAssembly.Memory => {
  // of those that are large enough the smallest, else the largest, which grows
  pool.sort((a, b) => a.buffer.byteLength - b.buffer.byteLength);
  const fits = pool.findIndex(
    ({ buffer }) => buffer.byteLength >= pages * PAGE,
  );
  const [memory] = pool.splice(fits < 0 ? pool.length - 1 : fits, 1);
  if (memory === undefined) return new WebAssembly.Memory({ initial: pages });
  new Uint8Array(
    memory.buffer,
    0,
    Math.min(end, memory.buffer.byteLength),
  ).fill(0);
  grow(memory, pages);
  return memory;
};

const grow = (memory: WebAssembly.Memory, pages: number): void => {
  const missing = pages - memory.buffer.byteLength / PAGE;
  if (missing > 0) memory.grow(missing);
};

/** Keep a memory that no function uses any more. */
const giveBack = (memory: WebAssembly.Memory): void => {
  if (pool.length < POOLED) pool.push(memory);
};

/** Functions that are dropped without `dispose`. It holds their memories, and must not hold them. */
const dropped = new FinalizationRegistry(giveBack);

/** Compile `f` to WebAssembly; the promise of a function on ordinary values. */
export const compile = async (
  f: unknown,
  options: CompileOptions = {},
): Promise<Compiled> => {
  const data = dataOf(f, "compile");
  const program = programOf(data);
  const given = options.memory;
  const { module, descriptor } = await moduleOf(
    program,
    given ? "shared" : "imported",
  );
  const memory = given ?? takeMemory(descriptor.pages, descriptor.end);
  if (given) grow(given, descriptor.pages);
  const views = new Views(memory);
  const functions: WebAssembly.ModuleImports = {};
  for (const name of MATH) functions[name] = Math[name];
  functions.fail = (code: number, x: number, y: number) =>
    fail(code, x, y, program.notes);
  descriptor.hosts.forEach(([number, args, results], k) => {
    functions[k] = hostImport(program.opaque[number], views, args, results);
  });
  const instance = await WebAssembly.instantiate(module, {
    "": functions,
    m: { "": memory },
  });
  return callable(
    data,
    descriptor,
    instance,
    views,
    given ? undefined : memory,
  );
};

/** `own`: the memory to give back, if it is the function's own. */
const callable = (
  data: FnData,
  descriptor: Descriptor,
  instance: WebAssembly.Instance,
  views: Views,
  own: WebAssembly.Memory | undefined,
): Compiled => {
  let enter = instance.exports.f as ((...args: number[]) => number) | undefined;
  const passed: number[] = [];
  const args = descriptor.args.map((slot): Leaf => {
    if (slot[1] >= 0) return memoryLeaf(views, slot);
    return { start: passed.push(0) - 1, cells: () => passed };
  });
  const returned = [0];
  const results = descriptor.results.map((slot): Leaf =>
    slot[1] >= 0
      ? memoryLeaf(views, slot)
      : { start: 0, cells: () => returned },
  );
  const compiled = ((...values: unknown[]): unknown => {
    if (enter === undefined) throw Error(`${data.name} was disposed of`);
    putArgs(data, args, values);
    returned[0] = enter(...passed);
    return take(results, 0, 0, data.ret);
  }) as Compiled;
  const dispose = (): void => {
    if (enter === undefined) return;
    enter = undefined;
    dropped.unregister(compiled);
    if (own) giveBack(own);
  };
  if (own) dropped.register(compiled, own, compiled);
  Object.defineProperty(compiled, "name", { value: data.name });
  Object.defineProperty(compiled, "dispose", { value: dispose });
  if (Symbol.dispose)
    Object.defineProperty(compiled, Symbol.dispose, { value: dispose });
  return compiled;
};

const sizeOf = (leaf: Ty): number =>
  leaf.kind === "vec" ? leaf.size * sizeOf(leaf.elem!) : 1;

/** The leaves of values of these types, in a row of numbers. */
const rowLeaves = (
  types: readonly Ty[],
  row?: Float64Array,
): [Float64Array, Leaf[]] => {
  const leaves = types.flatMap((ty) => ty.leafTypes);
  const sizes = leaves.map(sizeOf);
  const numbers = row ?? new Float64Array(sizes.reduce((a, b) => a + b, 0));
  let start = 0;
  return [
    numbers,
    sizes.map((size) => {
      start += size;
      return { start: start - size, cells: () => numbers };
    }),
  ];
};

/** An opaque function from the numbers of its arguments, in a row, to those of its result. */
const rowHost =
  (f: FnData) =>
  (bytes: Uint8Array): Float64Array => {
    const [, from] = rowLeaves(
      f.params,
      new Float64Array(bytes.slice().buffer),
    );
    let at = 0;
    const values = f.params.map((ty) => {
      const value = take(from, at, 0, ty);
      at += ty.leaves;
      return value;
    });
    const [row, to] = rowLeaves([f.ret]);
    putResult(f, to, f.host!(...values));
    return row;
  };

/** The leaves of these types, from a row of numbers. */
const leavesOf = (types: readonly Ty[], row: Float64Array): Value[] => {
  let at = 0;
  const next = (leaf: Ty): Value =>
    leaf.kind === "vec"
      ? Array.from({ length: leaf.size }, () => next(leaf.elem!))
      : row[at++];
  return types.flatMap((ty) => ty.leafTypes.map(next));
};

const numbersIn = (x: Value): number[] =>
  typeof x === "number" ? [x] : x.flatMap(numbersIn);

/** All numbers of leaves, in a row. */
const rowOf = (leaves: readonly Value[]): Float64Array =>
  Float64Array.from(leaves.flatMap(numbersIn));

/** Run an opaque function on leaves. */
const runHost = (f: FnData, args: Value[]): Value[] =>
  leavesOf([f.ret], rowHost(f)(new Uint8Array(rowOf(args).buffer)));

/** Numbers of interpreted programs, to be forgotten with the functions that `interp` gave. */
const interpreted = new FinalizationRegistry((forget: () => void) => forget());

/**
 * Run `f` by the interpreter, on ordinary values: slow, and by definition right.
 *
 * Where a derivative is taken in it, it needs the core on this thread: the default in Node,
 * `configure({ core: "main" })` in a page, and `await ready()` before.
 */
export const interp = (f: unknown): ((...args: unknown[]) => unknown) => {
  const data = dataOf(f, "interp");
  let run: ((args: Float64Array) => Float64Array) | undefined;
  let made = -1;
  const interpreter = (...values: unknown[]): unknown => {
    const [row, args] = rowLeaves(data.params);
    putArgs(data, args, values);
    if (run === undefined || made !== epoch) {
      run = takesDerivatives(data) ? byCore(data, interpreter) : byRows(data);
      made = epoch;
    }
    const [, results] = rowLeaves([data.ret], run(row));
    return take(results, 0, 0, data.ret);
  };
  return interpreter;
};

const byRows = (data: FnData) => {
  checkStandsAlone(data);
  return (row: Float64Array) =>
    rowOf(evaluate(data, leavesOf(data.params, row), runHost));
};

const byCore = (data: FnData, interpreter: object) => {
  const program = programOf(data);
  const kept = mainCore().interpret(program, program.opaque.map(rowHost));
  interpreted.register(interpreter, kept.forget);
  return kept.run;
};
