// Jacobians and Hessians: a loop over unit vectors, along each of which goes one pass.

import { type Fn, type FnData, ofAnySize, pullback, push } from "./functions";
import { type Argnums, derived, Selection } from "./operators";
import {
  at,
  countReals,
  each,
  needReals,
  over,
  type Place,
  unit,
} from "./places";
import { describe, REAL } from "./types";

export interface JacobianOptions {
  /**
   * Forward: a pass for each Real of the argument; in reverse: one for each of the result. Otherwise the
   * fewer decide.
   */
  mode?: "auto" | "forward" | "reverse";
}

/** The Jacobian of `f`: in place of every Real of the result, its gradient. */
export const jacobian = (
  f: unknown,
  argnums: Argnums = 0,
  options: JacobianOptions = {},
): Fn => {
  for (const key of Object.keys(options))
    if (key !== "mode") throw TypeError(`jacobian: there is no option ${key}`);
  const { mode = "auto" } = options;
  if (!["auto", "forward", "reverse"].includes(mode))
    throw RangeError(
      `jacobian: expected "auto", "forward" or "reverse" as mode, got ${describe(mode)}`,
    );
  return ofAnySize(f, "jacobian", (g, data) => {
    const by = new Selection(data, argnums, "jacobian");
    needReals(data.ret, `jacobian: the result of ${data.name}`);
    const isFewer = countReals(by.type) <= countReals(data.ret);
    const isForward = mode === "forward" || (mode === "auto" && isFewer);
    return derived(
      data,
      "jacobian",
      data.params,
      over(data.ret, by.type),
      isForward ? forward(g, data, by) : reverse(g, data, by),
    );
  });
};

/** The Hessian of `f`: in place of every Real of its gradient, the gradient of that. */
export const hessian = (f: unknown, argnums: Argnums = 0): Fn =>
  ofAnySize(f, "hessian", (g) =>
    jacobian(jacobian(g, argnums, { mode: "reverse" }), argnums, {
      mode: "forward",
    }),
  );

type Body = (...args: unknown[]) => unknown;

const reverse =
  (f: Fn, { ret }: FnData, by: Selection): Body =>
  (...args) => {
    const back = pullback(f, args, "jacobian");
    return each(
      ret,
      by.type,
      (place) => by.pulled(back, unit(ret, place, back.ret)),
      back.ret,
    );
  };

const forward =
  (f: Fn, data: FnData, by: Selection): Body =>
  (...args) => {
    const x = by.of(args);
    const { ret } = data;
    const along = (place: Place): unknown =>
      push(data, args, by.scattered(unit(by.type, place, x))).change;
    const columns = each(by.type, ret, along, x);
    return each(
      ret,
      by.type,
      (i) => each(by.type, REAL, (j) => at(at(columns, j), i), x),
      f(...args),
    );
  };
