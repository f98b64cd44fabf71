// The way to the core: Python in a module worker, or on this thread.

import type { Program } from "./program";
import type { Descriptor } from "./run";

export interface Compiled {
  readonly bytes: Uint8Array;
  readonly descriptor: Descriptor;
}

/** The core, wherever it runs. */
export interface Core {
  compile(program: Program, memory: MemoryKind): Promise<Compiled>;
}

/** How a module gets its memory: for itself, or together with others. */
export type MemoryKind = "imported" | "shared";

/** What an opaque function does, on the numbers of its arguments and result in a row. */
export type RowHost = (args: Uint8Array) => Float64Array;

/** An interpreted program: numbers in, numbers out. */
export interface Interpreted {
  run(args: Float64Array): Float64Array;
  forget(): void;
}

/** The core on this thread. */
export interface MainCore {
  compile(program: Program, memory: MemoryKind): Compiled;
  interpret(program: Program, hosts: RowHost[]): Interpreted;
}

export interface Configuration {
  /** Where Python runs: in a worker, so that the page is never held up, or on this thread. */
  core?: "worker" | "main";
  /** The folder of `rose.worker.js`, the wheel and `pyodide/`; else that of the bridge itself. */
  assets?: string | URL;
}

const inNode = typeof process === "object" && !!process.versions?.node;

let place: "worker" | "main" = inNode ? "main" : "worker";
let assets = new URL(".", import.meta.url);
let started: { core: Core; ready: Promise<void> } | undefined;
let main: MainCore | undefined;

/** Say how the core is to be run; before it is first needed. */
export const configure = (configuration: Configuration): void => {
  const { core: where = place, assets: folder } = configuration;
  for (const key of Object.keys(configuration))
    if (key !== "core" && key !== "assets")
      throw TypeError(
        `configure: there is no option ${key}; the options are core and assets`,
      );
  if (where !== "worker" && where !== "main")
    throw TypeError(
      `configure: expected core to be "worker" or "main", got ${String(where)}`,
    );
  if (started && (where !== place || folder !== undefined))
    throw Error(
      "configure: the core has been started; call configure before ready and compile",
    );
  place = where;
  if (folder !== undefined)
    assets = new URL(`${folder}`.replace(/\/?$/, "/"), assets);
};

/** Load the core ahead of need; resolves when it can compile. */
export const ready = (): Promise<void> => start().ready;

/** The core, which is started now if it was not. */
export const core = (): Core => start().core;

/** The core on this thread; throws if it is not there. */
export const mainCore = (): MainCore => {
  if (main) return main;
  throw Error(
    place === "main"
      ? "the core is not loaded yet: await ready() before interp"
      : 'interp needs the core on this thread: configure({ core: "main" }), then await ready()',
  );
};

const start = () => {
  if (started === undefined) {
    const wasm = probe();
    const { core, loaded } = place === "main" ? onThread(wasm) : inWorker(wasm);
    const ready = wasm.then(() => loaded);
    // a failure is told by compile and ready, whichever the page awaits
    ready.catch(() => {
      started = undefined;
    });
    started = { core, ready };
  }
  return started;
};

/** The smallest module: where even this does not compile, nothing will. */
const EMPTY = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

const probe = async (): Promise<void> => {
  if (typeof WebAssembly !== "object")
    throw Error("Rose needs WebAssembly, which is switched off here");
  try {
    await WebAssembly.compile(EMPTY);
  } catch (cause) {
    throw Error(
      "Rose needs WebAssembly, which this page's Content-Security-Policy forbids: " +
        "add 'wasm-unsafe-eval' to its script-src",
      { cause },
    );
  }
};

const workerAddress = (): URL => new URL("rose.worker.js", assets);

const onThread = (wasm: Promise<void>) => {
  const loaded = wasm.then(async () => {
    const address = workerAddress().href;
    let module;
    try {
      module = await import(/* @vite-ignore */ address);
    } catch (cause) {
      throw missing(address, cause);
    }
    main = (await module.load(assets.href)) as MainCore;
  });
  const core: Core = {
    compile: async (...request) => {
      await loaded;
      return main!.compile(...request);
    },
  };
  return { core, loaded };
};

const missing = (address: string, cause: unknown): Error =>
  Error(
    `Rose could not load ${address}; are its files where the page looks for them?`,
    { cause },
  );

const inWorker = (wasm: Promise<void>) => {
  let worker: Worker | undefined;
  const waiting = new Map<
    number,
    { resolve(x: Compiled): void; reject(e: Error): void }
  >();
  let requests = 0;
  const loaded = wasm.then(
    () =>
      new Promise<void>((resolve, reject) => {
        const address = workerAddress().href;
        const fail = (error: Error): void => {
          reject(error);
          for (const request of waiting.values()) request.reject(error);
          waiting.clear();
        };
        try {
          worker = new Worker(address, { type: "module", name: "rose" });
        } catch (cause) {
          fail(missing(address, cause));
          return;
        }
        worker.onerror = (event) => {
          event.preventDefault();
          fail(missing(address, event.message));
        };
        worker.onmessage = ({ data }) => {
          if (data.kind === "ready") resolve();
          else if (data.kind === "failed") fail(Error(data.message));
          else {
            const request = waiting.get(data.id);
            waiting.delete(data.id);
            if (data.error === undefined) request?.resolve(data.compiled);
            else request?.reject(Error(data.error));
          }
        };
        worker.postMessage({ kind: "load", assets: assets.href });
      }),
  );
  const core: Core = {
    compile: async ({ header, ints, reals }, memory) => {
      await wasm;
      const id = ++requests;
      const compiled = new Promise<Compiled>((resolve, reject) => {
        waiting.set(id, { resolve, reject });
      });
      worker?.postMessage(
        { kind: "compile", id, header, ints, reals, memory },
        [ints.buffer, reals.buffer],
      );
      await Promise.all([loaded, compiled.catch(() => {})]);
      return compiled;
    },
  };
  return { core, loaded };
};

declare const process: { versions?: { node?: string } } | undefined;
