// From functions to WebAssembly that page scripts can call.

import type { CompileOptions } from "../../rose";
import { SIGNAL, soon, unless } from "../host/abort";
import { type Bytes, descriptorOf, moduleOf } from "../known/artifact";
import { callable, Callee, type Compiled, type Entered } from "./callable";
import { cellsOf, MemoryCells, type Slot } from "./cells";
import { isRunning, loader, type Loader } from "../core/core";
import { freezer } from "../host/freezer";
import { dataOf, epoch } from "../record/functions";
import type { FnData } from "../record/data";
import { fail } from "./evaluate";
import { lookAhead, search } from "./search";
import { giveBack, grow, takeMemory } from "./memory";
import { ON_REALS } from "../opcodes.gen";
import { BOOLEAN, checkOptions, type Option } from "../record/options";
import { type HostSlot, hostImport } from "./opaque";
import { instantiate } from "../core/probe";
import { type Program, programOf } from "../known/program";
import { settings } from "../host/settings";

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
