// A field for a program of several lines, which marks what is wrong right under it.

import { html } from "./html.js";
import { judge } from "./page.js";

/**
 * The place of a mistake: lines from 1, columns from 0; `end` is behind it.
 *
 * @typedef {{ line: number, col: number }} Place
 * @typedef {{ start: Place, end: Place }} Range
 */

/** @param {string} text @param {Place} place */
const offset = (text, { line, col }) => {
  const lines = text.split("\n").slice(0, line);
  const last = lines.pop() ?? "";
  const before = lines.reduce((sum, { length }) => sum + length + 1, 0);
  return before + Math.max(0, Math.min(col, last.length));
};

/** All of a line. @param {number} line @returns {Range} */
export const wholeLine = (line) => ({
  start: { line, col: 0 },
  end: { line, col: Infinity },
});

export class Editor {
  /**
   * @param {HTMLTextAreaElement} field  in an element that the marker fills
   * @param {HTMLElement} message
   * @param {() => void} edited
   * @param {HTMLElement} [gutter]  beside it, for the lines' numbers
   */
  constructor(field, message, edited, gutter) {
    this.field = field;
    this.message = message;
    this.gutter = gutter;
    this.marker = html("div", { className: "marker", ariaHidden: "true" });
    field.after(this.marker);
    field.addEventListener("scroll", () => this.follow());
    field.addEventListener("input", () => {
      this.number();
      edited();
    });
  }

  get text() {
    return this.field.value;
  }

  /** Put in another program; it is not "edited". @param {string} text */
  put(text) {
    this.field.value = text;
    this.field.scrollTo(0, 0);
    this.right();
  }

  /** Nothing is wrong. */
  right() {
    this.marker.replaceChildren();
    this.say("");
    this.number();
  }

  /** @param {string} message @param {Range} [range] */
  wrong(message, range) {
    this.right();
    if (range) this.mark(range);
    this.say(message);
    this.number(range?.start.line);
  }

  /** @param {string} message */
  say(message) {
    this.message.textContent = message;
    judge(this.field, message === "");
  }

  /** @param {Range} range */
  mark({ start, end }) {
    const [from, to] = [start, end].map((place) => offset(this.text, place));
    const marked = this.text.slice(from, to).trimEnd();
    const wrong = html("span", {
      className: "wrong",
      textContent: marked || "\u00a0",
    });
    // the same text in the same font, not to be seen: so the mark is in the right place
    const rest = `${this.text.slice(from + marked.length)}\n`;
    this.marker.append(this.text.slice(0, from), wrong, rest);
    if (document.activeElement !== this.field)
      this.field.scrollTop = wrong.offsetTop - this.field.clientHeight / 2;
    this.follow();
  }

  /** @param {number} [wrong]  the line that is */
  number(wrong) {
    this.gutter?.replaceChildren(
      ...this.text.split("\n").map((_, k) =>
        html("span", {
          textContent: String(k + 1),
          className: k + 1 === wrong ? "wrong" : "",
        }),
      ),
    );
    this.follow();
  }

  follow() {
    this.marker.scrollTo(this.field.scrollLeft, this.field.scrollTop);
    if (this.gutter) this.gutter.scrollTop = this.field.scrollTop;
  }
}
