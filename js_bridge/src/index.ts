// Everything that a page can have of Rose.

import { askAhead } from "./known/frozen";
import { beforeRecording } from "./record/functions";
import { countCopy } from "./record/types";

export { checkpoint, cond, fori, scan, whileLoop } from "./record/control";
export { ready } from "./core/core";
export { functional } from "./record/functional";
export { fn, opaque } from "./record/functions";
export {
  grad,
  hessian,
  hvp,
  jacobian,
  jet,
  linearize,
  valueAndGrad,
} from "./record/operators";
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
  idiv,
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
} from "./record/ops";
export { python } from "./page/page";
export { compile } from "./call/compile";
export { interp } from "./call/interp";
export { hot } from "./call/hot";
export { inspect } from "./inspect";
export { configure } from "./host/settings";
export { Bool, Dual, Null, Real, Size, Tan, Vec } from "./record/types";
export { struct } from "./record/values";
export { fixedPoint, minimize, odeint, quad, root } from "./record/solvers";
export { sparseHessian, sparseJacobian } from "./sparse";
export { sum, vec } from "./record/vec";
export { jvp, vjp } from "./record/vjp";
export { vmap } from "./record/vmap";

countCopy();
beforeRecording(askAhead);
