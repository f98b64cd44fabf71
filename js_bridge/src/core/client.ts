// The page's side of the worker that Python runs in.

import type { Bytes } from "../known/artifact";
import { later } from "../host/abort";
import type { Assets } from "../host/assets";
import type { Progress } from "../../rose";
import { report, reportFailure } from "./progress";
import type { Core, Request } from "./core";
import type { Trusted } from "../host/script";

/** What the worker says. */
export type Message =
  /** Its script runs, which is of this build; it holds a lock of this name, if there are locks. */
  | {
      readonly kind: "alive";
      readonly build: string;
      readonly lock: string | undefined;
    }
  | { readonly kind: "ready" }
  | { readonly kind: "progress"; readonly progress: Progress }
  | { readonly kind: "failed"; readonly message: string }
  /** A request has come, with which it is busy from now on. */
  | { readonly kind: "begun" }
  /** It cannot go on. */
  | { readonly kind: "fatal" }
  | { readonly kind: "compiled"; readonly file: Bytes }
  | { readonly kind: "refused"; readonly message: string };

/** No worker can be started here. */
export class Blocked extends Error {
  constructor(address: string, cause: unknown) {
    super(
      `Rose could not start a worker from ${address}; its host or the page's Content-Security-Policy denies it`,
      { cause },
    );
  }
}

/** The worker has ended, for a reason that nobody gave. */
class Died extends Error {
  constructor() {
    super("Rose's worker has ended");
  }
}

interface Waiting {
  resolve(file: Bytes): void;
  reject(error: Error): void;
}

/**
 * How many milliseconds a program may still be compiled for that nobody wants any more: most are
 * finished sooner than another worker would be there.
 */
const GRACE = 30;

/**
 * How many milliseconds a worker may take to say its first word, or that a request has come. The page has loaded
 * the worker's script already, and asks who is idle: one that is silent for so long has been ended before it could
 * take a lock, or where there are none.
 */
const PATIENCE = 10_000;

/** How many more it may take for its script, which some hosts have loaded anew. */
const patienceFor = (script: string): number => {
  const [loaded] = performance.getEntriesByName(script);
  return loaded ? 3 * loaded.duration : 0;
};

/** Whether a file lies where the page itself is from, which a frame with `srcdoc` has no address to tell. */
const isOwn = (address: string): boolean =>
  new URL(address).origin === globalThis.origin;

/**
 * What a worker's script is from, as a Content-Security-Policy says it. It has to be the page's own; what that imports
 * may be another's. Of a page without an origin, Chromium starts no module from a blob; of others, one from data
 * could keep nothing.
 */
export const sourceOf = (address: string): "'self'" | "blob:" | "data:" =>
  isOwn(address) ? "'self'" : globalThis.origin === "null" ? "data:" : "blob:";

/** The address of a worker's script. */
const scriptOf = (address: string): string => {
  const source = sourceOf(address);
  if (source === "'self'") return address;
  const type = "text/javascript";
  const script = `import ${JSON.stringify(address)};`;
  return source === "data:"
    ? `data:${type},${encodeURIComponent(script)}`
    : URL.createObjectURL(new Blob([script], { type }));
};

/** What our worker is called, by which its script knows that it is in one. */
export const WORKER = "rose.worker.js";

/** One worker, which does one thing at a time. */
class Running {
  /** Who waits for its answer. */
  private waiting: Waiting | undefined;
  private isAlive = false;
  private hasEnded = false;
  private heard: (() => void) | undefined;
  private readonly script: string;
  private readonly worker: Worker;

  /** `ready` is called once with what came of loading; `died` if it ends after that. */
  constructor(
    private readonly address: string,
    assets: Assets,
    trusted: Trusted,
    private readonly ready: (error?: Error) => void,
    private readonly died: () => void,
  ) {
    this.script = scriptOf(address);
    const options = { type: "module", name: WORKER } as const;
    this.worker = new Worker(trusted(this.script), options);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.end(this.isAlive ? new Died() : new Blocked(address, event.message));
    };
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.say({ assets }, PATIENCE + patienceFor(address));
  }

  /** Tell it something, at which it is to say a word. */
  private say(
    message: { assets: Assets } | { request: Request },
    patience = PATIENCE,
  ): void {
    this.worker.postMessage(message);
    this.heard = later(patience, () => this.end());
  }

  /** Compile a program, unless nobody wants it: that ends the worker, which is busy and hears nothing. */
  async ask(request: Request, signal?: AbortSignal): Promise<Bytes> {
    signal?.throwIfAborted();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = (): void => {
      timer = setTimeout(() => this.end(), GRACE);
    };
    signal?.addEventListener("abort", stop);
    try {
      return await new Promise((resolve, reject) => {
        if (this.hasEnded) throw new Died();
        this.waiting = { resolve, reject };
        this.say({ request });
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    }
  }

  private hear(data: Message): void {
    this.heard?.();
    switch (data.kind) {
      case "alive":
        this.isAlive = true;
        URL.revokeObjectURL(this.script); // if it is one
        if (data.build !== __BRIDGE__)
          this.end(
            Error(
              `${this.address} is of another build of Rose than the page; load the page anew`,
            ),
          );
        // the lock is free when the worker is gone, whatever the reason
        else if (data.lock)
          void navigator.locks.request(data.lock, () => this.end());
        return;
      case "ready":
        this.ready();
        return;
      case "failed":
        this.end(Error(data.message));
        return;
      case "progress":
        report(data.progress);
        return;
      case "fatal":
        this.end();
        return;
      case "compiled":
        this.waiting?.resolve(data.file);
        return;
      case "refused":
        this.waiting?.reject(Error(data.message));
    }
  }

  private end(error: Error = new Died()): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.worker.terminate();
    URL.revokeObjectURL(this.script);
    reportFailure();
    this.ready(error);
    this.died();
    this.waiting?.reject(error);
  }
}

const doing = ({ work }: Request): string => {
  if ("scripts" in work) return "ran scripts in Python";
  const { functions, root } = JSON.parse(work.program.header);
  return `compiled ${functions[root].name}`;
};

/**
 * The core in a worker. When the worker dies (out of memory, ended by the browser, Python beyond
 * repair), another one is started and asked once more.
 */
export class Client implements Core {
  private running: Promise<Running> | undefined;
  /** What was asked for last: it is done, whatever came of it, before the next begins. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly address: string,
    private readonly assets: Assets,
    private readonly trusted: Trusted,
  ) {}

  /** The worker, once it can compile. */
  start(): Promise<Running> {
    const gone = (): void => {
      this.running = undefined;
    };
    this.running ??= new Promise<Running>((resolve, reject) => {
      try {
        const running: Running = new Running(
          this.address,
          this.assets,
          this.trusted,
          (error) => (error ? reject(error) : resolve(running)),
          gone,
        );
      } catch (cause) {
        reject(new Blocked(this.address, cause));
      }
    });
    this.running.catch(gone);
    return this.running;
  }

  /** Have a worker that can compile: another one, if the first ends while Python starts. */
  async begin(): Promise<void> {
    await this.twice(
      () => "started Python",
      () => this.start(),
    );
  }

  make(request: Request, signal?: AbortSignal): Promise<Bytes> {
    const file = this.last.then(() => this.ask(request, signal));
    this.last = file.catch(() => {});
    return file;
  }

  private ask(request: Request, signal?: AbortSignal): Promise<Bytes> {
    const work = async (): Promise<Bytes> =>
      (await this.start()).ask(request, signal);
    return this.twice(() => doing(request), work, signal);
  }

  /** Do something with a worker, and if that ends, or its script does not come, with another one. */
  private async twice<T>(
    doing: () => string,
    work: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Died || error instanceof Blocked)) throw error;
      this.start().catch(() => {}); // who has given one up will want another, and is told then
      signal?.throwIfAborted();
      return await work().catch((again) => {
        if (!(again instanceof Died)) throw again;
        throw Error(
          `Rose's worker has ended twice while it ${doing()}; it may take more memory or stack than there is`,
        );
      });
    }
  }
}
