import {
  Real,
  add,
  compile,
  fn,
  gt,
  mul,
  root,
  sub,
  vjp,
  whileLoop,
} from "../rose.js";

const endless = fn([Real], Real, (x) =>
  whileLoop(
    Real,
    x,
    (s) => gt(s, 0),
    (s) => sub(s, 1),
    { limit: 9 },
  ),
);
const flat = fn([Real], Real, (a) => root((x) => add(mul(x, x), a), 0));
const slope = fn([Real], Real, (x) => vjp(endless)(x).grad(1));

const told = [];
for (const f of [endless, flat, slope]) {
  const run = await compile(f);
  for (const x of [10, 0])
    try {
      told.push(run(x));
    } catch (error) {
      told.push(error.message);
    }
}
window.told = told;
document.title = "done";
