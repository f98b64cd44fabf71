// Operators: from functions to functions that are their derivatives, by one argument or by several.
//
// Each gives a function like any other, to be called, compiled and differentiated again. What it is to
// be differentiated by is told by the numbers of the arguments: a number, or several, whose derivatives
// come in a struct with these numbers as names.

import type { JacobianOptions } from "../../rose";
import { atArgs, type Fn, knownOf, ofAnySize } from "./functions";
import { call, callOn, liftArgs } from "./calls";
import type { FnData } from "./data";
import { checkOptions, oneOf } from "./options";
import { recorder } from "./recorder";
import {
  count,
  isReal,
  numbersOf,
  over,
  REAL,
  structOf,
  type Ty,
  Vec,
  vecOf,
  unlike,
} from "./types";

/** The number of an argument, or several. */
export type Argnums = number | readonly number[];

/** What the operator `by` makes of `f`: `ret` tells the type of its result, from the type differentiated by. */
const derived = (
  by: string,
  f: unknown,
  argnums: Argnums,
  ret: (f: FnData, ty: Ty) => Ty,
): Fn =>
  ofAnySize(f, by, (data) =>
    data.derive(by, data.params, ret(data, selected(data, argnums, by)), {
      argnums,
    }),
  );

/** The gradient of `f`, which gives a Real: a function of the same arguments. */
export const grad = (f: unknown, argnums: Argnums = 0): Fn =>
  derived("grad", f, argnums, (data, ty) => needReal(data, "grad", ty));

/** The struct of the `value` of `f` and of its gradient `grad`, computed together. */
export const valueAndGrad = (f: unknown, argnums: Argnums = 0): Fn =>
  derived("valueAndGrad", f, argnums, (data, ty) =>
    structOf([
      ["value", REAL],
      ["grad", needReal(data, "valueAndGrad", ty)],
    ]),
  );

/** The product of the Hessian of `f` with a direction, which is one more argument. */
export const hvp = (f: unknown, argnums: Argnums = 0): Fn =>
  ofAnySize(
    f,
    "hvp",
    (data) => {
      const ty = needReal(data, "hvp", selected(data, argnums, "hvp"));
      return data.derive("hvp", [...data.params, ty], ty, { argnums });
    },
    (params) => {
      const numbers = numbersIn(argnums, "hvp");
      return [
        ...params,
        typeof argnums === "number"
          ? params[argnums]
          : Object.fromEntries(numbers.map((k) => [k, params[k]])),
      ];
    },
  );

/** The Jacobian of `f`: in place of every Real of the result, its gradient. */
export const jacobian = (
  f: unknown,
  argnums: Argnums = 0,
  options: JacobianOptions = {},
): Fn => {
  checkOptions("jacobian", options, {
    mode: oneOf(["auto", "forward", "reverse"]),
  });
  return ofAnySize(f, "jacobian", (data) => {
    const ty = selected(data, argnums, "jacobian");
    const ret = over(realsOf(data, "jacobian"), ty);
    return data.derive("jacobian", data.params, ret, { argnums, ...options });
  });
};

/** The Hessian of `f`: in place of every Real of its gradient, the gradient of that. */
export const hessian = (f: unknown, argnums: Argnums = 0): Fn =>
  derived("hessian", f, argnums, (data, ty) =>
    over(realsOf(data, "jacobian"), over(ty, ty)),
  );

/**
 * `f` on Taylor series up to `order`: it takes for each argument, and gives, an array of `order + 1`
 * coefficients, `x[0] + x[1] t + x[2] t² + …`.
 */
export const jet = (f: unknown, order: number): Fn => {
  if (!Number.isInteger(order) || order < 0 || order > 999)
    throw unlike(order, "an order from 0 to 999", "jet", RangeError);
  const series = (ty: Ty): Ty => vecOf(order + 1, ty);
  return ofAnySize(
    f,
    "jet",
    (data) =>
      data.derive("jet", data.params.map(series), series(data.ret), { order }),
    (params) => params.map((type) => Vec(order + 1, type)),
  );
};

/** `f` as the linear function that it is near its arguments: its value, and the map of directions. */
export const linearize = (
  f: unknown,
): ((...args: unknown[]) => {
  ret: unknown;
  push: (...directions: unknown[]) => unknown;
}) => {
  knownOf(f, "linearize");
  return (...args) => {
    const data = atArgs(f, args, "linearize");
    const { name, params, ret } = data;
    const along = data.derive("push", [...params, ...params], ret);
    return {
      ret: call(data, args),
      push: (...directions) => {
        const r = recorder();
        const push = { name: `the push of ${name}`, params };
        const ids = liftArgs(r, push, directions);
        return callOn(r, along, [...liftArgs(r, data, args), ...ids]);
      },
    };
  };
};

/** The numbers of the arguments that a derivative is taken by; throws if they are none. */
const numbersIn = (argnums: Argnums, what: string): readonly number[] => {
  const numbers = typeof argnums === "number" ? [argnums] : argnums;
  if (
    Array.isArray(numbers) &&
    numbers.length &&
    new Set(numbers).size === numbers.length &&
    numbers.every(Number.isInteger)
  )
    return numbers;
  throw unlike(argnums, "an argument number, or several", what);
};

/** The type of the arguments that a derivative is taken by, as one value. */
export const selected = (
  { name, params }: FnData,
  argnums: Argnums,
  what: string,
): Ty => {
  const numbers = numbersIn(argnums, what);
  const inOrder = [...numbers].sort((a, b) => a - b);
  const fields = inOrder.map((k): [string, Ty] => {
    if (params[k] === undefined)
      throw RangeError(
        `${what}: ${name} takes ${count(params.length, "argument")}, the first is 0; got ${k}`,
      );
    return [`${k}`, needReals(params[k], `${what}: argument ${k} of ${name}`)];
  });
  return typeof argnums === "number" ? fields[0][1] : structOf(fields);
};

/** `ty`, if `f` gives a Real. */
export const needReal = ({ name, ret }: FnData, what: string, ty: Ty): Ty => {
  if (ret === REAL) return ty;
  throw TypeError(
    `${what}: ${name} gives a ${ret.text}, expected a Real; use jacobian`,
  );
};

/** `ty`, if it is of Reals, be they none, and of no tangents, which have no place in derivatives. */
const needReals = (ty: Ty, what: string): Ty => {
  if (ty === numbersOf(ty) && ty.leafTypes.some(isReal)) return ty;
  throw TypeError(
    `${what}: expected a type with Reals in it, and no tangents, got the type ${ty.text}`,
  );
};

/** The type of what `f` gives, if that is of Reals. */
export const realsOf = ({ name, ret }: FnData, what: string): Ty =>
  needReals(ret, `${what}: the result of ${name}`);
