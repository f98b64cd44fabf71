// Python in the page: its scripts of the type `text/x-rose`. What reads them is loaded with the first.

import { SIGNAL, unless } from "../host/abort";
import { assetIn } from "../host/assets";
import { part } from "../core/core";
import { FnData } from "../record/data";
import { makeFn } from "../record/functions";
import { Wanted } from "../call/search";
import { checkOptions } from "../record/options";
import { noteNumber, Recorder, Var } from "../record/recorder";
import { settings } from "../host/settings";
import { BOOL, fin, NULL, REAL, structOf, TAN, vecOf } from "../record/types";

/** What `scripts.ts` uses of the bridge: it must be the page's own, of which it cannot have a copy. */
const bridge = {
  ...{ FnData, Recorder, Var, makeFn, noteNumber, Wanted },
  ...{ BOOL, NULL, REAL, TAN, fin, structOf, vecOf },
};

export type Bridge = typeof bridge;

type Scripts = typeof import("./scripts");

/** The functions that the page's scripts in Python define, or those that `source` does. */
export const python = async (
  source?: string,
  options: { signal?: AbortSignal } = {},
): Promise<object> => {
  checkOptions("python", options, { signal: SIGNAL });
  const { signal } = options;
  const address = assetIn(settings.assets, "rose.python.js");
  const functions = part<Scripts>(address).then(({ functionsOf }) =>
    functionsOf(bridge, source, signal),
  );
  return unless(signal, functions);
};
