// Integers as WebAssembly writes them.

/** An unsigned LEB128 integer. */
export const leb = (n: number): number[] =>
  n < 128 ? [n] : [(n & 127) | 128, ...leb(n >>> 7)];

/** A signed one that is not negative. */
export const signedLeb = (n: number): number[] =>
  n < 64 ? [n] : [(n & 127) | 128, ...signedLeb(n >>> 7)];
