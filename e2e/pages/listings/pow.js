// Listing 3 of the paper; only the import is another.
import { Dual, Real, add, div, mul, fn, opaque } from "../../rose.js";
const log = opaque([Real], Real, Math.log);
log.jvp = fn([Dual], Dual, ({ re: x, du: dx }) => {
  return { re: log(x), du: div(dx, x) };
});
export const pow = opaque([Real, Real], Real, Math.pow);
pow.jvp = fn([Dual, Dual], Dual, ({ re: x, du: dx }, { re: y, du: dy }) => {
  const z = pow(x, y);
  const dw = add(mul(dx, div(y, x)), mul(dy, log(x)));
  return { re: z, du: mul(dw, z) };
});
