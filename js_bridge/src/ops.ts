// The operations of the table as functions on symbolic values.

import { OP } from "./opcodes.gen";
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
import {
  BOOL,
  describe,
  fin,
  LARGEST,
  REAL,
  TAN,
  type Ty,
  tyOf,
} from "./types";
import { lift, wrap } from "./values";

type Real = unknown;
type Bool = unknown;
type Nat = unknown;

const result = (r: Recorder, ty: Ty, id: number): Var =>
  new Var(r, id, ty, r.block);

const unary =
  (op: number) =>
  (x: Real): Var => {
    const r = recorder();
    return result(r, REAL, r.row(op, realId(r, x), 0));
  };

const binary =
  (op: number, ty: Ty = REAL) =>
  (x: Real, y: Real): Var => {
    const r = recorder();
    const a = realId(r, x);
    return result(r, ty, r.row(op, a, realId(r, y)));
  };

const isTangent = (x: unknown): boolean =>
  x === ZERO || (x instanceof Var && x.ty === TAN);

/** An op that is linear in `x`, and in `y` too if `both`. */
const linear =
  (op: number, both: boolean) =>
  (x: unknown, y: unknown): Var => {
    const r = recorder();
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

const logic =
  (op: number) =>
  (p: Bool, q: Bool): Var => {
    const r = recorder();
    const a = boolId(r, p);
    return result(r, BOOL, r.row(op, a, boolId(r, q)));
  };

const indexType = (index: unknown): Ty => {
  const ty = tyOf(index);
  if (ty.kind !== "fin")
    throw TypeError(`invalid type: expected a size, got ${describe(index)}`);
  return ty;
};

const compareIndices =
  (op: number) =>
  (index: unknown, i: Nat, j: Nat): Var => {
    const r = recorder();
    const ty = indexType(index);
    const a = indexId(r, ty, i);
    return result(r, BOOL, r.row(op, a, indexId(r, ty, j)));
  };

export const abs = unary(OP.abs);
export const sign = unary(OP.sign);
export const ceil = unary(OP.ceil);
export const floor = unary(OP.floor);
export const trunc = unary(OP.trunc);
export const sqrt = unary(OP.sqrt);
export const sin = unary(OP.sin);
export const cos = unary(OP.cos);
export const tan = unary(OP.tan);
export const asin = unary(OP.asin);
export const acos = unary(OP.acos);
export const atan = unary(OP.atan);
export const sinh = unary(OP.sinh);
export const cosh = unary(OP.cosh);
export const tanh = unary(OP.tanh);
export const exp = unary(OP.exp);
export const expm1 = unary(OP.expm1);
export const log = unary(OP.log);
export const log1p = unary(OP.log1p);
export const log2 = unary(OP.log2);
export const log10 = unary(OP.log10);
export const cbrt = unary(OP.cbrt);

export const min = binary(OP.min);
export const max = binary(OP.max);
export const pow = binary(OP.pow);
export const atan2 = binary(OP.atan2);
export const hypot = binary(OP.hypot);
export const neq = binary(OP.neq, BOOL);
export const lt = binary(OP.lt, BOOL);
export const leq = binary(OP.leq, BOOL);
export const eq = binary(OP.eq, BOOL);
export const gt = binary(OP.gt, BOOL);
export const geq = binary(OP.geq, BOOL);

export const add = linear(OP.add, true);
export const sub = linear(OP.sub, true);
export const mul = linear(OP.mul, false);
export const div = linear(OP.div, false);

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
export const and = logic(OP.and);
export const or = logic(OP.or);
export const iff = logic(OP.iff);
export const xor = logic(OP.xor);

export const ineq = compareIndices(OP.ineq);
export const ilt = compareIndices(OP.ilt);
export const ileq = compareIndices(OP.ileq);
export const ieq = compareIndices(OP.ieq);
export const igt = compareIndices(OP.igt);
export const igeq = compareIndices(OP.igeq);

/** Any whole number, whatever index type it has. */
const ANY = fin(LARGEST);

/** The id of an index of any type or a literal, and the least and largest number it can be. */
const wholeNumber = (r: Recorder, i: Nat): [number, number, number] => {
  const v = typeof i === "symbol" ? r.indexOf(i) : undefined;
  if (v) return [r.use(v, v.ty), 0, Math.max(v.ty.size - 1, 0)];
  const id = indexId(r, ANY, i);
  return [id, i as number, i as number];
};

/** The index below `ty` that `id` is; unless it is known that it `fits`, that is checked when it runs. */
const narrowed = (r: Recorder, id: number, ty: Ty, fits: boolean): symbol => {
  const size = r.literal(ty.size, ANY);
  return r.newIndex(r.row(fits ? OP.narrow : OP.bound, id, size), ty);
};

/**
 * Arithmetic on indices of any types, whose result is an index of the type that comes first. What can
 * never be one throws at once; what may fall outside is checked when it runs.
 */
const arithmetic =
  (name: string, op: number, on: (i: number, j: number) => number) =>
  (index: unknown, i: Nat, j: Nat): symbol => {
    const r = recorder();
    const ty = indexType(index);
    const [a, ...ofI] = wholeNumber(r, i);
    const [b, ...ofJ] = wholeNumber(r, j);
    const ends = ofI.flatMap((x) => ofJ.map((y) => on(x, y)));
    const low = Math.min(...ends);
    const high = Math.max(...ends);
    if (high < 0 || low >= ty.size)
      throw RangeError(
        `${name}: ${low === high ? low : `${low} to ${high}`} is out of range, ` +
          `expected an index from 0 to ${ty.size - 1}`,
      );
    const id = r.row(op, a, b);
    return narrowed(r, id, ty, low >= 0 && high < ty.size);
  };

export const iadd = arithmetic("iadd", OP.iadd, (i, j) => i + j);
export const isub = arithmetic("isub", OP.isub, (i, j) => i - j);
export const imul = arithmetic("imul", OP.imul, (i, j) => i * j);
export const imin = arithmetic("imin", OP.imin, Math.min);
export const imax = arithmetic("imax", OP.imax, Math.max);

/** The index `i`, of any index type, modulo the size `index`. */
export const imod = (index: unknown, i: Nat): symbol => {
  const r = recorder();
  const ty = indexType(index);
  const [a] = wholeNumber(r, i);
  return r.newIndex(r.row(OP.imod, a, r.literal(ty.size, ANY)), ty);
};

/**
 * The number `x`, a Real or an index of any type, as an index below `size`. What is not a whole number
 * or out of range is an error when it runs.
 */
export const index = (size: unknown, x: unknown): symbol => {
  const r = recorder();
  const ty = indexType(size);
  const v = typeof x === "symbol" ? r.indexOf(x) : undefined;
  if (v) return narrowed(r, r.use(v, v.ty), ty, v.ty.size <= ty.size);
  if (!(x instanceof Var)) return r.newIndex(indexId(r, ty, x), ty);
  const id = realId(r, x);
  return r.newIndex(r.row(OP.index, id, r.literal(ty.size, ANY)), ty);
};

/** The index `i`, of any type, as a Real. */
export const real = (i: Nat): Var => {
  const r = recorder();
  const [id] = wholeNumber(r, i);
  return result(r, REAL, r.row(OP.real, id, 0));
};

/** `yes` where `p` holds, else `no`: both of type `type`. */
export const select = (
  p: Bool,
  type: unknown,
  yes: unknown,
  no: unknown,
): unknown => {
  const r = recorder();
  const ty = tyOf(type);
  const c = boolId(r, p);
  const a: number[] = [];
  const b: number[] = [];
  lift(r, ty, yes, a);
  lift(r, ty, no, b);
  return wrap(
    r,
    ty,
    a.map((x, k) => r.rowOf(OP.select, [c, x, b[k]])),
  );
};
