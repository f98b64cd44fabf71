// What a program is, in bytes: two programs are the same when their recordings are, byte for byte.
//
// A recording holds the compiler's build, how the module gets its memory, and the program. Functions
// come in the order in which the entry needs them, types in that in which functions name them, so
// neither the order of definitions nor what else a page defines makes a difference.

import type { MemoryKind } from "./core";
import { joined } from "./joined";
import type { Program } from "./program";

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

const rotate = (x: number, by: number): number => (x << by) | (x >>> -by);

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
  let a = bytes.length;
  let b = ~a;
  const mix = (word: number): void => {
    a = (rotate(a ^ Math.imul(word, 0x9e3779b1), 13) + b) | 0;
    b = Math.imul(rotate(b ^ word, 17) + a, 0x85ebca6b);
  };
  const { buffer, byteOffset, length } =
    bytes.byteOffset & 3 ? bytes.slice() : bytes;
  const words = new Int32Array(buffer, byteOffset, length >> 2);
  for (let k = 0; k < words.length; ++k) mix(words[k]);
  for (let k = length & -4; k < length; ++k) mix(bytes[k]);
  return [finish(a ^ b), finish(a + Math.imul(b, 0x9e3779b1))]
    .map((word) => word.toString(16).padStart(8, "0"))
    .join("");
};

/** Whether two recordings are of the same program. */
export const same = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) return false;
  for (let k = 0; k < a.length; ++k) if (a[k] !== b[k]) return false;
  return true;
};
