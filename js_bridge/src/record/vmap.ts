// Functions on many arguments at once.

import { call } from "./calls";
import { define, type Fn, ofAnySize } from "./functions";
import { Size, type Ty, tyOf, Vec, vecOf, unlike } from "./types";
import { vec } from "./vec";

/** 0 for an argument of which there is one for every element, null for one that they share. */
export type InAxes = 0 | readonly (0 | null)[];

/**
 * `f` on a vector of each of its arguments, element by element: a function that is generic in how many
 * there are, of the name `size`.
 */
export const vmap = (f: unknown, inAxes: InAxes = 0, size = "batch"): Fn => {
  /** `items`, one for each argument, and what `vector` makes of those of which there are many. */
  const mapped = <T>(
    items: readonly T[],
    vector: (item: T) => unknown,
  ): any[] => {
    const { length } = items;
    const axes = inAxes === 0 ? Array<0>(length).fill(0) : inAxes;
    if (
      !Array.isArray(axes) ||
      axes.length !== length ||
      !axes.every((axis) => axis === 0 || axis === null) ||
      !axes.includes(0)
    )
      throw unlike(
        inAxes,
        `0, or 0 or null for each of ${length} arguments and not null for all`,
        "vmap",
      );
    return items.map((item, k) => (axes[k] === 0 ? vector(item) : item));
  };
  const many = Size(size);
  return ofAnySize(
    f,
    "vmap",
    (data) => {
      const { name, params, ret } = data;
      const batch = tyOf(many);
      const vectors = (ty: Ty): Ty => vecOf(batch.size, ty);
      return define(
        `vmap_${name}`,
        mapped(params, vectors),
        vectors(ret),
        (...args) =>
          vec(batch, ret, (i) =>
            call(
              data,
              mapped(args, (x) => x[i]),
            ),
          ),
      );
    },
    (params) => mapped(params, (type) => Vec(many, type)),
    [many],
  );
};
