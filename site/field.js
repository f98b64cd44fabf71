// A field for an expression, which marks what is wrong right under it, and what can be typed there.

import { ExpressionError, FUNCTIONS, parse } from "./expression.js";

/** @typedef {import("./expression.js").Tree} Tree */

/**
 * Call `edited` with the tree of each good expression that is typed.
 *
 * @param {HTMLInputElement} input
 * @param {HTMLElement} marker  lies under the text and shows where an error is
 * @param {HTMLElement} message
 * @param {(tree: Tree, text: string) => void} edited
 * @returns {{ put(text: string): Tree }} to put in a good expression; it is not "typed"
 */
export const expressionField = (input, marker, message, edited) => {
  const before = document.createElement("span");
  const wrong = document.createElement("span");
  wrong.className = "wrong";
  marker.append(before, wrong);

  const follow = () => {
    marker.scrollLeft = input.scrollLeft;
  };
  input.addEventListener("scroll", follow);

  /** @param {string} text @param {ExpressionError} [error] */
  const mark = (text, error) => {
    const at = error?.at ?? 0;
    // the same text in the same font, not to be seen: so the mark is in the right place
    before.textContent = error ? text.slice(0, at) : "";
    wrong.textContent = error
      ? text.slice(at, at + error.length) || "\u00a0"
      : "";
    message.textContent = error?.message ?? "";
    input.setAttribute("aria-invalid", String(!!error));
    follow();
  };

  const read = () => {
    const text = input.value;
    let tree;
    try {
      tree = parse(text);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      mark(text, error);
      return;
    }
    mark(text);
    edited(tree, text);
  };
  input.addEventListener("input", read);
  return {
    put(text) {
      input.value = text;
      mark(text);
      return parse(text);
    },
  };
};

/** Name the functions that expressions can have. @param {HTMLElement} place */
export const listFunctions = (place) =>
  place.append(
    ...FUNCTIONS.flatMap((name, k) => {
      const code = document.createElement("code");
      code.textContent = name;
      return k ? [", ", code] : [code];
    }),
  );
