// Listing 5 of the paper, with its import and a use of it.
import { compile, mul, vjp } from "../../rose.js";
import { Dual, Real, fn, opaque } from "../../rose.js";
const print = opaque([Real], Real, (x) => {
  console.log(x);
  return x;
});
print.jvp = fn([Dual], Dual, (z) => {
  print(z.re);
  return z;
});
const f = fn([Real], Real, (x) => mul(print(mul(x, x)), 3));
const g = fn([Real], Real, (x) => vjp(f)(x).grad(1));
console.log("gradient", (await compile(g))(5));
