// Between ordinary JavaScript values and the leaves of a compiled or interpreted function.

import type { FnData } from "./functions";
import { count } from "./functions";
import { within } from "./recorder";
import { describe, REAL, type Ty } from "./types";

/** Numbers by position. */
export type Cells = Float64Array | Int32Array | Uint8Array | number[];

/** Where one leaf is kept: its scalars in a row, from `start` on. */
export interface Leaf {
  readonly start: number;
  /** The array they are in, which may be another one after the memory has grown. */
  cells(): Cells;
}

const set = (leaf: Leaf, at: number, x: number): void => {
  leaf.cells()[leaf.start + at] = x;
};

const wrong = (x: unknown, ty: Ty): Error =>
  TypeError(`expected ${ty.text}, got ${describe(x)}`);

/** Put `x`, taken as a `ty`, at position `at` of the leaves from number `leaf` on. */
const put = (
  leaves: readonly Leaf[],
  leaf: number,
  at: number,
  ty: Ty,
  x: unknown,
): void => {
  switch (ty.kind) {
    case "real":
    case "tan":
      if (typeof x !== "number") throw wrong(x, ty);
      set(leaves[leaf], at, x);
      return;
    case "bool":
      if (typeof x !== "boolean") throw wrong(x, ty);
      set(leaves[leaf], at, x ? 1 : 0);
      return;
    case "fin":
      if (
        typeof x !== "number" ||
        !Number.isInteger(x) ||
        x < 0 ||
        x >= (ty.size || 1) // of no index there is 0, which nothing can use
      )
        throw RangeError(
          `expected an index from 0 to ${ty.size - 1}, got ${describe(x)}`,
        );
      set(leaves[leaf], at, x);
      return;
    case "null":
      if (x !== null) throw wrong(x, ty);
      return;
    case "vec":
      putVec(leaves, leaf, at, ty, x);
      return;
    case "struct":
      putStruct(leaves, leaf, at, ty, x);
  }
};

const putVec = (
  leaves: readonly Leaf[],
  leaf: number,
  at: number,
  ty: Ty,
  x: unknown,
): void => {
  if (!Array.isArray(x) && (!ArrayBuffer.isView(x) || x instanceof DataView))
    throw wrong(x, ty);
  const array = x as unknown as ArrayLike<unknown>;
  const { size } = ty;
  const elem = ty.elem!;
  if (array.length !== size)
    throw RangeError(
      `expected ${count(size, "element")} for ${ty.text}, got ${array.length}`,
    );
  if (elem.kind === "real") {
    putReals(leaves[leaf], at * size, array);
    return;
  }
  for (let i = 0; i < size; ++i)
    try {
      put(leaves, leaf, at * size + i, elem, array[i]);
    } catch (error) {
      throw within(error, `[${i}]`);
    }
};

/** The vector of numbers `x`, which is most of what goes in: one loop. */
const putReals = (leaf: Leaf, at: number, x: ArrayLike<unknown>): void => {
  const cells = leaf.cells();
  const start = leaf.start + at;
  if (x instanceof Float64Array && cells instanceof Float64Array) {
    cells.set(x, start);
    return;
  }
  for (let i = 0; i < x.length; ++i) {
    const number = x[i];
    if (typeof number !== "number") throw within(wrong(number, REAL), `[${i}]`);
    cells[start + i] = number;
  }
};

const putStruct = (
  leaves: readonly Leaf[],
  leaf: number,
  at: number,
  ty: Ty,
  x: unknown,
): void => {
  if (typeof x !== "object" || x === null) throw wrong(x, ty);
  const given = Object.keys(x);
  if (
    given.length !== ty.fields.length ||
    !ty.fields.every(([name]) => Object.hasOwn(x, name))
  )
    throw TypeError(
      `expected an object with ${ty.order.join(", ") || "no keys"}, got ${describe(x)}`,
    );
  for (const [name, field] of ty.fields) {
    try {
      put(leaves, leaf, at, field, (x as Record<string, unknown>)[name]);
    } catch (error) {
      throw within(error, `.${name}`);
    }
    leaf += field.leaves;
  }
};

/** The value of type `ty` at position `at` of the leaves from number `leaf` on. */
export const take = (
  leaves: readonly Leaf[],
  leaf: number,
  at: number,
  ty: Ty,
): unknown => {
  switch (ty.kind) {
    case "null":
      return null;
    case "bool":
      return leaves[leaf].cells()[leaves[leaf].start + at] !== 0;
    case "vec":
      return takeVec(leaves, leaf, at, ty);
    case "struct": {
      const found: Record<string, unknown> = {};
      for (const name of ty.order) found[name] = undefined; // the author's order of keys
      for (const [name, field] of ty.fields) {
        found[name] = take(leaves, leaf, at, field);
        leaf += field.leaves;
      }
      return found;
    }
    default:
      return leaves[leaf].cells()[leaves[leaf].start + at];
  }
};

const takeVec = (
  leaves: readonly Leaf[],
  leaf: number,
  at: number,
  ty: Ty,
): unknown[] => {
  const { size } = ty;
  const elem = ty.elem!;
  const found: unknown[] = new Array(size);
  if (elem.kind === "real") {
    // several times faster than Array.from
    const cells = leaves[leaf].cells();
    const start = leaves[leaf].start + at * size;
    for (let i = 0; i < size; ++i) found[i] = cells[start + i];
  } else
    for (let i = 0; i < size; ++i)
      found[i] = take(leaves, leaf, at * size + i, elem);
  return found;
};

/** Put the result of an opaque function into the leaves; throws what is wrong with it. */
export const putResult = (
  f: FnData,
  leaves: readonly Leaf[],
  result: unknown,
): void => {
  try {
    put(leaves, 0, 0, f.ret, result);
  } catch (error) {
    throw within(error, `the result of ${f.name}`);
  }
};

/** Put the arguments of a call into the leaves; throws what is wrong with which. */
export const putArgs = (
  f: FnData,
  leaves: readonly Leaf[],
  args: readonly unknown[],
): void => {
  const { params } = f;
  if (args.length !== params.length)
    throw TypeError(
      `${f.name} takes ${count(params.length, "argument")}, got ${args.length}`,
    );
  let leaf = 0;
  for (let k = 0; k < params.length; ++k) {
    try {
      put(leaves, leaf, 0, params[k], args[k]);
    } catch (error) {
      throw within(error, `argument ${k + 1} of ${f.name}`);
    }
    leaf += params[k].leaves;
  }
};
