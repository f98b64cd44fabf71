// Derivatives of functions: forward, and in reverse.

import { asCalled, liftArgs, operandsOf, results } from "./calls";
import { atArgs, type Fn, knownOf, ofAnySize } from "./functions";
import { S } from "../opcodes.gen";
import { recorder } from "./recorder";
import { dualOf, isReal, partsOf } from "./types";
import { leavesOf, wrap } from "./values";

/** The forward derivative of `f`: the same function on dual numbers. */
export const jvp = (f: unknown): Fn =>
  ofAnySize(f, "jvp", (data) =>
    data.derive("jvp", data.params.map(dualOf), dualOf(data.ret)),
  );

/** What reverse mode gives. */
export interface Pullback {
  /** The value. */
  readonly ret: unknown;
  /** From a cotangent of it to that of the argument, or to an array of those of all arguments. */
  readonly grad: (cotangent: unknown) => unknown;
}

/**
 * The reverse derivative of `f`: `vjp(f)(x)` gives the value `ret` and the function `grad`, from a
 * cotangent of that to the cotangent of `x`; of several arguments, an array of cotangents.
 */
export const vjp = (f: unknown): ((...args: unknown[]) => Pullback) => {
  knownOf(f, "vjp");
  return (...args) => {
    const r = recorder();
    const data = asCalled(atArgs(f, args, "vjp"), args);
    const { block } = r;
    const { name, params, ret } = data;
    const ids = liftArgs(r, data, args);
    r.takesVjp = true;
    const at = r.rowOf(S.VJP, operandsOf(r, data, ids));
    const grad = (cotangent: unknown): unknown => {
      if (recorder() !== r || !r.inScope(block))
        throw ReferenceError(
          `variable is out of scope: the grad of ${name} was used outside of where vjp was called`,
        );
      const reals = leavesOf(
        r,
        ret,
        cotangent,
        `the cotangent of ${name}`,
      ).filter((_, k) => isReal(ret.leafTypes[k]));
      const pull = r.rowOf(S.PULL, [at, ...reals]);
      // what is not Real has no derivative; in its place stands the argument's own value
      let real = 0;
      const given = partsOf(params, ids).map((own, k) => {
        const ty = params[k];
        const leaves = own.map((id, j) =>
          isReal(ty.leafTypes[j]) ? r.row(S.GET, pull, real++) : id,
        );
        return wrap(r, ty, leaves);
      });
      return given.length === 1 ? given[0] : given;
    };
    return { ret: results(r, ret, at), grad };
  };
};
