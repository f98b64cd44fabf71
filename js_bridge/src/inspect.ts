// What becomes of a function, as text: for people who want to see it.

import { dataOf } from "./record/functions";
import { toldOf } from "./known/known";
import { programOf } from "./known/program";

/** What the core says of a function, see `rose_core/inspection.py`. */
export interface Inspection {
  readonly recorded: string;
  readonly ir: string;
  readonly wat: string;
  readonly size: number;
}

/** `f` as it was recorded, as a program without derivatives, and as WebAssembly. */
export const inspect = async (f: unknown): Promise<Inspection> =>
  toldOf(programOf(dataOf(f, "inspect")), "text");
