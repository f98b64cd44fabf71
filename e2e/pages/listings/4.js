// Listing 4 of the paper, with its import and a use of it.
import { Real, compile, vjp } from "../../rose.js";
import { Dual, fn, mul, neg, opaque } from "../../rose.js";
const sin = opaque([Real], Real, Math.sin);
const cos = opaque([Real], Real, Math.cos);
sin.jvp = fn([Dual], Dual, ({ re: x, du: dx }) => {
  return { re: sin(x), du: mul(dx, cos(x)) };
});
cos.jvp = fn([Dual], Dual, ({ re: x, du: dx }) => {
  return { re: cos(x), du: mul(dx, neg(sin(x))) };
});
const grad = (f) => fn([Real], Real, (x) => vjp(f)(x).grad(1));
const functions = [sin, grad(sin), grad(grad(sin)), grad(grad(grad(sin)))];
const compiled = await Promise.all(functions.map((f) => compile(f)));
console.log(compiled.map((f) => f(1)));
