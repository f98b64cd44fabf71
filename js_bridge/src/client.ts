// The page's side of the worker that Python runs in.

import type { Bytes } from "./artifact";
import type { Assets } from "./assets";
import { type Progress, report } from "./progress";
import type { Core, Request } from "./core";

/** What the worker says. */
export type Message =
  /** Its script runs; it holds a lock of this name, if there are locks. */
  | { readonly kind: "alive"; readonly lock: string | undefined }
  | { readonly kind: "ready" }
  | { readonly kind: "progress"; readonly progress: Progress }
  | { readonly kind: "failed"; readonly message: string }
  /** It cannot go on. */
  | { readonly kind: "fatal" }
  | {
      readonly kind: "compiled";
      readonly id: number;
      readonly file: Bytes;
    }
  | { readonly kind: "refused"; readonly id: number; readonly message: string };

/** No worker can be started here. */
export class Blocked extends Error {}

/** The worker has ended, for a reason that nobody gave. */
class Died extends Error {}

interface Waiting {
  resolve(file: Bytes): void;
  reject(error: Error): void;
}

/** One worker. */
class Running {
  /** What has not been answered. */
  private readonly waiting = new Map<number, Waiting>();
  private requests = 0;
  private isAlive = false;
  private readonly worker: Worker;

  /** `ready` is called once with what came of loading; `died` if it ends after that. */
  constructor(
    address: string,
    assets: Assets,
    private readonly ready: (error?: Error) => void,
    private readonly died: () => void,
  ) {
    this.worker = new Worker(address, { type: "module", name: "rose" });
    this.worker.onerror = (event) => {
      event.preventDefault();
      if (this.isAlive) this.end();
      else ready(new Blocked(event.message));
    };
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.postMessage({ assets });
  }

  ask(request: Request): Promise<Bytes> {
    return new Promise((resolve, reject) => {
      const id = ++this.requests;
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, request });
    });
  }

  private hear(data: Message): void {
    switch (data.kind) {
      case "alive":
        this.isAlive = true;
        // the lock is free when the worker is gone, whatever the reason
        if (data.lock)
          void navigator.locks.request(data.lock, () => this.end());
        return;
      case "ready":
        this.ready();
        return;
      case "failed":
        this.ready(Error(data.message));
        return;
      case "progress":
        report(data.progress);
        return;
      case "fatal":
        this.end();
        return;
    }
    const waiting = this.waiting.get(data.id);
    this.waiting.delete(data.id);
    if (data.kind === "compiled") waiting?.resolve(data.file);
    else waiting?.reject(Error(data.message));
  }

  private end(): void {
    this.worker.terminate();
    const error = new Died("Rose's worker has ended");
    this.ready(error);
    this.died();
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}

/**
 * The core in a worker. When the worker dies (out of memory, ended by the browser, Python beyond
 * repair), another one is started and asked once more for what had not been answered.
 */
export class Client implements Core {
  private running: Promise<Running> | undefined;

  constructor(
    private readonly address: string,
    private readonly assets: Assets,
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
          (error) => (error ? reject(error) : resolve(running)),
          gone,
        );
      } catch (cause) {
        reject(new Blocked(String(cause)));
      }
    });
    this.running.catch(gone);
    return this.running;
  }

  async compile(request: Request): Promise<Bytes> {
    try {
      return await (await this.start()).ask(request);
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      return (await this.start()).ask(request);
    }
  }
}
