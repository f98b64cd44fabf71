/** The largest size: indices are 32-bit integers. */
export const LARGEST = 2 ** 31;
