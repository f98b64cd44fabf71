// The memory of Python with the core in it, as `build/runtime.mjs` made it: with it, Python is there
// without running its start.
//
// It is kept as the difference from what the runtime's module puts into its memory, compressed.

/** Where in a snapshot the memory begins. */
export const START = 128;

const DATA_SECTION = 11;
const I32_CONST = 0x41;

/** The data that a module puts into its memory: addresses and bytes. */
export function* dataOf(module: Uint8Array): Generator<[number, Uint8Array]> {
  let at = 8;
  /** A LEB128 integer, of which no more than 32 bits count. */
  const integer = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = module[at++];
      value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
  };
  while (at < module.length) {
    const section = module[at++];
    const size = integer();
    if (section !== DATA_SECTION) {
      at += size;
      continue;
    }
    for (let count = integer(); count > 0; --count) {
      let address = -1;
      // 1: data that code puts in place, at an address of its own
      if (integer() === 0) {
        if (module[at++] !== I32_CONST) throw Error("an address is computed");
        address = integer();
        ++at; // the end of the expression
      }
      const length = integer();
      if (address >= 0) yield [address, module.subarray(at, at + length)];
      at += length;
    }
  }
}

/** Turn a memory into its difference from what the module puts there, or back. */
export const difference = (memory: Uint8Array, module: Uint8Array): void => {
  for (const [address, bytes] of dataOf(module))
    for (let k = 0; k < bytes.length; ++k)
      memory[START + address + k] ^= bytes[k];
};

/** The snapshot in a file. */
export const unpack = async (
  file: Uint8Array<ArrayBuffer>,
  module: Uint8Array,
): Promise<Uint8Array> => {
  const stream = new Blob([file]).stream();
  const unzipped = stream.pipeThrough(new DecompressionStream("gzip"));
  const memory = new Uint8Array(await new Response(unzipped).arrayBuffer());
  difference(memory, module);
  return memory;
};
