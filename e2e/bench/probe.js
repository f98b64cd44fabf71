// What a library hands to the engine: the bytes of its modules, their instances, and the time it takes.

/** @typedef {{ bytes: number, compile: number, instantiate: number, call?: () => unknown }} Seen */

const original = {
  compile: WebAssembly.compile,
  instantiate: WebAssembly.instantiate,
};

let modules = 0;

/**
 * The same module with a custom section that no other has: engines keep the native code of modules that
 * they have seen before, so that the second compilation of the same bytes would cost nothing.
 *
 * @param {BufferSource} source
 */
const unique = (source) => {
  const bytes = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
  const section = new TextEncoder().encode(`_${String(++modules)}`);
  section[0] = section.length - 1; // of the section's name, which is the number
  const found = new Uint8Array(bytes.length + 2 + section.length);
  found.set(bytes);
  found.set([0, section.length], bytes.length);
  found.set(section, bytes.length + 2);
  return found;
};

WebAssembly.compile = (source, ...rest) =>
  original.compile(unique(source), ...rest);

/**
 * Run `work`, and say what it compiled last. Its exported function `f` is remembered with the arguments
 * of its last call: `call` repeats that call, without any conversion.
 *
 * @template T
 * @param {() => Promise<T>} work  which compiles one function
 * @returns {Promise<{ result: T, seen: Seen }>}
 */
export const watch = async (work) => {
  /** @type {Seen} */
  const seen = { bytes: 0, compile: 0, instantiate: 0 };
  const before = { ...WebAssembly };
  before.compile = WebAssembly.compile;
  before.instantiate = WebAssembly.instantiate;
  WebAssembly.compile = async (source, ...rest) => {
    const start = performance.now();
    const module = await before.compile(source, ...rest);
    seen.compile = performance.now() - start;
    seen.bytes = source.byteLength;
    return module;
  };
  WebAssembly.instantiate = async (module, imports) => {
    // bytes, as a library may try first whether it may do so at all
    if (!(module instanceof WebAssembly.Module))
      return before.instantiate(module, imports);
    const start = performance.now();
    const instance = await before.instantiate(module, imports);
    seen.instantiate = performance.now() - start;
    const enter = instance.exports.f;
    const f = (...args) => {
      seen.call = args.length ? () => enter(...args) : () => enter();
      return enter(...args);
    };
    return { exports: { ...instance.exports, f } };
  };
  try {
    return { result: await work(), seen };
  } finally {
    WebAssembly.compile = before.compile;
    WebAssembly.instantiate = before.instantiate;
  }
};
