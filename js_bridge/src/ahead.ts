// What a search for a known program takes, begun before there is the program.

import { frozenFiles } from "./frozen";
import { settings } from "./settings";
import { database } from "./store";

/** Begin: what is asked for comes while a page goes on to define its functions. */
export const lookAhead = (): void => {
  // where there is an index, it says whether the cache is needed; and without a cache there is no error
  if (frozenFiles() === undefined && settings.cache) database().catch(() => {});
};
