// What a page can choose: `configure({ … })`.

import { home } from "./assets";
import { describe } from "./types";

export interface Configuration {
  /** Where Python runs: in a worker, so that the page is never held up, or on this thread. */
  core?: "worker" | "main";
  /** The folder of `rose.worker.js`, `rose.python.js` and `pyodide/`; else that of the bridge itself. */
  assets?: string | URL;
  /** Whether the browser keeps compiled programs, or how many bytes of them at most. */
  cache?: boolean | number;
  /** Whether a program is compiled only where it differs from the ones before. */
  incremental?: boolean;
  /** The folder of `rose.frozen.json`, else `assets`; false: not to look for frozen programs. */
  frozen?: string | URL | false;
}

interface Settings {
  readonly core: "worker" | "main";
  readonly assets: URL;
  /** How many bytes of compiled programs are kept. */
  readonly cache: number;
  readonly incremental: boolean;
  /** The folder of the index of frozen programs, if it is not `assets`; false: there is none. */
  readonly frozen: URL | false | undefined;
}

const inNode = typeof process === "object" && !!process.versions?.node;

const CACHE = 64e6;

export let settings: Settings = {
  core: inNode ? "main" : "worker",
  assets: home,
  cache: inNode ? 0 : CACHE,
  incremental: true,
  frozen: inNode ? false : undefined,
};

/** A folder's address, which need not end with a slash. */
const folder = (given: unknown, from: string | URL): URL =>
  new URL(`${given}`.replace(/\/?$/, "/"), from);

/** Whether it is settled where the core runs. */
let isFixed = false;
export const fix = (fixed: boolean): void => {
  isFixed = fixed;
};

/** What each option sets, or what it expects. */
const options: Record<string, (given: any) => Partial<Settings> | string> = {
  core: (core) =>
    core === "worker" || core === "main" ? { core } : '"worker" or "main"',
  assets: (given) => ({ assets: folder(given, settings.assets) }),
  frozen: (given) => ({
    frozen:
      given !== false && folder(given, globalThis.document?.baseURI ?? home),
  }),
  cache: (limit) =>
    typeof limit === "boolean"
      ? { cache: limit ? CACHE : 0 }
      : limit >= 0
        ? { cache: +limit }
        : "true, false or a number of bytes",
  incremental: (incremental) =>
    typeof incremental === "boolean" ? { incremental } : "true or false",
};

/** Say how the bridge is to work; where the core runs, before it is first needed. */
export const configure = (configuration: Configuration): void => {
  let next = settings;
  for (const [key, given] of Object.entries(configuration)) {
    if (!Object.hasOwn(options, key))
      throw TypeError(
        `configure: there is no option ${key}; the options are ${Object.keys(options).join(", ")}`,
      );
    if (given === undefined) continue;
    const set = options[key](given);
    if (typeof set === "string")
      throw TypeError(
        `configure: expected ${key} to be ${set}, got ${describe(given)}`,
      );
    next = { ...next, ...set };
  }
  if (
    isFixed &&
    (next.core !== settings.core || next.assets !== settings.assets)
  )
    throw Error(
      "configure: the core has been started; call configure before ready and compile",
    );
  settings = next;
};

declare const process: { versions?: { node?: string } } | undefined;
