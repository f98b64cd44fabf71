// The files that are loaded while a page runs, and where they lie.

/**
 * Their addresses next to the bridge. Bundlers know `new URL("./name", import.meta.url)`: they copy
 * the file, name it as they like and put its new address here, if this is written out in full.
 */
const beside = {
  "rose.frozen.json": () => new URL("./rose.frozen.json", import.meta.url).href,
  "rose.worker.js": () => new URL("./rose.worker.js", import.meta.url).href,
  "rose.python.js": () => new URL("./rose.python.js", import.meta.url).href,
  "pyodide/pyodide.js": () =>
    new URL("./pyodide/pyodide.js", import.meta.url).href,
  "pyodide/pyodide.asm.js": () =>
    new URL("./pyodide/pyodide.asm.js", import.meta.url).href,
  "pyodide/pyodide.asm.wasm": () =>
    new URL("./pyodide/pyodide.asm.wasm", import.meta.url).href,
  "pyodide/python_stdlib.zip": () =>
    new URL("./pyodide/python_stdlib.zip", import.meta.url).href,
  "pyodide/rose_core.zip": () =>
    new URL("./pyodide/rose_core.zip", import.meta.url).href,
  "pyodide/rose_core.snapshot.wasm": () =>
    new URL("./pyodide/rose_core.snapshot.wasm", import.meta.url).href,
};

/** Addresses by the names that the files have in a folder of Rose. */
export type Assets = Readonly<Record<keyof typeof beside, string>>;

export const inNode = typeof process === "object" && !!process.versions?.node;

const page = globalThis.document;
const { location } = globalThis;

/** Of a classic script there is none. Named, because bundlers would take "." for a file of ours. */
const script: string | undefined = import.meta.url;

type Script = HTMLScriptElement | null | undefined;

const isFile = (place: unknown): boolean => /^file:/.test(`${place}`);
const isPlace = (place: unknown): boolean => /^[^:]+:\/\//.test(`${place}`);

/**
 * The address of the script that the bridge is in, which a classic one knows only while it is first run; of the
 * page, if it stands there, or is of a `blob:` or `data:` address, next to which nothing is. A worker may import it
 * from anywhere: in the stack, all engines tell its address, line and column.
 */
const address =
  [
    // webpack and Parcel tell where on a disk they found it
    inNode || isFile(location) || !isFile(script) ? script : "",
    (page?.currentScript as Script)?.src,
    page?.baseURI,
    __CLASSIC__
      ? /[\w-]+:\/\/.*?(?=:\d+:)/.exec(Error().stack!)?.[0]
      : location?.href,
    location?.origin,
  ].find(isPlace) ?? "file:///";

/** The folder of the bridge. */
export const home = new URL(".", address);

/** Whether the bridge is a file of its own, with the others next to it; else it is part of another script. */
export const isAsBuilt = /\/rose(\.global)?\.js$/.test(
  new URL(address).pathname,
);

/** A file in a folder, or the one next to the bridge if that is its folder. */
export const assetIn = (folder: URL, name: keyof Assets): string =>
  folder === home && isPlace(script)
    ? beside[name]()
    : new URL(name, folder).href;

/** All of them. */
export const assetsIn = (folder: URL): Assets =>
  Object.fromEntries(
    Object.keys(beside).map((name) => [
      name,
      assetIn(folder, name as keyof Assets),
    ]),
  ) as Assets;

declare const process: { versions?: { node?: string } } | undefined;
