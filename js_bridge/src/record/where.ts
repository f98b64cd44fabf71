// Where an author's program says something that can go wrong when it runs.

/** Calls from one of the bridge's functions to another are no more than this. */
const DEEPEST = 50;

/** What `work` gives. Errors that it makes tell so many calls that the author's are among them. */
export const deeply = <T>(work: () => T): T => {
  const engine = Error as { stackTraceLimit?: number };
  const { stackTraceLimit } = engine;
  // of so many calls an engine tells us, if it has a limit
  engine.stackTraceLimit = Math.max(DEEPEST, stackTraceLimit ?? 0);
  try {
    return work();
  } finally {
    engine.stackTraceLimit = stackTraceLimit;
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
