// Rose as Penrose has it on this page: with a clock at `compile`, and a way to give it up.

import * as rose from "../../rose.js";

export * from "../../rose.js";

/**
 * What was compiled since this was last emptied, how long each took in milliseconds, and the signal that
 * gives it up.
 *
 * @type {{ made: { dispose: () => void, time: number }[], signal: AbortSignal | undefined }}
 */
export const compiled = { made: [], signal: undefined };

/** @type {(f: any, options?: rose.CompileOptions) => Promise<any>} */
export const compile = async (f, options) => {
  const began = performance.now();
  const { signal } = compiled;
  const made = await rose.compile(f, { ...options, signal });
  const time = performance.now() - began;
  compiled.made.push({ dispose: () => made.dispose(), time });
  return made;
};
