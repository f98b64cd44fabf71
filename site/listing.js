// A program line by line, with what each line has computed so far.

import { format } from "./format.js";

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
    ...lines.map((line, k) => {
      const item = document.createElement("li");
      const code = document.createElement("code");
      code.textContent = line.texts.join("\n");
      const result = document.createElement("span");
      result.textContent = k < done ? resultOf(line) : "";
      result.className = line.kind === "value" ? "given" : "derived";
      item.className = `${line.kind}${k < done ? " done" : ""}`;
      if (k === done - 1) item.setAttribute("aria-current", "step");
      item.append(code, result);
      return item;
    }),
  );
  // within the box alone: the page stays where it is
  const box = /** @type {HTMLElement} */ (list.parentElement);
  const current = list.querySelector("[aria-current]");
  const { offsetTop = 0, offsetHeight = 0 } =
    /** @type {HTMLElement | null} */ (current) ?? {};
  box.scrollTop = offsetTop - (box.clientHeight - offsetHeight) / 2;
};
