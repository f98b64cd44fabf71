// The leaves of a function into ordinary JavaScript values, new or given ones.

import { FEW, fieldsOf, sizeOfNumbers } from "./arguments";
import type { Leaf } from "./cells";
import {
  BOOL,
  type Column,
  doubles,
  isRecord,
  NUMBER,
  type Row,
  rowOf,
} from "./columns";
import { within } from "../record/recorder";
import {
  count,
  describe,
  isNamed,
  isNumbers,
  isReal,
  sizeOf,
  type Ty,
} from "../record/types";

/** Makes the value of its type in the leaves that has `at` others before it. */
export type Reader = (at: number) => unknown;

/** Fills `out` in place with what a `Reader` would make; throws if it has another form. */
export type Filler = (out: unknown, at: number) => void;

/** A reader of values of type `ty` from `leaves`, which are those of the type. */
export const readerOf = (ty: Ty, leaves: readonly Leaf[]): Reader => {
  const [leaf] = leaves;
  switch (ty.kind) {
    case "null":
      return () => null;
    case "bool":
      return (at) => leaf.cells.b[leaf.start + at] !== 0;
    case "fin":
      return (at) => leaf.cells.i[leaf.start + at];
    case "vec":
      return vecReader(ty, leaves);
    case "struct":
      return structReader(ty, leaves);
    default:
      return (at) => leaf.cells.f[leaf.start + at];
  }
};

/** The result of a function, as calls give it. */
export class Result {
  readonly leaf: Leaf;
  readonly read: Reader;
  /** What is copied to make it, if it is a vector of numbers. */
  readonly copied: readonly number[] | undefined;

  constructor(ty: Ty, leaves: readonly Leaf[]) {
    const size = sizeOfNumbers(ty);
    this.leaf = leaves[0];
    this.read = readerOf(ty, leaves);
    this.copied = size < 0 ? undefined : doubles(size);
  }
}

/** The value in the leaves of a result: of a vector of numbers without a call, as in `putArguments`. */
export const valueOf = ({ leaf, read, copied }: Result): unknown =>
  copied ? numbersFrom(copied, leaf.cells.f, leaf.start) : read(0);

const vecReader = (ty: Ty, leaves: readonly Leaf[]): Reader => {
  const { size } = ty;
  const elem = ty.elem!;
  if (isNumbers(elem)) {
    const copied = doubles(size);
    const [leaf] = leaves;
    return (at) => numbersFrom(copied, leaf.cells.f, leaf.start + at * size);
  }
  const copied = new Array<unknown>(size).fill(undefined);
  const width = sizeOfNumbers(elem);
  if (width >= 0) {
    const row = doubles(width);
    const [leaf] = leaves;
    return (at) => {
      const { f } = leaf.cells;
      const start = leaf.start + at * size * width;
      if (size === 2)
        return [numbersFrom(row, f, start), numbersFrom(row, f, start + width)];
      if (size === 3)
        return [
          numbersFrom(row, f, start),
          numbersFrom(row, f, start + width),
          numbersFrom(row, f, start + 2 * width),
        ];
      const found = copied.slice();
      for (let i = 0; i < size; ++i)
        found[i] = numbersFrom(row, f, start + i * width);
      return found;
    };
  }
  if (isRecord(elem)) {
    const row = rowOf(elem, leaves);
    return (at) => {
      const found = copied.slice();
      for (let i = 0; i < size; ++i) found[i] = recordFrom(row, at * size + i);
      return found;
    };
  }
  const element = readerOf(elem, leaves);
  return (at) => {
    const found = copied.slice();
    for (let i = 0; i < size; ++i) found[i] = element(at * size + i);
    return found;
  };
};

/**
 * As many numbers as are in `copied`, from `start` on. A few are written out: engines make such an array in a
 * third of the time.
 */
const numbersFrom = (
  copied: readonly number[],
  f: Float64Array,
  start: number,
): number[] => {
  switch (copied.length) {
    case 1:
      return [f[start]];
    case 2:
      return [f[start], f[start + 1]];
    case 3:
      return [f[start], f[start + 1], f[start + 2]];
    case 4:
      return [f[start], f[start + 1], f[start + 2], f[start + 3]];
  }
  const found = copied.slice();
  for (let i = 0; i < found.length; ++i) found[i] = f[start + i];
  return found;
};

/**
 * The record behind so many others. The first few fields are set each in a place of its own in the code: engines
 * make an object faster where they know which key comes, and an array at once.
 */
const recordFrom = (
  { columns, isTuple }: Row,
  at: number,
): Fields | unknown[] => {
  const { 0: first, 1: second, 2: third, 3: fourth } = columns;
  if (isTuple) {
    if (columns.length === 2)
      return [fieldFrom(first, at), fieldFrom(second, at)];
    if (columns.length === 3)
      return [
        fieldFrom(first, at),
        fieldFrom(second, at),
        fieldFrom(third, at),
      ];
    return columns.map((column) => fieldFrom(column, at));
  }
  const made: Fields = {};
  if (first) made[first.name] = fieldFrom(first, at);
  if (second) made[second.name] = fieldFrom(second, at);
  if (third) made[third.name] = fieldFrom(third, at);
  if (fourth) made[fourth.name] = fieldFrom(fourth, at);
  for (let c = 4; c < columns.length; ++c)
    made[columns[c].name] = fieldFrom(columns[c], at);
  return made;
};

const fieldFrom = (column: Column, at: number): unknown => {
  const { leaf, form, copied, row } = column;
  if (row) return recordFrom(row, at);
  const { cells, start } = leaf;
  if (form === NUMBER) return cells.f[start + at];
  if (form === BOOL) return cells.b[start + at] !== 0;
  if (form > NUMBER) return cells.i[start + at];
  return numbersFrom(copied, cells.f, start + at * ~form);
};

const structReader = (ty: Ty, leaves: readonly Leaf[]): Reader => {
  if (isRecord(ty)) {
    const row = rowOf(ty, leaves);
    return (at) => recordFrom(row, at);
  }
  const fields = fieldsOf(ty, leaves);
  const names = ty.fields.map(([name]) => name);
  const readers = ty.order.map((name) =>
    readerOf(...fields[names.indexOf(name)]),
  );
  if (ty.isTuple) return (at) => readers.map((read) => read(at));
  return (at) => {
    const found: Fields = {};
    for (let k = 0; k < readers.length; ++k)
      found[ty.order[k]] = readers[k](at);
    return found;
  };
};

const isScalar = (ty: Ty): boolean => ty.kind !== "vec" && ty.kind !== "struct";

/** A filler of values of type `ty` from `leaves`, which are those of the type. */
export const fillerOf = (ty: Ty, leaves: readonly Leaf[]): Filler => {
  if (isScalar(ty))
    return () => {
      throw TypeError(`a ${ty.text} is no array or object to fill`);
    };
  if (ty.kind === "struct") return structFiller(ty, leaves);
  const elem = ty.elem!;
  if (isNumbers(elem)) return numbersFiller(ty.size, leaves[0]);
  if (isScalar(elem)) return scalarsFiller(ty, leaves);
  const rows = sizeOfNumbers(elem) < 0 ? elementsFiller : rowsFiller;
  const nested = rows(ty, leaves);
  if (!isReal(ty)) return nested;
  const flat = numbersFiller(sizeOf(ty), leaves[0]);
  return (out, at) => (isNamed(out, "Float64Array") ? flat : nested)(out, at);
};

/** Throw unless `out` is an array, or a typed one of these names, of this size. */
const checkArray = (
  out: unknown,
  size: number,
  typed: readonly string[] = [],
): void => {
  if (!Array.isArray(out) && !typed.some((name) => isNamed(out, name))) {
    const kinds = ["an array", ...typed.map((name) => `a ${name}`)];
    throw TypeError(
      `expected ${kinds.join(" or ")} to fill, got ${describe(out)}`,
    );
  }
  const { length } = out as ArrayLike<unknown>;
  if (length !== size)
    throw RangeError(
      `expected ${count(size, "element")} to fill, got ${length}`,
    );
};

const FLOATS = ["Float64Array", "Float32Array"];

const numbersFiller = (size: number, leaf: Leaf): Filler => {
  let view: Float64Array = new Float64Array(0);
  let viewed: Float64Array | undefined;
  /** All numbers of the leaf, for `set`. */
  const all = (f: Float64Array): Float64Array => {
    if (viewed !== f) {
      view = f.subarray(leaf.start, leaf.start + size);
      viewed = f;
    }
    return view;
  };
  return (out, at) => {
    const { f } = leaf.cells;
    const start = leaf.start + at * size;
    if (out instanceof Float64Array && out.length === size) {
      if (size > FEW && at === 0) out.set(all(f));
      else for (let i = 0; i < size; ++i) out[i] = f[start + i];
    } else {
      checkArray(out, size, FLOATS);
      const array = out as number[];
      for (let i = 0; i < size; ++i) array[i] = f[start + i];
    }
  };
};

/** Of vectors of indices or Bools. */
const scalarsFiller = (ty: Ty, leaves: readonly Leaf[]): Filler => {
  const { size } = ty;
  const elem = ty.elem!;
  const typed = { fin: ["Int32Array", ...FLOATS], bool: ["Uint8Array"] }[
    elem.kind as string
  ];
  const read = readerOf(elem, leaves);
  return (out, at) => {
    checkArray(out, size, typed);
    for (let i = 0; i < size; ++i) (out as unknown[])[i] = read(at * size + i);
  };
};

/** Of vectors of vectors of numbers: plain ones are filled right here, which writes as `putRows` reads. */
const rowsFiller = (ty: Ty, leaves: readonly Leaf[]): Filler => {
  const { size } = ty;
  const width = ty.elem!.size;
  const [leaf] = leaves;
  const others = elementsFiller(ty, leaves);
  return (out, at) => {
    checkArray(out, size);
    const { f } = leaf.cells;
    const rows = out as unknown[];
    const start = leaf.start + at * size * width;
    let k = 0;
    while (k < size && fillRow(rows[k], f, start + k * width, width)) ++k;
    if (k < size) others(out, at);
  };
};

/** Fill an array with so many numbers, if it is one of so many. */
const fillRow = (
  row: unknown,
  f: Float64Array,
  start: number,
  width: number,
): boolean => {
  if (!Array.isArray(row) && !(row instanceof Float64Array)) return false;
  if (row.length !== width) return false;
  for (let j = 0; j < width; ++j) row[j] = f[start + j];
  return true;
};

const elementsFiller = (ty: Ty, leaves: readonly Leaf[]): Filler => {
  const { size } = ty;
  const element = fillerOf(ty.elem!, leaves);
  return (out, at) => {
    checkArray(out, size);
    let i = 0;
    try {
      for (; i < size; ++i) element((out as unknown[])[i], at * size + i);
    } catch (error) {
      throw within(error, `[${i}]`);
    }
  };
};

const structFiller = (ty: Ty, leaves: readonly Leaf[]): Filler => {
  const fields = fieldsOf(ty, leaves).map(
    ([field, own], k): [string, Filler] => {
      const [name] = ty.fields[k];
      if (isScalar(field)) {
        const read = readerOf(field, own);
        return [name, (out, at) => ((out as Fields)[name] = read(at))];
      }
      const fill = fillerOf(field, own);
      return [name, (out, at) => fill((out as Fields)[name], at)];
    },
  );
  return (out, at) => {
    if (typeof out !== "object" || out === null)
      throw TypeError(`expected an object to fill, got ${describe(out)}`);
    let k = 0;
    try {
      for (; k < fields.length; ++k) fields[k][1](out, at);
    } catch (error) {
      throw within(error, `.${fields[k][0]}`);
    }
  };
};

type Fields = Record<string, unknown>;
