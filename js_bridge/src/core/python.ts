// Pyodide with the core in it, on this thread.

import type { Assets } from "../host/assets";
import type { Interpreted, MainCore, Request, RowHost, Work } from "./core";
import { type Bytes, pack } from "../known/artifact";
import { type Count, Files, isLocal } from "./files";
import type { Progress } from "../../rose";
import { resumed } from "./snapshot";
import type { MemoryKind, Program } from "../known/program";
import { keep } from "../known/store";

interface PyProxy {
  destroy(): void;
  toJs(): unknown;
}

/** The functions of `rose_core.bridge`. */
interface Bridge {
  compile_recording(
    header: string,
    ints: Uint8Array,
    reals: Uint8Array,
    memory: MemoryKind,
    incremental: boolean,
  ): PyProxy;
  tidy(): void;
  practise(turn: number): void;
  run_scripts(texts: string): PyProxy;
  wants_library(texts: string): boolean;
  add_library(archive: Uint8Array): void;
  interpret_recording(
    number: number,
    header: string,
    ints: Uint8Array,
    reals: Uint8Array,
    hosts: unknown[],
    notes: readonly string[],
    noteAt: readonly number[],
    intNoteAt: readonly number[],
  ): void;
  interpret(number: number, args: Uint8Array): PyProxy;
  forget(number: number): void;
}

interface Pyodide {
  FS: { writeFile(path: string, data: Uint8Array): void };
  runPython(code: string): unknown;
  pyimport(name: string): Bridge;
}

/** An address as Pyodide wants it: in Node, files by their paths, which on Windows begin with a drive's letter. */
const placeOf = (address: string): string =>
  isLocal(address)
    ? decodeURIComponent(new URL(address).pathname).replace(/^\/(?=\w:)/, "")
    : address;

const WASM = "pyodide.asm.wasm";

/**
 * What to tell Pyodide to be its folder, so that it finds its WebAssembly, which it asks for by name
 * and has no other option for. If a bundler has named it anew, the name comes behind a `#`: what is
 * there no browser sends.
 */
const folderOf = (wasm: string): string =>
  wasm.endsWith(`/${WASM}`)
    ? placeOf(wasm.slice(0, -WASM.length))
    : `${wasm}#/`;

const bytesOf = (view: ArrayBufferView): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

const CORE = "pyodide/rose_core.zip";
const STDLIB = "pyodide/python_stdlib.zip";
const SNAPSHOT = "pyodide/rose_core.snapshot.wasm";
const MODULE = "pyodide/pyodide.asm.wasm";
const ENTRY = "pyodide/pyodide.js";
const GLUE = "pyodide/pyodide.asm.js";

/** Where Python has the core. */
const PATH = "/lib/rose_core.zip";

/** An archive of nothing. */
const EMPTY = Uint8Array.of(0x50, 0x4b, 5, 6, ...Array<number>(18).fill(0));

/**
 * In a worker, which is ours: Pyodide gets what is on its way already, and its module compiled, which other threads
 * do while this one runs its scripts. With a snapshot, the standard library is in it, as far as the core needs that.
 */
const handOver = (assets: Assets, files: Files, library: Promise<Bytes>) => {
  const { fetch } = self;
  const compiled = files.bytes(MODULE).then(WebAssembly.compile);
  compiled.catch(() => {}); // who asks for it is told
  self.fetch = async (input, init) => {
    const [address] = String(input).split("#");
    if (address === assets[MODULE]) return new Response();
    if (address === assets[STDLIB]) return new Response(await library);
    return fetch(input, init);
  };
  WebAssembly.instantiateStreaming = async (_, imports) => {
    const module = await compiled;
    return { module, instance: await WebAssembly.instantiate(module, imports) };
  };
};

/** Pyodide's two scripts, which are compiled while larger files are on their way. */
const scriptsOf = (files: Files): Promise<Scripts> =>
  Promise.all([
    files.script<Scripts[0]>(ENTRY, "loadPyodide"),
    files.script<Scripts[1]>(GLUE, "default"),
  ]);

type Scripts = [
  { loadPyodide(options: object): Promise<Pyodide> },
  { default: Parameters<typeof resumed>[1] },
];

/** Start Python; once more where the engine itself has failed, as WebKit's does now and then on a page's thread. */
const start = async (
  assets: Assets,
  [{ loadPyodide }, { default: createPyodideModule }]: Scripts,
  snapshot?: Uint8Array,
): Promise<Pyodide> => {
  const begin = (): Promise<Pyodide> =>
    loadPyodide({
      createPyodideModule,
      indexURL: folderOf(assets[MODULE]),
      stdLibURL: placeOf(assets[STDLIB]),
      lockFileContents: __LOCK__,
      ...(snapshot && resumed(snapshot, createPyodideModule)),
    });
  try {
    return await begin();
  } catch (cause) {
    if (cause instanceof WebAssembly.RuntimeError) return begin();
    throw cause;
  }
};

/** Python as it was when the core had been loaded. */
const restored = async (assets: Assets, files: Files): Promise<Pyodide> => {
  const [snapshot, scripts] = await Promise.all([
    files.bytes(SNAPSHOT),
    scriptsOf(files),
    files.bytes(MODULE),
  ]);
  const python = await start(assets, scripts, snapshot);
  // it would give the same numbers everywhere
  python.runPython(
    'import sys; "random" in sys.modules and sys.modules["random"].seed(); None',
  );
  return python;
};

/** Python, started and given the core. */
const started = async (assets: Assets, files: Files): Promise<Pyodide> => {
  // Pyodide itself would wait forever for a module that does not come, and exit without a library
  const [scripts, zip] = await Promise.all([
    scriptsOf(files),
    files.bytes(CORE),
    files.bytes(MODULE),
    files.bytes(STDLIB),
  ]);
  const python = await start(assets, scripts);
  python.FS.writeFile(PATH, zip);
  python.runPython(`import sys; sys.path.insert(0, "${PATH}")`);
  return python;
};

/**
 * Load Python and the core: from a snapshot where this thread is ours, or where there is no network.
 * The page's own thread leaves its `fetch` alone.
 */
export const load = async (
  assets: Assets,
  report: (progress: Progress) => void = () => {},
): Promise<MainCore> => {
  let loaded = 0;
  let total = 0;
  const say = (stage: Progress["stage"]) => report({ stage, loaded, total });
  const count: Count = (...counts) => {
    [loaded, total] = counts;
    say(loaded < total ? "download" : "start");
  };
  const files = new Files(assets, count);
  const inWorker = typeof document !== "object" && !isLocal(assets[MODULE]);
  try {
    let python: Pyodide | undefined;
    if (inWorker || isLocal(assets[MODULE])) {
      if (inWorker) handOver(assets, files, Promise.resolve(EMPTY));
      try {
        python = await restored(assets, files);
      } catch (cause) {
        if (inWorker) handOver(assets, files, files.bytes(STDLIB));
        python = await started(assets, files);
        console.warn(`Rose: Python starts slowly, since ${messageOf(cause)}`);
      }
    }
    python ??= await started(assets, files);
    const bridge = python.pyimport("rose_core.bridge");
    // what is there now stays: whoever looks for garbage need not look there
    python.runPython("import gc; gc.freeze()");
    say("ready");
    return new PythonCore(bridge, async () => {
      try {
        // which may have been asked for in vain
        return await new Files(assets, count).bytes(STDLIB);
      } finally {
        say("ready");
      }
    });
  } catch (cause) {
    files.stop();
    say("failed");
    throw Error(`Rose could not load Python: ${messageOf(cause)}`, { cause });
  }
};

class PythonCore implements MainCore {
  private programs = 0;

  constructor(
    private readonly bridge: Bridge,
    /** The standard library, of which a snapshot holds what the core itself needs. */
    private readonly library: () => Promise<Bytes>,
  ) {}

  async make({ work, recording, key, limit }: Request): Promise<Bytes> {
    const { bridge } = this;
    if ("scripts" in work && said(() => bridge.wants_library(work.scripts)))
      bridge.add_library(await this.library());
    const result = said(() => this.made(work));
    const [bytes, descriptor] = result.toJs() as [Uint8Array, string];
    result.destroy();
    const file = pack(bytes, descriptor, recording);
    // not waited for: the page wants its function
    void this.after(limit ? keep(key, file, limit) : undefined);
    return file;
  }

  /** Tidy up, once the answer is on its way and `kept`. */
  private async after(kept: Promise<unknown> | undefined): Promise<void> {
    await kept;
    setTimeout(() => this.bridge.tidy());
  }

  practise(turn: number): void {
    this.bridge.practise(turn);
  }

  private made(work: Work): PyProxy {
    if ("scripts" in work) return this.bridge.run_scripts(work.scripts);
    const { header, ints, reals } = work.program;
    return this.bridge.compile_recording(
      header,
      bytesOf(ints),
      bytesOf(reals),
      work.memory,
      work.incremental,
    );
  }

  interpret(program: Program, hosts: RowHost[]): Interpreted {
    const { header, ints, reals, notes, noteAt, intNoteAt } = program;
    const number = ++this.programs;
    const { bridge } = this;
    /** What opaque functions have thrown, which Python would tell in its own words, until it has come through. */
    const thrown: unknown[] = [];
    const noted =
      (host: RowHost): RowHost =>
      (row) => {
        try {
          return host(row);
        } catch (error) {
          thrown.push(error);
          throw error;
        }
      };
    said(() =>
      bridge.interpret_recording(
        number,
        header,
        bytesOf(ints),
        bytesOf(reals),
        hosts.map(noted),
        notes,
        noteAt,
        intNoteAt,
      ),
    );
    return {
      run: (args) => {
        let result: PyProxy;
        try {
          result = said(() => bridge.interpret(number, bytesOf(args)));
        } catch (error) {
          throw thrown.length ? thrown.pop() : error;
        }
        const bytes = result.toJs() as Uint8Array;
        result.destroy();
        return new Float64Array(bytes.slice().buffer);
      },
      forget: () => bridge.forget(number),
    };
  }
}

/** Run a call into Python; an error that Python raised is told by its last line. */
const said = <T>(call: () => T): T => {
  try {
    return call();
  } catch (error) {
    const Kind = /\bRunError: /.test(String(error)) ? RangeError : Error;
    throw new Kind(messageOf(error), { cause: error });
  }
};

/** What an error says, without Python's traceback. */
const messageOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  const [, script] = /^[\w.]*ScriptError: ([^]*)$/m.exec(text) ?? [];
  if (script) return script.trimEnd();
  const last = text.trim().split("\n").pop()!;
  return /^[\w.]*(Derivative|Run|Size)Error: /.test(last)
    ? last.replace(/^[\w.]*: /, "")
    : last;
};
