// Operators: from functions to functions that are their derivatives, by one argument or by several.
//
// Each gives a function like any other, to be called, compiled and differentiated again. What it is to
// be differentiated by is told by the numbers of the arguments: a number, or several, whose derivatives
// come in a struct with these numbers as names.

import {
  atArgs,
  count,
  dataOf,
  define,
  type Fn,
  type FnData,
  makeFn,
  ofAnySize,
  pullback,
  type Pullback,
  push,
} from "./functions";
import { needReals } from "./places";
import { describe, REAL, structOf, type Ty } from "./types";

/** The number of an argument, or several. */
export type Argnums = number | readonly number[];

/** The gradient of `f`, which gives a Real: a function of the same arguments. */
export const grad = (f: unknown, argnums: Argnums = 0): Fn =>
  ofAnySize(f, "grad", (g, data) => {
    const by = new Selection(data, argnums, "grad");
    needReal(data, "grad");
    return derived(data, "grad", data.params, by.type, (...args) =>
      by.pulled(pullback(g, args, "grad"), 1),
    );
  });

/** The struct of the `value` of `f` and of its gradient `grad`, computed together. */
export const valueAndGrad = (f: unknown, argnums: Argnums = 0): Fn =>
  ofAnySize(f, "valueAndGrad", (g, data) => {
    const by = new Selection(data, argnums, "valueAndGrad");
    needReal(data, "valueAndGrad");
    const ret = structOf([
      ["value", REAL],
      ["grad", by.type],
    ]);
    return derived(data, "valueAndGrad", data.params, ret, (...args) => {
      const back = pullback(g, args, "valueAndGrad");
      return { value: back.ret, grad: by.pulled(back, 1) };
    });
  });

/** The product of the Hessian of `f` with a direction, which is one more argument. */
export const hvp = (f: unknown, argnums: Argnums = 0): Fn =>
  ofAnySize(
    f,
    "hvp",
    (g, data) => {
      const by = new Selection(data, argnums, "hvp");
      const gradient = dataOf(grad(g, argnums), "hvp");
      return derived(
        data,
        "hvp",
        [...data.params, by.type],
        by.type,
        (...args) => {
          const directions = by.scattered(args.pop());
          return push(gradient, args, directions).change;
        },
      );
    },
    (params) => [
      ...params,
      typeof argnums === "number"
        ? params[argnums]
        : Object.fromEntries(argnums.map((k) => [k, params[k]])),
    ],
  );

/** `f` as the linear function that it is near its arguments: its value, and the map of directions. */
export const linearize = (
  f: unknown,
): ((...args: unknown[]) => {
  ret: unknown;
  push: (...directions: unknown[]) => unknown;
}) => {
  ofAnySize(f, "linearize", (g) => g);
  return (...args) => {
    const data = atArgs(f, args, "linearize");
    return {
      ret: (f as Fn)(...args),
      push: (...directions) => {
        if (directions.length !== args.length)
          throw TypeError(
            `the push of ${data.name} takes ${count(args.length, "direction")}, got ${directions.length}`,
          );
        return push(data, args, new Map(directions.entries())).change;
      },
    };
  };
};

/** The arguments that a derivative is taken by, as one value. */
export class Selection {
  /** The type of that value. */
  readonly type: Ty;
  private readonly numbers: readonly number[];
  /** Whether it is one argument, and not a struct of some. */
  private readonly alone: boolean;

  constructor({ name, params }: FnData, argnums: Argnums, what: string) {
    this.alone = typeof argnums === "number";
    this.numbers = numbersOf(argnums, what);
    for (const k of this.numbers) {
      if (params[k] === undefined)
        throw RangeError(
          `${what}: ${name} has no argument ${k}, only ${params.length}`,
        );
      needReals(params[k], `${what}: argument ${k} of ${name}`);
    }
    this.type = this.alone
      ? params[this.numbers[0]]
      : structOf(this.numbers.map((k) => [String(k), params[k]]));
  }

  /** The numbers of the arguments, in the order of the leaves of `type`. */
  get order(): readonly number[] {
    return this.alone
      ? this.numbers
      : this.type.fields.map(([name]) => Number(name));
  }

  /** One value for each of the arguments, as a value of `type`. */
  private gathered(values: readonly unknown[]): unknown {
    if (this.alone) return values[0];
    return Object.fromEntries(this.numbers.map((k, i) => [k, values[i]]));
  }

  /** A value of `type` as one for each of the arguments, by number. */
  scattered(x: unknown): Map<number, unknown> {
    const part = (k: number): unknown =>
      this.alone ? x : (x as Record<number, unknown>)[k];
    return new Map(this.numbers.map((k) => [k, part(k)]));
  }

  /** The arguments themselves. */
  of(args: readonly unknown[]): unknown {
    return this.gathered(this.numbers.map((k) => args[k]));
  }

  /** Their cotangents. */
  pulled({ gradOf }: Pullback, cotangent: unknown): unknown {
    return this.gathered(gradOf(cotangent, this.numbers));
  }
}

const numbersOf = (argnums: Argnums, what: string): readonly number[] => {
  const numbers = typeof argnums === "number" ? [argnums] : argnums;
  if (
    !Array.isArray(numbers) ||
    !numbers.length ||
    new Set(numbers).size < numbers.length ||
    !numbers.every((k) => Number.isInteger(k))
  )
    throw TypeError(
      `${what}: expected the number of an argument, or some, got ${describe(argnums)}`,
    );
  return numbers;
};

const needReal = ({ name, ret }: FnData, what: string): void => {
  if (ret !== REAL)
    throw TypeError(
      `${what}: ${name} gives a ${ret.text}, expected a Real; use jacobian`,
    );
};

/** The function `body`, which is made from `f`. */
export const derived = (
  f: FnData,
  what: string,
  params: readonly Ty[],
  ret: Ty,
  body: (...args: unknown[]) => unknown,
): Fn => {
  const name = `${what}_${f.name}`;
  return makeFn(define(name, params, ret, body));
};
