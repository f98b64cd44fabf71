// The leaves of a function into ordinary JavaScript values, new or given ones.

import { FEW, fieldsOf, isNumbers, sizeOfNumbers } from "./arguments";
import type { Leaf } from "./cells";
import { count } from "../record/functions";
import { within } from "../record/recorder";
import { describe, isReal, sizeOf, type Ty } from "../record/types";

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
  if (isNumbers(ty.elem!)) {
    const copied = doubles(size);
    const [leaf] = leaves;
    return (at) => numbersFrom(copied, leaf.cells.f, leaf.start + at * size);
  }
  const element = readerOf(ty.elem!, leaves);
  const copied = new Array<unknown>(size).fill(undefined);
  return (at) => {
    const found = copied.slice();
    for (let i = 0; i < size; ++i) found[i] = element(at * size + i);
    return found;
  };
};

/**
 * So many numbers, to be copied and filled: an array of doubles from the beginning. Engines that have seen a
 * `new Array` become one too seldom take ten times as long.
 */
const doubles = (size: number): readonly number[] =>
  new Array<number>(size).fill(0.5);

/** As many numbers as are in `copied`, from `start` on. */
const numbersFrom = (
  copied: readonly number[],
  f: Float64Array,
  start: number,
): number[] => {
  const found = copied.slice();
  for (let i = 0; i < found.length; ++i) found[i] = f[start + i];
  return found;
};

const structReader = (ty: Ty, leaves: readonly Leaf[]): Reader => {
  const names = ty.fields.map(([name]) => name);
  const readers = fieldsOf(ty, leaves).map(([field, own]) =>
    readerOf(field, own),
  );
  if (ty.isTuple) {
    const inOrder = ty.order.map((name) => readers[names.indexOf(name)]);
    return (at) => inOrder.map((read) => read(at));
  }
  // copied, as that is faster than key by key; the keys in the author's order
  const empty: Record<string, unknown> = Object.fromEntries(
    ty.order.map((name) => [name, undefined]),
  );
  return (at) => {
    const found = { ...empty };
    for (let k = 0; k < names.length; ++k) found[names[k]] = readers[k](at);
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
  const rows = elementsFiller(ty, leaves);
  if (!isReal(ty)) return rows;
  const flat = numbersFiller(sizeOf(ty), leaves[0]);
  return (out, at) => (out instanceof Float64Array ? flat : rows)(out, at);
};

type TypedArrays = readonly (
  | Float64ArrayConstructor
  | Float32ArrayConstructor
  | Int32ArrayConstructor
  | Uint8ArrayConstructor
)[];

/** Throw unless `out` is an array, or one of those typed ones, of this size. */
const checkArray = (
  out: unknown,
  size: number,
  typed: TypedArrays = [],
): void => {
  if (!Array.isArray(out) && !typed.some((array) => out instanceof array)) {
    const kinds = ["an array", ...typed.map(({ name }) => `a ${name}`)];
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

const FLOATS: TypedArrays = [Float64Array, Float32Array];

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
  const typed = { fin: [Int32Array], bool: [Uint8Array] }[elem.kind as string];
  const read = readerOf(elem, leaves);
  return (out, at) => {
    checkArray(out, size, typed);
    for (let i = 0; i < size; ++i) (out as unknown[])[i] = read(at * size + i);
  };
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
