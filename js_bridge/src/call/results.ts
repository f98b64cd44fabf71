// The leaves of a function into ordinary JavaScript values, new or given ones.

import { FEW } from "./arguments";
import type { Leaf } from "./cells";
import {
  areNumbers,
  type Column,
  columnOf,
  fieldsOf,
  isScalar,
  type Row,
} from "./columns";
import { within } from "../record/where";
import {
  count,
  isNamed,
  isReal,
  type Kind,
  REAL,
  sizeOf,
  type Ty,
  vecOf,
  unlike,
} from "../record/types";

/** Makes the value of its type in the leaves that has `at` others before it. */
export type Reader = (at: number) => unknown;

/** Fills `out` in place with what a `Reader` would make; throws if it has another form. */
export type Filler = (out: unknown, at: number) => void;

/** The result of a function, as calls give it. */
export class Result {
  readonly column: Column | undefined;
  readonly read: Reader;

  constructor(ty: Ty, leaves: readonly Leaf[]) {
    this.column = columnOf(ty, leaves);
    this.read = readerOf(ty, leaves);
  }
}

/** The value in the leaves of a result: of a vector of numbers without a call, as in `put`. */
export const valueOf = ({ column, read }: Result): unknown =>
  column?.kind === "vec"
    ? numbersFrom(column, column.leaf.cells.f, column.leaf.start)
    : read(0);

/** A reader of values of type `ty` from `leaves`, which are those of the type. */
export const readerOf = (ty: Ty, leaves: readonly Leaf[]): Reader => {
  const column = columnOf(ty, leaves);
  if (column) return (at) => fieldFrom(column, at);
  if (ty.kind === "null") return () => null;
  if (ty.kind === "vec") return vecReader(ty, leaves);
  const readers = fieldsOf(ty, leaves).map(([, field, own]) =>
    readerOf(field, own),
  );
  if (ty.isTuple) return (at) => readers.map((read) => read(at));
  return (at) => {
    const found: Fields = {};
    for (let k = 0; k < readers.length; ++k)
      found[ty.order[k]] = readers[k](at);
    return found;
  };
};

const vecReader = (ty: Ty, leaves: readonly Leaf[]): Reader => {
  const { size } = ty;
  const copied = new Array<unknown>(size).fill(undefined);
  const column = columnOf(ty.elem!, leaves);
  if (column?.kind === "vec") {
    const { leaf, size: width } = column;
    return (at) => {
      const { f } = leaf.cells;
      const start = leaf.start + at * size * width;
      if (size === 2)
        return [
          numbersFrom(column, f, start),
          numbersFrom(column, f, start + width),
        ];
      if (size === 3)
        return [
          numbersFrom(column, f, start),
          numbersFrom(column, f, start + width),
          numbersFrom(column, f, start + 2 * width),
        ];
      const found = copied.slice();
      for (let i = 0; i < size; ++i)
        found[i] = numbersFrom(column, f, start + i * width);
      return found;
    };
  }
  const row = column?.row;
  const read = readerOf(ty.elem!, leaves);
  return (at) => {
    const first = at * size;
    const found = copied.slice();
    for (let i = 0; i < size; ++i)
      found[i] = row ? recordFrom(row, first + i) : read(first + i);
    return found;
  };
};

/**
 * So many numbers, to be copied and filled: an array of doubles from the beginning. Engines that have seen a
 * `new Array` become one too seldom take ten times as long.
 */
const doubles = (size: number): readonly number[] =>
  new Array<number>(size).fill(0.5);

/**
 * The numbers of a vector, from `start` on. A few are written out: engines make such an array in a third of the
 * time.
 */
const numbersFrom = (
  column: Column,
  f: Float64Array,
  start: number,
): number[] => {
  const { size } = column;
  switch (size) {
    case 1:
      return [f[start]];
    case 2:
      return [f[start], f[start + 1]];
    case 3:
      return [f[start], f[start + 1], f[start + 2]];
    case 4:
      return [f[start], f[start + 1], f[start + 2], f[start + 3]];
  }
  const found = (column.copied ??= doubles(size)).slice();
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
  const { leaf, kind, size, row } = column;
  if (row) return recordFrom(row, at);
  const { cells, start } = leaf;
  if (kind === "vec") return numbersFrom(column, cells.f, start + at * size);
  if (kind === "real") return cells.f[start + at];
  return kind === "bool" ? cells.b[start + at] !== 0 : cells.i[start + at];
};

/** A filler of values of type `ty` from `leaves`, which are those of the type. */
export const fillerOf = (ty: Ty, leaves: readonly Leaf[]): Filler => {
  if (isScalar(ty))
    return () => {
      throw TypeError(`a ${ty.text} is no array or object to fill`);
    };
  if (ty.kind === "struct") return structFiller(ty, leaves);
  const nested = vecFiller(ty, leaves);
  const [leaf] = leaves;
  if (areNumbers(ty))
    return (out, at) => {
      if (!fillRow(out, leaf, at, ty.size)) nested(out, at);
    };
  if (!isReal(ty)) return nested;
  const flat = fillerOf(vecOf(sizeOf(ty), REAL), leaves);
  return (out, at) => (isNamed(out, "Float64Array") ? flat : nested)(out, at);
};

/** Fill an array with so many numbers, if it is one of so many. */
const fillRow = (
  row: unknown,
  { cells: { f }, start }: Leaf,
  at: number,
  width: number,
): boolean => {
  const isTyped = row instanceof Float64Array;
  if ((!isTyped && !Array.isArray(row)) || row.length !== width) return false;
  const first = start + at * width;
  if (isTyped && width > FEW) row.set(f.subarray(first, first + width));
  else for (let j = 0; j < width; ++j) row[j] = f[first + j];
  return true;
};

const FLOATS = ["Float64Array", "Float32Array"];

/** The typed arrays that may be filled with scalars of some kinds. */
const TYPED: Partial<Record<Kind, readonly string[]>> = {
  real: FLOATS,
  tan: FLOATS,
  fin: ["Int32Array", ...FLOATS],
  bool: ["Uint8Array"],
};

const vecFiller = (ty: Ty, leaves: readonly Leaf[]): Filler => {
  const { size } = ty;
  const elem = ty.elem!;
  const [leaf] = leaves;
  const typed = TYPED[elem.kind] ?? [];
  const width = areNumbers(elem) ? elem.size : -1;
  const read = isScalar(elem) && readerOf(elem, leaves);
  const fill = fillerOf(elem, leaves);
  return (out: any, at) => {
    if (!Array.isArray(out) && !typed.some((name) => isNamed(out, name))) {
      const kinds = ["an array", ...typed.map((name) => `a ${name}`)];
      throw unlike(out, `${kinds.join(" or ")} to fill`);
    }
    if (out.length !== size)
      throw RangeError(
        `expected ${count(size, "element")} to fill, got ${out.length}`,
      );
    const first = at * size;
    let i = 0;
    if (read) {
      for (; i < size; ++i) out[i] = read(first + i);
      return;
    }
    if (width >= 0)
      while (i < size && fillRow(out[i], leaf, first + i, width)) ++i;
    try {
      for (; i < size; ++i) fill(out[i], first + i);
    } catch (error) {
      throw within(error, `[${i}]`);
    }
  };
};

const structFiller = (ty: Ty, leaves: readonly Leaf[]): Filler => {
  const fields = fieldsOf(ty, leaves).map(
    ([name, field, own]): [string, Filler] => {
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
      throw unlike(out, "an object to fill");
    for (const [name, fill] of fields)
      try {
        fill(out, at);
      } catch (error) {
        throw within(error, `.${name}`);
      }
  };
};

type Fields = Record<string, unknown>;
