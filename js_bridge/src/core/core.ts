// The way to the core. What knows of workers and of Python is loaded with it, in `worker.ts`: a page
// whose programs are all known needs neither.

import type { Bytes } from "../known/artifact";
import { type Assets, assetIn, assetsIn } from "../host/assets";
import { freezer } from "../host/freezer";
import { BOOLEAN, checkOptions } from "../record/options";
import { probe } from "./probe";
import { askAnew, imported, type Trusted, trusted } from "../host/script";
import type { MemoryKind, Program } from "../known/program";
import { fix, settings } from "../host/settings";

/** A program to be compiled, or scripts in Python to be run, as a list in JSON. */
export type Work =
  | {
      readonly program: Pick<Program, "header" | "ints" | "reals">;
      readonly memory: MemoryKind;
      /** Whether what is known of earlier programs may be of use. */
      readonly incremental: boolean;
    }
  | { readonly scripts: string };

/** What the core is asked for. */
export interface Request {
  readonly work: Work;
  readonly recording: Uint8Array;
  /** Where to keep the result in the browser's cache, and how many bytes that may hold. */
  readonly key: string;
  readonly limit: number;
}

/** The core, wherever it runs. */
export interface Core {
  /** The file of what is made, see `artifact.ts`; the work on it ends soon after the signal, if it can. */
  make(request: Request, signal?: AbortSignal): Promise<Bytes>;
}

/** What an opaque function does, on the numbers of its arguments and result in a row. */
export type RowHost = (args: Uint8Array) => Float64Array;

/** An interpreted program: numbers in, numbers out. */
export interface Interpreted {
  run(args: Float64Array): Float64Array;
  forget(): void;
}

/** The core on this thread. */
export interface MainCore extends Core {
  interpret(program: Program, hosts: RowHost[]): Interpreted;
  /** Compile something that nobody asks for, so that what is asked for later takes less time. */
  practise(turn: number): void;
}

/** What `worker.ts` gives to those who import it. */
export interface Loader {
  /** The build that it belongs to. */
  build: string;
  /** Load Python, on this thread or in a worker. */
  start(
    where: "main" | "worker",
    assets: Assets,
    trusted: Trusted,
  ): Promise<Core>;
}

let running: Core | MainCore | undefined;

/**
 * Load the core ahead of need; resolves when it can compile. `idle`: when the page has nothing else to
 * do, and not at all where the reader asks to save data.
 */
export const ready = async (
  options: { idle?: boolean } = {},
): Promise<void> => {
  checkOptions("ready", options, { idle: BOOLEAN });
  if (options.idle) {
    const { connection } = (globalThis.navigator ?? {}) as {
      connection?: { saveData?: boolean };
    };
    if (connection?.saveData) return;
    // Safari has no such callback
    await new Promise<unknown>((wake) =>
      (globalThis.requestIdleCallback ?? setTimeout)(wake),
    );
  }
  await core();
};

/** What `make` gives, the same every time; a failure is told to all who ask for it, and the next may try again. */
const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () =>
    (made ??= make().catch((error) => {
      made = undefined;
      throw error;
    }));
};

/** The core, which is started now if it was not. */
export const core = once(() => {
  const started = start();
  freezer()?.(started);
  fix(true);
  started.catch(() => fix(false));
  return started;
});

/** Whether the core is there. */
export const isRunning = (): boolean => running !== undefined;

/** The core on this thread; throws if it is not there. */
export const mainCore = (): MainCore => {
  if (running && "interpret" in running) return running;
  throw Error(
    'interp needs the core on this thread: await ready(), and before that configure({ core: "main" })',
  );
};

/** A module of this build that is loaded when it is needed; the browser may keep one of the build before. */
export const part = async <T extends { build: string }>(
  address: string,
  isLast?: boolean,
): Promise<T> => {
  const loaded = await imported<T>(address);
  if (loaded.build !== __BRIDGE__) {
    askAnew();
    if (!isLast) {
      // kept is what has come to its end
      await fetch(address, { cache: "reload" })
        .then((answer) => answer.blob())
        .catch(() => {});
      return part(address, true);
    }
    throw Error(
      `${address} is ${loaded.build ? "of another build of Rose than the rose.js that loads it" : "empty, or none of Rose's"}; ` +
        "put files of one build there",
    );
  }
  return loaded;
};

const start = async (): Promise<Core> => {
  await probe();
  const assets = assetsIn(settings.assets);
  return (running = await (
    await loader()
  ).start(settings.core, assets, trusted));
};

/** What knows of workers and Python, and of drafts. */
export const loader = once(() =>
  part<Loader>(assetIn(settings.assets, "rose.worker.js")),
);
