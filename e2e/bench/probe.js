// What a library hands to the engine: the bytes of its modules, their instances, and the time it takes.

/** @typedef {{ bytes: number, compile: number, instantiate: number, end: number, called?: [f: Function, ...args: unknown[]] }} Seen */

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

/** What engines offer, of modules that are no others'. */
const engine = {
  compile: WebAssembly.compile,
  instantiate: WebAssembly.instantiate,
  Module: WebAssembly.Module,
  Instance: WebAssembly.Instance,
};

/**
 * Put others in place of two constructors: what `new` gives then is what they return.
 *
 * @param {(source: BufferSource) => WebAssembly.Module} module
 * @param {(...given: ConstructorParameters<typeof WebAssembly.Instance>) => { exports: object }} instance
 */
const construct = (module, instance) => {
  const { Module, Instance } = engine;
  WebAssembly.Module = new Proxy(Module, {
    construct: (_, [source]) => module(source),
  });
  WebAssembly.Instance = new Proxy(Instance, {
    construct: (_, given) => instance(...given),
  });
};

const compile = (source) => engine.compile(unique(source));
const compileNow = (source) => new engine.Module(unique(source));
const instantiateNow = (...given) => new engine.Instance(...given);

WebAssembly.compile = compile;
construct(compileNow, instantiateNow);

/**
 * Run `work`, and say what it compiled last, which it may go on to do when it has ended; `end` is when that
 * is there. Its exported function `f` is remembered with the arguments of its last call (`called`), which can be
 * repeated without any conversion.
 *
 * @template T
 * @param {() => Promise<T>} work  which compiles one function
 * @returns {Promise<{ result: T, seen: Seen }>}
 */
export const watch = async (work) => {
  /** @type {Seen} */
  const seen = { bytes: 0, compile: 0, instantiate: 0, end: 0 };
  /** @type {(value?: unknown) => void} */
  let come;
  const there = new Promise((resolve) => (come = resolve));
  const compiled = (start, source, module) => {
    seen.compile = performance.now() - start;
    seen.bytes = source.byteLength;
    return module;
  };
  const instantiated = (start, { exports }) => {
    seen.end = performance.now();
    seen.instantiate = seen.end - start;
    come();
    const enter = exports.f;
    const f = (...args) => {
      seen.called = [enter, ...args];
      return enter(...args);
    };
    return { exports: { ...exports, f } };
  };
  WebAssembly.compile = async (source) =>
    compiled(performance.now(), source, await compile(source));
  WebAssembly.instantiate = async (source, imports) => {
    if (source instanceof WebAssembly.Module)
      return instantiated(
        performance.now(),
        await engine.instantiate(source, imports),
      );
    const module = await WebAssembly.compile(source);
    const instance = await WebAssembly.instantiate(module, imports);
    return { module, instance };
  };
  construct(
    (source) => compiled(performance.now(), source, compileNow(source)),
    (...given) => instantiated(performance.now(), instantiateNow(...given)),
  );
  try {
    const result = await work();
    if (!seen.end) {
      await there;
      // what takes the place of a draft does so at once then
      await new Promise((wake) => setTimeout(wake));
    }
    return { result, seen };
  } finally {
    WebAssembly.compile = compile;
    WebAssembly.instantiate = engine.instantiate;
    construct(compileNow, instantiateNow);
  }
};
