// Pyodide with the core in it, on this thread.

import type { Assets } from "./assets";
import type {
  Interpreted,
  MainCore,
  MemoryKind,
  Request,
  RowHost,
} from "./core";
import { type Bytes, pack } from "./artifact";
import type { Program } from "./program";
import { keep } from "./store";

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
  ): PyProxy;
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

const CORE = "rose_core.zip";

/** The bytes of a file of ours; throws which one is missing. */
const fetchBytes = async (address: string): Promise<Uint8Array> => {
  if (isFile(address)) {
    const name = "node:fs/promises"; // in a variable, so that no bundler looks for it
    const { readFile } = await import(name);
    return readFile(new URL(address));
  }
  const response = await fetch(address).catch((cause) => {
    throw Error(`Rose could not load ${address}`, { cause });
  });
  if (!response.ok)
    throw Error(`Rose could not load ${address}: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
};

/** Throw if a file of ours is missing: Pyodide itself would wait for its module forever. */
const present = async (address: string): Promise<void> => {
  if (isFile(address)) return;
  const response = await fetch(address, { method: "HEAD" });
  await response.arrayBuffer();
  if (response.status === 404) throw Error(`${address} is missing`);
};

const isFile = (address: string): boolean => address.startsWith("file:");

/** An address as Pyodide wants it: in Node, files by their paths. */
const placeOf = (address: string): string =>
  isFile(address) ? decodeURI(new URL(address).pathname) : address;

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

/** Load Python and the core. */
export const load = async (assets: Assets): Promise<MainCore> => {
  const zip = fetchBytes(assets["pyodide/rose_core.zip"]);
  zip.catch(() => {}); // it is awaited below
  let python: Pyodide;
  try {
    const [{ loadPyodide }, { default: createPyodideModule }] =
      await Promise.all([
        import(assets["pyodide/pyodide.mjs"]),
        import(assets["pyodide/pyodide.asm.mjs"]),
      ]);
    const wasm = assets["pyodide/pyodide.asm.wasm"];
    const missing = present(wasm);
    python = await Promise.race([
      loadPyodide({
        createPyodideModule,
        indexURL: folderOf(wasm),
        stdLibURL: placeOf(assets["pyodide/python_stdlib.zip"]),
        lockFileContents: __LOCK__,
      }),
      missing.then(() => new Promise(() => {})),
    ]);
  } catch (cause) {
    throw Error(`Rose could not load Python: ${messageOf(cause)}`, { cause });
  }
  python.FS.writeFile(`/lib/${CORE}`, await zip);
  python.runPython(`import sys; sys.path.insert(0, "/lib/${CORE}")`);
  return new PythonCore(python.pyimport("rose_core.bridge"));
};

class PythonCore implements MainCore {
  private programs = 0;

  constructor(private readonly bridge: Bridge) {}

  async compile({
    program: { header, ints, reals },
    memory,
    recording,
    key,
    limit,
  }: Request): Promise<Bytes> {
    const result = said(() =>
      this.bridge.compile_recording(
        header,
        bytesOf(ints),
        bytesOf(reals),
        memory,
      ),
    );
    const [bytes, descriptor] = result.toJs() as [Uint8Array, string];
    result.destroy();
    const file = pack(bytes, descriptor, recording);
    // not waited for: the page wants its function
    if (limit) void keep(key, file, limit);
    return file;
  }

  interpret(program: Program, hosts: RowHost[]): Interpreted {
    const { header, ints, reals, notes, noteAt, intNoteAt } = program;
    const number = ++this.programs;
    const { bridge } = this;
    said(() =>
      bridge.interpret_recording(
        number,
        header,
        bytesOf(ints),
        bytesOf(reals),
        hosts,
        notes,
        noteAt,
        intNoteAt,
      ),
    );
    return {
      run: (args) => {
        const result = said(() => bridge.interpret(number, bytesOf(args)));
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
    throw Error(messageOf(error), { cause: error });
  }
};

/** What an error says, without Python's traceback. */
export const messageOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  const last = text.trim().split("\n").pop()!;
  return /^[\w.]*(Derivative|Run)Error: /.test(last)
    ? last.replace(/^[\w.]*: /, "")
    : last;
};
