// Functions on many arguments at once, and on Taylor series.

import { type Fn, ofAnySize, ofEverySize, seriesOf, vector } from "./functions";
import { derived } from "./operators";
import { describe, Vec, vecOf } from "./types";

/** 0 for an argument of which there is one for every element, null for one that they share. */
export type InAxes = 0 | readonly (0 | null)[];

/**
 * `f` on a vector of each of its arguments, element by element: a function that is generic in how many
 * there are, of the name `size`.
 */
export const vmap = (f: unknown, inAxes: InAxes = 0, size = "batch"): Fn => {
  const ways = (count: number): boolean[] => {
    const axes = inAxes === 0 ? Array<0>(count).fill(0) : inAxes;
    if (
      !Array.isArray(axes) ||
      axes.length !== count ||
      !axes.every((axis) => axis === 0 || axis === null) ||
      !axes.includes(0)
    )
      throw TypeError(
        `vmap: expected 0, or for each of ${count} arguments 0 or null and not for all null, ` +
          `got ${describe(inAxes)}`,
      );
    return axes.map((axis) => axis === 0);
  };
  return ofEverySize(
    f,
    "vmap",
    size,
    (g, data, batch) => {
      const isMapped = ways(data.params.length);
      const params = data.params.map((ty, k) =>
        isMapped[k] ? vecOf(batch.size, ty) : ty,
      );
      const ret = vecOf(batch.size, data.ret);
      return derived(data, "vmap", params, ret, (...args) =>
        vector(batch, data.ret, (i) =>
          g(
            ...args.map((x, k) =>
              isMapped[k] ? (x as Record<symbol, unknown>)[i] : x,
            ),
          ),
        ),
      );
    },
    (params, batch) => {
      const isMapped = ways(params.length);
      return params.map((type, k) => (isMapped[k] ? Vec(batch, type) : type));
    },
  );
};

/**
 * `f` on Taylor series up to `order`: it takes for each argument, and gives, an array of `order + 1`
 * coefficients, `x[0] + x[1] t + x[2] t² + …`.
 */
export const jet = (f: unknown, order: number): Fn => {
  if (!Number.isInteger(order) || order < 0 || order > 999)
    throw RangeError(
      `jet: expected an order from 0 to 999, got ${describe(order)}`,
    );
  return ofAnySize(
    f,
    "jet",
    (_, data) => seriesOf(data, order),
    (params) => params.map((type) => Vec(order + 1, type)),
  );
};
