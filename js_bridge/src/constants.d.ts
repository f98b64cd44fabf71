// Replaced by build/bundle.mjs.

/** The version of `rose_core`, "0.1.0". */
declare const __VERSION__: string;
/** The content of Pyodide's lock file, which it would fetch otherwise. */
declare const __LOCK__: string;
/** How long the files are that are fetched, their SHA-256 in base 64, and their `hash` of identity.ts. */
declare const __FILES__: Readonly<
  Record<string, [size: number, sha256: string, hash: string]>
>;
/** Changes with every byte of the core or of the Python runtime. */
declare const __BUILD__: string;
