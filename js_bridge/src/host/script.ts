// Scripts that are loaded while a page runs, and why one cannot be had: engines say at most that it cannot.

/** All addresses are as they should be: they are Rose's own. */
const rules = { createScriptURL: (address: string) => address };

/** What not all engines have. */
type Trusting = {
  trustedTypes?: {
    createPolicy(name: string, policy: typeof rules): typeof rules;
  };
};

/** What pages with Trusted Types start workers from: one for all, since they allow none of the same name. */
let policy: typeof rules | undefined;

/** The address of a script, as pages with Trusted Types take it for a worker. */
export const trusted = (address: string): string => {
  policy ??=
    (globalThis as Trusting).trustedTypes?.createPolicy("rose", rules) ?? rules;
  return policy.createScriptURL(address);
};

export type Trusted = typeof trusted;

/** Why a page without an origin may not load what is no data of its own. */
const NO_ORIGIN =
  "a file or sandbox may not; use a host (python3 -m http.server) or allow-same-origin";

/** Of a policy that forbids it, which in a worker is that of the worker's own script, engines tell no more. */
const DAMAGED =
  "what it sends is damaged, or a Content-Security-Policy forbids it: put it there anew, or add its host to script-src";

const reasonOf = (address: string): Promise<string> =>
  fetch(address)
    .then(async (response) => {
      const { type } = await response.blob();
      const hint =
        !response.ok || type.includes("html")
          ? "configure({ assets }) says where it is"
          : type.includes("javascript")
            ? DAMAGED
            : "it has to be sent as text/javascript";
      return `its host answers ${response.status}, ${type}; ${hint}`;
    })
    .catch(() =>
      globalThis.origin === "null" ? NO_ORIGIN : "the connection failed",
    );

/** How many modules could not be had, or were not right. */
let failed = 0;

/** Have the next attempts be at other addresses: engines keep what came, until the page goes. */
export const askAnew = (): void => {
  ++failed;
};

/**
 * A module; throws why there is none. Firefox remembers that an address had none, until the page goes: the next
 * attempts are at others of the same file. One that can be had now, when it is asked for the reason, may have been cut
 * off, and is imported once more.
 */
export const imported = async <T>(
  address: string,
  isLast?: boolean,
): Promise<T> => {
  try {
    return await import(failed ? `${address}#${failed}` : address);
  } catch (cause) {
    askAnew();
    const reason = await reasonOf(address);
    if (!isLast && reason.endsWith(DAMAGED)) return imported(address, true);
    throw Error(`Rose could not load ${address}: ${reason}`, { cause });
  }
};
