// Listing 1 of the paper; only the import is another.
import { Real, Vec, compile, fn, struct, vjp } from "../../rose.js";
import { add, mul, sub, sum } from "../../rose.js";
const sqr = (x) => mul(x, x);
const leastSquares = ({ m, n }) =>
  fn(
    [
      {
        x: Vec(n, Vec(m, Real)),
        y: Vec(n, Real),
        b0: Real,
        b: Vec(m, Real),
      },
    ],
    Real,
    ({ x, y, b0, b }) =>
      sum(n, (i) => {
        const yHat = add(
          b0,
          sum(m, (j) => mul(x[i][j], b[j])),
        );
        return sqr(sub(y[i], yHat));
      }),
  );
const linearRegression = async ({ x, y, eta }) => {
  const [n, m] = [y.length, x[0].length];
  const Beta = struct({ b0: Real, b: Vec(m, Real) });
  const f = leastSquares({ m, n });
  const g = fn([Beta], Real, ({ b0, b }) => f({ x, y, b0, b }));
  const h = fn([Beta], Beta, (beta) => vjp(g)(beta).grad(1));
  const grad = await compile(h);
  let b0 = 0;
  let b = Array(m).fill(0);
  for (;;) {
    const beta = grad({ b0, b });
    const bb0 = b0 - eta * beta.b0;
    const bb = b.map((bi, i) => bi - eta * beta.b[i]);
    if (bb0 === b0 && bb.every((bi, i) => bi === b[i])) break;
    b0 = bb0;
    b = bb;
  }
  return { b0, b };
};
console.log(
  await linearRegression({
    eta: 1e-4,
    x: [[10], [8], [13], [9], [11], [14], [6], [4], [12], [7], [5]],
    y: [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68],
  }),
);
