export { checkpoint, cond, fori, scan, whileLoop } from "./control";
export { ready } from "./core";
export { functional } from "./functional";
export { fn, jvp, opaque, sum, vec, vjp } from "./functions";
export { minimize } from "./minimum";
export { odeint } from "./ode";
export { hessian, jacobian } from "./jacobian";
export { grad, hvp, linearize, valueAndGrad } from "./operators";
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
export { quad } from "./quadrature";
export { fixedPoint, root } from "./roots";
export { hot } from "./hot";
export { inspect } from "./inspect";
export { compile, interp } from "./run";
export { configure } from "./settings";
export { Bool, Dual, Null, Real, Size, struct, Tan, Vec } from "./types";
export { jet, vmap } from "./vmap";
export { sparseHessian, sparseJacobian } from "./sparse";
