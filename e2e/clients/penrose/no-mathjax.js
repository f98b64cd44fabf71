// In place of MathJax in the site's bundle, of which it would be three quarters: labels there are
// plain text. What a Style program says with `Equation` is refused, by name.

export const browserAdaptor = () => undefined;
export const RegisterHTMLHandler = () => undefined;
export const AllPackages = [];
export class TeX {}
export class SVG {}

const refuse = () => {
  throw Error("this page has no typeset formulas, so say Text, not Equation");
};

export const mathjax = { document: () => ({ convert: refuse }) };
