// Ordinary JavaScript values into the leaves of a function.
//
// The code is the same for all functions of a page, and which closure another one calls engines cannot know: so
// what is plain is put right where it is found, by what its column says, as long as nothing is wrong with it. Each
// loop over numbers sees one kind of array only: engines keep that fast.

import type { Cells, Leaf, Numbers } from "./cells";
import { type Column, columnOf, fieldsOf, type Row } from "./columns";
import type { Signature } from "../record/data";
import { within } from "../record/where";
import {
  areEnough,
  count,
  describe,
  indicesBelow,
  isArray,
  isNamed,
  isNumbers,
  isReal,
  type Kind,
  partsOf,
  sizeOf,
  symbolicType,
  type Ty,
  unlike,
} from "../record/types";

/**
 * Puts `x` into its leaves, behind as many other values of its type as `at` says; throws what is wrong
 * with it.
 */
export type Writer = (x: unknown, at: number) => void;

/** Up to this size a loop is faster than `set`. */
export const FEW = 24;

/** The error for a value that is none of a type. */
export const wrong = (x: unknown, ty: Ty): Error =>
  TypeError(
    `expected ${ty.text}, got ${describe(x)}` +
      (symbolicType(x)
        ? "; in a body, call the function that it was made of"
        : ""),
  );

/** A writer of values of type `ty` into `leaves`, which are those of the type. */
export const writerOf = (ty: Ty, leaves: readonly Leaf[]): Writer => {
  const others = othersWriter(ty, leaves);
  const column = columnOf(ty, leaves);
  if (!column) return others;
  const { leaf, kind } = column;
  if (kind === "real")
    return (x, at) => {
      if (typeof x === "number") leaf.cells.f[leaf.start + at] = x;
      else others(x, at);
    };
  return (x, at) => {
    if (!putPart(column, x, at)) others(x, at);
  };
};

/** A writer of values that are not plain, not of the usual kinds of arrays, or wrong. */
const othersWriter = (ty: Ty, leaves: readonly Leaf[]): Writer => {
  switch (ty.kind) {
    case "fin":
      return (x) => {
        throw unlike(x, indicesBelow(ty.size), "", RangeError);
      };
    case "vec":
      return vecWriter(ty, leaves);
    case "struct":
      return structWriter(ty, leaves);
    default:
      return (x) => {
        if (x !== null || ty.kind !== "null") throw wrong(x, ty);
      };
  }
};

const vecWriter = (ty: Ty, leaves: readonly Leaf[]): Writer => {
  const { size } = ty;
  const elem = ty.elem!;
  const column = columnOf(elem, leaves);
  const write = writerOf(elem, leaves);
  const isNumeric = isReal(ty);
  const total = sizeOf(ty);
  const [leaf] = leaves;
  return (x, at) => {
    // all numbers of vectors of vectors, too, row by row
    if (isNumeric && isNamed(x, "Float64Array")) {
      if (x.length === total) {
        leaf.cells.f.set(x, leaf.start + at * total);
        return;
      }
      if (!isNumbers(elem))
        throw RangeError(
          `expected ${count(total, "number")} for ${ty.text} in a Float64Array, got ${x.length}`,
        );
    }
    if (!isArray(x)) throw wrong(x, ty);
    if (x.length !== size)
      throw RangeError(
        `expected ${count(size, "element")} for ${ty.text}, got ${x.length}`,
      );
    const first = at * size;
    let k = 0;
    try {
      for (; k < size; ++k) {
        if (column) k = putParts(column, x, k, first);
        if (k < size) write(x[k], first + k);
      }
    } catch (error) {
      throw within(error, `[${k}]`);
    }
  };
};

/** Put elements of a vector, from number `k` on, as long as they are plain and right; how many are done then. */
const putParts = (
  { leaf, kind, size, row }: Column,
  array: ArrayLike<unknown>,
  k: number,
  first: number,
): number => {
  if (row) {
    while (k < array.length && putRecord(row, array[k], first + k)) ++k;
    return k;
  }
  const { cells, start } = leaf;
  if (kind === "vec")
    return putRows(cells, start + first * size, array, k, size);
  return kind === "bool"
    ? putBools(cells.b, start + first, array, k)
    : putScalars(scalarsOf(cells, kind), start + first, array, k, kind, size);
};

const putRows = (
  cells: Cells,
  start: number,
  array: ArrayLike<unknown>,
  k: number,
  width: number,
): number => {
  while (k < array.length && putRow(cells, start + k * width, array[k], width))
    ++k;
  return k;
};

/** Engines compare with a Bool several times faster than they make a number of it. */
const putBools = (
  bytes: Numbers,
  start: number,
  array: ArrayLike<unknown>,
  k: number,
): number => {
  const { length } = array;
  for (; k < length; ++k) {
    const x = array[k];
    if (x === true) bytes[start + k] = 1;
    else if (x === false) bytes[start + k] = 0;
    else break;
  }
  return k;
};

const putScalars = (
  scalars: Numbers,
  start: number,
  array: ArrayLike<any>,
  k: number,
  kind: Kind,
  size: number,
): number => {
  const { length } = array;
  if (kind === "real")
    while (k < length && typeof array[k] === "number")
      scalars[start + k] = array[k++];
  else
    while (k < length && isRight(array[k], kind, size))
      scalars[start + k] = +array[k++] | 0;
  return k;
};

/** Where scalars of a kind are kept. */
const scalarsOf = ({ f, i, b }: Cells, kind: Kind): Numbers =>
  kind === "real" ? f : kind === "bool" ? b : i;

/** Whether `x` is a scalar of a kind: a number, a Bool, or a whole number below `size`. */
const isRight = (x: unknown, kind: Kind, size: number): boolean =>
  kind === "bool"
    ? typeof x === "boolean"
    : typeof x === "number" && (kind === "real" || (x >>> 0 === x && x < size));

/** A struct: an object that has its keys, and others if it likes, or of a tuple an array. */
const structWriter = (ty: Ty, leaves: readonly Leaf[]): Writer => {
  const writers = fieldsOf(ty, leaves).map(
    ([name, field, own]): [string, Writer] => [name, writerOf(field, own)],
  );
  return (x, at) => {
    if (typeof x !== "object" || x === null) throw wrong(x, ty);
    const isOther = isArray(x) && x.length !== writers.length;
    if (isOther || !ty.order.every((name) => name in x))
      throw unlike(x, `an object with ${ty.order.join(", ") || "no keys"}`);
    for (const [name, write] of writers)
      try {
        write((x as Record<string, unknown>)[name], at);
      } catch (error) {
        throw within(error, `.${name}`);
      }
  };
};

/** Put a value, if it is plain, and nothing is wrong with it. */
const putPart = (
  { leaf, kind, size, row }: Column,
  x: any,
  at: number,
): boolean => {
  if (row) return putRecord(row, x, at);
  const { cells, start } = leaf;
  if (kind === "vec") return putRow(cells, start + at * size, x, size);
  if (!isRight(x, kind, size)) return false;
  if (kind === "real") cells.f[start + at] = x;
  else scalarsOf(cells, kind)[start + at] = +x | 0; // of no sign
  return true;
};

/** Put so many numbers in an array, if it is that. */
const putRow = (
  { f, shared }: Cells,
  start: number,
  row: unknown,
  width: number,
): boolean => {
  if (Array.isArray(row)) {
    if (row.length !== width) return false;
    for (let j = 0; j < width; ++j) {
      const number: unknown = row[j];
      if (typeof number !== "number") return false;
      f[start + j] = number;
    }
    return true;
  }
  if (!(row instanceof Float64Array) || row.length !== width) return false;
  if (width > FEW || shared) f.set(row, start);
  else for (let j = 0; j < width; ++j) f[start + j] = row[j];
  return true;
};

/**
 * Put a record in its columns, if nothing is wrong with it. That goes through its keys, which mostly come in the
 * author's order: engines read what is under such a key faster than what is under a name from elsewhere.
 */
const putRecord = (
  { columns, isTuple }: Row,
  x: unknown,
  at: number,
): boolean => {
  if (typeof x !== "object" || x === null) return false;
  const { length } = columns;
  let c = 0;
  if (isTuple) {
    if (!Array.isArray(x) || x.length !== length) return false;
    while (c < length && putPart(columns[c], x[c], at)) ++c;
    return c === length;
  }
  const record = x as Record<string, unknown>;
  for (const key in record) {
    if (c === length) break;
    const column = columns[c];
    if (key !== column.name) continue;
    const given = record[key];
    if (column.kind === "real" && typeof given === "number")
      column.leaf.cells.f[column.leaf.start + at] = given;
    else if (!putPart(column, given, at)) return false;
    ++c;
  }
  for (; c < length; ++c)
    if (!putPart(columns[c], record[columns[c].name], at)) return false;
  return true;
};

/** An argument of a function, as calls put it into its leaves. */
export class Argument {
  readonly column: Column | undefined;
  readonly write: Writer;

  constructor(ty: Ty, leaves: readonly Leaf[]) {
    this.column = columnOf(ty, leaves);
    this.write = writerOf(ty, leaves);
  }
}

/** The arguments of these types, which go into these leaves. */
export const argumentsOf = (
  types: readonly Ty[],
  leaves: readonly Leaf[],
): Argument[] => {
  const parts = partsOf(types, leaves);
  return types.map((ty, k) => new Argument(ty, parts[k]));
};

/** Put `x` into its leaves. Vectors of numbers, which most calls have, go in right here. */
const put = ({ column, write }: Argument, x: unknown): void => {
  if (
    column?.kind !== "vec" ||
    !putRow(column.leaf.cells, column.leaf.start, x, column.size)
  )
    write(x, 0);
};

/** Put the arguments of a call of `f` into its leaves; throws what is wrong with which. */
export const putArguments = (
  f: Signature,
  into: readonly Argument[],
  args: ArrayLike<unknown>,
): void => {
  if (args.length !== into.length && !areEnough(args, into.length))
    throw TypeError(
      `${f.name} takes ${count(into.length, "argument")}, got ${args.length}`,
    );
  let k = 0;
  try {
    for (; k < into.length; ++k) put(into[k], args[k]);
  } catch (error) {
    throw within(error, `argument ${k + 1} of ${f.name}`);
  }
};
