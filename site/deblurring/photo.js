// A picture from a file of the reader's, as numbers. How large it is, is read from the first bytes of the
// file: a picture that is too large is refused before it fills the memory.

import { SIDE } from "./blur.js";
import { numbersOf } from "./specimens.js";

/** More pixels are not unpacked. */
const LIMIT = 40e6;

/** Where the size is, it is within so many bytes: ahead of it, cameras put previews. */
const HEAD = 2 ** 21;

/**
 * Width and height, as a file in one of the usual formats says them.
 *
 * @param {DataView} view
 * @returns {readonly number[] | undefined}
 */
const sizeIn = (view) => {
  const name = (/** @type {number} */ at) =>
    String.fromCharCode(...new Uint8Array(view.buffer, at, 4));
  if (name(0) === "\x89PNG") return [view.getUint32(16), view.getUint32(20)];
  if (name(0) === "GIF8")
    return [view.getUint16(6, true), view.getUint16(8, true)];
  if (name(0).startsWith("BM"))
    return [view.getInt32(18, true), Math.abs(view.getInt32(22, true))];
  if (name(0) === "RIFF" && name(8) === "WEBP") return webp(view, name(12));
  if (view.getUint16(0) === 0xffd8) return jpeg(view);
  if (name(4) === "ftyp") return boxed(view, name);
  return undefined;
};

/** @param {DataView} view @param {string} kind */
const webp = (view, kind) => {
  const bits = (/** @type {number} */ at, /** @type {number} */ shift) =>
    (view.getUint32(at, true) >>> shift) & 0x3fff;
  if (kind === "VP8 ") return [bits(26, 0), bits(26, 16)];
  if (kind === "VP8L") return [1 + bits(21, 0), 1 + bits(21, 14)];
  const wide = (/** @type {number} */ at) =>
    1 + (view.getUint32(at, true) & 0xffffff);
  return [wide(24), wide(27)];
};

/** @param {DataView} view */
const jpeg = (view) => {
  for (let at = 2; ; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint16(at);
    // the frame: all of C0 to CF but for tables
    if (
      marker >= 0xffc0 &&
      marker <= 0xffcf &&
      ![4, 8, 12].includes(marker & 15)
    )
      return [view.getUint16(at + 7), view.getUint16(at + 5)];
    if (marker < 0xffc0) return undefined;
  }
};

/** AVIF and its kin: the largest of the pictures that it is made of. @param {DataView} view @param {(at: number) => string} name */
const boxed = (view, name) => {
  /** @type {number[] | undefined} */
  let largest;
  for (let at = 8; at < Math.min(view.byteLength, 2 ** 16) - 16; ++at)
    if (name(at) === "ispe") {
      const size = [view.getUint32(at + 8), view.getUint32(at + 12)];
      if (!largest || size[0] > largest[0]) largest = size;
    }
  return largest;
};

/**
 * The middle square of the picture in a file.
 *
 * @param {File} file
 * @returns {Promise<Float64Array>}
 */
export const pictureIn = async (file) => {
  const bytes = await file
    .slice(0, HEAD)
    .arrayBuffer()
    .catch(() => {
      throw Error(`“${file.name}” cannot be read. Is it a folder?`);
    });
  const head = new DataView(bytes);
  let size;
  try {
    size = sizeIn(head);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // else it ends too early
  }
  if (!size)
    throw Error(
      `“${file.name}” is no picture that can be read here. PNG, JPEG, GIF, WebP, AVIF and BMP can.`,
    );
  const [width, height] = size;
  if (width * height > LIMIT)
    throw Error(
      `“${file.name}” has ${Math.round((width * height) / 1e6)} megapixels. ` +
        `Up to ${LIMIT / 1e6} are taken: please make it smaller.`,
    );
  const bitmap = await createImageBitmap(file).catch(() => {
    throw Error(
      `“${file.name}” cannot be read: it seems to be damaged, or of a kind that this browser does not know.`,
    );
  });
  const scale = SIDE / Math.min(bitmap.width, bitmap.height);
  const [w, h] = [scale * bitmap.width, scale * bitmap.height];
  const numbers = numbersOf((ctx) => {
    ctx.imageSmoothingQuality = "high";
    ctx.drawImage(bitmap, (SIDE - w) / 2, (SIDE - h) / 2, w, h);
  });
  bitmap.close();
  return numbers;
};
