// What the tests do with Penrose, whichever rose it was bundled with.

import * as penrose from "@penrose/core";
import * as rose from "rose";

/**
 * Load our core, if this is the bundle with it, from the folder `assets`. Every compilation is one:
 * nothing is kept from one to the next.
 */
export const start = async (assets, core = "worker", options = {}) => {
  rose.configure?.({
    assets,
    core,
    cache: false,
    frozen: false,
    ...options,
  });
  await rose.ready?.();
};

const unwrap = (result) => {
  if (result.isErr()) throw Error(penrose.showError(result.error));
  return result.value;
};

/** The state of a diagram before any layout. @param {{ domain, substance, style, variation }} trio */
export const load = async (trio) => unwrap(await penrose.compile(trio));

/**
 * Energy, gradient, and every objective and constraint of one stage at the point `xs`.
 *
 * @returns {{ phi: number, gradient: Float64Array, objectives: number[], constraints: number[] }}
 */
export const evaluate = (state, stage, xs = state.varyingValues) => {
  const gradient = new Float64Array(xs.length);
  const masks = state.constraintSets.get(stage);
  const { weight } = state.params;
  return {
    ...state.gradient(masks, new Float64Array(xs), weight, gradient),
    gradient,
  };
};

/** Lay out a diagram, all stages. */
export const optimize = (state) => unwrap(penrose.optimize(state));

/** All numbers of the evaluated shapes, in a row. */
export const numbers = (state) => {
  const found = [];
  const collect = (value) => {
    if (typeof value === "number") found.push(value);
    else if (value instanceof Map) value.forEach(collect);
    else if (typeof value === "object" && value !== null)
      for (const key of Object.keys(value))
        if (key !== "path") collect(value[key]); // where in the Style program it is from
  };
  collect(state.computeShapes(state.varyingValues));
  return found;
};

/** What stands for every image that a diagram asks for. */
const PHOTO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"><rect width="4" height="3" fill="#fc8" /></svg>';

/** The same state with its energy and gradient recorded, differentiated and compiled once more. */
export const anew = async (state) => {
  const { inputs, objFns, constrFns } = state;
  const gradient = await penrose.genGradient(
    inputs.map(({ handle }) => handle),
    objFns.map(({ output }) => output),
    constrFns.map(({ output }) => output),
  );
  return { ...state, gradient };
};

/** Say whether functions may be drafts before they are compiled; those of npm's rose never are. */
export const setDraft = (draft) => rose.configure?.({ draft });

/** The picture. */
export const draw = (state) =>
  penrose.toSVG(state, async () => PHOTO, "diagram");

/** Names of everything that a Style program can call. */
export const library = {
  constraints: Object.keys(penrose.constrDict),
  objectives: Object.keys(penrose.objDict),
  functions: Object.keys(penrose.compDict),
};
