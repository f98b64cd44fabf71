// Where an author's program says what goes wrong, now or when it runs.

/** Calls from one of the bridge's functions to another are no more than this. */
const DEEPEST = 50;

/** What some engines have. */
const engine = Error as {
  stackTraceLimit?: number;
  captureStackTrace?(error: Error, callee: Function): void;
};

/** What `work` gives. Errors that it makes tell so many calls that the author's are among them. */
export const deeply = <T>(work: () => T): T => {
  const { stackTraceLimit } = engine;
  // of so many calls an engine tells us, if it has a limit, and nobody has frozen what it is a property of
  const limit = (calls: unknown) =>
    Reflect.set(engine, "stackTraceLimit", calls);
  limit(Math.max(DEEPEST, stackTraceLimit ?? 0));
  try {
    return work();
  } finally {
    limit(stackTraceLimit);
  }
};

/** Where the bridge was called from, as notes of a program end: ` (FILE, line N)`; nothing if it cannot be told. */
export const place = (): string => {
  const { stack = "" } = deeply(() => Error());
  const calls = [...stack.matchAll(/([^\s(@]+):(\d+):\d+\)?$/gm)];
  const author = calls.find(([, file]) => file !== calls[0][1]);
  const name = author?.[1].replace(/[?#].*$/, "").replace(/.*[/\\]/, "");
  return author ? ` (${name || "the page"}, line ${author[2]})` : "";
};

/**
 * Put where a value stands in front of what is wrong with it: `.x[2]: invalid value…`. Of the calls that the error
 * tells, which are ten in some engines, none is one within the bridge, which leaves room for the author's.
 */
export const within = (error: unknown, step: string): unknown => {
  try {
    if (error instanceof Error) {
      error.message =
        step + (/^[.[]/.test(error.message) ? "" : ": ") + error.message;
      if (engine.captureStackTrace) {
        // of an error itself, an engine may begin its stack with what it said at first
        const likeness: Error = Object.create(error);
        engine.captureStackTrace(likeness, within);
        error.stack = likeness.stack;
      }
    }
  } catch {
    // one of an author's that cannot be changed
  }
  return error;
};
