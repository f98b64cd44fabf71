// Ordinary JavaScript values into the leaves of a function.
//
// A writer is made once for a type, and is straight code for it. That the code is the same for all
// functions of a page is why each loop sees one kind of array only: engines keep that fast. Which writer another
// one calls they cannot know, so rows of numbers, and records of numbers and such rows, are written right where
// they are found, as long as nothing is wrong with them.

import type { Cells, Leaf } from "./cells";
import {
  BOOL,
  type Column,
  isRecord,
  NUMBER,
  type Row,
  rowOf,
} from "./columns";
import type { Signature } from "../record/data";
import { Var, within } from "../record/recorder";
import {
  count,
  describe,
  indicesBelow,
  isArray,
  isNamed,
  isNumbers,
  isReal,
  partsOf,
  sizeOf,
  type Ty,
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
      (x instanceof Var
        ? "; in a body, call the function that it was made of"
        : ""),
  );

/** A writer of values of type `ty` into `leaves`, which are those of the type. */
export const writerOf = (ty: Ty, leaves: readonly Leaf[]): Writer => {
  switch (ty.kind) {
    case "real":
    case "tan":
      return realWriter(ty, leaves[0]);
    case "bool":
      return boolWriter(ty, leaves[0]);
    case "fin":
      return indexWriter(ty.size, leaves[0]);
    case "null":
      return (x) => {
        if (x !== null) throw wrong(x, ty);
      };
    case "vec":
      return vecWriter(ty, leaves);
    case "struct":
      return structWriter(ty, leaves);
  }
};

const realWriter =
  (ty: Ty, leaf: Leaf): Writer =>
  (x, at) => {
    if (typeof x !== "number") throw wrong(x, ty);
    leaf.cells.f[leaf.start + at] = x;
  };

const boolWriter =
  (ty: Ty, leaf: Leaf): Writer =>
  (x, at) => {
    if (typeof x !== "boolean") throw wrong(x, ty);
    leaf.cells.b[leaf.start + at] = x ? 1 : 0;
  };

const indexWriter =
  (size: number, leaf: Leaf): Writer =>
  (x, at) => {
    // of no index there is 0, which nothing can use
    if (!isBelow(x, size || 1))
      throw RangeError(`expected ${indicesBelow(size)}, got ${describe(x)}`);
    leaf.cells.i[leaf.start + at] = x | 0; // -0 is 0
  };

const vecWriter = (ty: Ty, leaves: readonly Leaf[]): Writer => {
  const elem = ty.elem!;
  if (isNumbers(elem)) return numbersWriter(ty, leaves[0]);
  if (elem.kind === "bool") return boolsWriter(ty, leaves[0]);
  if (elem.kind === "fin") return indicesWriter(ty, leaves[0]);
  if (isRecord(elem)) return recordsWriter(ty, leaves);
  if (elem.kind !== "vec") return elementsWriter(ty, leaves);
  const rows = isNumbers(elem.elem!)
    ? rowsWriter(ty, leaves[0])
    : elementsWriter(ty, leaves);
  return isReal(ty) ? matrixWriter(ty, leaves[0], rows) : rows;
};

/** The elements of a vector; throws if `x` is none of so many. */
const elementsOf = (x: unknown, ty: Ty): ArrayLike<unknown> => {
  if (!isArray(x)) throw wrong(x, ty);
  if (x.length !== ty.size) throw wrongSize(x.length, ty);
  return x;
};

const wrongSize = (length: number, ty: Ty): Error =>
  RangeError(
    `expected ${count(ty.size, "element")} for ${ty.text}, got ${length}`,
  );

const elementsWriter = (ty: Ty, leaves: readonly Leaf[]): Writer => {
  const { size } = ty;
  const element = writerOf(ty.elem!, leaves);
  return (x, at) => {
    const array = elementsOf(x, ty);
    for (let i = 0; i < size; ++i) inPlace(element, array[i], at * size + i, i);
  };
};

/** A vector of numbers, which is most of what goes in. */
const numbersWriter = (ty: Ty, leaf: Leaf): Writer => {
  const { size } = ty;
  const elem = ty.elem!;
  return (x, at) => {
    const { f, shared } = leaf.cells;
    const start = leaf.start + at * size;
    if (x instanceof Float64Array) {
      if (x.length !== size) throw wrongSize(x.length, ty);
      if (size > FEW || shared) f.set(x, start);
      else for (let i = 0; i < size; ++i) f[start + i] = x[i];
    } else if (Array.isArray(x)) {
      if (x.length !== size) throw wrongSize(x.length, ty);
      for (let i = 0; i < size; ++i) {
        const number: unknown = x[i];
        if (typeof number !== "number")
          throw within(wrong(number, elem), `[${i}]`);
        f[start + i] = number;
      }
    } else putOther(f, start, elementsOf(x, ty), elem);
  };
};

const boolsWriter = (ty: Ty, leaf: Leaf): Writer => {
  const { size } = ty;
  return (x, at) => {
    const array = elementsOf(x, ty);
    const { b } = leaf.cells;
    const start = leaf.start + at * size;
    for (let i = 0; i < size; ++i) {
      const bool = array[i];
      if (typeof bool !== "boolean")
        throw within(wrong(bool, ty.elem!), `[${i}]`);
      b[start + i] = bool ? 1 : 0;
    }
  };
};

const indicesWriter = (ty: Ty, leaf: Leaf): Writer => {
  const { size } = ty;
  const bound = ty.elem!.size || 1;
  const one = indexWriter(ty.elem!.size, leaf);
  return (x, at) => {
    const array = elementsOf(x, ty);
    const { i } = leaf.cells;
    const start = leaf.start + at * size;
    for (let k = 0; k < size; ++k) {
      const index = array[k];
      if (isBelow(index, bound)) i[start + k] = index | 0;
      else inPlace(one, index, at * size + k, k);
    }
  };
};

/** Whether `x` is a whole number from 0 up, below `bound`. */
const isBelow = (x: unknown, bound: number): x is number =>
  typeof x === "number" && x >>> 0 === x && x < bound;

/** Write element `k` of a vector, and if something is wrong with it, say where. */
const inPlace = (write: Writer, x: unknown, at: number, k: number): void => {
  try {
    write(x, at);
  } catch (error) {
    throw within(error, `[${k}]`);
  }
};

/** A vector of vectors of numbers. */
const rowsWriter = (ty: Ty, leaf: Leaf): Writer => {
  const { size } = ty;
  const width = ty.elem!.size;
  const row = writerOf(ty.elem!, [leaf]);
  return (x, at) => {
    const array = elementsOf(x, ty);
    const first = at * size;
    const start = leaf.start + first * width;
    for (let k = 0; k < size; ++k) {
      k = putRows(leaf.cells, start, array, k, width);
      if (k < size) inPlace(row, array[k], first + k, k);
    }
  };
};

/** Put rows of numbers, from row `k` on, as long as they are plain and right; how many are done then. */
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
  if (width > FEW || shared) return false;
  for (let j = 0; j < width; ++j) f[start + j] = row[j];
  return true;
};

/** A vector of structs of plain fields. */
const recordsWriter = (ty: Ty, leaves: readonly Leaf[]): Writer => {
  const { size } = ty;
  const record = structWriter(ty.elem!, leaves);
  const row = rowOf(ty.elem!, leaves);
  return (x, at) => {
    const array = elementsOf(x, ty);
    const first = at * size;
    for (let k = 0; k < size; ++k) {
      while (k < size && putRecord(row, array[k], first + k)) ++k;
      if (k < size) inPlace(record, array[k], first + k, k);
    }
  };
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
    if (column.form === NUMBER && typeof given === "number")
      column.leaf.cells.f[column.leaf.start + at] = given;
    else if (!putPart(column, given, at)) return false;
    ++c;
  }
  for (; c < length; ++c)
    if (!putPart(columns[c], record[columns[c].name], at)) return false;
  return true;
};

const putPart = (column: Column, given: unknown, at: number): boolean =>
  column.row ? putRecord(column.row, given, at) : putField(column, given, at);

const putField = (
  { leaf: { cells, start }, form }: Column,
  given: unknown,
  at: number,
): boolean => {
  if (form === NUMBER) {
    if (typeof given !== "number") return false;
    cells.f[start + at] = given;
  } else if (form === BOOL) {
    if (typeof given !== "boolean") return false;
    cells.b[start + at] = given ? 1 : 0;
  } else if (form > NUMBER) {
    if (!isBelow(given, form)) return false;
    cells.i[start + at] = given | 0;
  } else return putRow(cells, start + at * ~form, given, ~form);
  return true;
};

/** Numbers from an array of another kind. */
const putOther = (
  f: Float64Array,
  start: number,
  array: ArrayLike<unknown>,
  elem: Ty,
): void => {
  for (let i = 0; i < array.length; ++i) {
    const number = array[i];
    if (typeof number !== "number") throw within(wrong(number, elem), `[${i}]`);
    f[start + i] = number;
  }
};

/** A vector of vectors of numbers: also all of them in one Float64Array, row by row. */
const matrixWriter = (ty: Ty, leaf: Leaf, rows: Writer): Writer => {
  const total = sizeOf(ty);
  return (x, at) => {
    if (!isNamed(x, "Float64Array")) rows(x, at);
    else if (x.length === total) leaf.cells.f.set(x, leaf.start + at * total);
    else
      throw RangeError(
        `expected ${count(total, "number")} for ${ty.text} in a Float64Array, got ${x.length}`,
      );
  };
};

/** A struct: an object that has its keys, and others if it likes, or of a tuple an array. */
const structWriter = (ty: Ty, leaves: readonly Leaf[]): Writer => {
  const writers = fieldsOf(ty, leaves).map(
    ([field, own], k): [string, Writer] => [
      ty.fields[k][0],
      writerOf(field, own),
    ],
  );
  const write: Writer = (x, at) => {
    if (typeof x !== "object" || x === null) throw wrong(x, ty);
    const isOther = isArray(x) && x.length !== writers.length;
    if (isOther || !ty.order.every((name) => name in x))
      throw TypeError(
        `expected an object with ${ty.order.join(", ") || "no keys"}, got ${describe(x)}`,
      );
    for (const [name, put] of writers)
      try {
        put((x as Record<string, unknown>)[name], at);
      } catch (error) {
        throw within(error, `.${name}`);
      }
  };
  if (!isRecord(ty)) return write;
  const row = rowOf(ty, leaves);
  return (x, at) => {
    if (!putRecord(row, x, at)) write(x, at);
  };
};

/** The fields of a struct, sorted by name, each with its leaves. */
export const fieldsOf = <T>(
  ty: Ty,
  leaves: readonly T[],
): [field: Ty, leaves: readonly T[]][] => {
  const types = ty.fields.map(([, field]) => field);
  return partsOf(types, leaves).map((own, k) => [types[k], own]);
};

/** An argument of a function, as calls put it into its leaves. */
export class Argument {
  /** How many numbers it has, if it is a vector of them; else -1. */
  readonly size: number;
  readonly leaf: Leaf;
  readonly write: Writer;

  constructor(ty: Ty, leaves: readonly Leaf[]) {
    this.size = sizeOfNumbers(ty);
    this.leaf = leaves[0];
    this.write = writerOf(ty, leaves);
  }
}

/** How many numbers a value has, if it is a vector of them; else -1. */
export const sizeOfNumbers = (ty: Ty): number =>
  ty.kind === "vec" && isNumbers(ty.elem!) ? ty.size : -1;

/** The arguments of `f`, which go into these leaves. */
export const argumentsOf = (
  f: Signature,
  leaves: readonly Leaf[],
): Argument[] => {
  const parts = partsOf(f.params, leaves);
  return f.params.map((ty, k) => new Argument(ty, parts[k]));
};

/**
 * Put `x` into its leaves. Short vectors of numbers, which most calls have, go in right here: which writer it
 * is that they call, engines cannot know, and such a call takes longer than the numbers.
 */
const put = ({ size, leaf, write }: Argument, x: unknown): void => {
  if (size <= FEW && x instanceof Float64Array && x.length === size) {
    const { f, shared } = leaf.cells;
    const { start } = leaf;
    if (!shared) {
      for (let i = 0; i < size; ++i) f[start + i] = x[i];
      return;
    }
  }
  write(x, 0);
};

/** Put the arguments of a call of `f` into its leaves; throws what is wrong with which. */
export const putArguments = (
  f: Signature,
  into: readonly Argument[],
  args: ArrayLike<unknown>,
): void => {
  if (args.length !== into.length)
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
