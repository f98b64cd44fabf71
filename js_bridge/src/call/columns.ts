// Plain values as columns: where each goes, of which there may be many in a row, and what it is.

import type { Leaf } from "./cells";
import { isNumbers, isOne, type Kind, type Ty } from "../record/types";

/** Numbers, indices, Bools, vectors of numbers, or structs of such, one behind the other. */
export interface Column {
  /** Of a field of a struct. */
  readonly name: string;
  readonly leaf: Leaf;
  /** What it is: a tangent is a "real", too. */
  readonly kind: Kind;
  /** What an index is below, or how many numbers there are in a vector. */
  readonly size: number;
  /** What a struct is. */
  readonly row: Row | undefined;
  /** As many numbers as a vector of them has, to be copied, once there were any to be. */
  copied: readonly number[] | undefined;
}

/** A struct, or a tuple, in columns. */
export interface Row {
  readonly columns: readonly Column[];
  readonly isTuple: boolean;
}

/** Whether values are vectors of numbers. */
export const areNumbers = ({ elem }: Ty): boolean =>
  elem !== undefined && isNumbers(elem);

/** Whether values are no arrays or objects. */
export const isScalar = ({ kind }: Ty): boolean =>
  kind !== "vec" && kind !== "struct";

const isPlain = (ty: Ty): boolean =>
  ty.kind === "struct"
    ? ty.fields.every(([, field]) => isPlain(field))
    : areNumbers(ty) || isOne(ty);

/** Values of type `ty` in these leaves, which are those of the type; undefined if they are not plain. */
export const columnOf = (
  ty: Ty,
  leaves: readonly Leaf[],
  name = "",
): Column | undefined =>
  isPlain(ty)
    ? {
        name,
        leaf: leaves[0],
        kind: isNumbers(ty) ? "real" : ty.kind,
        size: ty.size || +(ty.kind === "fin"), // 0 of no index, which nothing can use
        row: ty.kind === "struct" ? rowOf(ty, leaves) : undefined,
        copied: undefined,
      }
    : undefined;

/** The fields of a struct, in the author's order, each with its leaves. */
export const fieldsOf = <T>(
  { byName, order }: Ty,
  leaves: readonly T[],
): [name: string, field: Ty, leaves: readonly T[]][] =>
  order.map((name) => {
    const { ty, at } = byName.get(name)!;
    return [name, ty, leaves.slice(at, at + ty.leaves)];
  });

const rowOf = (ty: Ty, leaves: readonly Leaf[]): Row => ({
  columns: fieldsOf(ty, leaves).map(([name, field, own]) =>
    columnOf(field, own, name)!,
  ),
  isTuple: ty.isTuple,
});
