// What the compiler makes of a function, as text: for people who want to see it.

import type { Inspection } from "../rose";
import { SIGNAL } from "./host/abort";
import { dataOf } from "./record/functions";
import { checkOptions } from "./record/options";
import { toldOf } from "./call/search";
import { programOf } from "./known/program";

/** `f` as it was recorded, as a program without derivatives, and as WebAssembly. */
export const inspect = async (
  f: unknown,
  options: { signal?: AbortSignal } = {},
): Promise<Inspection> => {
  checkOptions("inspect", options, { signal: SIGNAL });
  return toldOf(programOf(dataOf(f, "inspect")), "text", options.signal);
};
