// A body as a grid of cells to click on: empty, stiff, or with muscles.

import { onArrows } from "../lib/drag.js";

/** @typedef {import("./body.js").Cell} Cell */

const COLUMNS = 6;
const ROWS = 5;
const KINDS = ["empty", "stiff", "muscles"];

/** @param {Cell | undefined} cell */
const kindOf = (cell) => (!cell ? 0 : cell.muscles ? 2 : 1);

/**
 * Fill `place` with the grid; arrow keys go from cell to cell.
 *
 * @param {HTMLElement} place
 * @param {readonly Cell[]} first
 * @param {(cells: Cell[]) => void} changed
 */
export const cellEditor = (place, first, changed) => {
  let cells = [...first];
  /** @type {Map<string, HTMLButtonElement>} */
  const buttons = new Map();
  /** @type {Map<string, () => void>} */
  const paints = new Map();
  let at = { column: 0, row: 0 };

  /** @param {number} column @param {number} row */
  const focus = (column, row) => {
    const next = buttons.get(`${column} ${row}`);
    if (!next) return;
    for (const button of buttons.values()) button.tabIndex = -1;
    next.tabIndex = 0;
    at = { column, row };
    return next;
  };

  // rows are built from the ground, and read from above
  for (let row = ROWS - 1; row >= 0; --row)
    for (let column = 0; column < COLUMNS; ++column) {
      const button = document.createElement("button");
      button.type = "button";
      const isHere = (/** @type {Cell} */ cell) =>
        cell.column === column && cell.row === row;
      const paint = () => {
        const kind = KINDS[kindOf(cells.find(isHere))];
        button.className = kind;
        button.setAttribute(
          "aria-label",
          `Column ${column + 1}, row ${row + 1}: ${kind}`,
        );
      };
      button.addEventListener("click", () => {
        const kind = (kindOf(cells.find(isHere)) + 1) % KINDS.length;
        const cell = { column, row, muscles: kind === 2 };
        if (kind === 0) cells = cells.filter((other) => !isHere(other));
        else if (kind === 1) cells = [...cells, cell];
        else cells = cells.map((other) => (isHere(other) ? cell : other));
        focus(column, row);
        paint();
        changed(cells);
      });
      paint();
      buttons.set(`${column} ${row}`, button);
      paints.set(`${column} ${row}`, paint);
      place.append(button);
    }
  focus(0, 0);
  onArrows(place, (dx, dy) => focus(at.column + dx, at.row + dy)?.focus());

  /** Show this body. @param {readonly Cell[]} body */
  return (body) => {
    cells = [...body];
    for (const paint of paints.values()) paint();
    changed(cells);
  };
};
