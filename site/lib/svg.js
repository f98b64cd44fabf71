// Elements of SVG, made from their attributes.

import { write } from "./write.js";

const SPACE = "http://www.w3.org/2000/svg";

/**
 * @typedef {Record<string, string | number>} Attributes
 * @typedef {readonly [name: string, attributes: Attributes, text?: string]} Description
 */

/** @param {Element} element @param {Attributes} attributes */
const dress = (element, attributes) => {
  for (const [name, value] of Object.entries(attributes)) {
    const text = String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
};

/** @param {string} name @param {Attributes} attributes @param {string} [text] */
export const svg = (name, attributes, text = "") => {
  const found = document.createElementNS(SPACE, name);
  dress(found, attributes);
  found.textContent = text;
  return found;
};

/**
 * Make a group consist of these elements. What stays from one picture to the next is changed, not made
 * anew.
 *
 * @param {Element} group @param {readonly Description[]} elements
 */
export const fill = (group, elements) => {
  elements.forEach(([name, attributes, text = ""], k) => {
    const known = group.children[k];
    if (known?.localName !== name) {
      const made = svg(name, attributes, text);
      if (known) known.replaceWith(made);
      else group.append(made);
      return;
    }
    dress(known, attributes);
    write(known, text);
  });
  while (group.children.length > elements.length)
    group.lastElementChild?.remove();
};
