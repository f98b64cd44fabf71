// All that needs Python, loaded when a program is new: a module for the page, which starts Python on
// its own thread or in a worker, and the script of that worker.

import type { Assets } from "./host/assets";
import { soon } from "./host/abort";
import { Blocked, Client, type Message, sourceOf, WORKER } from "./core/client";
import type { Core, MainCore, Request } from "./core/core";
import { load } from "./core/python";
import { probe } from "./core/probe";
import type { Progress } from "../rose";
import { report } from "./core/progress";
import type { Trusted } from "./host/script";

export { drafted } from "./draft/draft";

export const build = __BRIDGE__;

/** Load Python. */
export const start = (
  where: "main" | "worker",
  assets: Assets,
  trusted: Trusted,
): Promise<Core> =>
  where === "main" ? load(assets, report) : connect(assets, trusted);

/** The core in a worker; on this thread where the page may not have workers. */
const connect = async (assets: Assets, trusted: Trusted): Promise<Core> => {
  const client = new Client(import.meta.url, assets, trusted);
  try {
    await client.begin();
    return client;
  } catch (error) {
    if (!(error instanceof Blocked)) throw error;
    console.warn(
      "Rose may not start a worker here, so the page waits while it compiles; " +
        `if there is a Content-Security-Policy, add worker-src ${sourceOf(import.meta.url)}, and rose to its trusted-types, if any; ` +
        "if there is a Cross-Origin-Embedder-Policy, send it with rose.worker.js, too",
    );
    return load(assets, report);
  }
};

const say = (message: Message): void => postMessage(message);

/** What a worker does: the first message says where the files are, all others are requests. */
const serve = (): void => {
  // the first word: from then on the page would know that this worker has ended
  const alive = soon(held(), PATIENCE).then((lock) =>
    say({ kind: "alive", build, lock }),
  );
  let core: Promise<MainCore>;
  self.onmessage = async ({ data: { assets, request } }) => {
    if (assets !== undefined) {
      const told = (progress: Progress) => say({ kind: "progress", progress });
      core = Promise.all([alive, probe()]).then(() => load(assets, told));
      core.then(
        (core) => {
          say({ kind: "ready" });
          // what went wrong is told when it does again
          practise(core).catch(() => {});
        },
        (error) => say({ kind: "failed", message: (error as Error).message }),
      );
      return;
    }
    say({ kind: "begun" });
    try {
      const file = await (await core).make(request as Request);
      say({ kind: "compiled", file });
    } catch (error) {
      if (
        (error as { cause?: { pyodide_fatal_error?: boolean } }).cause
          ?.pyodide_fatal_error
      )
        say({ kind: "fatal" });
      else say({ kind: "refused", message: (error as Error).message });
    }
  };
};

/** How often it is practised, and how many milliseconds before each time others have. */
const [TURNS, REST] = [24, 60];

/**
 * Have Python compile before it is asked to, a little now and then. Engines make its code fast where that has run
 * often: until then the programs of an author's first changes would take several times as long as later ones.
 */
const practise = async (core: MainCore): Promise<void> => {
  for (let turn = 0; turn < TURNS; ++turn) {
    await new Promise((go) => setTimeout(go, REST));
    core.practise(turn);
  }
};

/** How many milliseconds to wait for a lock, before it goes on without. */
const PATIENCE = 3000;

/** The name of a lock that is held from now on; there are none without https, nor where site data is blocked. */
const held = async (): Promise<string | undefined> => {
  try {
    const lock = `rose ${crypto.randomUUID()}`;
    await new Promise((isHeld, denied) => {
      const hold = () => new Promise(isHeld);
      navigator.locks.request(lock, hold).catch(denied);
    });
    return lock;
  } catch {
    return undefined;
  }
};

if (
  typeof WorkerGlobalScope === "function" &&
  self instanceof WorkerGlobalScope &&
  self.name === WORKER
)
  serve();

declare const WorkerGlobalScope: { new (): unknown };
