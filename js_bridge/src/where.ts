// Where an author's program says something that can go wrong when it runs.

/** Calls from one of the bridge's functions to another are no more than this. */
const DEEPEST = 50;

/** Where the bridge was called from, as notes of a program end: ` (FILE, line N)`; nothing if it cannot be told. */
export const place = (): string => {
  // of so many calls an engine tells us, if it has a limit
  const engine = Error as { stackTraceLimit?: number };
  const { stackTraceLimit } = engine;
  engine.stackTraceLimit = DEEPEST;
  const { stack = "" } = Error();
  engine.stackTraceLimit = stackTraceLimit;
  const calls = [...stack.matchAll(/([^\s(@]+):(\d+):\d+\)?$/gm)];
  const author = calls.find(([, file]) => file !== calls[0][1]);
  const name = author?.[1].replace(/[?#].*$/, "").replace(/.*[/\\]/, "");
  return author ? ` (${name || "the page"}, line ${author[2]})` : "";
};
