// Numbers as a reader wants to see them.

const MINUS = "\u2212";
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/**
 * A number in a few significant digits: `−0.00012`, `5.54518`, `2.1 × 10⁻⁷`.
 *
 * @param {number} x
 * @param {number} [digits]
 */
export const format = (x, digits = 6) => {
  if (Number.isNaN(x)) return "undefined";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : `${MINUS}∞`;
  if (x === 0) return "0";
  const size = Math.abs(x);
  const [mantissa, exponent] = size.toExponential(digits - 1).split("e");
  const power = Number(exponent);
  const sign = x < 0 ? MINUS : "";
  if (power >= -4 && power < Math.max(digits, 6)) {
    const decimals = Math.max(0, digits - 1 - power);
    return sign + plain(Number(size.toPrecision(digits)).toFixed(decimals));
  }
  return `${sign}${plain(mantissa)} × 10${raise(power)}`;
};

/** Without the zeros that say nothing. @param {string} digits */
const plain = (digits) =>
  digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;

/** @param {number} power */
const raise = (power) =>
  [...String(power)].map((c) => (c === "-" ? "⁻" : RAISED[Number(c)])).join("");

/**
 * A number with this many decimals, for columns that must not jump.
 *
 * @param {number} x
 * @param {number} decimals
 */
export const fixed = (x, decimals) =>
  Number.isFinite(x)
    ? x
        .toFixed(decimals)
        .replace(/^-(?=0\.?0*$)/, "")
        .replace("-", MINUS)
    : format(x);

/** A count with thin spaces between the thousands. @param {number} n */
export const count = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
