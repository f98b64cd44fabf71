// Which construct of a program went wrong, and on which of its author's lines.

/** A construct that an author uses, such as `root`, on the line where that happens. */
export class Construct {
  private readonly place: string;

  constructor(readonly name: string) {
    this.place = place(Error().stack ?? "");
  }

  /** What is said of something that went wrong here. */
  note(complaint: string): string {
    return `${this.name}: ${complaint}${this.place}`;
  }
}

/** Where a call came from outside of the file that the first line of its stack is in: ` (FILE, line N)`. */
const place = (stack: string): string => {
  const calls = [...stack.matchAll(/([^\s(@]+):(\d+):\d+\)?$/gm)];
  const author = calls.find(([, file]) => file !== calls[0][1]);
  const name = author?.[1].replace(/[?#].*$/, "").replace(/.*[/\\]/, "");
  return author ? ` (${name || "the page"}, line ${author[2]})` : "";
};
