// A field for an expression, which marks what is wrong right under it, and what can be typed there.

import { ready } from "../../rose.js";
import { ExpressionError, FUNCTIONS, parse } from "./expression.js";
import { html } from "./html.js";
import { element, judge } from "./page.js";

/** @typedef {import("./expression.js").Tree} Tree */

/**
 * The page's field `expression`, with the `marker` under its text and the `message` below: calls `edited`
 * with the tree of each good expression that is typed.
 *
 * @param {(tree: Tree) => void} edited
 * @returns {{ put(text: string): Tree }} to put in a good expression; it is not "typed"
 */
export const expressionField = (edited) => {
  const input = element("expression", HTMLInputElement);
  const [marker, message] = ["marker", "message"].map((id) => element(id));
  const before = html("span", {});
  const wrong = html("span", { className: "wrong" });
  marker.append(before, wrong);

  // who looks at the field may type something that nobody has compiled before
  input.addEventListener(
    "focus",
    () => ready().catch(() => {}), // which is told when it is needed
    { once: true },
  );

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
    judge(input, !error);
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
    edited(tree);
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
      const code = html("code", { textContent: name });
      return k ? [", ", code] : [code];
    }),
  );
