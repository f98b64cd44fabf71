// Giving up what takes long, or not waiting for it.

import type { Option } from "../record/options";

/** One of another window is as good as this one's. */
export const SIGNAL: Option = [
  (x) => "throwIfAborted" in Object(x),
  "an AbortSignal",
];

/** What `promise` gives if it does so in that many milliseconds, else undefined. */
export const soon = <T>(
  promise: Promise<T> | undefined,
  patience: number,
): Promise<T | undefined> => {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<undefined>((wake) => {
    timer = setTimeout(wake, patience);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

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
