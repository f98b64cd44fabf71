// Programs that `rose freeze` compiled ahead of time, in files next to the page.

import { type Bytes, isOf } from "./artifact";
import { assetsIn } from "./assets";
import { settings } from "./settings";

/** `rose.frozen.json`, which `rose freeze` writes; as it comes with Rose, it is empty. */
interface Index {
  /** The build of Rose that compiled the files. */
  readonly build?: string;
  /** Folders of files, relative to the index, and the hashes of the programs there: `HASH.wasm`. */
  readonly folders?: Readonly<Record<string, readonly string[]>>;
  /** The script of the service worker with which the site works offline, if it shall. */
  readonly offline?: string;
}

/** What `rose freeze` puts into a page, to be told of what is compiled and of a start of Python. */
type Freezer = (work: Promise<unknown>, key?: string) => void;

export const freezer = (): Freezer | undefined =>
  (globalThis as { roseFreezer?: Freezer }).roseFreezer;

let address: string | undefined;
let files: Promise<Map<string, URL>>;

const INDEX = "rose.frozen.json";

/** The addresses of the frozen files, by the hashes of their programs. */
const read = async (from: string): Promise<Map<string, URL>> => {
  const found = new Map<string, URL>();
  const response = await fetch(from).catch(() => undefined);
  if (!response?.ok) return found;
  const {
    build,
    folders = {},
    offline,
  }: Index = await response.json().catch(() => ({}));
  if (offline)
    // what cannot be registered here does not work offline, and else works
    navigator.serviceWorker?.register(new URL(offline, from)).catch(() => {});
  if (build !== undefined && build !== __BUILD__)
    console.warn(
      `Rose: what ${from} names was frozen with another build of Rose, so that Python is loaded; ` +
        "run `rose freeze` again",
    );
  for (const [folder, keys] of Object.entries(folders))
    for (const key of keys)
      found.set(key, new URL(`${folder}${key}.wasm`, from));
  return found;
};

/** The frozen file of a program, if there is one. */
export const frozen = async (
  key: string,
  recording: Bytes,
): Promise<Bytes | undefined> => {
  if (settings.frozen === false) return undefined;
  const from = assetsIn(settings.frozen ?? settings.assets)[INDEX];
  // a bundler has made a copy of the empty one, or put it into the script: nothing can be frozen there
  if (!from.endsWith(`/${INDEX}`)) return undefined;
  if (address !== from) {
    address = from;
    files = read(from);
  }
  const url = (await files).get(key);
  if (url === undefined) return undefined;
  try {
    const file = new Uint8Array(await (await fetch(url)).arrayBuffer());
    if (isOf(file, recording)) return file;
  } catch {
    // as if it were damaged
  }
  console.warn(
    `Rose: ${url} is missing or damaged, so that Python is loaded; run \`rose freeze\` again`,
  );
  return undefined;
};
