// Scripts in Python and where they stand: what is wrong with them is told by file and line.

/** The text of a script. */
export interface Source {
  readonly text: string;
  /** What an author calls the place of a line, counted from 1. */
  place(line: number): Promise<string>;
}

const TYPE = "text/x-rose";

/** What an address is called: its last part, unless it is all of a page, a number or none. */
const nameOf = (address: string): string => {
  const { pathname } = new URL(address);
  const name =
    (!/^(data|blob|about):/.test(address) && pathname.replace(/.*\//, "")) ||
    "the page";
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // it has a % of its own
  }
};

/** A script that is given as text. */
export const sourceOf = (text: string): Source => {
  if (typeof text !== "string")
    throw TypeError("python: expected the source as text");
  return { text, place: async (line) => `line ${line} of the Python source` };
};

/** The scripts in the page, in order; they are there when the page has been read. */
export const sourcesIn = async (): Promise<Source[]> => {
  if (typeof document !== "object")
    throw TypeError("python: there is no page here; give the source as text");
  if (document.readyState === "loading")
    await new Promise((read) =>
      document.addEventListener("DOMContentLoaded", read, { once: true }),
    );
  const found = document.querySelectorAll<HTMLScriptElement>(
    `script[type="${TYPE}"]`,
  );
  if (!found.length)
    throw Error(`python: there is no <script type="${TYPE}"> in the page`);
  const inline: string[] = [];
  return Promise.all(
    [...found].map((script) => {
      if (script.src) return fetched(script.src);
      inline.push(script.text);
      return within([...inline]);
    }),
  );
};

const fetched = async (address: string): Promise<Source> => {
  const response = await fetch(address).catch((cause) => {
    throw Error(`python: could not load ${address}`, { cause });
  });
  if (!response.ok)
    throw Error(`python: could not load ${address}: ${response.status}`);
  const text = (await response.text()).replace(/\r\n?/g, "\n");
  const place = async (line: number) => `${nameOf(address)}, line ${line}`;
  return { text, place };
};

/** The last of these scripts within the page. */
const within = (texts: readonly string[]): Source => {
  const text = texts[texts.length - 1];
  const place = async (line: number): Promise<string> => {
    const page = nameOf(address());
    const before = linesBefore(await markup(), texts);
    return before === undefined
      ? `${page}, line ${line} of its script ${texts.length} in Python`
      : `${page}, line ${before + line}`;
  };
  return { text, place };
};

/** Where the page came from: routers may have called it something else since. */
const address = (): string =>
  performance.getEntriesByType("navigation")[0]?.name ?? location.href;

let sent: Promise<string> | undefined;

/** The page as it was sent, which the browser or the frame has kept; empty if neither has. */
const markup = async (): Promise<string> =>
  (location.protocol === "about:" && frameElement?.getAttribute("srcdoc")) ||
  (sent ??= fetch(address(), { cache: "force-cache" }).then(
    async (response) => {
      const bytes = await response.arrayBuffer();
      const text = new TextDecoder(document.characterSet).decode(bytes);
      return text.replace(/\r\n?/g, "\n");
    },
    () => "",
  ));

/** How many lines stand before the last of these scripts, if they are all in the page as it was sent. */
const linesBefore = (
  page: string,
  texts: readonly string[],
): number | undefined => {
  // what stands in a comment is no script
  const all = [...page.matchAll(/<!--[^]*?-->|(<script\b[^]*?)<\/script/gi)];
  let next = 0;
  let start = 0;
  for (const text of texts) {
    next =
      all.findIndex(
        ([, script], k) => k >= next && script?.endsWith(`>${text}`),
      ) + 1;
    if (!next) return undefined;
    const { index, 1: script } = all[next - 1];
    start = index + script.length - text.length;
  }
  return page.slice(0, start).split("\n").length - 1;
};

/** What the core says, with the places as an author knows them. */
export const translated = async (
  message: string,
  sources: readonly Source[],
): Promise<string> => {
  const at = /(^|\()script (\d+), line (\d+)(?=: |\)$)/.exec(message);
  if (!at) return message;
  const [found, before, number, line] = at;
  const place = await sources[+number - 1].place(+line);
  const rest = message.slice(at.index + found.length);
  return message.slice(0, at.index) + before + place + rest;
};
