// Calls of functions in the bodies of others.

import { S } from "../opcodes.gen";
import type { FnData } from "./data";
import { type Recorder, recorder, Var } from "./recorder";
import { areEnough, count, TAN, type Ty } from "./types";
import { hasTangent, leavesOf, wrap } from "./values";
import { within } from "./where";

/** The leaves of the arguments of a call, of which methods of arrays may give more. */
export const liftArgs = (
  r: Recorder,
  { name, params }: Pick<FnData, "name" | "params">,
  args: readonly unknown[],
): number[] => {
  if (!areEnough(args, params.length))
    throw TypeError(
      `${name} takes ${count(params.length, "argument")}, got ${args.length}`,
    );
  return params.flatMap((ty, k) =>
    leavesOf(r, ty, args[k], `argument ${k + 1} of ${name}`),
  );
};

/** The leaves of enclosing functions that `f` uses, to be passed to it in a call. */
export const captured = (r: Recorder, f: FnData): number[] =>
  f.captures.map((x) => {
    try {
      return x instanceof Var ? r.use(x, x.ty) : r.literal(0, x);
    } catch (error) {
      throw within(error, `calling ${f.name}`);
    }
  });

/** The results of the call at row `at`, from one on. */
export const results = (r: Recorder, ty: Ty, at: number, first = 0): unknown =>
  wrap(
    r,
    ty,
    ty.leafTypes.map((_, k) => r.row(S.GET, at, first + k)),
  );

/** The forward derivative `f` as it is called: with tangents that are tangents, or numbers. */
export const asCalled = (f: FnData, args: readonly unknown[]): FnData =>
  f.named?.by === "jvp" &&
  !f.captures.some((x) => x instanceof Var && hasTangent(TAN, x)) &&
  !f.params.some((ty, k) => hasTangent(ty, args[k]))
    ? f.onNumbers
    : f;

/** Call `f` on arguments. */
export const call = (called: FnData, args: readonly unknown[]): unknown => {
  const r = recorder();
  const f = asCalled(called, args);
  return callOn(r, f, liftArgs(r, f, args));
};

/** Call `f` on the leaves of arguments. */
export const callOn = (
  r: Recorder,
  f: FnData,
  ids: readonly number[],
): unknown => results(r, f.ret, r.rowOf(S.CALL, operandsOf(r, f, ids)));

/** The operands of a call of `f` on the leaves of arguments. */
export const operandsOf = (
  r: Recorder,
  f: FnData,
  ids: readonly number[],
): number[] => [r.callee(f.code), ...ids, ...captured(r, f)];
