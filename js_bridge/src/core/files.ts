// The runtime's files: asked for at once, counted as they come, and compared with what was built.

import type { Bytes } from "../known/artifact";
import { later } from "../host/abort";
import type { Assets } from "../host/assets";
import { hash } from "../known/identity";
import { askAnew, imported } from "../host/script";

export type Name = keyof Assets;

/** Bytes of all files that were asked for: how many have come, of how many. */
export type Count = (loaded: number, total: number) => void;

export const isLocal = (address: string): boolean =>
  address.startsWith("file:");

/** The browser's own: a worker replaces that of its thread. */
const { fetch } = globalThis;

type Kind = new (message: string, options: ErrorOptions) => Error;

/** A connection that breaks off, as on a train, or a host in trouble, is tried once more a little later. */
const pause = () => new Promise((wake) => setTimeout(wake, 1000));

/** How many milliseconds nothing may come before a connection is taken for one that has broken off. */
const PATIENCE = 30_000;

/** A file is not as long as it was built. */
class OtherLength extends Error {}

export class Files {
  private readonly asked = new Map<Name, Promise<Bytes>>();
  private readonly ending = new AbortController();
  private loaded = 0;
  private total = 0;

  constructor(
    private readonly assets: Assets,
    private readonly count: Count,
  ) {}

  /** A file; throws if it is missing, or not as it was built. */
  bytes(name: Name): Promise<Bytes> {
    let found = this.asked.get(name);
    if (found === undefined) {
      found = this.read(name);
      found.catch(() => {}); // it may be that nobody waits for it
      this.asked.set(name, found);
    }
    return found;
  }

  /**
   * A script, which is run when it has been compared; the engine has it from its own cache then. From the bytes
   * themselves, a strict Content-Security-Policy lets nobody import. A script of another length may be right, too,
   * since development servers and minifiers write scripts anew, if it has the `part` that is wanted of it.
   */
  async script<T>(name: Name, part: keyof T): Promise<T> {
    let differs: Error | undefined;
    await this.bytes(name).catch((error) => {
      if (!(error instanceof OtherLength)) throw error;
      differs = error;
    });
    const script = await imported<T>(this.assets[name]).catch((error) => {
      throw differs ?? error;
    });
    if (differs) {
      if (!script[part]) {
        askAnew();
        throw differs;
      }
      console.info(
        `Rose: ${this.assets[name]} is not as it was built, but runs`,
      );
    }
    return script;
  }

  /** Have no more of what is still on its way. */
  stop(): void {
    this.ending.abort();
  }

  private async read(name: Name): Promise<Bytes> {
    const address = this.assets[name];
    if (isLocal(address)) {
      const name = "node:fs/promises"; // in a variable, so that no bundler looks for it
      const { readFile } = await import(name);
      return new Uint8Array(await readFile(new URL(address)));
    }
    const [size, ...hashes] = __FILES__[name];
    this.total += size;
    this.count(this.loaded, this.total);
    const fault = (what: string, cause?: unknown, Kind: Kind = Error) =>
      new Kind(`Rose could not load ${address}: ${what}`, { cause });
    const bytes = new Uint8Array(size);
    let at = 0;
    const attempt = async (cache?: RequestCache): Promise<Response> => {
      this.loaded -= at;
      at = 0;
      const breaking = new AbortController();
      const { signal } = breaking;
      const stop = () => breaking.abort();
      const heard = <T>(coming: Promise<T>): Promise<T> =>
        coming.finally(later(PATIENCE, stop));
      this.ending.signal.throwIfAborted();
      this.ending.signal.addEventListener("abort", stop);
      const response = await heard(fetch(address, { signal, cache }));
      if (response.ok) {
        for (const reader = response.body!.getReader(); ;) {
          const { done, value } = await heard(reader.read());
          if (done) break;
          if (at + value.length <= size) bytes.set(value, at);
          at += value.length;
          this.loaded += value.length;
          this.count(this.loaded, this.total);
        }
        // not all engines tell that a file was cut off; what is whole may have been sent as more bytes, packed
        if (at < Math.min(size, +response.headers.get("content-length")!))
          throw Error();
      }
      return response;
    };
    const matches = async () => at === size && (await isIntact(bytes, hashes));
    let isRight = false;
    let response: Response;
    try {
      const again = () => pause().then(() => attempt());
      response = await attempt().then(
        (first) => (first.status > 499 ? again() : first),
        again,
      );
      isRight = response.ok && (await matches());
      // the browser may keep one of the build before
      if (response.ok && !isRight) {
        response = await attempt("reload");
        isRight = await matches();
      }
    } catch (cause) {
      throw fault(`the connection failed after ${at} of ${size} bytes`, cause);
    }
    if (!response.ok) throw fault(`its host answers ${response.status}`);
    this.loaded += size - at;
    if (!isRight) {
      const type = response.headers.get("content-type");
      throw fault(
        `it is not the file that belongs to this build, but ${type} of ${at} bytes`,
        undefined,
        at === size ? Error : OtherLength,
      );
    }
    return bytes;
  }
}

/** Pages without https have no hashes of their engine's. */
const isIntact = async (
  bytes: Bytes,
  [digest, ours]: readonly string[],
): Promise<boolean> => {
  if (!globalThis.crypto?.subtle) return hash(bytes) === ours;
  const found = await crypto.subtle.digest("SHA-256", bytes);
  return btoa(String.fromCharCode(...new Uint8Array(found))) === digest;
};
