// Loops that make vectors and sums.

import { functionFor } from "./functions";
import { results } from "./calls";
import { S } from "../opcodes.gen";
import { realId, recorder, tanId, Var } from "./recorder";
import { indexType, REAL, TAN, tyOf, vecOf } from "./types";
import { hasTangent, leavesOf, wrap } from "./values";

/**
 * The vector of `body(i)` for each index `i` below `index`, where the body runs once; or that of the elements of
 * an array, which has them at symbolic indices, too.
 */
export const vec = (
  index: unknown,
  elem: unknown,
  body: ((i: any) => unknown) | ArrayLike<unknown>,
): unknown => {
  const r = recorder();
  const size = indexType(index, "vec");
  const ty = tyOf(elem);
  if (typeof body !== "function") {
    const whole = vecOf(size.size, ty);
    return wrap(r, whole, leavesOf(r, whole, body, "vec"));
  }
  const loop = r.loop(size, (i) => leavesOf(r, ty, body(i)));
  return results(r, vecOf(size.size, ty), loop);
};

/**
 * The sum of `body(i)` over each index `i` below `index`, from 0 up: of Reals, or of tangents. The body
 * runs once.
 */
export const sum = (index: unknown, body: (i: any) => unknown): Var => {
  const r = recorder();
  const size = indexType(index, "sum");
  functionFor(body, "sum");
  const start = r.literal(0, REAL);
  const total = r.row(S.ACCUM, start, 0);
  let ty = REAL;
  r.loop(size, (i) => {
    const term = body(i);
    if (hasTangent(TAN, term)) r.literalTypes[~start] = ty = TAN;
    r.row(S.ADD_TO, total, ty === TAN ? tanId(r, term) : realId(r, term));
    return [];
  });
  return new Var(r, r.row(S.RESOLVE, total, 0), ty, r.block);
};
