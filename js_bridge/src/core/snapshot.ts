// The memory of Python with the core in it, as `build/runtime.mjs` made it: with it, Python is there
// without running its start.
//
// It is kept as its difference from what the runtime's module puts there, without what is zero or can be
// told from the rest, and as the data of a WebAssembly module, though no engine ever sees it: hosts compress
// such a file as they do the runtime, which is better than what a browser can undo by itself.

import { joined } from "../known/joined";
import { leb, signedLeb } from "../known/leb";
import { complete, type Places, reduce } from "./objects";

/** Where in a snapshot the memory begins. */
const START = 128;

const PAGE = 65536;

/** So many zeros in a row are left out. */
const GAP = 1024;

const MEMORY_SECTION = 5;
const DATA_SECTION = 11;
const I32_CONST = 0x41;
const END = 0x0b;

/** The data of a module: the addresses in its memory where it puts it, or -1 for what its code asks for; and bytes. */
function* dataOf(module: Uint8Array): Generator<[number, Uint8Array]> {
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
      yield [address, module.subarray(at, at + length)];
      at += length;
    }
  }
}

/** What a module puts into memory, up to the end of that, in whole words. */
const imageOf = (module: Uint8Array): Uint8Array => {
  const data = [...dataOf(module)].filter(([address]) => address >= 0);
  const ends = data.map(([address, { length }]) => address + length);
  const image = new Uint8Array((Math.max(...ends) + 3) & ~3);
  for (const [address, bytes] of data) image.set(bytes, address);
  return image;
};

/** The words of a memory. */
const wordsOf = ({ buffer, byteOffset, length }: Uint8Array): Int32Array =>
  new Int32Array(buffer, byteOffset, length >> 2);

/** Turn what a memory begins with into its difference from `image`, or back. */
const difference = (memory: Int32Array, image: Int32Array): void => {
  for (let k = 0; k < image.length; ++k) memory[k] ^= image[k];
};

/** What is not zero, and the last byte, which tells the length: from where to where. */
function* pieces(bytes: Uint8Array): Generator<[number, number]> {
  const last = bytes.length - 1;
  let start = -1;
  let end = -1;
  for (let k = 0; k <= last; ++k) {
    if (!bytes[k] && k < last) continue;
    if (start < 0) start = k;
    else if (k - end > GAP) {
      yield [start, end];
      start = k;
    }
    end = k + 1;
  }
  yield [start, end];
}

/** The file of a snapshot of a memory into which `module` had put its data, and where in it `places` are. */
export const pack = (
  snapshot: Uint8Array,
  module: Uint8Array,
  places: Places,
): Uint8Array => {
  const [, start] = new Uint32Array(snapshot.buffer);
  if (start !== START) throw Error(`the memory begins at ${start}`);
  const memory = snapshot.slice(START);
  const image = imageOf(module);
  reduce(wordsOf(memory), places);
  difference(wordsOf(memory), wordsOf(image));
  const { str, list } = places;
  const numbers = Int32Array.of(str, list, image.length);
  const told = new Uint8Array(numbers.buffer);
  const data: ArrayLike<number>[] = [];
  for (const part of [told, snapshot.subarray(0, START)])
    data.push([1, ...leb(part.length)], part);
  for (const [start, end] of pieces(memory)) {
    const address = [I32_CONST, ...signedLeb(start), END];
    data.push(
      [0, ...address, ...leb(end - start)],
      memory.subarray(start, end),
    );
  }
  const pages = leb(Math.ceil(memory.length / PAGE));
  return joined(Uint8Array, [
    [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(MEMORY_SECTION, [[1, 0, ...pages]]),
    ...section(DATA_SECTION, [leb(data.length / 2), ...data]),
  ]);
};

const section = (
  id: number,
  content: readonly ArrayLike<number>[],
): ArrayLike<number>[] => {
  const size = content.reduce((sum, { length }) => sum + length, 0);
  return [[id, ...leb(size)], ...content];
};

/** Pyodide's settings of a module that is to be instantiated. */
interface Settings {
  instantiateWasm(
    imports: WebAssembly.Imports,
    done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object;
}

type Create = (settings: Settings) => unknown;

/** Options for `loadPyodide`, which make a module by `create`: its memory becomes that of the snapshot in `file`. */
export const resumed = (file: Uint8Array, create: Create): object => {
  const [[, told], [, header], ...data] = dataOf(file);
  const [str, list, end] = new Int32Array(told.slice().buffer);
  let image: Uint8Array;
  return {
    createPyodideModule: (settings: Settings) => {
      const { instantiateWasm } = settings;
      settings.instantiateWasm = (imports, done) =>
        instantiateWasm(imports, (instance, module) => {
          const { buffer } = instance.exports.memory as WebAssembly.Memory;
          image = new Uint8Array(buffer, 0, end).slice();
          done(instance, module);
        });
      return create(settings);
    },
    _loadSnapshot: header.slice(), // words are read from it
    _restore: (memory: Uint8Array): void => {
      let at = 0;
      for (const [address, bytes] of data) {
        memory.fill(0, at, address);
        memory.set(bytes, address);
        at = address + bytes.length;
      }
      const words = wordsOf(memory);
      difference(words, wordsOf(image));
      complete(words, { str, list });
    },
  };
};
