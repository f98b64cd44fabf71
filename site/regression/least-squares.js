import { Real, Vec, compile, fn, struct, vjp } from "../../rose.js";
import { add, mul, sub, sum } from "../../rose.js";

const sqr = (x) => mul(x, x);

/** The loss of a line, and its gradient, for `n` data points. @param {number} n */
export const leastSquares = async (n) => {
  const Data = Vec(n, Real);
  const Line = struct({ b0: Real, b: Real });

  const loss = fn([{ x: Data, y: Data, line: Line }], Real, ({ x, y, line }) =>
    sum(n, (i) => sqr(sub(y[i], add(line.b0, mul(line.b, x[i]))))),
  );
  const all = fn(
    [Data, Data, Line],
    { loss: Real, grad: Line },
    (x, y, line) => {
      const { ret, grad } = vjp(loss)({ x, y, line });
      return { loss: ret, grad: grad(1).line }; // not needed: .x and .y
    },
  );
  return compile(all);
};
