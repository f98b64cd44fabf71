// WebAssembly of the engine, or why this page may not use it.

/** The smallest module: where even this is refused, everything will be. */
const EMPTY = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

/** Throws why there is no WebAssembly, if there is none; engines have words of their own for that. */
export const probe = async (): Promise<void> => {
  if (typeof WebAssembly !== "object")
    throw Error("Rose needs WebAssembly, which is switched off here");
  try {
    // Not just compiled, which WebKit allows where a policy forbids to go on.
    await WebAssembly.instantiate(EMPTY);
  } catch (cause) {
    throw Error(
      // a worker obeys the policy that its own script came with
      `Rose needs WebAssembly, which ${globalThis.document ? "this page" : location.href}'s Content-Security-Policy ` +
        "forbids: add 'wasm-unsafe-eval' to its script-src",
      { cause },
    );
  }
};

/** So many bytes are compiled sooner than another thread has been asked to, and everywhere allowed to be. */
const SMALL = 4096;

/** What a module exports. */
export const instantiate = async (
  module: Uint8Array<ArrayBuffer>,
  imports: WebAssembly.Imports,
): Promise<WebAssembly.Exports> => {
  try {
    const { exports } =
      module.length > SMALL
        ? (await WebAssembly.instantiate(module, imports)).instance
        : new WebAssembly.Instance(new WebAssembly.Module(module), imports);
    return exports;
  } catch (error) {
    await probe();
    throw error;
  }
};
