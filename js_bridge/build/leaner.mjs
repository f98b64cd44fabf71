// Pyodide without what only packages would ask for, of which we load none.

import binaryen from "binaryen";
import { reachable } from "./reachable.mjs";

/** Which features of WebAssembly it may be written with: those that Pyodide itself asks of engines. */
const FEATURES = [
  "BulkMemory",
  "BulkMemoryOpt",
  "CallIndirectOverlong",
  "ExceptionHandling",
  "Multivalue",
  "MutableGlobals",
  "NontrappingFPToInt",
  "ReferenceTypes",
  "SIMD128",
  "SignExt",
].reduce((all, name) => all | binaryen.Features[name], 0);

/**
 * The script and the WebAssembly of Emscripten's, each without what the other does not need.
 *
 * @param {string} script  an ES module
 * @param {Uint8Array} wasm
 * @param {string} askers  scripts that ask the module for things by name
 * @returns {[string, Uint8Array]}
 */
export const leaner = (script, wasm, askers) => {
  const imports = importsOf(wasm);
  const some = reachable(script, imports, askers);
  // some of what it imports are addresses of what it exports
  const less = exporting(wasm, new Set([...imports, ...some.match(/\w+/g)]));
  return [reachable(some, importsOf(less), askers), less];
};

const importsOf = (wasm) => {
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(wasm));
  return new Set(imports.map(({ name }) => name));
};

/** The WebAssembly with exports of these names only, and what they need. */
const exporting = (wasm, names) => {
  const module = binaryen.readBinary(wasm);
  try {
    module.setFeatures(FEATURES);
    for (const { name } of WebAssembly.Module.exports(
      new WebAssembly.Module(wasm),
    ))
      if (!names.has(name)) module.removeExport(name);
    module.runPasses(["remove-unused-module-elements"]);
    return module.emitBinary();
  } finally {
    module.dispose();
  }
};
