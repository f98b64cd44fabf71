// Replaced by build/bundle.mjs.

/** The version of `rose_core`, "0.1.0". */
declare const __VERSION__: string;
/** The content of Pyodide's lock file, which it would fetch otherwise. */
declare const __LOCK__: string;
/** How long the files are that are fetched, their SHA-256 in base 64, and their `hash` of identity.ts. */
declare const __FILES__: Readonly<
  Record<string, [size: number, sha256: string, hash: string]>
>;
/** Whether it is a classic script, which is told no address of its own. */
declare const __CLASSIC__: boolean;
/** Changes with what results depend on: the core, and Python's runtime and library. */
declare const __BUILD__: string;
/** Changes with the bridge, too: the scripts of one build, which belong together, have the same. */
declare const __BRIDGE__: string;
