// From functions to numbers: `compile` and `interp`.

import type { CompileOptions } from "../../rose";
import { SIGNAL, soon, unless } from "../host/abort";
import { plain } from "./alias";
import { type Bytes, descriptorOf, moduleOf } from "../known/artifact";
import { argumentsOf, putArguments } from "./arguments";
import { callable, Callee, type Compiled, type Entered } from "./callable";
import { cellsOf, MemoryCells, type Slot } from "./cells";
import { isRunning, loader, type Loader, mainCore } from "../core/core";
import { freezer } from "../host/freezer";
import { dataOf, epoch } from "../record/functions";
import type { FnData } from "../record/data";
import {
  evaluate,
  fail,
  nested,
  takesDerivatives,
  type Value,
} from "./evaluate";
import { lookAhead, search } from "./search";
import { giveBack, grow, takeMemory } from "./memory";
import { ON_REALS } from "../opcodes.gen";
import { BOOLEAN, checkOptions, type Option } from "../record/options";
import { type HostSlot, hostImport, Row, rowHost } from "./opaque";
import { instantiate } from "../core/probe";
import { type Program, programOf } from "../known/program";
import { readerOf } from "./results";
import { settings } from "../host/settings";
import type { Ty } from "../record/types";

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
  /** The core's own notes: each what it says, before the program's note of that number. */
  readonly notes: readonly (readonly [string, number])[];
}

/** Objects of another window are as good as this one's. */
export const OPTIONS: Readonly<Record<keyof CompileOptions, Option>> = {
  memory: [
    (x) =>
      "grow" in Object(x) &&
      `${(x as WebAssembly.Memory).buffer}` === "[object ArrayBuffer]",
    "a WebAssembly.Memory that is not shared",
  ],
  signal: SIGNAL,
  draft: BOOLEAN,
  precise: BOOLEAN,
};

/** Compile `f` to WebAssembly; the promise of a function on ordinary values. */
export const compile = async (
  f: unknown,
  options: CompileOptions = {},
): Promise<Compiled> => {
  checkOptions("compile", options, OPTIONS);
  const { memory: given, signal } = options;
  signal?.throwIfAborted();
  const data = dataOf(f, "compile");
  lookAhead().catch(() => {}); // without one there is no error
  const program = programOf(data, options.precise);
  const wanted = search(program, given ? "shared" : "imported");
  const work = async (): Promise<Entered> => {
    const entered = await enter(
      data,
      program,
      await wanted.made(signal),
      given,
    );
    if (!signal?.aborted) return entered;
    if (entered.own) giveBack(entered.own);
    throw signal.reason;
  };
  const since = epoch;
  if (mayDraft(options) && !(await soon(wanted.known, PATIENCE))) {
    // who cannot be loaded is missed when the core is
    const draft = await loader().then(
      // a draft of what has another derivative by now would be of another program
      (loaded) =>
        epoch === since
          ? (loaded as Drafts).drafted(
              data,
              TOOLS,
              work,
              signal,
              isRunning() ? program.ints.length : Infinity,
            )
          : undefined,
      () => undefined,
    );
    if (draft) return draft;
  }
  return callable(data, await unless(signal, work())).compiled;
};

/** Milliseconds that a page that takes a draft waits for what may have been compiled before. */
const PATIENCE = 100;

/** What drafts need of the bridge, of which the page's own has to be taken. */
const TOOLS = { Callee, MemoryCells, callable, giveBack, hostImport };

export type Tools = typeof TOOLS;

/** What gives drafts: see `draft/draft.ts`. */
export type Drafting = (
  f: FnData,
  tools: Tools,
  work: () => Promise<Entered>,
  signal: AbortSignal | undefined,
  length: number,
) => Compiled | undefined;

/** What is loaded with what knows of workers and Python. */
interface Drafts extends Loader {
  drafted: Drafting;
}

/** Whether a function may be a draft before it is compiled; to be frozen, it has to be compiled. */
const mayDraft = ({ draft = settings.draft }: CompileOptions): boolean =>
  draft && !freezer();

/**
 * An instance of a compiled program, and its memory, if that is its own. It holds on to what is said here of the
 * program, and not to all that was recorded of it.
 */
const enter = async (
  data: FnData,
  { opaque, notes: said }: Program,
  file: Bytes,
  given: WebAssembly.Memory | undefined,
): Promise<Entered> => {
  const descriptor: Descriptor = descriptorOf(file);
  const { args, results, end, hosts } = descriptor;
  const memory = given ?? takeMemory(data.name, descriptor.pages, end);
  if (given) grow(data.name, given, descriptor.pages);
  const cells = cellsOf(memory, given !== undefined);
  const functions: WebAssembly.ModuleImports = {};
  for (const name in ON_REALS) functions[name] = Math[name as "sin"];
  const notes = [
    ...said,
    ...descriptor.notes.map(([text, place]) => text + said[place]),
  ];
  functions.fail = (code: number, x: number, y: number) =>
    fail(code, x, y, notes);
  hosts.forEach(([number, args, results], k) => {
    functions[k] = hostImport(opaque[number], cells, args, results);
  });
  const exports = await instantiate(moduleOf(file), {
    "": functions,
    m: { "": memory },
  });
  const callsHost = hosts.length > 0;
  return {
    instance: { args, results, end, callsHost, exports, cells },
    own: given ? undefined : memory,
  };
};

/** The leaves of these types, from a row of numbers. */
const leavesOf = (types: readonly Ty[], row: Float64Array): Value[] => {
  let at = 0;
  return types.flatMap((ty) =>
    ty.leafTypes.map((leaf) => nested(leaf, () => row[at++])),
  );
};

/** All numbers of leaves, in a row. */
const rowOf = (leaves: Value[]): Float64Array =>
  Float64Array.from((leaves as any[]).flat(Infinity));

/** Run an opaque function on leaves. */
const runHost = (f: FnData, args: Value[]): Value[] =>
  leavesOf([f.ret], rowHost(f)(new Uint8Array(rowOf(args).buffer)));

/** Numbers of interpreted programs, to be forgotten with the functions that `interp` gave. */
const interpreted = new FinalizationRegistry((forget: () => void) => forget());

/**
 * Run `f` by the interpreter, on ordinary values: slow, and by definition right.
 *
 * Where a derivative is taken in it, or an equation solved, it needs the core on this thread: the default in Node,
 * `configure({ core: "main" })` in a page, and `await ready()` before.
 */
export const interp = (f: unknown): ((...args: unknown[]) => unknown) => {
  const data = dataOf(f, "interp");
  let run: ((args: Float64Array) => Float64Array) | undefined;
  let made = -1;
  const args = new Row(data.params);
  const result = new Row([data.ret]);
  const into = argumentsOf(data.params, args.leaves);
  const read = readerOf(data.ret, result.leaves);
  const interpreter = (...values: unknown[]): unknown => {
    const given = plain(data, values); // before accessors could call this very function
    const row = args.use();
    putArguments(data, into, given);
    if (run === undefined || made !== epoch) {
      run = takesDerivatives(data) ? byCore(data, interpreter) : byRows(data);
      made = epoch;
    }
    result.use(run(row));
    return read(0);
  };
  return interpreter;
};

const byRows = (data: FnData) => {
  data.checkStandsAlone();
  return (row: Float64Array) =>
    rowOf(evaluate(data, leavesOf(data.params, row), runHost));
};

const byCore = (data: FnData, interpreter: object) => {
  const program = programOf(data);
  const kept = mainCore().interpret(program, program.opaque.map(rowHost));
  interpreted.register(interpreter, kept.forget);
  return kept.run;
};
