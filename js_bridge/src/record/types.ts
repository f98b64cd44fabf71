// Types as page scripts write them, and the interned form the bridge works with.
//
// `Ty` objects are unique per type, so types compare with `===`; a struct's fields in another order
// are the same type. A *leaf* is a scalar or an array (of arrays) of scalars: every value is a bundle
// of leaves, in the order of sorted field names, a vector of structs being a struct of vectors.

import { LARGEST } from "./largest";
import { within } from "./where";

// Types are the same to all copies of Rose that are on a page; functions and symbolic values are not.

/** The null type. */
export const Null = Symbol.for("rose Null");
/** The boolean type. */
export const Bool = Symbol.for("rose Bool");
/** The 64-bit floating-point type. */
export const Real = Symbol.for("rose Real");
/** The type of tangents, which enter only linearly. */
export const Tan = Symbol.for("rose Tan");

const COPIES = Symbol.for("rose copies");
const page = globalThis as { [COPIES]?: number };

/** Note that there is one more copy of Rose. */
export const countCopy = (): void => {
  page[COPIES] = (page[COPIES] ?? 0) + 1;
};

/** What may be the matter with something that is not known here: empty if there is but one copy of Rose. */
export const ofOthers = (): string =>
  page[COPIES]! > 1
    ? `; there are ${page[COPIES]} copies of Rose here, and each knows its own functions only: import one`
    : "";

/** A size that becomes known when a function is called. */
export class SizeVar {
  /** Whether there is any. */
  static areThere = false;

  /** The size, while a function is made for it. */
  value: number | undefined;

  constructor(readonly name: string) {
    SizeVar.areThere = true;
  }

  valueOf(): number {
    if (this.value === undefined)
      throw TypeError(
        `the size ${this.name} is known only in the body of a function that has it`,
      );
    return this.value;
  }
}

/** A size that is not known yet, for parameters such as `Vec(n, Real)`. */
export const Size = (name = "n"): SizeVar => {
  if (typeof name !== "string") throw unlike(name, "a name", "Size");
  return new SizeVar(name);
};

// Programs for npm's rose, such as Penrose, look for symbols of these descriptions in types.

export const INDEX = Symbol.for("index");
export const ELEM = Symbol.for("elem");

/** What the descriptions of symbolic indices begin with; after it comes the size. */
export const INDEX_NAME = "index below ";

/** Whether `x` is a whole number that can be a size. */
export const isSize = (x: any): x is number =>
  Number.isInteger(x) && x >= 0 && x < LARGEST;

/** The type of vectors from the index type `index`, a size, to `elem`. */
export const Vec = (index: unknown, elem: unknown): unknown => {
  if (!isSize(index) && !(index instanceof SizeVar))
    throw TypeError(
      `Vec: expected a size, got ${describe(index)}: this index type cannot be used as an index`,
    );
  return { [INDEX]: index, [ELEM]: elem };
};

/** The sizes in a type as an author writes it that are not known now. */
export const sizesIn = (type: unknown): readonly SizeVar[] => {
  if (!SizeVar.areThere) return [];
  const found = new Set<SizeVar>();
  const seen = new Set();
  const look = (type: any): void => {
    if (type instanceof SizeVar) {
      if (type.value === undefined) found.add(type);
    } else if (
      Object(type) === type &&
      !(type instanceof Ty || seen.has(type))
    ) {
      seen.add(type);
      [type[INDEX], type[ELEM], ...Object.values(type)].forEach(look);
    }
  };
  look(type);
  return [...found];
};

/** A number with its tangent. */
export const Dual = { re: Real, du: Tan } as const;

export type Kind = "null" | "bool" | "real" | "tan" | "fin" | "vec" | "struct";

const interned = new Map<string, Ty>();
/** What a type is, whatever the order of its fields → the first such type. */
const shapes = new Map<string, Ty>();

/** A field of a struct. */
interface Field {
  readonly ty: Ty;
  /** How many leaves are before its own. */
  readonly at: number;
}

const NO_FIELDS: ReadonlyMap<string, Field> = new Map();

/** An interned type, one for each order of fields. */
export class Ty {
  /** Of the types that are the same but for the order of fields, the first: values are of one if of the other. */
  readonly like: Ty;
  /** Of an index type or a vector. */
  readonly size: number = 0;
  /** Of a vector. */
  readonly elem: Ty | undefined;
  /** Of a struct, sorted by name. */
  readonly fields: readonly (readonly [string, Ty])[] = [];
  /** The same by name. */
  readonly byName = NO_FIELDS;
  /** Field names of a struct in the author's order. */
  readonly order: readonly string[] = [];
  /** Whether the fields of a struct are 0, 1, and so on: its values are arrays. */
  readonly isTuple: boolean = false;
  /** The types of the leaves. */
  readonly leafTypes: readonly Ty[] = [this];

  constructor(
    readonly kind: Kind,
    readonly key: string,
    /** How an author writes it. */
    readonly text: string,
    rest: Partial<Ty> = {},
    shape = key,
  ) {
    Object.assign(this, rest);
    interned.set(key, this);
    if (!shapes.has(shape)) shapes.set(shape, this);
    this.like = shapes.get(shape)!;
  }

  /** How many leaves a value has. */
  get leaves(): number {
    return this.leafTypes.length;
  }
}

export const NULL = new Ty("null", "n", "Null", { leafTypes: [] });
export const BOOL = new Ty("bool", "b", "Bool");
export const REAL = new Ty("real", "r", "Real");
export const TAN = new Ty("tan", "t", "Tan");

/** The types that are names. */
const scalars = new Map<unknown, Ty>([
  [Null, NULL],
  [Bool, BOOL],
  [Real, REAL],
  [Tan, TAN],
]);

/** The index type of the integers below `size`. */
export const fin = (size: number): Ty =>
  interned.get(`${size}`) ?? new Ty("fin", `${size}`, `${size}`, { size });

export const vecOf = (size: number, elem: Ty): Ty => {
  const key = `[${size}]${elem.key}`;
  const found = interned.get(key);
  if (found) return found;
  const text = `Vec(${size}, ${elem.text})`;
  // a vector of scalars, or of vectors of scalars, is a leaf itself
  if (elem.leafTypes[0] === elem)
    return new Ty("vec", key, text, { size, elem });
  const leafTypes = elem.leafTypes.map((leaf) => vecOf(size, leaf));
  const shape = `[${size}]${elem.like.key}`;
  return new Ty("vec", key, text, { size, elem, leafTypes }, shape);
};

const inOrder = ([a]: [string, Ty], [b]: [string, Ty]): number =>
  a < b ? -1 : a > b ? 1 : 0;

export const structOf = (entries: [string, Ty][]): Ty => {
  const keyOf = (of: [string, Ty][], keys: (ty: Ty) => string) =>
    `{${of.map(([name, ty]) => `${JSON.stringify(name)}:${keys(ty)}`)}}`;
  const key = keyOf(entries, (ty) => ty.key);
  const found = interned.get(key);
  if (found) return found;
  const order = entries.map(([name]) => name);
  if (order.includes("__proto__"))
    throw TypeError("__proto__ is no name of a field");
  const fields = [...entries].sort(inOrder);
  const isTuple =
    order.length > 0 && order.every((name, k) => name === String(k));
  const text = isTuple
    ? `[${entries.map(([, ty]) => ty.text).join(", ")}]`
    : `{ ${entries.map(([name, ty]) => `${name}: ${ty.text}`).join(", ")} }`;
  const leafTypes = fields.flatMap(([, ty]) => ty.leafTypes);
  const byName = new Map<string, Field>();
  let at = 0;
  for (const [name, ty] of fields) {
    byName.set(name, { ty, at });
    at += ty.leaves;
  }
  const rest = { fields, byName, order, isTuple, leafTypes };
  const shape = keyOf(fields, (ty) => ty.like.key);
  return new Ty("struct", key, text, rest, shape);
};

/** The indices below a size, as errors say them. */
export const indicesBelow = (size: number): string =>
  size
    ? `an index from 0 to ${size - 1}`
    : "no index, since there are no elements";

/** Any whole number, whatever index type it has; also the number of a note, and that of an iteration where nothing limits it. */
export const ANY = fin(LARGEST);

/** How many types are inside of each other at most, but for one that is inside of itself. */
const DEEPEST = 200;

/** The interned form of a type; throws if `type` is none. */
export const tyOf = (type: unknown): Ty => {
  try {
    return typeAt(type, 0);
  } catch (error) {
    throw within(error, "invalid type");
  }
};

const typeAt = (type: unknown, depth: number): Ty => {
  const scalar = scalars.get(type);
  if (scalar) return scalar;
  if (type instanceof Ty) return type;
  if (isSize(type) || type instanceof SizeVar) return fin(type.valueOf());
  if (typeof type !== "object" || type === null || symbolicType(type))
    throw TypeError(
      `${describe(type)}; expected Real, Vec(3, Real), a size or the like`,
    );
  if (++depth > DEEPEST) throw TypeError("it is a part of itself");
  return ELEM in type && INDEX in type
    ? vecOf(typeAt(type[INDEX], depth).size, typeAt(type[ELEM], depth))
    : structOf(
        Object.entries(type).map(([name, field]) => [
          name,
          typeAt(field, depth),
        ]),
      );
};

/** The index type that a size is; `what` is what it is for. */
export const indexType = (size: unknown, what = "invalid type"): Ty => {
  if (isSize(size) || size instanceof SizeVar || size instanceof Ty) {
    const ty = tyOf(size);
    if (ty.kind === "fin") return ty;
  }
  const first = typeof size === "symbol" ? " first, as in iadd(n, i, j)" : "";
  throw unlike(size, `a size${first}`, what);
};

/** `ty` with `f` of every scalar in its place. */
export const mapScalars = (ty: Ty, f: (scalar: Ty) => Ty): Ty =>
  ty.kind === "vec"
    ? vecOf(ty.size, mapScalars(ty.elem!, f))
    : ty.kind === "struct"
      ? structOf(
          ty.order.map((name) => [name, mapScalars(fieldOf(ty, name), f)]),
        )
      : f(ty);

/** D[ty]: every number becomes a dual number. */
export const dualOf = (ty: Ty): Ty =>
  mapScalars(ty, (t) => (t === REAL || t === TAN ? tyOf(Dual) : t));

/** `ty` with numbers in place of tangents. */
export const numbersOf = (ty: Ty): Ty =>
  mapScalars(ty, (t) => (t === TAN ? REAL : t));

/** `ty` with `elem` in place of every Real. */
export const over = (ty: Ty, elem: Ty): Ty =>
  mapScalars(ty, (t) => (t === REAL ? elem : t));

/** The type of the tangents of a leaf of numbers. */
export const tangentOf = (leaf: Ty): Ty => mapScalars(leaf, () => TAN);

/** The type of a struct's field. */
export const fieldOf = (ty: Ty, name: string): Ty => ty.byName.get(name)!.ty;

/** The leaves of each of these types, from all of them in a row. */
export const partsOf = <T>(
  types: readonly Ty[],
  leaves: readonly T[],
): (readonly T[])[] => {
  let at = 0;
  return types.map((ty) => leaves.slice(at, (at += ty.leaves)));
};

/** Whether a value is one scalar. */
export const isOne = ({ kind }: Ty): boolean =>
  kind !== "vec" && kind !== "struct" && kind !== "null";

/** Whether values are single numbers. */
export const isNumbers = (ty: Ty): boolean =>
  ty.kind === "real" || ty.kind === "tan";

/** Whether a leaf holds numbers or tangents, so that it has a derivative. */
export const isReal = (leaf: Ty): boolean =>
  isNumbers(leaf) || (leaf.kind === "vec" && isReal(leaf.elem!));

/** How many scalars a leaf has. */
export const sizeOf = (leaf: Ty): number =>
  leaf.kind === "vec" ? leaf.size * sizeOf(leaf.elem!) : 1;

/** The type of a value, or that in its place. */
export const typeOfCapture = (x: Ty | { readonly ty: Ty }): Ty =>
  "leafTypes" in x ? x : x.ty;

/** Under which a symbolic vector or struct has what it stands for. */
export const VIEW = Symbol("view");

/** The type of a symbolic value; undefined for anything else. */
export const symbolicType = (x: any): Ty | undefined => {
  const ty: unknown = (x?.[VIEW] ?? x)?.ty;
  return ty instanceof Ty ? ty : undefined;
};

/** Whether `x` is an array, or a typed one. */
export const isArray = (x: unknown): x is ArrayLike<unknown> =>
  Array.isArray(x) || (ArrayBuffer.isView(x) && !(x instanceof DataView));

/** Whether so many arguments are given, or more where methods of arrays give an index and the array besides. */
export const areEnough = (
  given: ArrayLike<unknown>,
  count: number,
): boolean => {
  const { length } = given;
  return (
    length === count ||
    (length > count &&
      typeof given[length - 2] === "number" &&
      isArray(given[length - 1]))
  );
};

/** Whether `x` is a typed array of this name, be it of another window. */
export const isNamed = (x: unknown, name: string): x is Float64Array =>
  ArrayBuffer.isView(x) && (x as Float64Array)[Symbol.toStringTag] === name;

/** What `x` is, in an author's words. */
export const describe = (x: unknown): string => {
  if (x === null) return "null";
  if (isArray(x))
    return `${Array.isArray(x) ? "an array" : `a ${x.constructor.name}`} of ${x.length}`;
  switch (typeof x) {
    case "string":
      return `the string ${JSON.stringify(x.length > 40 ? `${x.slice(0, 40)}…` : x)}`;
    case "bigint":
      return `the bigint ${x}n`;
    case "function":
      return "into" in x ? "a compiled function" : "a function";
    case "symbol":
      return scalars.has(x)
        ? `the type ${scalars.get(x)!.text}`
        : x.description?.startsWith(INDEX_NAME)
          ? `a symbolic ${x.description}`
          : "a symbol";
    case "object": {
      const ty = symbolicType(x);
      if (ty) return `a symbolic ${ty.text}`;
      if (x instanceof Promise) return "a promise";
      if (ELEM in x) return "the type of a vector";
      if (x instanceof SizeVar)
        return `the size ${x.name}, which is a number as +${x.name}`;
      const fields = Object.keys(x);
      if (fields.length)
        return `an object with ${fields.slice(0, 6).join(", ")}`;
      // of what a generator gives, the constructor is no class
      const { constructor, [Symbol.toStringTag]: tag } = x as {
        [Symbol.toStringTag]?: string;
      };
      const name = constructor?.name || (tag ?? "Object");
      return name === "Object"
        ? "an empty object"
        : `an object of the class ${name}`;
    }
    default:
      return String(x);
  }
};

/** The mistake of giving `x` to `what`, if that has a name, for something that is expected. */
export const unlike = (
  x: unknown,
  expected: string,
  what = "",
  Kind: ErrorConstructor = TypeError,
): Error =>
  Kind(`${what && `${what}: `}expected ${expected}, got ${describe(x)}`);

/** Types as text, one after the other. */
export const texts = (types: readonly Ty[]): string =>
  types.map((ty) => ty.text).join(", ");

/** So many of something. */
export const count = (n: number, noun: string): string =>
  `${n} ${noun}${n === 1 ? "" : "s"}`;
