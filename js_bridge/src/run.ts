// From functions to numbers: `compile` and `interp`.

import { type Leaf, putArgs, take } from "./convert";
import { core, mainCore } from "./core";
import { dataOf, epoch, type FnData } from "./functions";
import { MATH } from "./opcodes.gen";
import { type Program, programOf } from "./program";
import type { Ty } from "./types";

const PAGE = 65536;

/** A leaf as the descriptor of a module gives it: kind of scalar, address or -1, number of scalars. */
export type Slot = readonly [kind: "f" | "i" | "b", address: number, count: number];

/** What the core says of a compiled module. */
export interface Descriptor {
  readonly pages: number;
  readonly end: number;
  readonly args: readonly Slot[];
  readonly results: readonly Slot[];
  readonly hosts: readonly number[];
}

export interface CompileOptions {
  /** The memory to use, which is grown as needed; else the function gets one of its own. */
  memory?: WebAssembly.Memory;
}

/** The first address of each shared memory that no function uses yet. */
const used = new WeakMap<WebAssembly.Memory, number>();

const imports = (
  program: Program,
  { hosts }: Descriptor,
  memory?: WebAssembly.Memory,
): WebAssembly.Imports => {
  const functions: WebAssembly.ModuleImports = {};
  for (const name of MATH) functions[name] = Math[name];
  hosts.forEach((number, k) => {
    functions[k] = program.hosts[number];
  });
  return memory === undefined ? { "": functions } : { "": functions, m: { "": memory } };
};

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

/** Compile `f` to WebAssembly; the promise of a function on ordinary values. */
export const compile = async (
  f: unknown,
  { memory }: CompileOptions = {},
): Promise<(...args: unknown[]) => unknown> => {
  const data = dataOf(f, "compile");
  const program = programOf(data);
  const base = memory ? (used.get(memory) ?? 0) : 0;
  const { bytes, descriptor } = await core().compile(program, base, memory !== undefined);
  if (memory) {
    const missing = descriptor.pages - memory.buffer.byteLength / PAGE;
    if (missing > 0) memory.grow(missing);
    used.set(memory, descriptor.end);
  }
  const { instance } = await WebAssembly.instantiate(
    bytes as Uint8Array<ArrayBuffer>,
    imports(program, descriptor, memory),
  );
  return callable(data, descriptor, instance, memory);
};

const callable = (
  data: FnData,
  descriptor: Descriptor,
  instance: WebAssembly.Instance,
  given: WebAssembly.Memory | undefined,
): ((...args: unknown[]) => unknown) => {
  const { exports } = instance;
  const enter = exports.f as (...args: number[]) => number;
  const views = new Views(given ?? (exports.m as WebAssembly.Memory));
  const passed: number[] = [];
  const args = descriptor.args.map((slot): Leaf => {
    if (slot[1] >= 0) return memoryLeaf(views, slot);
    return { start: passed.push(0) - 1, cells: () => passed };
  });
  const returned = [0];
  const results = descriptor.results.map((slot): Leaf =>
    slot[1] >= 0 ? memoryLeaf(views, slot) : { start: 0, cells: () => returned },
  );
  const compiled = (...values: unknown[]): unknown => {
    putArgs(data, args, values);
    returned[0] = enter(...passed);
    return take(results, 0, 0, data.ret);
  };
  Object.defineProperty(compiled, "name", { value: data.name });
  return compiled;
};

const sizeOf = (leaf: Ty): number => (leaf.kind === "vec" ? leaf.size * sizeOf(leaf.elem!) : 1);

/** The leaves of values of these types, in a row of numbers. */
const rowLeaves = (types: readonly Ty[], row?: Float64Array): [Float64Array, Leaf[]] => {
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

/** Numbers of interpreted programs, to be forgotten with the functions that `interp` gave. */
const interpreted = new FinalizationRegistry((forget: () => void) => forget());

/**
 * Run `f` by the interpreter, on ordinary values: slow, and by definition right.
 *
 * Needs the core on this thread: the default in Node, `configure({ core: "main" })` in a page, and
 * `await ready()` before.
 */
export const interp = (f: unknown): ((...args: unknown[]) => unknown) => {
  const data = dataOf(f, "interp");
  let run: ((args: Float64Array) => Float64Array) | undefined;
  let made = -1;
  const interpreter = (...values: unknown[]): unknown => {
    const [row, args] = rowLeaves(data.params);
    putArgs(data, args, values);
    if (run === undefined || made !== epoch) {
      const kept = mainCore().interpret(programOf(data));
      interpreted.register(interpreter, kept.forget);
      run = kept.run;
      made = epoch;
    }
    const [, results] = rowLeaves([data.ret], run(row));
    return take(results, 0, 0, data.ret);
  };
  return interpreter;
};

