// Listing 6 of the paper without its type annotations, with its import and a use of it.
import { compile, vjp } from "../../rose.js";
import * as rose from "../../rose.js";
import { Dual, Real, div, fn, gt, mul, select } from "../../rose.js";
const max = (x, y) => select(gt(x, y), Real, x, y);
const sqrt = fn([Real], Real, (x) => rose.sqrt(x));
sqrt.jvp = fn([Dual], Dual, ({ re: x, du: dx }) => {
  const y = sqrt(x);
  const dy = mul(dx, div(1 / 2, max(1e-5, y)));
  return { re: y, du: dy };
});
const g = fn([Real], Real, (x) => vjp(sqrt)(x).grad(1));
const h = await compile(g);
console.log([h(0), h(4)]);
