import { Real, Vec, compile, fn, pow, vjp } from "../../rose.js";

const R2 = Vec(2, Real);
const R22 = Vec(2, R2);

const f = fn([R2], Real, ([x, y]) => pow(x, y));
const g = fn([R2], R2, (v) => vjp(f)(v).grad(1));
const h = fn([R2], R22, (v) => {
  const { grad } = vjp(g)(v);
  return [grad([1, 0]), grad([0, 1])];
});
const all = fn([Real, Real], { z: Real, g: R2, h: R22 }, (x, y) => {
  const v = [x, y];
  return { z: f(v), g: g(v), h: h(v) };
});

export const compiled = compile(all);
