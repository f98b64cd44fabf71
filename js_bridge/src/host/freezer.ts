// Who compiles ahead of time what this page compiles, if the page is open for that.

/**
 * What `rose freeze` puts into a page, to be told of what is compiled, and where that is looked for among what
 * is frozen; and of a start of Python. What the signal has given up is no mistake.
 */
type Freezer = (
  work: Promise<unknown>,
  key?: string,
  index?: string,
  signal?: AbortSignal,
) => void;

export const freezer = (): Freezer | undefined =>
  (globalThis as { roseFreezer?: Freezer }).roseFreezer;
