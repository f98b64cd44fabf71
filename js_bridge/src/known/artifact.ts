// A compiled program as it is kept, next to a page or in the browser's cache: one file.
//
// It is a WebAssembly module whose last section, of the name "rose", holds what the bridge must know:
//
//     descriptor, JSON · recording · lengths of module, descriptor, recording, 4 bytes each · hash, 16 digits
//
// The hash is of all bytes before it, so damage is noticed; the recording says what this is. Engines get
// the module without that section, which may be many times as long. What `rose_core/cli` knows of this
// is in its `artifact.py`.

import { hash, same } from "./identity";
import { joined } from "./joined";
import { leb } from "./leb";

export type Bytes = Uint8Array<ArrayBuffer>;

const SECTION = "rose";
const LENGTHS = 12;
const DIGITS = 16;

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: BufferSource): string => new TextDecoder().decode(bytes);

/** The file of a compiled program. */
export const pack = (
  module: Uint8Array,
  descriptor: string,
  recording: Uint8Array,
): Bytes => {
  const about = utf8(descriptor);
  const name = [SECTION.length, ...utf8(SECTION)];
  const content = about.length + recording.length + LENGTHS + DIGITS;
  const head = [0, ...leb(name.length + content), ...name];
  const lengths = [module, about, recording].map(({ length }) => length);
  const file = joined(Uint8Array, [
    module,
    head,
    about,
    recording,
    new Uint8Array(Uint32Array.from(lengths).buffer),
  ]);
  return joined(Uint8Array, [file, utf8(hash(file))]);
};

/** Module, descriptor and recording in a file that is not damaged. */
const contents = (file: Bytes): [Bytes, Bytes, Bytes] => {
  const end = file.length - DIGITS - LENGTHS;
  const lengths = file.slice(end, end + LENGTHS).buffer;
  const [module, about, recording] = new Uint32Array(lengths);
  const start = end - recording;
  return [
    file.subarray(0, module),
    file.subarray(start - about, start),
    file.subarray(start, end),
  ];
};

/** Whether a file is not damaged, and of the program of this recording. */
export const isOf = (file: Bytes, recording: Uint8Array): boolean => {
  const end = file.length - DIGITS;
  return (
    end >= LENGTHS &&
    text(file.subarray(end)) === hash(file.subarray(0, end)) &&
    same(contents(file)[2], recording)
  );
};

/** The module in a file that is not damaged. */
export const moduleOf = (file: Bytes): Bytes => contents(file)[0];

/** What a file that is not damaged says of itself. */
export const descriptorOf = (file: Bytes): any =>
  JSON.parse(text(contents(file)[1]));
