// A program line by line, with what each line has computed so far.

import { format } from "../lib/format.js";
import { html } from "../lib/html.js";

/** @typedef {import("./sweep.js").Line} Line */

/** What a line computes, as text. @param {Line} line */
export const resultOf = ({ kind, value, change = 0 }) => {
  if (kind === "value") return format(value, 5);
  if (kind === "adjoint") return format(change, 5);
  const sign = change < 0 ? "−" : "+";
  return `${format(value, 4)} ${sign} ${format(Math.abs(change), 4)} ε`;
};

/**
 * Show the lines in a list, of which so many have been computed.
 *
 * @param {HTMLElement} list
 * @param {Line[]} lines
 * @param {number} done
 */
export const showListing = (list, lines, done) => {
  list.replaceChildren(
    ...lines.map((line, k) =>
      html(
        "li",
        {
          className: `${line.kind}${k < done ? " done" : ""}`,
          ariaCurrent: k === done - 1 ? "step" : null,
        },
        html("code", { textContent: line.texts.join("\n") }),
        html("span", {
          textContent: k < done ? resultOf(line) : "",
          className: line.kind === "value" ? "given" : "derived",
        }),
      ),
    ),
  );
  // within the box alone: the page stays where it is
  const box = /** @type {HTMLElement} */ (list.parentElement);
  const current = list.querySelector("[aria-current]");
  const { offsetTop = 0, offsetHeight = 0 } =
    /** @type {HTMLElement | null} */ (current) ?? {};
  box.scrollTop = offsetTop - (box.clientHeight - offsetHeight) / 2;
};
