// Structs of plain fields as columns: where each field goes, and what it is.

import type { Leaf } from "./cells";
import { isNumbers, partsOf, type Ty } from "../record/types";

/** A field of a struct, of which there may be many in a row. */
export interface Column {
  readonly name: string;
  readonly leaf: Leaf;
  /** What it is: `NUMBER`, `BOOL`, `RECORD`, what an index is below, or `~size` of a vector of numbers. */
  readonly form: number;
  /** As many numbers as a vector of them has, to be copied: see `doubles`. */
  readonly copied: readonly number[];
  /** What a struct in the struct is. */
  readonly row: Row | undefined;
}

/** A struct, or a tuple, in columns, which are in the author's order. */
export interface Row {
  readonly columns: readonly Column[];
  readonly isTuple: boolean;
}

export const NUMBER = 0;
export const BOOL = 2 ** 32;
const RECORD = 2 ** 33;

const formOf = (ty: Ty): number | undefined => {
  if (isNumbers(ty)) return NUMBER;
  if (ty.kind === "bool") return BOOL;
  if (ty.kind === "fin") return ty.size || 1;
  if (ty.kind === "vec" && isNumbers(ty.elem!)) return ~ty.size;
  return isRecord(ty) ? RECORD : undefined;
};

/** Whether values are objects or tuples of numbers, indices, Bools, vectors of numbers, and again of such. */
export const isRecord = (ty: Ty): boolean =>
  ty.kind === "struct" &&
  ty.fields.every(([, field]) => formOf(field) !== undefined);

/**
 * So many numbers, to be copied and filled: an array of doubles from the beginning. Engines that have seen a
 * `new Array` become one too seldom take ten times as long.
 */
export const doubles = (size: number): readonly number[] =>
  new Array<number>(size).fill(0.5);

/** A struct that `isRecord` in these leaves, which are those of the type. */
export const rowOf = (ty: Ty, leaves: readonly Leaf[]): Row => {
  const { fields, isTuple, order } = ty;
  const types = fields.map(([, field]) => field);
  const parts = partsOf(types, leaves);
  const columns = order.map((name): Column => {
    const k = fields.findIndex(([other]) => other === name);
    const form = formOf(types[k])!;
    return {
      name,
      leaf: parts[k][0],
      form,
      copied: doubles(form < 0 ? ~form : 0),
      row: form === RECORD ? rowOf(types[k], parts[k]) : undefined,
    };
  });
  return { columns, isTuple };
};
