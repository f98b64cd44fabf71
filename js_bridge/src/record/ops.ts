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
import {
  BOOL,
  ANY,
  indexType,
  isArray,
  REAL,
  TAN,
  type Ty,
  tyOf,
} from "./types";
import { hasTangent, leavesOf, wrap } from "./values";

type Real = unknown;
type Bool = unknown;
type Nat = unknown;

/** What takes one. */
type One = (x: Real) => Var;

/** What takes two, and refuses more. */
type Two<T = Var> = (x: unknown, y: unknown) => T;

/** Refuse `more` than is taken; `reduce` gives its callback an index and an array besides. */
const refuseMore = (count: number, more: unknown, array?: unknown): void => {
  if (more !== undefined && !isArray(array))
    throw TypeError(
      `this takes ${count} arguments: for more, call it twice, as in max(max(x, y), z) or and(lt(x, y), lt(y, z))`,
    );
};

// what is refused has names: to make a list of all arguments would take engines as long as to record them

const two =
  <T>(on: (r: Recorder, x: unknown, y: unknown) => T): Two<T> =>
  (x: unknown, y: unknown, more?: unknown, array?: unknown) => {
    refuseMore(2, more, array);
    return on(recorder(), x, y);
  };

const unary =
  (op: number, ty = REAL, id = realId): One =>
  (x) => {
    const r = recorder();
    return r.result(r.row(op, id(r, x), 0), ty);
  };

const binary = (op: number, ty = REAL, id = realId): Two =>
  two((r, x, y) => {
    const a = id(r, x);
    return r.result(r.row(op, a, id(r, y)), ty);
  });

const comparison = (op: number): Two => binary(op, BOOL);

const logic = (op: number): Two => binary(op, BOOL, boolId);

const isTangent = (x: unknown): boolean => hasTangent(TAN, x);

/** An op that is linear in `x`, and in `y` too if `both`. */
const linear = (op: number, both: boolean): Two =>
  two((r, x, y) => {
    const isSecond = isTangent(y);
    const areTangents = isSecond || isTangent(x);
    if (!both && isSecond) {
      if (isTangent(x))
        throw TypeError(
          "variable type mismatch: a product or quotient of two tangents is not linear",
        );
      if (op === OP.mul) [x, y] = [y, x];
    }
    const first = areTangents ? tanId : realId;
    const second = both ? first : realId;
    const a = first(r, x);
    return r.result(r.row(op, a, second(r, y)), areTangents ? TAN : REAL);
  });

/** What takes two indices, after a size. */
type OnIndices<T> = (index: unknown, i: Nat, j: Nat) => T;

const onIndices =
  <T>(on: (r: Recorder, ty: Ty, i: Nat, j: Nat) => T): OnIndices<T> =>
  (index: unknown, i: Nat, j: Nat, more?: unknown) => {
    refuseMore(3, more, more);
    return on(recorder(), indexType(index), i, j);
  };

/** The id of an index of any type that is compared with `j`; or of a literal, or one as good next to all that `j` can be. */
const comparedId = (r: Recorder, i: Nat, j: Nat): number => {
  if (!isWhole(i) || isWhole(j)) return wholeNumber(r, i)[0];
  const [, low, high] = wholeNumber(r, j);
  return r.literal(Math.min(Math.max(i, low - 1), high + 1), ANY);
};

const compareIndices = (op: number): OnIndices<Var> =>
  onIndices((r, _, i, j) => {
    const a = comparedId(r, i, j);
    return r.result(r.row(op, a, comparedId(r, j, i)), BOOL);
  });

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
export const neq = comparison(OP.neq);
export const lt = comparison(OP.lt);
export const leq = comparison(OP.leq);
export const eq = comparison(OP.eq);
export const gt = comparison(OP.gt);
export const geq = comparison(OP.geq);

export const add = linear(OP.add, true);
export const sub = linear(OP.sub, true);
export const mul = linear(OP.mul, false);
export const div = linear(OP.div, false);

/** `-x`, of a number or a tangent. */
export const neg: One = (x) =>
  (isTangent(x) ? unary(OP.neg, TAN, tanId) : unary(OP.neg))(x);

/** The zero tangent. */
export const zero = (): symbol => {
  recorder();
  return ZERO;
};

export const not = unary(OP.not, BOOL, boolId);
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

const isWhole = (i: Nat): i is number => Number.isInteger(i);

/** The id of an index of any type or a literal, and the least and largest number it can be. */
const wholeNumber = (
  r: Recorder,
  i: Nat,
  name?: string,
): [number, number, number] => {
  const loose = r.meaning(i);
  if (
    loose &&
    "low" in loose &&
    loose.low >= -LARGEST &&
    loose.high < LARGEST - 1
  )
    return [r.use(loose.number, ANY), loose.low, loose.high];
  const v = r.indexOf(i);
  if (v) return [r.use(v, v.ty), 0, Math.max(v.ty.size - 1, 0)];
  if (isWhole(i) && i < 0 && i >= -LARGEST) return [r.literal(i, ANY), i, i];
  const [id] = leavesOf(r, ANY, i, name);
  return [id, i as number, i as number];
};

/** The number `id` as an index below `index`: checked where it is used as one, unless it is known to be. */
const narrowed = (
  r: Recorder,
  id: number,
  ty: Ty,
  low: number,
  high: number,
  name: string,
): symbol => {
  if (low < 0 || high >= ty.size) {
    const number = new Var(r, id, ANY, r.block);
    return r.newSymbol({ number, low, high, ty, name });
  }
  return r.newIndex(r.asIndex(id, ty), ty);
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
): OnIndices<symbol> =>
  onIndices((r, ty, i, j) => {
    const [a, ...ofI] = wholeNumber(r, i, name);
    const [b, ...ofJ] = wholeNumber(r, j, name);
    const ends = ofI.flatMap((x) => ofJ.map((y) => on(x, y)));
    const low = Math.min(...ends);
    const high = Math.max(...ends);
    const isSum = op === OP.iadd || op === OP.isub;
    const by = isSum && low < -LARGEST ? limited(r, op, a, b) : b;
    return narrowed(r, r.row(op, a, by), ty, low, high, name);
  });

/**
 * `b`, or else as much as leaves of `a`, a sum or difference, the least number that there is: a smaller one would
 * come out as a large one, and might be an index.
 */
const limited = (r: Recorder, op: number, a: number, b: number): number => {
  const least = r.literal(-LARGEST, ANY);
  const negative = r.row(OP.imin, a, r.literal(op === OP.iadd ? 0 : -1, ANY));
  return op === OP.iadd
    ? r.row(OP.imax, b, r.row(OP.isub, least, negative))
    : r.row(OP.imin, b, r.row(OP.isub, negative, least));
};

export const iadd = arithmetic("iadd", OP.iadd, (i, j) => i + j);
export const isub = arithmetic("isub", OP.isub, (i, j) => i - j);
// a product that is too large is the largest number that there is
export const imul = arithmetic("imul", OP.imul, (i, j) =>
  Math.min(i * j, LARGEST - 1),
);
export const imin = arithmetic("imin", OP.imin, Math.min);
export const imax = arithmetic("imax", OP.imax, Math.max);

/** The index `i`, of any index type, modulo the size `index`. */
export const imod = two((r, index, i) => {
  const ty = indexType(index);
  const size = Math.max(ty.size, 1);
  const [a, low] = wholeNumber(r, i, "imod");
  // of a multiple more, which is not negative, the remainder is the same
  const more = Math.max(Math.ceil(-low / size), 0) * size;
  const rest = r.row(OP.imod, plus(r, OP.iadd, a, more), r.literal(size, ANY));
  // no index is below 0, but in a loop that never runs one may be asked for
  return ty.size ? r.newIndex(rest, ty) : narrowed(r, rest, ty, 0, 0, "imod");
});

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
  const v = r.indexOf(x);
  if (v) return narrowed(r, r.use(v, v.ty), ty, 0, v.ty.size - 1, "index");
  if (!(x instanceof Var)) return r.newIndex(indexId(r, ty, x), ty);
  const id = realId(r, x);
  return r.newIndex(r.check(OP.index, id, ty.size, "index", NO_INDEX), ty);
};

/** The index `i`, of any type, as a Real. */
export const real = (i: Nat): Var => {
  const r = recorder();
  const [id] = wholeNumber(r, i, "real");
  return r.result(r.row(OP.real, id, 0), REAL);
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
  const [a, b] = [yes, no].map((x, k) =>
    leavesOf(r, ty, x, `side ${k + 1} of select`),
  );
  return wrap(
    r,
    ty,
    a.map((x, k) => r.rowOf(OP.select, [c, x, b[k]])),
  );
};
