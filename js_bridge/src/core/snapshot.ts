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

/** Turn a snapshot into its difference from what the module puts into memory, or back. */
const difference = (snapshot: Uint8Array, module: Uint8Array): void => {
  for (const [address, bytes] of dataOf(module))
    if (address >= 0)
      for (let k = 0; k < bytes.length; ++k)
        snapshot[START + address + k] ^= bytes[k];
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

/** The words of the memory in a snapshot. */
const wordsOf = ({ buffer, length }: Uint8Array): Int32Array =>
  new Int32Array(buffer, START, (length - START) >> 2);

/** The file of a snapshot of a memory into which `module` had put its data, and where in it `places` are. */
export const pack = (
  snapshot: Uint8Array,
  module: Uint8Array,
  places: Places,
): Uint8Array => {
  const bytes = snapshot.slice();
  reduce(wordsOf(bytes), places);
  difference(bytes, module);
  const { str, list } = places;
  const told = new Uint8Array(Int32Array.of(str, list).buffer);
  const data: ArrayLike<number>[] = [[1, ...leb(told.length)], told];
  let count = 1;
  for (const [start, end] of pieces(bytes)) {
    const address = [I32_CONST, ...signedLeb(start), END];
    data.push([0, ...address, ...leb(end - start)], bytes.subarray(start, end));
    ++count;
  }
  const pages = leb(Math.ceil(bytes.length / PAGE));
  return joined(Uint8Array, [
    [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(MEMORY_SECTION, [[1, 0, ...pages]]),
    ...section(DATA_SECTION, [leb(count), ...data]),
  ]);
};

const section = (
  id: number,
  content: readonly ArrayLike<number>[],
): ArrayLike<number>[] => {
  const size = content.reduce((sum, { length }) => sum + length, 0);
  return [[id, ...leb(size)], ...content];
};

/** The snapshot in a file. */
export const unpack = (file: Uint8Array, module: Uint8Array): Uint8Array => {
  const [[, told], ...data] = dataOf(file);
  const [str, list] = new Int32Array(told.slice().buffer);
  const [address, { length }] = data[data.length - 1];
  const snapshot = new Uint8Array(address + length);
  for (const [address, bytes] of data) snapshot.set(bytes, address);
  difference(snapshot, module);
  complete(wordsOf(snapshot), { str, list });
  return snapshot;
};
