// What the page about linkages says of what cannot be.

import { count, format } from "../lib/format.js";

/** @param {number} equations @param {number} free */
export const outOfReach = (equations, free) =>
  (equations > free
    ? `The pen cannot get there. Pins and goal are ${count(equations)} equations, and only ${count(free)} ` +
      "numbers are free: free some more, or take the pins away. "
    : "The pen cannot get there with the numbers that are free. ") +
  "All is as it was at the last place that it could reach.";

/** @param {string} name @param {boolean} hasPins */
export const refused = (name, hasPins) =>
  hasPins
    ? `With ${name} there, the pen cannot pass all pins, so it stays where it was.`
    : `With ${name} there, the bars do not meet, so it stays where it was.`;

/** @param {number} degrees */
export const stopped = (degrees) =>
  `At ${format(degrees)}° the bars do not meet: the crank cannot get there.`;

/** @param {readonly number[]} point */
export const pointInWords = ([x, y]) => `x ${x.toFixed(2)}, y ${y.toFixed(2)}`;
