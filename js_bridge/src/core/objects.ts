// What a snapshot need not keep of CPython's objects, since it can be told from what else it keeps. All of it
// is checked where the snapshot is made: what does not come back as it was is kept as it is, or an error there.

/** Addresses in a memory of Python. */
export interface Places {
  /** PyUnicode_Type, the type `str`. */
  readonly str: number;
  /** The head of a list of objects that the garbage collector goes through, a PyGC_Head. */
  readonly list: number;
}

/** Words of a PyUnicodeObject from its type on: Include/cpython/unicodeobject.h. */
const LENGTH = 1;
const HASH = 2;
const STATE = 3;
const ASCII_DATA = 4;
const OTHER_DATA = 6;

/** Bits of a string's state. */
const KIND = 0b00011100;
const COMPACT = 0b00100000;
const ASCII = 0b01000000;
const STATES = 0b11111111;

const MULTIPLIER = 1000003;

/** In place of a hash that can be computed. */
const COMPUTED = 0x5ca1ab1e;

/** The hash of the string whose type is at `at`, where PYTHONHASHSEED is 0: Python/pyhash.c, FNV. */
const hashOf = (words: Int32Array, at: number): number | undefined => {
  const state = words[at + STATE];
  const size = words[at + LENGTH] * ((state & KIND) >> 2);
  const data = at + (state & ASCII ? ASCII_DATA : OTHER_DATA);
  const isString = state & COMPACT && !(state & ~STATES) && size > 0;
  if (!isString || size > 4 * (words.length - data)) return;
  let hash = (words[data] & 255) << 7;
  // all but the last one to four bytes count as words
  const last = data + ((size - 1) >> 2);
  for (let k = data; k < last; ++k)
    hash = Math.imul(hash, MULTIPLIER) ^ words[k];
  for (let k = (size - 1) & 3, word = words[last]; k >= 0; --k, word >>>= 8)
    hash = Math.imul(hash, MULTIPLIER) ^ (word & 255);
  hash ^= size;
  return hash === -1 ? -2 : hash;
};

/** Leave out what `complete` puts back. */
export const reduce = (words: Int32Array, { str, list }: Places): void => {
  words.forEach((type, at) => {
    if (type !== str) return;
    const hash = words[at + HASH];
    if (hash === COMPUTED) throw Error("a string has the mark for its hash");
    if (hash === hashOf(words, at)) words[at + HASH] = COMPUTED;
  });
  let node = list;
  do {
    const next = words[node >> 2];
    if (words[(next >> 2) + 1] !== node) throw Error("the list is not linked");
    words[node >> 2] = next - node;
    words[(next >> 2) + 1] = 0;
    node = next;
  } while (node !== list);
};

/** Put back what `reduce` left out: hashes, and the links of the list, of which it left the distances to the next. */
export const complete = (words: Int32Array, { str, list }: Places): void => {
  let at = -1;
  while ((at = words.indexOf(COMPUTED, at + 1)) >= 0)
    if (words[at - HASH] === str) words[at] = hashOf(words, at - HASH)!;
  let node = list;
  do {
    const next = node + words[node >> 2];
    words[node >> 2] = next;
    words[(next >> 2) + 1] = node;
    node = next;
  } while (node !== list);
};
