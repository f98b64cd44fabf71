// Words in the page that change while something moves.

/** Have an attribute say `text`, if it does not. @param {Element} place @param {string} name @param {string} text */
export const label = (place, name, text) => {
  if (place.getAttribute(name) !== text) place.setAttribute(name, text);
};

/**
 * Have an element say nothing but `text`. What says so already is left alone, and its text is changed in
 * place: a new one would be laid out as if it had come from elsewhere.
 *
 * @param {Element} place @param {string} text
 */
export const write = (place, text) => {
  const said = place.firstChild;
  if (!(said instanceof Text) || said.nextSibling) place.textContent = text;
  else if (said.data !== text) said.data = text;
};
