// Where an author's program says something that can go wrong when it runs.

/** Where the bridge was called from, as notes of a program end: ` (FILE, line N)`; nothing if it cannot be told. */
export const place = (): string => {
  const calls = [
    ...(Error().stack ?? "").matchAll(/([^\s(@]+):(\d+):\d+\)?$/gm),
  ];
  const author = calls.find(([, file]) => file !== calls[0][1]);
  const name = author?.[1].replace(/[?#].*$/, "").replace(/.*[/\\]/, "");
  return author ? ` (${name || "the page"}, line ${author[2]})` : "";
};
