import * as rose from "../../rose.js";
import { record } from "../lib/expression.js";

const { Real, Vec, compile, fn, vjp } = rose;
const R2 = Vec(2, Real);
const R22 = Vec(2, R2);

/** The value, gradient and Hessian of an expression in x and y, as one function. */
export const approximation = async (tree) => {
  const f = fn([R2], Real, ([x, y]) => record(tree, rose, x, y));
  const g = fn([R2], R2, (v) => vjp(f)(v).grad(1));
  const h = fn([R2], R22, (v) => {
    const { grad } = vjp(g)(v);
    return [grad([1, 0]), grad([0, 1])];
  });
  const all = fn([Real, Real], { z: Real, g: R2, h: R22 }, (x, y) => {
    const v = [x, y];
    return { z: f(v), g: g(v), h: h(v) };
  });
  return compile(all);
};
