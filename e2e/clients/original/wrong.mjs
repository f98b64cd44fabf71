// Ours with an error in it, for a test that the original's tests do find errors.

export * from "../../../dist/rose.js";
export { sub as add } from "../../../dist/rose.js";
