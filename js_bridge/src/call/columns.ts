// Structs with plain fields as columns: where each field goes, and what it is.

import type { Leaf } from "./cells";
import { isNumbers, type Ty } from "../record/types";

/** A field of a struct, of which there may be many in a row. */
export interface Column {
  readonly name: string;
  readonly leaf: Leaf;
  /** What it is: `NUMBER`, `BOOL`, what an index is below, or `~size` of a vector of numbers. */
  readonly form: number;
  /** As many numbers as a vector of them has, to be copied: see `doubles`. */
  readonly copied: readonly number[];
}

export const NUMBER = 0;
export const BOOL = 2 ** 32;

const formOf = (ty: Ty): number | undefined => {
  if (isNumbers(ty)) return NUMBER;
  if (ty.kind === "bool") return BOOL;
  if (ty.kind === "fin") return ty.size || 1;
  if (ty.kind === "vec" && isNumbers(ty.elem!)) return ~ty.size;
  return undefined;
};

/** Whether values are objects of numbers, indices, Bools, and vectors of numbers. */
export const isRecord = (ty: Ty): boolean =>
  ty.kind === "struct" &&
  !ty.isTuple &&
  ty.fields.every(([, field]) => formOf(field) !== undefined);

/**
 * So many numbers, to be copied and filled: an array of doubles from the beginning. Engines that have seen a
 * `new Array` become one too seldom take ten times as long.
 */
export const doubles = (size: number): readonly number[] =>
  new Array<number>(size).fill(0.5);

/** The columns of a struct that `isRecord`, in the author's order, in these leaves, which are those of the type. */
export const columnsOf = (ty: Ty, leaves: readonly Leaf[]): Column[] =>
  ty.order.map((name) => {
    const k = ty.fields.findIndex(([other]) => other === name);
    const form = formOf(ty.fields[k][1])!;
    return { name, leaf: leaves[k], form, copied: doubles(Math.max(~form, 0)) };
  });
