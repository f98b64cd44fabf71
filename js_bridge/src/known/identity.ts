// What a program is, in bytes: two programs are the same when their recordings are, byte for byte.
//
// A recording holds the compiler's build, how the module gets its memory, and the program. Functions
// come in the order in which the entry needs them, types in that in which functions name them, so
// neither the order of definitions nor what else a page defines makes a difference.

import { joined } from "./joined";
import type { MemoryKind, Program } from "./program";

/** NaN has many bit patterns, and engines differ in which they write. */
const NAN = 0x7ff8n << 48n;

/**
 * The recording of a program: how many reals and ints, these, and as text the build, the memory and the
 * header. Of scripts, which are text, it is all header.
 */
export const recordingOf = (
  { header, ints, reals }: Pick<Program, "header" | "ints" | "reals">,
  memory: MemoryKind | "scripts",
): Uint8Array<ArrayBuffer> => {
  const bits = new BigUint64Array(reals.slice().buffer);
  reals.forEach((x, k) => {
    if (x !== x) bits[k] = NAN;
  });
  return joined(Uint8Array, [
    bytesOf(Uint32Array.of(reals.length, ints.length)),
    bytesOf(bits),
    bytesOf(ints),
    new TextEncoder().encode(`${__BUILD__} ${memory}\n${header}`),
  ]);
};

const bytesOf = ({ buffer }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer);

/** Spread every bit of `x` over all of them. */
const finish = (x: number): number => {
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
};

/**
 * A hash of bytes, in 16 hexadecimal digits, the same everywhere. It is to find things and to notice
 * damage, not to withstand attacks; who finds something compares it with what was looked for.
 */
export const hash = (bytes: Uint8Array): string => {
  const { length } = bytes;
  const padded = new Uint8Array((length + 3) & -4);
  padded.set(bytes);
  const words = new Int32Array(padded.buffer);
  let a = length;
  let b = ~a;
  // written out, since it is mostly engines' interpreters that run it
  for (let k = 0; k < words.length; ++k) {
    const word = words[k];
    const x = a ^ Math.imul(word, 0x9e3779b1);
    a = (((x << 13) | (x >>> 19)) + b) | 0;
    const y = b ^ word;
    b = Math.imul(((y << 17) | (y >>> 15)) + a, 0x85ebca6b);
  }
  return [finish(a ^ b), finish(a + Math.imul(b, 0x9e3779b1))]
    .map((word) => word.toString(16).padStart(8, "0"))
    .join("");
};

/** Bytes as characters, one for each, which engines compare faster. */
const characters = (bytes: Uint8Array): string =>
  new TextDecoder("latin1").decode(bytes);

/** Whether two recordings are of the same program. */
export const same = (a: Uint8Array, b: Uint8Array): boolean =>
  characters(a) === characters(b);
