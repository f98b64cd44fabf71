// The colours and the font of style/tokens.css, for what is drawn on a canvas.

/** @type {Map<string, string>} */
const tokens = new Map();

/** The value of a custom property of style/tokens.css. @param {string} name */
export const token = (name) => {
  let value = tokens.get(name);
  if (value === undefined) {
    value = getComputedStyle(document.documentElement)
      .getPropertyValue(name)
      .trim();
    tokens.set(name, value);
  }
  return value;
};

/** A colour of style/tokens.css as red, green, blue. @param {string} name */
export const rgb = (name) => {
  const code = Number.parseInt(token(name).slice(1), 16);
  return [code >> 16, (code >> 8) & 255, code & 255];
};

/** The font for what is written on a canvas. @param {number} [pixels] */
export const font = (pixels = 12) => `${pixels}px ${token("--ui")}`;

/** Another number when the colours are others. */
export const theme = { number: 0 };

/** Call `act` whenever the colours are others. @param {() => void} act */
export const onTheme = (act) => {
  for (const media of ["(prefers-color-scheme: dark)", "print"])
    matchMedia(media).addEventListener("change", () => {
      theme.number += 1;
      tokens.clear();
      act();
    });
};
