// What operations of the table do, on numbers: 0 and 1 are Bools.

import { ON_REALS, OP } from "../opcodes.gen";
import { LARGEST } from "../record/largest";

/** The largest index. */
const MOST = LARGEST - 1;

export type Operation = (x: number, y: number) => number;

/**
 * The operations of one or two operands, by opcode, but for those that can fail. Functions of `Math` may differ
 * in the last digit from what the core computes, which has some of its own: see rose_core/libm.
 */
export const operations = (): Operation[] => {
  const table: Operation[] = [];
  for (const [name, code] of Object.entries(ON_REALS))
    table[code] = Math[name as "pow"];
  // both are numbered in this order
  const comparisons: Operation[] = [
    (x, y) => +(x !== y),
    (x, y) => +(x < y),
    (x, y) => +(x <= y),
    (x, y) => +(x === y),
    (x, y) => +(x > y),
    (x, y) => +(x >= y),
  ];
  comparisons.forEach((compare, k) => {
    table[OP.neq + k] = table[OP.ineq + k] = compare;
  });
  return Object.assign(table, {
    [OP.neg]: (x) => -x,
    [OP.sign]: (x) => Math.sign(x || 1 / x),
    [OP.side]: (x) => Math.sign(x || 1 / x) || 1, // of NaN 1
    [OP.not]: (x) => 1 - x,
    [OP.add]: (x, y) => x + y,
    [OP.sub]: (x, y) => x - y,
    [OP.mul]: (x, y) => x * y,
    [OP.div]: (x, y) => x / y,
    [OP.and]: (x, y) => x & y,
    [OP.or]: (x, y) => x | y,
    [OP.xor]: (x, y) => x ^ y,
    [OP.iff]: (x, y) => +(x === y),
    [OP.real]: (x) => x,
    [OP.iadd]: (x, y) => x + y,
    [OP.isub]: (x, y) => x - y,
    [OP.imul]: (x, y) => Math.min(x * y, MOST) + 0, // of no sign
    [OP.imin]: Math.min,
    [OP.imax]: Math.max,
    [OP.narrow]: (x) => x,
    [OP.imod]: (x, y) => x % y,
    [OP.idiv]: (x, y) => Math.floor(x / y),
  } satisfies Record<number, Operation>);
};
