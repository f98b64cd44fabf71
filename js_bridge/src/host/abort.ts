// Giving up what takes long, or not waiting for it.

import type { Option } from "../record/options";

/** One of another window is as good as this one's. */
export const SIGNAL: Option = [
  (x) => "throwIfAborted" in Object(x),
  "an AbortSignal",
];

/**
 * Call `act` in so many milliseconds, unless what this gives is called before. After a script that runs for long,
 * timers go off before what has come meanwhile is heard: half of the time is left for that.
 */
export const later = (milliseconds: number, act: () => void): (() => void) => {
  const half = milliseconds / 2;
  let timer = setTimeout(() => {
    timer = setTimeout(act, half);
  }, half);
  return () => clearTimeout(timer);
};

/** What `promise` gives if it does so in that many milliseconds, else undefined. */
export const soon = <T>(
  promise: Promise<T> | undefined,
  patience: number,
): Promise<T | undefined> => {
  let stop: () => void;
  const late = new Promise<undefined>((wake) => {
    stop = later(patience, () => wake(undefined));
  });
  return Promise.race([promise, late]).finally(() => stop());
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
