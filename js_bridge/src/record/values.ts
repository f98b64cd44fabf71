// Symbolic vectors and structs: bundles of leaf ids that look like arrays and objects.
//
// They leave nothing in the recording but the element reads that are really made.

import { S } from "../opcodes.gen";
import {
  boolId,
  indexId,
  invalid,
  noPrimitive,
  realId,
  Recorder,
  recorder,
  tanId,
  Var,
  ZERO,
} from "./recorder";
import {
  BOOL,
  describe,
  fin,
  type Kind,
  isArray,
  isOne,
  NULL,
  numbersOf,
  REAL,
  sizesIn,
  structOf,
  symbolicType,
  TAN,
  type Ty,
  tyOf,
  vecOf,
  VIEW,
  unlike,
} from "./types";
import { isIndex, placesOf } from "./updates";
import { within } from "./where";

/** The leaves of a symbolic value, or the recipe for them: each is recorded when it is first used. */
class Bundle {
  private readonly blocks: number[] = [];

  constructor(
    readonly recorder: Recorder,
    /** The block the value belongs to. */
    readonly block: number,
    private readonly ids: (number | undefined)[],
    private readonly read?: (leaf: number) => number,
  ) {}

  /** The id of leaf `k`, of type `ty`, in the recording `r` of this function or of one inside it. */
  leaf(r: Recorder, k: number, ty: Ty): number {
    let id = this.ids[k];
    // a read recorded in a loop that has ended since may have been taken back
    if (
      id === undefined ||
      (this.read && !this.recorder.inScope(this.blocks[k]))
    ) {
      this.blocks[k] = this.recorder.block;
      id = this.ids[k] = this.read!(k);
    }
    return r === this.recorder
      ? id
      : r.use(new Var(this.recorder, id, ty, this.block), ty);
  }
}

/** What the proxy of a vector or struct stands for: part of a bundle, from leaf `at` on. */
class View {
  constructor(
    readonly bundle: Bundle,
    readonly at: number,
    readonly ty: Ty,
  ) {}
}

/**
 * A struct type with the fields of `fields`. In a body these may be values, too: programs for `rose` 0.4.10,
 * which looks at neither, write structs of both kinds so.
 */
export const struct = <T>(fields: T): T => {
  if (Recorder.current === undefined && !sizesIn(fields).length) tyOf(fields);
  return fields;
};

/** The symbolic value of type `ty` whose leaves are `ids`. */
export const wrap = (r: Recorder, ty: Ty, ids: readonly number[]): unknown =>
  isOne(ty)
    ? scalar(r, ty, ids[0])
    : present(new View(new Bundle(r, r.block, [...ids]), 0, ty));

/** The symbolic scalar `id`. */
const scalar = (r: Recorder, ty: Ty, id: number): Var | symbol =>
  ty.kind === "fin" ? r.newIndex(id, ty) : new Var(r, id, ty, r.block);

/** The type that a value has by itself. */
export const typeOf = (r: Recorder, x: unknown, what: string): Ty => {
  if (x === null) return NULL;
  if (typeof x === "number") return REAL;
  if (typeof x === "boolean") return BOOL;
  if (x === ZERO) return TAN;
  const known = r.meaning(x)?.ty ?? symbolicType(x);
  if (known) return known;
  if (isArray(x))
    return vecOf(x.length, x.length ? typeOf(r, x[0], what) : REAL);
  if (typeof x === "object")
    return structOf(
      Object.entries(x).map(([key, y]) => [key, typeOf(r, y, what)]),
    );
  throw unlike(x, "a value", what);
};

/** Whether `x`, taken as a `ty`, has a tangent where that has one. */
export const hasTangent = (ty: Ty, x: unknown): boolean => {
  if (ty === TAN) return x === ZERO || (x instanceof Var && x.ty === TAN);
  if (ty === numbersOf(ty) || typeof x !== "object" || x === null) return false;
  const given = symbolicType(x);
  if (given !== undefined) return given !== numbersOf(given);
  if (ty.kind !== "vec")
    return ty.fields.some(([name, field]) =>
      hasTangent(field, (x as Record<string, unknown>)[name]),
    );
  return Array.prototype.some.call(x, (element) =>
    hasTangent(ty.elem!, element),
  );
};

/** What a view looks like to an author. */
const present = (view: View): unknown => {
  const { bundle, at, ty } = view;
  if (!isOne(ty)) return ty === NULL ? null : new Proxy(view, looks);
  const r = recorder();
  return scalar(r, ty, bundle.leaf(r, at, ty));
};

/** The current recorder, if a view may be used in it now; throws otherwise. */
const inScope = ({ bundle, ty }: View): Recorder => {
  const r = recorder();
  // nothing is recorded to find out
  r.reach(bundle.recorder, bundle.block, ty);
  return r;
};

/** Element `i` of a vector. */
const element = (view: View, i: unknown): unknown => {
  const { bundle, at, ty } = view;
  const r = inScope(view);
  const index = indexId(r, fin(ty.size), i);
  const elem = ty.elem!;
  const read = (k: number): number =>
    r.row(S.INDEX, bundle.leaf(r, at + k, ty.leafTypes[k]), index);
  return isOne(elem)
    ? scalar(r, elem, read(0))
    : present(new View(new Bundle(r, r.block, [], read), 0, elem));
};

/** The vector with `x` at `i`; it takes the old one's place where that is not used any more. */
const updated = (view: View, i: unknown, x: unknown): unknown => {
  const { bundle, at, ty } = view;
  const r = inScope(view);
  const index = indexId(r, fin(ty.size), i);
  const ids = leavesOf(r, ty.elem!, x, "set");
  const rows = ids.map((id, k) =>
    r.rowOf(S.SET, [bundle.leaf(r, at + k, ty.leafTypes[k]), index, id]),
  );
  return wrap(r, ty, rows);
};

/** Keys that JavaScript itself looks up, on any object. */
const isForeign = (key: string | symbol): boolean =>
  typeof key === "symbol"
    ? /^Symbol\.|^nodejs\./.test(key.description ?? "")
    : key === "then" || key === "toJSON" || key === "constructor";

const refuseChange = ({ ty }: View): never => {
  throw TypeError(`a symbolic ${ty.text} cannot be changed; build a new one`);
};

/** The methods that change an array. */
const CHANGES =
  /^(copyWithin|fill|pop|push|reverse|shift|sort|splice|unshift)$/;

/** The methods that find an element that is `===` to another: of symbolic ones none is. */
const SEARCHES = /^(includes|indexOf|lastIndexOf)$/;

/** A method of arrays, on the elements that there are. */
const methodOf = (view: View, key: string, v: Iterable<unknown>): unknown => {
  const method = (Array.prototype as unknown as Record<string, unknown>)[key];
  if (typeof method !== "function") return undefined;
  if (SEARCHES.test(key))
    throw TypeError(
      `${key} compares symbols, and not their numbers: eq(x, y) compares these when it runs`,
    );
  return CHANGES.test(key) ? () => refuseChange(view) : method.bind([...v]);
};

/** The field of a struct under a key, if there is one. */
const fieldAt = (
  { bundle, at, ty }: View,
  key: string | symbol,
): View | undefined => {
  const field = ty.byName.get(key as string);
  return field && new View(bundle, at + field.at, field.ty);
};

const has = ({ ty }: View, key: string | symbol): boolean =>
  typeof key === "string" &&
  (ty.kind === "vec"
    ? Number(key) >= 0 && Number(key) < ty.size
    : ty.byName.has(key));

const looks: ProxyHandler<View> = {
  get(view, key, v) {
    if (key === VIEW) return view;
    const { ty } = view;
    const isVec = ty.kind === "vec";
    // first what is asked for most
    if (isVec && typeof key === "string" && isIndex(key))
      return element(view, Number(key));
    const field = fieldAt(view, key);
    if (field) {
      inScope(view);
      return present(field);
    }
    if (key === Symbol.toPrimitive)
      return () => {
        throw noPrimitive(ty);
      };
    const isList = isVec || ty.isTuple;
    if (isList) {
      if (key === "length") return ty.size || ty.order.length;
      // these read what they are asked for, and no more
      if (key === Symbol.iterator) return Array.prototype.values.bind(v);
      if (key === "slice") return Array.prototype.slice.bind(v);
      if (key === Symbol.isConcatSpreadable) return true;
    }
    if (isForeign(key)) return undefined;
    if (isVec) {
      if (key === "set") return (i: unknown, x: unknown) => updated(view, i, x);
      if (key === "at") return placesOf(v, Array.prototype.at.bind(v));
      if (typeof key === "symbol") return element(view, key);
    }
    const method = isList && methodOf(view, String(key), v);
    if (method) return method;
    throw TypeError(
      `unexpected key: ${ty.text} has no ${JSON.stringify(String(key))}`,
    );
  },
  has,
  ownKeys: ({ ty }) =>
    ty.kind === "vec"
      ? Array.from({ length: ty.size }, (_, i) => `${i}`)
      : [...ty.order],
  getOwnPropertyDescriptor: (view, key) =>
    has(view, key) ? { enumerable: true, configurable: true } : undefined,
  set: refuseChange,
  deleteProperty: refuseChange,
  defineProperty: refuseChange,
};

/** The leaves of `x`, taken as a `ty`; throws what is wrong with `x`, which is `what`, after where that is. */
export const leavesOf = (
  r: Recorder,
  ty: Ty,
  x: unknown,
  what?: string,
): number[] => {
  const ids: number[] = [];
  try {
    put(r, ty, x, ids);
  } catch (error) {
    throw what === undefined ? error : within(error, what);
  }
  return ids;
};

/** As `leavesOf`, appended to `ids`. */
const put = (r: Recorder, ty: Ty, x: unknown, ids: number[]): void => {
  const idOf = SCALARS[ty.kind];
  if (idOf) ids.push(idOf(r, x));
  else if (ty.kind === "fin") ids.push(indexId(r, ty, x));
  else if (ty.kind !== "null") putParts(r, ty, x, ids);
  else if (x !== null) throw invalid(x, "null");
};

const SCALARS: Partial<Record<Kind, typeof realId>> = {
  real: realId,
  tan: tanId,
  bool: boolId,
};

const putParts = (r: Recorder, ty: Ty, x: unknown, ids: number[]): void => {
  if (x instanceof Var) throw r.refuse(x, ty.text);
  if (typeof x !== "object" || x === null) throw invalid(x, ty.text);
  const view = (x as { [VIEW]?: View })[VIEW];
  if (view !== undefined) liftView(r, ty, x as Iterable<unknown>, view, ids);
  else if (ty.kind === "vec") liftArray(r, ty, x, ids);
  else liftObject(r, ty, x as Record<string, unknown>, ids);
};

const liftView = (
  r: Recorder,
  ty: Ty,
  x: Iterable<unknown>,
  { bundle, at, ty: given }: View,
  ids: number[],
): void => {
  if (given.like !== ty.like) {
    // a tuple may be a vector, and the other way round
    if (ty.elem ? given.isTuple : ty.isTuple && given.elem)
      return put(r, ty, [...x], ids);
    throw r.refuse(new Var(bundle.recorder, 0, given, bundle.block), ty.text);
  }
  r.reach(bundle.recorder, bundle.block, ty);
  for (let k = 0; k < ty.leaves; ++k)
    ids.push(bundle.leaf(r, at + k, ty.leafTypes[k]));
};

const liftArray = (r: Recorder, ty: Ty, x: object, ids: number[]): void => {
  if (!isArray(x)) throw invalid(x, ty.text);
  if (x.length !== ty.size)
    throw RangeError(
      `wrong array size: expected ${ty.size} elements for ${ty.text}, got ${x.length}`,
    );
  const elem = ty.elem!;
  const columns: number[][] = ty.leafTypes.map((leaf) => [r.type(leaf)]);
  const row: number[] = [];
  for (let i = 0; i < ty.size; ++i) {
    row.length = 0;
    try {
      put(r, elem, x[i], row);
    } catch (error) {
      throw within(error, `[${i}]`);
    }
    for (let k = 0; k < row.length; ++k) columns[k].push(row[k]);
  }
  for (const column of columns) ids.push(r.rowOf(S.VEC, column));
};

const liftObject = (
  r: Recorder,
  ty: Ty,
  x: Record<string, unknown>,
  ids: number[],
): void => {
  const given = Object.keys(x);
  if (
    given.length !== ty.fields.length ||
    !ty.fields.every(([name]) => Object.hasOwn(x, name))
  )
    throw TypeError(
      `wrong struct keys: expected ${ty.order.join(", ") || "none"}, got ${given.join(", ") || describe(x)}`,
    );
  for (const [name, field] of ty.fields)
    ids.push(...leavesOf(r, field, x[name], `.${name}`));
};
