// Made from ops.py and ir.py in rose_core/language/ by `python -m rose_core.export opcodes`.

/** Operations of the table, by name. */
export const enum OP {
  neg = 0,
  abs = 1,
  sign = 2,
  ceil = 3,
  floor = 4,
  trunc = 5,
  sqrt = 6,
  sin = 7,
  cos = 8,
  tan = 9,
  asin = 10,
  acos = 11,
  atan = 12,
  sinh = 13,
  cosh = 14,
  tanh = 15,
  exp = 16,
  expm1 = 17,
  log = 18,
  log1p = 19,
  log2 = 20,
  log10 = 21,
  cbrt = 22,
  not = 23,
  real = 24,
  add = 25,
  sub = 26,
  mul = 27,
  div = 28,
  min = 29,
  max = 30,
  pow = 31,
  atan2 = 32,
  hypot = 33,
  neq = 34,
  lt = 35,
  leq = 36,
  eq = 37,
  gt = 38,
  geq = 39,
  and = 40,
  or = 41,
  iff = 42,
  xor = 43,
  iadd = 44,
  isub = 45,
  imul = 46,
  imin = 47,
  imax = 48,
  imod = 49,
  idiv = 50,
  narrow = 51,
  defined = 52,
  ineq = 53,
  ilt = 54,
  ileq = 55,
  ieq = 56,
  igt = 57,
  igeq = 58,
  bound = 59,
  index = 60,
  select = 61,
}

/** Those from Reals to a Real that `Math` has as well, by the name there. */
export const ON_REALS: Readonly<Record<string, OP>> = {
  abs: 1,
  ceil: 3,
  floor: 4,
  trunc: 5,
  sqrt: 6,
  sin: 7,
  cos: 8,
  tan: 9,
  asin: 10,
  acos: 11,
  atan: 12,
  sinh: 13,
  cosh: 14,
  tanh: 15,
  exp: 16,
  expm1: 17,
  log: 18,
  log1p: 19,
  log2: 20,
  log10: 21,
  cbrt: 22,
  min: 29,
  max: 30,
  pow: 31,
  atan2: 32,
  hypot: 33,
};

/** Structural opcodes of a recording. */
export const enum S {
  PARAM = 62,
  IDX = 63,
  VEC = 64,
  INDEX = 65,
  FOR = 66,
  GET = 67,
  CALL = 68,
  ACCUM = 69,
  ADD_TO = 70,
  REF_INDEX = 71,
  RESOLVE = 72,
  TUPLE = 73,
  MEMBER = 74,
  REF_MEMBER = 75,
  VJP = 76,
  PULL = 77,
  COND = 78,
  LOOP = 79,
  SET = 80,
  ZEROS = 81,
  END = 82,
}

/** Functions of `Math` that modules may import. */
export const MATH = ["tan", "asin", "acos", "atan", "pow"] as const;

/** What may go wrong while a program runs, by code; notes come after these. */
export const FAILURES = [
  "a loop did not end within its limit of {x} turns",
  "there is no memory for what a loop keeps: {x} bytes more are needed",
] as const;

/** What notes say. */
export const OUT_OF_RANGE =
  "{x} is out of range, expected a whole number from 0 to {y}";
export const NO_INDEX =
  "{x} cannot be an index, expected a whole number from 0 to {y}";
export const NO_COUNT =
  "it cannot turn {x} times, expected a whole number from 0 to {y}";
