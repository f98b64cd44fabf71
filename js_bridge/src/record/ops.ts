// The operations of the table as functions on symbolic values.

import { LARGEST } from "./largest";
import { NO_INDEX, OP } from "../opcodes.gen";
import {
  boolId,
  indexId,
  type Recorder,
  realId,
  recorder,
  tanId,
  Var,
  ZERO,
} from "./recorder";
import { BOOL, ANY, indexType, REAL, TAN, type Ty, tyOf } from "./types";
import { leavesOf, wrap } from "./values";

type Real = unknown;
type Bool = unknown;
type Nat = unknown;

const result = (r: Recorder, ty: Ty, id: number): Var =>
  new Var(r, id, ty, r.block);

const unary = (op: number, x: Real): Var => {
  const r = recorder();
  return result(r, REAL, r.row(op, realId(r, x), 0));
};

const binary = (
  op: number,
  x: Real,
  y: Real,
  more: unknown,
  ty = REAL,
): Var => {
  const r = recorder();
  two(more, ty);
  const a = realId(r, x);
  return result(r, ty, r.row(op, a, realId(r, y)));
};

/**
 * Refuse a third value, which some of JavaScript's functions take; `reduce` gives its callback a number,
 * but not to what gives no Real.
 */
const two = (more: unknown, ty = REAL): undefined => {
  if (more instanceof Var || (ty !== REAL && more !== undefined))
    throw TypeError(
      "this takes 2 arguments: for three, call it twice, as in max(max(x, y), z) or and(lt(x, y), lt(y, z))",
    );
};

/** What takes two, and refuses more. */
type Two = (x: unknown, y: unknown) => Var;

const comparison = (op: number, x: Real, y: Real, more: unknown): Var =>
  binary(op, x, y, more, BOOL);

const isTangent = (x: unknown): boolean =>
  x === ZERO || (x instanceof Var && x.ty === TAN);

/** An op that is linear in `x`, and in `y` too if `both`. */
const linear = (
  op: number,
  both: boolean,
  x: unknown,
  y: unknown,
  more: unknown,
): Var => {
  const r = recorder();
  two(more);
  if (!isTangent(x) && !isTangent(y)) {
    const a = realId(r, x);
    return result(r, REAL, r.row(op, a, realId(r, y)));
  }
  if (!both && isTangent(y) && isTangent(x))
    throw TypeError(
      "variable type mismatch: a product or quotient of two tangents is not linear",
    );
  if (!both && isTangent(y) && op === OP.mul)
    return result(r, TAN, r.row(op, tanId(r, y), realId(r, x)));
  const a = tanId(r, x);
  return result(r, TAN, r.row(op, a, both ? tanId(r, y) : realId(r, y)));
};

const logic = (op: number, p: Bool, q: Bool): Var => {
  const r = recorder();
  const a = boolId(r, p);
  return result(r, BOOL, r.row(op, a, boolId(r, q)));
};

/** The id of an index of type `ty`, of a number that is to be one, or of any literal. */
const comparedId = (r: Recorder, ty: Ty, i: Nat): number => {
  const loose = typeof i === "symbol" ? r.looseOf(i) : undefined;
  if (loose?.index === ty) return r.use(loose.number, loose.number.ty);
  return isWhole(i) && (i < 0 || i >= ty.size)
    ? r.literal(i, ANY)
    : indexId(r, ty, i);
};

/** The literal `i`, or one as good to compare with `j`, next to all that that can be; what is no literal as it is. */
const nearTo = (r: Recorder, ty: Ty, j: Nat, i: Nat): Nat => {
  if (!isWhole(i) || typeof j !== "symbol") return i;
  const { low, high } = r.looseOf(j) ?? { low: 0, high: ty.size - 1 };
  return Math.min(Math.max(i, low - 1), high + 1);
};

const isWhole = (i: Nat): i is number => Number.isInteger(i);

const compareIndices = (op: number, index: unknown, i: Nat, j: Nat): Var => {
  const r = recorder();
  const ty = indexType(index);
  const a = comparedId(r, ty, nearTo(r, ty, j, i));
  return result(r, BOOL, r.row(op, a, comparedId(r, ty, nearTo(r, ty, i, j))));
};

export const abs = (x: Real) => unary(OP.abs, x);
export const sign = (x: Real) => unary(OP.sign, x);
export const ceil = (x: Real) => unary(OP.ceil, x);
export const floor = (x: Real) => unary(OP.floor, x);
export const trunc = (x: Real) => unary(OP.trunc, x);
export const sqrt = (x: Real) => unary(OP.sqrt, x);
export const sin = (x: Real) => unary(OP.sin, x);
export const cos = (x: Real) => unary(OP.cos, x);
export const tan = (x: Real) => unary(OP.tan, x);
export const asin = (x: Real) => unary(OP.asin, x);
export const acos = (x: Real) => unary(OP.acos, x);
export const atan = (x: Real) => unary(OP.atan, x);
export const sinh = (x: Real) => unary(OP.sinh, x);
export const cosh = (x: Real) => unary(OP.cosh, x);
export const tanh = (x: Real) => unary(OP.tanh, x);
export const exp = (x: Real) => unary(OP.exp, x);
export const expm1 = (x: Real) => unary(OP.expm1, x);
export const log = (x: Real) => unary(OP.log, x);
export const log1p = (x: Real) => unary(OP.log1p, x);
export const log2 = (x: Real) => unary(OP.log2, x);
export const log10 = (x: Real) => unary(OP.log10, x);
export const cbrt = (x: Real) => unary(OP.cbrt, x);

export const min: Two = (x, y, more?: unknown) => binary(OP.min, x, y, more);
export const max: Two = (x, y, more?: unknown) => binary(OP.max, x, y, more);
export const pow: Two = (x, y, more?: unknown) => binary(OP.pow, x, y, more);
export const atan2: Two = (x, y, more?: unknown) =>
  binary(OP.atan2, x, y, more);
export const hypot: Two = (x, y, more?: unknown) =>
  binary(OP.hypot, x, y, more);
export const neq: Two = (x, y, more?: unknown) =>
  comparison(OP.neq, x, y, more);
export const lt: Two = (x, y, more?: unknown) => comparison(OP.lt, x, y, more);
export const leq: Two = (x, y, more?: unknown) =>
  comparison(OP.leq, x, y, more);
export const eq: Two = (x, y, more?: unknown) => comparison(OP.eq, x, y, more);
export const gt: Two = (x, y, more?: unknown) => comparison(OP.gt, x, y, more);
export const geq: Two = (x, y, more?: unknown) =>
  comparison(OP.geq, x, y, more);

export const add: Two = (x, y, more?: unknown) =>
  linear(OP.add, true, x, y, more);
export const sub: Two = (x, y, more?: unknown) =>
  linear(OP.sub, true, x, y, more);
export const mul: Two = (x, y, more?: unknown) =>
  linear(OP.mul, false, x, y, more);
export const div: Two = (x, y, more?: unknown) =>
  linear(OP.div, false, x, y, more);

/** `-x`, of a number or a tangent. */
export const neg = (x: unknown): Var => {
  const r = recorder();
  return isTangent(x)
    ? result(r, TAN, r.row(OP.neg, tanId(r, x), 0))
    : result(r, REAL, r.row(OP.neg, realId(r, x), 0));
};

/** The zero tangent. */
export const zero = (): symbol => {
  recorder();
  return ZERO;
};

export const not = (p: Bool): Var => {
  const r = recorder();
  return result(r, BOOL, r.row(OP.not, boolId(r, p), 0));
};
export const and: Two = (p, q, more?: unknown) =>
  two(more) ?? logic(OP.and, p, q);
export const or: Two = (p, q, more?: unknown) =>
  two(more) ?? logic(OP.or, p, q);
export const iff = (p: Bool, q: Bool) => logic(OP.iff, p, q);
export const xor = (p: Bool, q: Bool) => logic(OP.xor, p, q);

export const ineq = (index: unknown, i: Nat, j: Nat) =>
  compareIndices(OP.ineq, index, i, j);
export const ilt = (index: unknown, i: Nat, j: Nat) =>
  compareIndices(OP.ilt, index, i, j);
export const ileq = (index: unknown, i: Nat, j: Nat) =>
  compareIndices(OP.ileq, index, i, j);
export const ieq = (index: unknown, i: Nat, j: Nat) =>
  compareIndices(OP.ieq, index, i, j);
export const igt = (index: unknown, i: Nat, j: Nat) =>
  compareIndices(OP.igt, index, i, j);
export const igeq = (index: unknown, i: Nat, j: Nat) =>
  compareIndices(OP.igeq, index, i, j);

/** The id of an index of any type or a literal, and the least and largest number it can be. */
const wholeNumber = (
  r: Recorder,
  i: Nat,
  name: string,
): [number, number, number] => {
  const loose = typeof i === "symbol" ? r.looseOf(i) : undefined;
  if (loose && loose.low >= -LARGEST && loose.high < LARGEST)
    return [r.use(loose.number, ANY), loose.low, loose.high];
  const v = typeof i === "symbol" ? r.indexOf(i) : undefined;
  if (v) return [r.use(v, v.ty), 0, Math.max(v.ty.size - 1, 0)];
  if (isWhole(i) && i < 0 && i >= -LARGEST) return [r.literal(i, ANY), i, i];
  const [id] = leavesOf(r, ANY, i, name);
  return [id, i as number, i as number];
};

/** The number `id` as an index below `index`: checked where it is used as one, unless it is known to be. */
const narrowed = (
  r: Recorder,
  id: number,
  index: Ty,
  low: number,
  high: number,
  name: string,
): symbol => {
  if (low < 0 || high >= index.size) {
    const number = new Var(r, id, ANY, r.block);
    return r.newLoose({ number, low, high, index, name });
  }
  return r.newIndex(r.row(OP.narrow, id, r.literal(index.size, ANY)), index);
};

/** The number `id` and so much more, or less. */
const plus = (r: Recorder, op: number, id: number, more: number): number =>
  more ? r.row(op, id, r.literal(more, ANY)) : id;

/**
 * Arithmetic on indices of any types, whose result is an index of the type that comes first. It may
 * fall outside as long as it is only compared, or computed with: `imod(n, isub(n, i, j))`.
 */
const arithmetic = (
  name: string,
  op: number,
  on: (i: number, j: number) => number,
  index: unknown,
  i: Nat,
  j: Nat,
): symbol => {
  const r = recorder();
  const ty = indexType(index);
  const [a, ...ofI] = wholeNumber(r, i, name);
  const [b, ...ofJ] = wholeNumber(r, j, name);
  const ends = ofI.flatMap((x) => ofJ.map((y) => on(x, y)));
  const low = Math.min(...ends);
  const high = Math.max(...ends);
  return narrowed(r, r.row(op, a, b), ty, low, high, name);
};

export const iadd = (index: unknown, i: Nat, j: Nat) =>
  arithmetic("iadd", OP.iadd, (i, j) => i + j, index, i, j);
export const isub = (index: unknown, i: Nat, j: Nat) =>
  arithmetic("isub", OP.isub, (i, j) => i - j, index, i, j);
export const imul = (index: unknown, i: Nat, j: Nat) =>
  arithmetic("imul", OP.imul, (i, j) => i * j, index, i, j);
export const imin = (index: unknown, i: Nat, j: Nat) =>
  arithmetic("imin", OP.imin, Math.min, index, i, j);
export const imax = (index: unknown, i: Nat, j: Nat) =>
  arithmetic("imax", OP.imax, Math.max, index, i, j);

/** The index `i`, of any index type, modulo the size `index`. */
export const imod = (index: unknown, i: Nat): symbol => {
  const r = recorder();
  const ty = indexType(index);
  const size = Math.max(ty.size, 1);
  const [a, low] = wholeNumber(r, i, "imod");
  // of a multiple more, which is not negative, the remainder is the same
  const more = Math.max(Math.ceil(-low / size), 0) * size;
  const rest = r.row(OP.imod, plus(r, OP.iadd, a, more), r.literal(size, ANY));
  // no index is below 0, but in a loop that never runs one may be asked for
  return ty.size ? r.newIndex(rest, ty) : narrowed(r, rest, ty, 0, 0, "imod");
};

/** How many times the whole number `by` goes into the index `i`, of any index type, rounded down. */
export const idiv = (index: unknown, i: Nat, by: unknown): symbol => {
  const r = recorder();
  const ty = indexType(index);
  const { size } = indexType(by, "idiv");
  if (!size) throw RangeError("idiv: it cannot divide by 0");
  const [a, low, high] = wholeNumber(r, i, "idiv");
  const more = Math.max(Math.ceil(-low / size), 0);
  const raised = plus(r, OP.iadd, a, more * size); // as the instruction is for what is not negative
  const id = r.row(OP.idiv, raised, r.literal(size, ANY));
  const whole = plus(r, OP.isub, id, more);
  const least = Math.floor(low / size);
  return narrowed(r, whole, ty, least, Math.floor(high / size), "idiv");
};

/**
 * The number `x`, a Real or an index of any type, as an index below `size`. What is not a whole number
 * or out of range is an error when it runs.
 */
export const index = (size: unknown, x: unknown): symbol => {
  const r = recorder();
  const ty = indexType(size);
  const v = typeof x === "symbol" ? r.indexOf(x) : undefined;
  if (v) return narrowed(r, r.use(v, v.ty), ty, 0, v.ty.size - 1, "index");
  if (!(x instanceof Var)) return r.newIndex(indexId(r, ty, x), ty);
  const id = realId(r, x);
  return r.newIndex(r.check(OP.index, id, ty.size, "index", NO_INDEX), ty);
};

/** The index `i`, of any type, as a Real. */
export const real = (i: Nat): Var => {
  const r = recorder();
  const [id] = wholeNumber(r, i, "real");
  return result(r, REAL, r.row(OP.real, id, 0));
};

/** `yes` where `p` holds, else `no`: both of type `type`. */
export const select = (
  ...given: [p: Bool, type: unknown, yes: unknown, no: unknown]
): unknown => {
  if (given.length !== 4)
    throw TypeError(
      `select takes a condition, a type and two values, got ${given.length} arguments`,
    );
  const [p, type, yes, no] = given;
  const r = recorder();
  const ty = tyOf(type);
  const c = boolId(r, p);
  const a = leavesOf(r, ty, yes);
  const b = leavesOf(r, ty, no);
  return wrap(
    r,
    ty,
    a.map((x, k) => r.rowOf(OP.select, [c, x, b[k]])),
  );
};
