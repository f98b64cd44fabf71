// Stands for `import.meta.url` in rose.global.js.
export const scriptAddress =
  globalThis.document?.currentScript?.src ||
  globalThis.document?.baseURI ||
  globalThis.location?.href;
