// The memories of functions.

const PAGE = 65536;

/** Memories that no function uses any more, for functions to come: a few. */
const pool: WebAssembly.Memory[] = [];
const POOLED = 8;

/** Take a memory of so many pages, all zeros up to `end`. */
export const takeMemory = (pages: number, end: number): WebAssembly.Memory => {
  // of those that are large enough the smallest, else the largest, which grows
  pool.sort((a, b) => a.buffer.byteLength - b.buffer.byteLength);
  const fits = pool.findIndex(
    ({ buffer }) => buffer.byteLength >= pages * PAGE,
  );
  const [memory] = pool.splice(fits < 0 ? pool.length - 1 : fits, 1);
  if (memory === undefined) return new WebAssembly.Memory({ initial: pages });
  new Uint8Array(
    memory.buffer,
    0,
    Math.min(end, memory.buffer.byteLength),
  ).fill(0);
  grow(memory, pages);
  return memory;
};

export const grow = (memory: WebAssembly.Memory, pages: number): void => {
  const missing = pages - memory.buffer.byteLength / PAGE;
  if (missing > 0) memory.grow(missing);
};

/** Keep a memory that no function uses any more. */
export const giveBack = (memory: WebAssembly.Memory): void => {
  if (pool.length < POOLED) pool.push(memory);
};

/** Functions that are dropped without `dispose`. It holds their memories, and must not hold them. */
export const dropped = new FinalizationRegistry(giveBack);
