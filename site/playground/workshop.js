// From the text of a program to functions that can be called, and to what is to be seen of them.

import { compile, inspect, valueAndGrad } from "../../rose.js";
import { javascript, python } from "./run.js";

/**
 * @typedef {"javascript" | "python"} Language
 *
 * @typedef {object} Made  what was made of a program that is right
 * @property {any} value  the function, compiled
 * @property {any} seen  what `inspect` says of it
 * @property {any} [gradient]  the function and its derivatives, compiled
 * @property {any} [derived]  what `inspect` says of that
 * @property {string} [refusal]  why there is none
 * @property {number} [took]  milliseconds to derive and compile
 */

const RUN = { javascript, python };

/** @param {unknown} error */
export const messageOf = (error) =>
  error instanceof Error ? error.message : String(error);

/**
 * Run a program, and compile its function f of so many arguments, with its derivatives by them.
 *
 * @param {Language} language
 * @param {string} text
 * @param {number} count
 * @param {AbortSignal} signal
 * @returns {Promise<Made>}
 */
export const make = async (language, text, count, signal) => {
  const f = await RUN[language](text, signal);
  const value = await compile(f, { signal });
  const seen = await inspect(f, { signal });
  try {
    const each = Array.from({ length: count }, (_, k) => k);
    const g = valueAndGrad(f, count === 1 ? 0 : each);
    const began = performance.now();
    const gradient = await compile(g, { signal });
    const took = performance.now() - began;
    return {
      value,
      seen,
      gradient,
      took,
      derived: await inspect(g, { signal }),
    };
  } catch (error) {
    signal.throwIfAborted();
    return { value, seen, refusal: messageOf(error) };
  }
};

/** Give back the memory of what nobody calls any more. @param {Made} [made] */
export const forget = (made) => {
  made?.value.dispose();
  made?.gradient?.dispose();
};
