// Programs in addresses: what stands behind the #, packed, in characters that an address may have.

/** @param {string} name @param {BlobPart} data */
const through = (name, data) =>
  new Blob([data])
    .stream()
    .pipeThrough(
      name === "pack"
        ? new CompressionStream("deflate-raw")
        : new DecompressionStream("deflate-raw"),
    );

/** @param {unknown} content */
export const packed = async (content) => {
  const stream = through("pack", JSON.stringify(content));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const text = Array.from(bytes, (b) => String.fromCharCode(b)).join("");
  return btoa(text)
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
};

/** The inverse of `packed`; throws if it is none. @param {string} text @returns {Promise<unknown>} */
export const unpacked = async (text) => {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(plain, (c) => c.charCodeAt(0));
  return JSON.parse(await new Response(through("unpack", bytes)).text());
};
