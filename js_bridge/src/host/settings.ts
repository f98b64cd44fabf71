// What a page can choose: `configure({ … })`.

import type { Configuration } from "../../rose";
import { home, inNode } from "./assets";
import { BOOLEAN, checkOptions, oneOf, type Option } from "../record/options";

interface Settings {
  readonly core: "worker" | "main";
  readonly assets: URL;
  /** How many bytes of compiled programs are kept. */
  readonly cache: number;
  readonly incremental: boolean;
  readonly draft: boolean;
  readonly precise: boolean;
  /** The folder of the index of frozen programs, if it is not `assets`; false: there is none. */
  readonly frozen: URL | false | undefined;
}

const CACHE = 64e6;

export let settings: Settings = {
  core: inNode ? "main" : "worker",
  assets: home,
  cache: inNode ? 0 : CACHE,
  incremental: true,
  draft: false,
  precise: false,
  frozen: inNode ? false : undefined,
};

/** A folder's address, which need not end with a slash. */
const folder = (given: unknown, from: string | URL): URL =>
  new URL(`${given}`.replace(/\/?$/, "/"), from);

/** Whether it is settled where the core runs. */
let isFixed = false;
export const fix = (fixed: boolean): void => {
  isFixed = fixed;
};

const isAddress = (x: any): boolean => {
  try {
    return typeof (x?.href ?? x) === "string" && !!folder(x, home);
  } catch {
    return false;
  }
};

const OPTIONS: Readonly<Record<keyof Configuration, Option>> = {
  core: inNode
    ? [(where) => where === "main", '"main", where there are no pages']
    : oneOf(["worker", "main"]),
  assets: [isAddress, "the address of a folder"],
  frozen: [
    (x) => x === false || isAddress(x),
    "the address of a folder, or false",
  ],
  cache: [
    (limit) => limit === !!limit || (typeof limit === "number" && limit >= 0),
    "true, false or a number of bytes",
  ],
  incremental: BOOLEAN,
  draft: BOOLEAN,
  precise: BOOLEAN,
};

/** The settings that are not what an author says. */
const read: Readonly<Record<string, (given: any) => unknown>> = {
  assets: (given) => folder(given, home),
  frozen: (given) =>
    given !== false && folder(given, globalThis.document?.baseURI ?? home),
  cache: (limit) => (limit === true ? CACHE : +limit),
};

/** Say how the bridge is to work; where the core runs, before it is first needed. */
export const configure = (configuration: Configuration = {}): void => {
  checkOptions("configure", configuration, OPTIONS);
  const given = Object.entries(configuration)
    .filter(([, x]) => x !== undefined)
    .map(([key, x]) => [key, read[key] ? read[key](x) : x]);
  const next: Settings = { ...settings, ...Object.fromEntries(given) };
  if (
    isFixed &&
    (next.core !== settings.core || `${next.assets}` !== `${settings.assets}`)
  )
    throw Error(
      "configure: the core has been started; call configure before ready and compile",
    );
  settings = next;
};
