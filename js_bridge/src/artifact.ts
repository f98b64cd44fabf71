// A compiled program as it is kept, next to a page or in the browser's cache: one file.
//
// It is a WebAssembly module whose last section, of the name "rose", holds what the bridge must know:
//
//     descriptor, JSON · recording · lengths of the module and the descriptor, 4 bytes each · hash, 16 digits
//
// The hash is of all bytes before it, so damage is noticed; the recording says what this is. Engines get
// the module without that section, which may be many times as long.

import { hash, same } from "./identity";
import type { Descriptor } from "./run";

/** A program ready to be instantiated. */
export interface Artifact {
  readonly module: WebAssembly.Module;
  readonly descriptor: Descriptor;
  readonly recording: Uint8Array;
}

const SECTION = "rose";
const LENGTHS = 8;
const DIGITS = 16;

/** An unsigned LEB128 integer. */
const leb = (n: number): number[] =>
  n < 128 ? [n] : [(n & 127) | 128, ...leb(n >>> 7)];

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: BufferSource): string => new TextDecoder().decode(bytes);

/** The file of a compiled program. */
export const pack = (
  module: Uint8Array,
  descriptor: Descriptor,
  recording: Uint8Array,
): Uint8Array<ArrayBuffer> => {
  const about = utf8(JSON.stringify(descriptor));
  const name = [SECTION.length, ...utf8(SECTION)];
  const size = name.length + about.length + recording.length + LENGTHS + DIGITS;
  const head = [0, ...leb(size), ...name];
  const file = new Uint8Array(module.length + head.length - name.length + size);
  let at = 0;
  const put = (bytes: ArrayLike<number>): void => {
    file.set(bytes, at);
    at += bytes.length;
  };
  put(module);
  put(head);
  put(about);
  put(recording);
  put(new Uint8Array(Uint32Array.of(module.length, about.length).buffer));
  put(utf8(hash(file.subarray(0, at))));
  return file;
};

/** What is in a file that is as `pack` made it. */
export const open = async (
  file: Uint8Array<ArrayBuffer>,
): Promise<Artifact> => {
  const end = file.length - LENGTHS - DIGITS;
  const [length, aboutLength] = new Uint32Array(
    file.slice(end, end + LENGTHS).buffer,
  );
  let at = length + 1;
  while (file[at++] > 127);
  at += 1 + SECTION.length;
  const module = await WebAssembly.compile(file.subarray(0, length));
  const about = text(file.subarray(at, at + aboutLength));
  const recording = file.subarray(at + aboutLength, end);
  return { module, descriptor: JSON.parse(about), recording };
};

/** What is in a file; undefined if it is damaged, or of another program than this recording's. */
export const unpack = async (
  file: Uint8Array<ArrayBuffer>,
  recording: Uint8Array,
): Promise<Artifact | undefined> => {
  const end = file.length - DIGITS;
  if (end < LENGTHS || text(file.subarray(end)) !== hash(file.subarray(0, end)))
    return undefined;
  const artifact = await open(file);
  return same(artifact.recording, recording) ? artifact : undefined;
};
