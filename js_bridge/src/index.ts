export { configure, ready } from "./core";
export { fn, jvp, opaque, sum, vec, vjp } from "./functions";
export {
  abs, acos, add, and, asin, atan, atan2, cbrt, ceil, cos, cosh, div, eq, exp, expm1, floor, geq, gt,
  hypot, iadd, ieq, iff, igeq, igt, ileq, ilt, imod, ineq, leq, log, log10, log1p, log2, lt, max, min,
  mul, neg, neq, not, or, pow, select, sign, sin, sinh, sqrt, sub, tan, tanh, trunc, xor, zero,
} from "./ops";
export { compile, interp } from "./run";
export { Bool, Dual, Null, Real, struct, Tan, Vec } from "./types";
