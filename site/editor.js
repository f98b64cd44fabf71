// A place for a program: text with numbered lines, of which one can be marked as wrong.

/**
 * @param {HTMLTextAreaElement} area
 * @param {HTMLElement} gutter  beside it, for the numbers
 * @param {HTMLElement} told  what is said of it
 * @param {() => void} edited
 */
export const editor = (area, gutter, told, edited) => {
  let wrong = 0;
  const number = () => {
    const count = area.value.split("\n").length;
    gutter.replaceChildren(
      ...Array.from({ length: count }, (_, k) => {
        const line = document.createElement("span");
        line.textContent = String(k + 1);
        line.classList.toggle("wrong", k + 1 === wrong);
        return line;
      }),
    );
    follow();
  };
  const follow = () => {
    gutter.scrollTop = area.scrollTop;
  };
  area.addEventListener("scroll", follow);
  area.addEventListener("input", () => {
    number();
    edited();
  });
  return {
    get text() {
      return area.value;
    },
    /** Put in another program; it is not "edited". @param {string} text */
    put(text) {
      area.value = text;
      wrong = 0;
      number();
    },
    /** Say what is wrong, and in which line, if that is known; nothing, if all is well. @param {string} message @param {number} [line] */
    mark(message, line = 0) {
      wrong = line;
      told.textContent = line && message ? `Line ${line}: ${message}` : message;
      told.classList.toggle("failed", message !== "");
      area.setAttribute("aria-invalid", String(message !== ""));
      number();
    },
  };
};
