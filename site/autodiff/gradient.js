import * as rose from "../../rose.js";
import { record } from "../lib/expression.js";

const { Real, Vec, compile, fn, inspect, vjp } = rose;
const R2 = Vec(2, Real);

/** The value and the gradient of an expression in x and y, as one function, and what becomes of it. */
export const gradient = async (tree) => {
  const f = fn([R2], Real, ([x, y]) => record(tree, rose, x, y));
  const all = fn([R2], { value: Real, gradient: R2 }, function all(v) {
    const { ret, grad } = vjp(f)(v);
    return { value: ret, gradient: grad(1) };
  });
  const call = await compile(all);
  return {
    call,
    seen: await inspect(all),
    dispose: call.dispose,
  };
};
