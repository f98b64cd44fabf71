// Programs that `rose freeze` compiled ahead of time, in files next to the page.

import { soon } from "../host/abort";
import { type Bytes, isOf } from "./artifact";
import { assetIn, isAsBuilt } from "../host/assets";
import { trusted } from "../host/script";
import { settings } from "../host/settings";

/** `rose.frozen.json`, which `rose freeze` writes; as it comes with Rose, it is empty. */
interface Index {
  /** The build of Rose that compiled the files. */
  readonly build?: string;
  /** Folders of files, relative to the index, and the hashes of the programs there: `HASH.wasm`. */
  readonly folders?: Readonly<Record<string, readonly string[]>>;
  /** The smallest of the files themselves, in base 64, by the hashes of their programs. */
  readonly small?: Readonly<Record<string, string>>;
  /** The script of the service worker with which the site works offline, if it shall. */
  readonly offline?: string;
}

/** Where a frozen file is, and what is in it, if the index has it. */
interface Frozen {
  readonly url: URL;
  readonly content: string | undefined;
}

type Files = ReadonlyMap<string, Frozen>;

let asked: string | undefined;
let files: Promise<Files>;
/** These, or undefined if they do not come in time. */
let inTime: Promise<Files | undefined>;

/**
 * How many milliseconds the index may take before Python is asked, which is megabytes to load: more than it takes
 * on the slowest network, where it is asked for while the page is still on its way.
 */
const PATIENCE = 3000;

/** How many milliseconds a frozen file may take. */
const LONGEST = 60_000;

const INDEX = "rose.frozen.json";

/**
 * Have a service worker keep the site, unless it has one: either would take the other's place at every visit. In
 * some frames even to ask for one is an error.
 */
const offer = async (script: URL) => {
  const { serviceWorker } = navigator;
  const found = await serviceWorker.getRegistration(script);
  if (found?.scope !== new URL(".", script).href)
    await serviceWorker.register(trusted(script.href));
};

/** What `read` makes of an answer; who breaks off, as on a train, or is in trouble, is asked once more. */
const twice = <T>(
  address: string | URL,
  read: (answer: Response) => Promise<T>,
): Promise<T> => {
  const ask = async () => {
    const answer = await fetch(address);
    if (answer.status > 499) throw answer;
    return read(answer);
  };
  return ask().catch(ask);
};

/** The frozen files, by the hashes of their programs. */
const read = async (from: string): Promise<Files> => {
  const found = new Map<string, Frozen>();
  const {
    build,
    folders = {},
    small = {},
    offline,
  }: Index = await twice(from, async (answer) =>
    answer.ok ? answer.json() : {},
  );
  if (offline)
    // what cannot be registered here does not work offline, and else works
    void offer(new URL(offline, from)).catch(() => {});
  if (build !== undefined && build !== __BUILD__)
    console.warn(
      `Rose: the programs in ${from} were frozen by another build of Rose, so Python is loaded; ` +
        "run `rose freeze` again",
    );
  for (const [folder, keys] of Object.entries(folders))
    for (const key of keys)
      found.set(key, {
        url: new URL(`${folder}${key}.wasm`, from),
        content: small[key],
      });
  return found;
};

/** Where the index is, if anything can be frozen. */
export const indexAddress = (): string | undefined => {
  const { frozen, assets } = settings;
  if (frozen === false) return undefined;
  const address = assetIn(frozen ?? assets, INDEX);
  // a bundler has made a copy of the empty one, or put it into the script: nothing can be frozen there
  return address.endsWith(`/${INDEX}`) ? address : undefined;
};

/** What is frozen, which is asked for once; nothing if nothing can be. */
export const frozenFiles = (): Promise<Files> | undefined => {
  const address = indexAddress();
  if (address === undefined) return undefined;
  if (address !== asked) {
    asked = address;
    // one that is damaged names nothing
    files = read(address).catch(() => new Map());
    inTime = soon(files, PATIENCE);
  }
  return files;
};

/**
 * Ask for the index before there is a program: it comes while a page defines its functions. What a bundler has
 * put together has to be told first where Rose's files are.
 */
export const askAhead = (): void => {
  if (isAsBuilt) void frozenFiles();
};

/** Whether a program is frozen, if that is known in so many milliseconds, or as soon as the index should be there. */
export const isFrozen = async (key: string, patience?: number) => {
  const found = frozenFiles();
  // who was late may be here by now
  const known = patience
    ? soon(found, patience)
    : Promise.race([found, inTime]);
  return found && (await known)?.has(key);
};

const contentOf = async ({ url, content }: Frozen): Promise<Bytes> =>
  content === undefined
    ? new Uint8Array(
        (await soon(
          twice(url, (answer) => answer.arrayBuffer()),
          LONGEST,
        ))!,
      )
    : Uint8Array.from(atob(content), (c) => c.charCodeAt(0));

/** The frozen file of a program, if there is one. */
export const frozen = async (
  key: string,
  recording: Bytes,
): Promise<Bytes | undefined> => {
  const found = (await frozenFiles())?.get(key);
  if (found === undefined) return undefined;
  try {
    const file = await contentOf(found);
    if (isOf(file, recording)) return file;
  } catch {
    // as if it were damaged
  }
  console.warn(
    `Rose: ${found.url} is missing or damaged, so Python may be loaded; run \`rose freeze\` again`,
  );
  return undefined;
};
