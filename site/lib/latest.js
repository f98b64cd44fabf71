// Of many requests, the latest counts.

/**
 * A function that does one piece of work at a time. What is asked for meanwhile waits, and only the
 * last of that is done; `isLatest()` tells the work whether anyone still waits for it. Work that fails does so like
 * any script, and others come after it.
 *
 * @template T
 * @param {(input: T, isLatest: () => boolean) => Promise<void>} work
 * @returns {(input: T) => void}
 */
export const latest = (work) => {
  let busy = false;
  /** @type {{ input: T } | undefined} */
  let waiting;
  return async (wanted) => {
    waiting = { input: wanted };
    if (busy) return;
    busy = true;
    while (waiting) {
      const { input } = waiting;
      waiting = undefined;
      await work(input, () => !waiting).catch((error) => reportError(error));
    }
    busy = false;
  };
};
