// Nothing at run time: has the compiler hold `rose.d.ts`, which is written by hand, against the bridge.

import type * as promised from "../rose";
import type * as bridge from "./index";

type Promised = typeof promised;
type Bridge = typeof bridge;

/** The names for which `T` is not `true`. */
type Failing<T> = { [K in keyof T]: T[K] extends true ? never : K }[keyof T];

/**
 * Whether a function of the bridge takes what is promised to be taken, and as many arguments. What it
 * gives is `unknown` to the compiler; the programs in `types/` are run to find out.
 */
type Takes = {
  [K in keyof Promised & keyof Bridge]: Promised[K] extends (
    ...args: infer A
  ) => unknown
    ? Bridge[K] extends (...args: infer B) => unknown
      ? Bridge[K] extends (...args: A) => unknown
        ? Required<A>["length"] extends Required<B>["length"]
          ? true
          : false
        : false
      : false
    : true;
};

type None<K extends never> = K;

export type Checked = [
  None<Exclude<keyof Promised, keyof Bridge>>,
  None<Exclude<keyof Bridge, keyof Promised>>,
  None<Failing<Takes>>,
];
