// Functions of functions with a derivative of their own, which closes over what those close over.
//
// What the given functions use of enclosing functions becomes arguments, so every mode sees it.

import { captured, results } from "./calls";
import {
  dataOf,
  define,
  type Fn,
  functionFor,
  makeFn,
  types,
} from "./functions";
import { S } from "../opcodes.gen";
import { recorder, Var } from "./recorder";
import {
  dualOf,
  isReal,
  mapScalars,
  TAN,
  tangentOf,
  type Ty,
  tyOf,
  typeOfCapture,
  unlike,
} from "./types";
import { leavesOf, wrap } from "./values";

/**
 * What `body(f, x)` computes, for functions `f` and arguments `x`, with the derivative `rule(y, f, x)`: the
 * tangent of `y`, which `body` gives, from duals for the arguments. In the rule `jvp` of one of the
 * functions, or of one that is made of them, is a derivative along its arguments and along all that they
 * use from around them.
 */
export const functional = (
  functions: readonly unknown[],
  params: unknown,
  ret: unknown,
  body: (...args: any[]) => unknown,
  rule: (...args: any[]) => unknown,
): Fn => {
  if (!Array.isArray(functions))
    throw unlike(functions, "an array of functions", "functional");
  functionFor(body, "functional: what it computes");
  functionFor(rule, "functional: its derivative");
  const fs = functions.map((f) => dataOf(f, "functional"));
  const declared = types(params, "functional");
  const result = tyOf(ret);
  const tangents = tangentTy(result);
  const name = body.name || "functional";
  const all = [
    ...declared,
    ...fs.flatMap((f) => f.captures.map(typeOfCapture)),
  ];
  const leaves = all.flatMap((ty) => ty.leafTypes);
  const first = declared.reduce((n, ty) => n + ty.leaves, 0);

  /** The given functions, with these values for what they use from around them. */
  const bound = (values: readonly Var[]): Fn[] => {
    let at = 0;
    return fs.map((f) =>
      makeFn(f.with(values.slice(at, (at += f.captures.length)))),
    );
  };
  // the parameters of a recording are its first rows, one for each leaf
  const whole = define(name, all, result, (...args) => {
    const r = recorder();
    const values = leaves.map((ty, k) => new Var(r, k, ty, r.block));
    const inner = bound(values.slice(first));
    return body(...inner, ...args.slice(0, declared.length));
  });
  const duals = all.map(dualOf);
  whole.jvp = define(`jvp_${name}`, duals, dualOf(result), (...args) => {
    const r = recorder();
    let at = 0;
    const next = (ty: Ty): Var => new Var(r, at++, ty, r.block);
    const re = leaves.map((ty, k) => {
      const du = isReal(ty) ? next(tangentOf(ty)) : undefined;
      const primal = next(ty);
      if (du && k >= first) (r.tangents ??= new Map()).set(primal.id, du);
      return primal;
    });
    const call = [r.callee(whole), ...re.map(({ id }) => id)];
    const row = r.rowOf(S.CALL, call);
    const y = result.leafTypes.map((_, k) => r.row(S.GET, row, k));
    const inner = bound(re.slice(first));
    const given = rule(
      wrap(r, result, y),
      ...inner,
      ...args.slice(0, declared.length),
    );
    const dy = leavesOf(r, tangents, given, `the tangent of ${name}`);
    const ids = y.flatMap((id, k) => [dy[k], id]);
    return wrap(r, dualOf(result), ids);
  });
  for (const f of [whole, whole.jvp])
    f.checkStandsAlone("which have to be arguments of the functional");
  return makeFn(
    define(name, declared, result, () => {
      const r = recorder();
      const ids = Array.from({ length: first }, (_, k) => k);
      for (const f of fs) ids.push(...captured(r, f));
      return results(r, result, r.rowOf(S.CALL, [r.callee(whole), ...ids]));
    }),
  );
};

/** The type of the tangents of a type of Reals. */
export const tangentTy = (ty: Ty, what = "functional"): Ty =>
  mapScalars(ty, (scalar) => {
    if (isReal(scalar)) return TAN;
    throw TypeError(`${what}: expected a result of Reals, got ${scalar.text}`);
  });
