// Elements of HTML, made from their properties and what is in them.

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Partial<HTMLElementTagNameMap[Tag]>} properties
 * @param {...(string | Node)} children
 */
export const html = (tag, properties, ...children) => {
  const found = Object.assign(document.createElement(tag), properties);
  found.append(...children);
  return found;
};
