// The arguments and the result of a compiled function, where they lie in its memory.

import { fieldsOf } from "./columns";
import { leafOf, type MemoryCells, type Slot, startOf } from "./cells";
import type { Signature } from "../record/data";
import { partsOf, type Ty } from "../record/types";

/**
 * A value in memory: a typed array with the scalars of a leaf, row by row (Float64Array of Reals,
 * Int32Array of indices, Uint8Array of Bools), an object of views for a struct or a vector of structs.
 */
export type View =
  | Float64Array
  | Int32Array
  | Uint8Array
  | null
  | readonly View[]
  | { readonly [field: string]: View };

/** Views of values in a memory, made again when that has grown. */
export class Views {
  private made: readonly View[] = [];
  /** The memory that they are of, as it was. */
  private bytes: Uint8Array | undefined;

  constructor(
    private readonly types: readonly Ty[],
    private readonly slots: readonly Slot[],
    private readonly cells: MemoryCells,
  ) {}

  /** Whether anyone has them. */
  get given(): boolean {
    return this.bytes !== undefined;
  }

  /** Whether those that someone has are no more. */
  get stale(): boolean {
    return this.given && this.bytes !== this.cells.b;
  }

  /** The views of the memory as it is now. */
  current(): readonly View[] {
    const { types, slots, cells } = this;
    cells.refresh();
    if (this.bytes !== cells.b) {
      const arrays = slots.map((slot) => leafOf(slot, cells));
      const parts = partsOf(types, arrays);
      this.made = Object.freeze(types.map((ty, k) => viewOf(ty, parts[k])));
      this.bytes = cells.b;
    }
    return this.made;
  }
}

const viewOf = (ty: Ty, arrays: readonly View[]): View => {
  // a vector of structs is a struct of vectors
  if (ty.kind === "vec" && ty.leafTypes[0] !== ty)
    return viewOf(ty.elem!, arrays);
  if (ty.kind === "null") return null;
  if (ty.kind !== "struct") return arrays[0];
  const views = fieldsOf(ty, arrays).map(
    ([name, field, own]): [string, View] => [name, viewOf(field, own)],
  );
  return Object.freeze(
    ty.isTuple ? views.map(([, view]) => view) : Object.fromEntries(views),
  );
};

/** Throw if an index is out of its range in memory, or a Bool neither 0 nor 1. */
export type Check = (cells: MemoryCells) => void;

/** Checks of the arguments of `f` in these slots. */
export const checksOf = (f: Signature, slots: readonly Slot[]): Check[] => {
  const parts = partsOf(f.params, slots);
  return f.params.flatMap((ty, k) =>
    leafChecks(ty, parts[k], `argument ${k + 1} of ${f.name}`),
  );
};

const leafChecks = (ty: Ty, slots: readonly Slot[], where: string): Check[] => {
  switch (ty.kind) {
    case "vec":
      return leafChecks(ty.elem!, slots, where);
    case "struct":
      return fieldsOf(ty, slots).flatMap(([name, field, own]) =>
        leafChecks(field, own, `${where}.${name}`),
      );
    case "fin":
      return [leafCheck(slots[0], ty.size, "an index", where)];
    case "bool":
      return [leafCheck(slots[0], 2, "a Bool", where)];
    default:
      return [];
  }
};

const leafCheck = (
  slot: Slot,
  size: number,
  what: string,
  where: string,
): Check => {
  const [kind, , count] = slot;
  const start = startOf(slot);
  return (cells) => {
    for (let k = 0; k < count; ++k) {
      const x = cells[kind][start + k];
      if (x >>> 0 >= size)
        throw RangeError(
          `${where}[${k}]: expected ${what}, from 0 to ${size - 1}, got ${x}`,
        );
    }
  };
};
