// Derives and compiles what the reader has typed; of many expressions, the latest counts.

import { format } from "./format.js";
import { latest } from "./latest.js";
import { during, element, show } from "./page.js";

/** @typedef {import("./expression.js").Tree} Tree */

/**
 * A function that has the tree of what is wanted derived, and says in the page's `status` how that goes.
 *
 * @template {{ dispose?: () => void }} Made
 * @template {{ tree: Tree }} Wanted
 * @param {string} what  is derived
 * @param {(tree: Tree) => Promise<Made>} derive
 * @param {(made: Made, wanted: Wanted) => void} done
 */
export const deriver = (what, derive, done) => {
  const status = element("status");
  let isLoaded = false;
  /** @type {Made | undefined} */
  let last;
  return latest(async (/** @type {Wanted} */ wanted, isLatest) => {
    const began = performance.now();
    const words = isLoaded
      ? "Deriving and compiling…"
      : `Loading the compiler, to derive ${what}…`;
    const made = await during(status, words, derive(wanted.tree));
    if (!made) return;
    if (!isLatest()) return made.dispose?.();
    isLoaded = true;
    const waited = `${format(performance.now() - began, 2)} ms`;
    show({ waited });
    status.textContent = `Derived and compiled in ${waited}.`;
    done(made, wanted);
    last?.dispose?.();
    last = made;
  });
};
