// Giving up what takes long.

/** What `promise` gives; or the signal's reason as an error, as soon as there is one. */
export const unless = <T>(
  signal: AbortSignal | undefined,
  promise: Promise<T>,
): Promise<T> => {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    const done = (): void => signal.removeEventListener("abort", stop);
    promise.then(resolve, reject).finally(done);
  });
};
