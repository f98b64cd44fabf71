// The memories of functions.

const PAGE = 65536;

/** Memories that no function uses any more, for functions to come: a few, of few bytes. */
const pool: WebAssembly.Memory[] = [];
const POOLED = 8;
const LARGEST = 64 * PAGE;

/** What `allocate` gives; throws how many pages `name` needs, if there are not so many, and the hint. */
const allocated = <T>(
  name: string,
  pages: number,
  allocate: () => T,
  hint = "",
): T => {
  try {
    return allocate();
  } catch (cause) {
    const size = ((pages * PAGE) / 1e6).toFixed(1);
    throw RangeError(
      `${name} needs ${size} MB of memory, more than there is${hint}`,
      { cause },
    );
  }
};

/** Take a memory of so many pages for `name`, all zeros up to `end`. */
export const takeMemory = (
  name: string,
  pages: number,
  end: number,
): WebAssembly.Memory => {
  // one that is large enough, or else another, which grows
  const fits = pool.findIndex(
    ({ buffer }) => buffer.byteLength >= pages * PAGE,
  );
  const [memory] = pool.splice(fits, 1);
  if (memory === undefined)
    return allocated(
      name,
      pages,
      () => new WebAssembly.Memory({ initial: pages }),
      // room that engines have for a hundred memories or so, however small
      " beside those of functions that were not disposed of; many small functions can have one for all, compile(f, { memory })",
    );
  new Uint8Array(
    memory.buffer,
    0,
    Math.min(end, memory.buffer.byteLength),
  ).fill(0);
  grow(name, memory, pages);
  return memory;
};

/** Give a memory so many pages at least, for `name`. */
export const grow = (
  name: string,
  memory: WebAssembly.Memory,
  pages: number,
): void => {
  const missing = pages - memory.buffer.byteLength / PAGE;
  if (missing > 0) allocated(name, pages, () => memory.grow(missing));
};

/** Keep a memory that no function uses any more, unless it is large. */
export const giveBack = (memory: WebAssembly.Memory): void => {
  if (pool.length < POOLED && memory.buffer.byteLength <= LARGEST)
    pool.push(memory);
};
