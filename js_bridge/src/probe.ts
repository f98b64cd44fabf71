// Whether this page may use WebAssembly at all.

/** The smallest module: where even this is refused, everything will be. */
const EMPTY = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

let probed: Promise<void> | undefined;

/** Says why there is no WebAssembly, if there is none; engines have words of their own for that. */
export const probe = (): Promise<void> => (probed ??= attempt());

const attempt = async (): Promise<void> => {
  if (typeof WebAssembly !== "object")
    throw Error("Rose needs WebAssembly, which is switched off here");
  try {
    // Not just compiled, which WebKit allows where a policy forbids to go on.
    await WebAssembly.instantiate(EMPTY);
  } catch (cause) {
    throw Error(
      "Rose needs WebAssembly, which this page's Content-Security-Policy forbids: " +
        "add 'wasm-unsafe-eval' to its script-src",
      { cause },
    );
  }
};
