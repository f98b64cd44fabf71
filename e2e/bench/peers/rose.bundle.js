// Bundled into one module (bundle.mjs): npm's rose. Its WebAssembly stays a file of its own.

export * from "rose";
