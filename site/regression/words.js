// What the regression page says in words and numbers.

import { QUARTET } from "./anscombe.js";
import { count, fixed, format } from "../lib/format.js";
import { landscapeOf } from "./landscape.js";

/**
 * @typedef {import("./descent.js").Line} Line
 * @typedef {import("./landscape.js").Landscape} Landscape
 * @typedef {import("./playback.js").Playback} Playback
 */

/** @param {Line} line */
export const inWords = ({ b0, b }) =>
  `b₀ = ${fixed(b0, 5)}, b = ${fixed(b, 5)}`;

/** How the descent stands. @param {Playback} playback @param {Landscape} land */
export const outcome = ({ mode, descent, lost, line, eta }, land) => {
  const steps = count(descent?.steps ?? 0);
  if (mode === "settled")
    return `At rest after ${steps} steps: ${inWords(line)}.`;
  if (mode === "paused") return `Paused after ${steps} steps.`;
  if (mode !== "diverged") return "";
  return (
    `A step size of ${format(eta)} is too large: after ${count(lost.steps)} steps the loss was ` +
    `${format(lost.loss, 3)} and growing. The line is back at its best, ${inWords(line)}. ` +
    `Below ${format(land.limit, 3)} it goes on from there.`
  );
};

/** Short where it has to have a power of ten. @param {number} x */
const slope = (x) => format(x, Math.abs(x) < 1e-4 ? 2 : 4);

/** The texts for the numbers that change as the descent goes on. @param {Playback} playback @param {Landscape} land */
export const numbers = ({ descent, line, eta }, land) => {
  const grad = descent?.at.grad;
  return {
    steps: count(descent?.steps ?? 0),
    loss: fixed(descent ? descent.at.loss : land.loss(line), 5),
    b0: fixed(line.b0, 5),
    b: fixed(line.b, 5),
    g0: grad ? slope(grad.b0) : "…",
    g: grad ? slope(grad.b) : "…",
    eta: format(eta),
    limit: format(land.limit, 3),
  };
};

/** How much of the way is left after a step that is this part of the largest. @param {Landscape} land @param {number} part */
const left = ({ limit, steep, gentle }, part) =>
  Math.max(
    ...[steep, gentle].map((curvature) =>
      Math.abs(1 - part * limit * curvature),
    ),
  );

/** The texts for the numbers of the two ways to look at the data. @param {{ plain: Landscape, centred: Landscape }} views */
export const views = ({ plain, centred }) => ({
  steep: format(plain.steep, 4),
  gentle: format(plain.gentle, 3),
  ratio: format(plain.steep / plain.gentle, 3),
  plainLimit: format(plain.limit, 3),
  plainDigit: digit(left(plain, 0.97)),
  centredRatio: format(centred.steep / centred.gentle, 3),
  centredLimit: format(centred.limit, 3),
  centredDigit: digit(left(centred, 0.9)),
});

/** Steps until a tenth of the way is left. @param {number} rest  after one step */
const digit = (rest) =>
  rest < 1 ? count(Math.ceil(-Math.LN10 / Math.log(rest))) : "no number of";

/** Fill the table of the four data sets. @param {HTMLTableSectionElement} body */
export const tabulate = (body) => {
  for (const [name, { x, y }] of Object.entries(QUARTET)) {
    const { best, lowest, steep } = landscapeOf(x, y);
    const row = body.insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = name;
    row.append(head);
    for (const text of [
      fixed(best.b0, 3),
      fixed(best.b, 3),
      fixed(lowest, 2),
      fixed(steep, 1),
    ])
      row.insertCell().textContent = text;
  }
};
