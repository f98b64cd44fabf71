// Options of constructs, and what is said of those that are wrong.

import { isSize, unlike } from "./types";

/** Whether a value is right for an option, and what is expected. */
export type Option = readonly [isRight: (x: any) => boolean, expected: string];

export const BOOLEAN: Option = [(x) => x === !!x, "true or false"];

export const NUMBER: Option = [Number.isFinite, "a number"];

export const WHOLE: Option = [isSize, "a whole number"];

export const oneOf = (words: readonly string[]): Option => [
  (x) => words.includes(x),
  `"${words.slice(0, -1).join('", "')}" or "${words.at(-1)}"`,
];

/** How many iterations reverse mode goes back to a state that it kept. */
export const CHECKPOINT: Option = [
  (x) => x === "none" || x === "revolve" || (isSize(x) && x > 0),
  '"none", "revolve" or a number of iterations',
];

/** Throw unless all options that are given are there and right. What engines have classes for is no object of them. */
export const checkOptions = (
  name: string,
  options: object,
  known: Readonly<Record<string, Option>>,
): void => {
  if (typeof options !== "object" || !options || Symbol.toStringTag in options)
    throw unlike(options, "an object of options", name);
  for (const [key, x] of Object.entries(options)) {
    if (!Object.hasOwn(known, key))
      throw TypeError(
        `${name}: there is no option ${key}; the options are ${Object.keys(known).join(", ")}`,
      );
    const [isRight, expected] = known[key];
    if (x !== undefined && !isRight(x))
      throw unlike(x, `${key} to be ${expected}`, name, RangeError);
  }
};
