// Pyodide with the core in it, on this thread.

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
const fetchBytes = async (address: URL): Promise<Uint8Array> => {
  if (address.protocol === "file:") {
    const name = "node:fs/promises"; // in a variable, so that no bundler looks for it
    const { readFile } = await import(/* @vite-ignore */ name);
    return readFile(address);
  }
  const response = await fetch(address).catch((cause) => {
    throw Error(`Rose could not load ${address}`, { cause });
  });
  if (!response.ok)
    throw Error(`Rose could not load ${address}: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
};

/** Throw if a file of ours is missing: Pyodide itself would wait for its module forever. */
const present = async (address: URL): Promise<void> => {
  if (address.protocol === "file:") return;
  const response = await fetch(address, { method: "HEAD" });
  await response.arrayBuffer();
  if (response.status === 404) throw Error(`${address} is missing`);
};

const bytesOf = (view: ArrayBufferView): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

/** Load Python and the core from the folder `assets`. */
export const load = async (assets: string): Promise<MainCore> => {
  const folder = new URL("pyodide/", assets);
  const zip = fetchBytes(new URL(CORE, folder));
  zip.catch(() => {}); // it is awaited below
  let python: Pyodide;
  try {
    const { loadPyodide } = await import(
      /* @vite-ignore */ new URL("pyodide.mjs", folder).href
    );
    const indexURL =
      folder.protocol === "file:" ? decodeURI(folder.pathname) : folder.href;
    const missing = present(new URL("pyodide.asm.wasm", folder));
    python = await Promise.race([
      loadPyodide({ indexURL }),
      missing.then(() => new Promise(() => {})),
    ]);
  } catch (cause) {
    throw Error(
      `Rose could not load Python from ${folder}: ${messageOf(cause)}`,
      { cause },
    );
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
    const { header, ints, reals, notes, noteAt } = program;
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
