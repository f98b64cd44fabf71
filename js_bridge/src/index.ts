export { checkpoint, cond, fori, scan, whileLoop } from "./control";
export { ready } from "./core";
export { functional } from "./functional";
export { fn, opaque } from "./functions";
export {
  grad,
  hessian,
  hvp,
  jacobian,
  jet,
  linearize,
  valueAndGrad,
} from "./operators";
export {
  abs,
  acos,
  add,
  and,
  asin,
  atan,
  atan2,
  cbrt,
  ceil,
  cos,
  cosh,
  div,
  eq,
  exp,
  expm1,
  floor,
  geq,
  gt,
  hypot,
  iadd,
  ieq,
  iff,
  igeq,
  igt,
  ileq,
  ilt,
  imax,
  imin,
  imod,
  imul,
  index,
  ineq,
  isub,
  leq,
  log,
  log10,
  log1p,
  log2,
  lt,
  max,
  min,
  mul,
  neg,
  neq,
  not,
  or,
  pow,
  real,
  select,
  sign,
  sin,
  sinh,
  sqrt,
  sub,
  tan,
  tanh,
  trunc,
  xor,
  zero,
} from "./ops";
export { python } from "./page";
export { hot } from "./hot";
export { inspect } from "./inspect";
export { compile, interp } from "./run";
export { configure } from "./settings";
export { Bool, Dual, Null, Real, Size, Tan, Vec } from "./types";
export { struct } from "./values";
export { fixedPoint, minimize, odeint, quad, root } from "./solvers";
export { sparseHessian, sparseJacobian } from "./sparse";
export { sum, vec } from "./vec";
export { jvp, vjp } from "./vjp";
export { vmap } from "./vmap";
