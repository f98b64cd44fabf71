// Plain values as columns: where each goes, of which there may be many in a row, and what it is.

import type { Leaf } from "./cells";
import { isNumbers, isOne, type Kind, partsOf, type Ty } from "../record/types";

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
  { fields, order }: Ty,
  leaves: readonly T[],
): [name: string, field: Ty, leaves: readonly T[]][] => {
  const types = fields.map(([, field]) => field);
  const parts = partsOf(types, leaves);
  return order.map((name) => {
    const k = fields.findIndex(([other]) => other === name);
    return [name, types[k], parts[k]];
  });
};

const rowOf = (ty: Ty, leaves: readonly Leaf[]): Row => ({
  columns: fieldsOf(ty, leaves).map(([name, field, own]) =>
    columnOf(field, own, name)!,
  ),
  isTuple: ty.isTuple,
});
