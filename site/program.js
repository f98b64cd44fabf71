// A field for a program of several lines, which marks what is wrong right under it.

/**
 * The place of a mistake: lines from 1, columns from 0; `end` is behind it.
 *
 * @typedef {{ line: number, col: number }} Place
 * @typedef {{ start: Place, end: Place }} Range
 */

/** @param {string} text @param {Place} place */
const offset = (text, { line, col }) => {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).join("\n").length;
  const at = before + (line > 1 ? 1 : 0) + col;
  return Math.max(0, Math.min(at, text.length));
};

export class Program {
  /**
   * @param {HTMLTextAreaElement} field  in an element that the marker fills
   * @param {HTMLElement} message
   * @param {() => void} edited
   */
  constructor(field, message, edited) {
    this.field = field;
    this.message = message;
    const marker = document.createElement("div");
    marker.className = "marker";
    marker.setAttribute("aria-hidden", "true");
    field.after(marker);
    this.marker = marker;
    field.addEventListener("scroll", () => this.follow());
    field.addEventListener("input", edited);
  }

  get text() {
    return this.field.value;
  }

  /** @param {string} text */
  put(text) {
    this.field.value = text;
    this.field.scrollTo(0, 0);
    this.right();
  }

  /** Nothing is wrong. */
  right() {
    this.marker.replaceChildren();
    this.message.textContent = "";
    this.field.setAttribute("aria-invalid", "false");
  }

  /** @param {string} message @param {Range} [range] */
  wrong(message, range) {
    this.right();
    if (range) {
      const [from, to] = [range.start, range.end].map((place) =>
        offset(this.text, place),
      );
      const wrong = document.createElement("span");
      wrong.className = "wrong";
      const marked = this.text.slice(from, to).trimEnd();
      wrong.textContent = marked || "\u00a0";
      // the same text in the same font, not to be seen: so the mark is in the right place
      const rest = `${this.text.slice(from + marked.length)}\n`;
      this.marker.append(this.text.slice(0, from), wrong, rest);
      if (document.activeElement !== this.field)
        this.field.scrollTop = wrong.offsetTop - this.field.clientHeight / 2;
      this.follow();
    }
    this.message.textContent = message;
    this.field.setAttribute("aria-invalid", "true");
  }

  follow() {
    this.marker.scrollTo(this.field.scrollLeft, this.field.scrollTop);
  }
}
