// The numbers of a linkage as a reader has them in hand: for each bar a slider, and checkboxes that say which
// numbers may change by themselves.

import { fixed } from "../lib/format.js";
import { HIGH, WIDE } from "./view.js";
import { element, show } from "../lib/page.js";
import { label, write } from "../lib/write.js";

/** In the order of the model. */
export const NAMES = ["Ax", "Ay", "Dx", "Dy", "a", "b", "c", "u", "v"];
const PIVOTS = 4; // numbers that say where they are, and have no sliders

const boxes = NAMES.map((name) => element(`free-${name[0]}`, HTMLInputElement));
const sliders = NAMES.slice(PIVOTS).map((name) =>
  element(`value-${name}`, HTMLInputElement),
);

/** Where the numbers may be. @type {readonly (readonly [number, number])[]} */
export const RANGES = [
  ...[WIDE, HIGH, WIDE, HIGH],
  ...sliders.map(
    ({ min, max }) => /** @type {const} */ ([Number(min), Number(max)]),
  ),
];

export const freedoms = () => boxes.map(({ checked }) => checked);

/** Set numbers free by the letters of their names, and no others. @param {string[]} letters */
export const setFree = (letters) =>
  NAMES.forEach((name, k) => (boxes[k].checked = letters.includes(name[0])));

/** @param {() => void} changed */
export const onFreedom = (changed) => {
  for (const box of new Set(boxes)) box.addEventListener("change", changed);
};

/**
 * @param {() => void} begin  a slider is about to be moved
 * @param {(number: number, value: number) => void} set
 */
export const onValue = (begin, set) =>
  sliders.forEach((slider, k) => {
    for (const kind of ["pointerdown", "keydown"])
      slider.addEventListener(kind, begin);
    slider.addEventListener("input", () =>
      set(PIVOTS + k, slider.valueAsNumber),
    );
  });

/** @param {number[]} numbers */
export const showNumbers = (numbers) =>
  sliders.forEach((slider, k) => {
    const text = fixed(numbers[PIVOTS + k], 3);
    slider.value = String(numbers[PIVOTS + k]);
    label(slider, "aria-valuetext", text);
    show({ [NAMES[PIVOTS + k]]: text });
  });

/** Make a table's rows, one for each number; gives what fills them. @param {HTMLTableSectionElement} body */
export const slopeTable = (body) => {
  const rows = NAMES.map((name) => {
    const row = body.insertRow();
    row.innerHTML = `<th scope="row">${name}</th><td></td><td></td><td></td>`;
    return row;
  });
  return (/** @type {number[]} */ numbers, /** @type {number[][]} */ slopes) =>
    rows.forEach(({ cells }, k) =>
      [numbers, ...slopes].forEach((column, j) => {
        write(cells[j + 1], fixed(column[k], 3));
      }),
    );
};
