// The robot's body: point masses, struts that keep them apart, and struts that are muscles.

const PITCH = 0.05;
const ORIGIN = 0.1;
const STIFFNESS = 30_000;
/** By how much of its length a muscle can stretch. */
const STRETCH = 0.15;

/** @typedef {{ column: number, row: number, muscles?: boolean }} Cell */

/**
 * The cells of a grid that the body fills, in the order in which they are built. The upright sides of
 * a cell with muscles are muscles, and the first one's lower left corner is the marked foot.
 *
 * @type {readonly Cell[]}
 */
export const CELLS = [
  { column: 2, row: 0, muscles: true },
  { column: 0, row: 0, muscles: true },
  { column: 0, row: 1, muscles: true },
  { column: 0, row: 2 },
  { column: 1, row: 2 },
  { column: 2, row: 1, muscles: true },
  { column: 2, row: 2 },
  { column: 2, row: 3 },
  { column: 2, row: 4 },
  { column: 3, row: 1 },
  { column: 4, row: 0, muscles: true },
  { column: 4, row: 1, muscles: true },
];

/**
 * @typedef {{ a: number, b: number, length: number, stiffness: number, stretch: number }} Spring
 *   between masses a and b
 * @typedef {{ masses: number[][], muscles: Spring[], struts: Spring[] }} Body
 */

/** @param {readonly Cell[]} cells @returns {Body} */
export const build = (cells) => {
  /** @type {number[][]} */
  const masses = [];
  /** @type {Map<string, number>} */
  const corners = new Map();
  /** The mass at a corner of the grid, which neighbouring cells share. @param {number} i @param {number} j */
  const corner = (i, j) => {
    const name = `${i} ${j}`;
    if (!corners.has(name)) {
      corners.set(name, masses.length);
      masses.push([PITCH * i + ORIGIN, PITCH * j + ORIGIN]);
    }
    return /** @type {number} */ (corners.get(name));
  };
  /** @type {Map<string, Spring>} */
  const springs = new Map();
  /** Of cells that share a side, the first says what it is. @param {number} a @param {number} b @param {number} stretch */
  const connect = (a, b, stretch) => {
    const name = `${Math.min(a, b)} ${Math.max(a, b)}`;
    if (springs.has(name)) return;
    const [dx, dy] = [0, 1].map((c) => masses[a][c] - masses[b][c]);
    const length = Math.sqrt(dx * dx + dy * dy);
    springs.set(name, { a, b, length, stiffness: STIFFNESS, stretch });
  };
  for (const { column: i, row: j, muscles } of cells) {
    const low = corner(i, j);
    const high = corner(i, j + 1);
    const lowRight = corner(i + 1, j);
    const highRight = corner(i + 1, j + 1);
    connect(low, high, muscles ? STRETCH : 0);
    connect(lowRight, highRight, muscles ? STRETCH : 0);
    connect(low, lowRight, 0);
    connect(high, highRight, 0);
    connect(low, highRight, 0);
    connect(lowRight, high, 0);
  }
  const all = [...springs.values()];
  return {
    masses,
    muscles: all.filter(({ stretch }) => stretch),
    struts: all.filter(({ stretch }) => !stretch),
  };
};
