// Sizes that are not known when a function is defined: `const n = Size("n")`, `Vec(n, Real)`.
//
// A function with such sizes in its parameters is made once for every set of sizes that it is called
// with, so that its loops know their bounds like any other's.

import { ELEM, INDEX, indexType, SizeVar, Ty } from "./types";

/** Sizes by what they stand for. */
export type Sizes = Map<SizeVar, number>;

/** Run `action` with these sizes known. */
export const withSizes = <T>(sizes: Sizes, action: () => T): T => {
  const before = [...sizes.keys()].map((size) => [size, size.value] as const);
  for (const [size, value] of sizes) size.value = value;
  try {
    return action();
  } finally {
    for (const [size, value] of before) size.value = value;
  }
};

/** Sizes that are being found out: which are looked for, and what is known. */
export interface Inference {
  readonly wanted: readonly SizeVar[];
  readonly sizes: Sizes;
}

/** Find out sizes from the type `ty` of an argument for a parameter of type `type`. */
export const inferSizes = (type: unknown, ty: Ty, sizes: Inference): void => {
  if (typeof type !== "object" || type === null || type instanceof Ty) return;
  if (INDEX in type && ELEM in type) {
    const elem = ty.isTuple ? ty.fields[0][1] : ty.elem;
    if (!elem) return;
    bind(type[INDEX], ty.size || ty.order.length, sizes);
    inferSizes(type[ELEM], elem, sizes);
  } else
    for (const [name, field] of ty.fields)
      inferSizes((type as Record<string, unknown>)[name], field, sizes);
};

const bind = (
  index: unknown,
  value: number,
  { wanted, sizes }: Inference,
): void => {
  if (!(index instanceof SizeVar) || !wanted.includes(index)) return;
  const known = sizes.get(index);
  if (known !== undefined && known !== value)
    throw RangeError(
      `wrong array size: ${index.name} is ${known} elsewhere, and ${value} here`,
    );
  sizes.set(index, value);
};

/** The sizes that an author gives by name; throws unless they are those of `wanted`. */
export const namedSizes = (
  wanted: readonly SizeVar[],
  given: Record<string, number>,
  what: string,
): Sizes => {
  const sizes: Sizes = new Map();
  const names = wanted.map(({ name }) => name);
  for (const name of Object.keys(given ?? {}))
    if (!names.includes(name))
      throw TypeError(
        `${what}: there is no size ${name}, only ${names.join(", ")}`,
      );
  for (const size of wanted) {
    const { [size.name]: value } = given ?? {};
    sizes.set(size, indexType(value, `${what}: ${size.name}`).size);
  }
  return sizes;
};
