// Derivatives of functions: forward, and in reverse.

import {
  asCalled,
  atArgs,
  type Fn,
  liftArgs,
  makeFn,
  ofAnySize,
  operandsOf,
  parts,
  results,
} from "./functions";
import { S } from "./opcodes.gen";
import { recorder } from "./recorder";
import { dualOf, isReal } from "./types";
import { lift, wrap } from "./values";

/** The forward derivative of `f`: the same function on dual numbers. */
export const jvp = (f: unknown): Fn =>
  ofAnySize(f, "jvp", (_, data) =>
    makeFn(data.derive("jvp", data.params.map(dualOf), dualOf(data.ret))),
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
  parts(f, "vjp");
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
      const cotangents: number[] = [];
      lift(r, ret, cotangent, cotangents, `the cotangent of ${name}`);
      const reals = cotangents.filter((_, k) => isReal(ret.leafTypes[k]));
      const pull = r.rowOf(S.PULL, [at, ...reals]);
      // what is not Real has no derivative; in its place stands the argument's own value
      let real = 0;
      let leaf = 0;
      const given = params.map((ty) =>
        wrap(
          r,
          ty,
          ty.leafTypes.map((t) => {
            const own = ids[leaf++];
            return isReal(t) ? r.row(S.GET, pull, real++) : own;
          }),
        ),
      );
      return given.length === 1 ? given[0] : given;
    };
    return { ret: results(r, ret, at), grad };
  };
};
