// What the site's page about diagrams uses of Penrose. build.py makes dist/site/penrose.js of it.

export {
  compile,
  errLocs,
  finalStage,
  isOptimized,
  nextStage,
  parseSubstance,
  prettyPrintFn,
  resample,
  showError,
  start,
  step,
} from "@penrose/core";
