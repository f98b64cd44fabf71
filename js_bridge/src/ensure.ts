// Values that are defined only where something holds, which a program finds out when it runs.

import { OP } from "./opcodes.gen";
import { select } from "./ops";
import { recorder, Var } from "./recorder";
import { ANY, REAL } from "./types";
import type { Construct } from "./where";

/** The Real `x`, which is defined where `p` holds; elsewhere the complaint is the error. */
export const ensure = (
  here: Construct,
  p: unknown,
  x: unknown,
  complaint: string,
): any => {
  const r = recorder();
  const known = r.use(select(p as Var, REAL, x, NaN) as Var, REAL);
  const note = r.note(here.note(complaint), ANY);
  return new Var(r, r.row(OP.defined, known, note), REAL, r.block);
};
