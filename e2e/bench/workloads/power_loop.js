// xⁿ by a loop of n multiplications that stays one, backwards too.

import { gradientOfFirst } from "../vocabulary.js";

export { c, first, input, js } from "./power.js";

export const title = "xⁿ by multiplication, with a loop";
export const sizes = [10, 100, 1_000, 10_000, 100_000];
/** npm's rose has no loop with a state. */
export const limits = { "rose 0.4.10": 0 };

export const rose = (lib, n) =>
  gradientOfFirst(lib, [lib.Real], (x) =>
    lib.fori(n, lib.Real, 1, (_, r) => lib.mul(r, x)),
  );
