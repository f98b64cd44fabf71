// The runtime's files: asked for at once, counted as they come, and compared with what was built.

import type { Bytes } from "../known/artifact";
import type { Assets } from "./assets";

export type Name = keyof Assets;

/** Bytes of all files that were asked for: how many have come, of how many. */
export type Count = (loaded: number, total: number) => void;

export const isLocal = (address: string): boolean =>
  address.startsWith("file:");

/** The browser's own: a worker replaces that of its thread. */
const { fetch } = globalThis;

export class Files {
  private readonly asked = new Map<Name, Promise<Bytes>>();
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

  /** What is wrong with the first of these files that is missing, or not as it was built. */
  async fault(names: readonly Name[]): Promise<unknown> {
    for (const name of names)
      try {
        await this.bytes(name);
      } catch (error) {
        return error;
      }
    return undefined;
  }

  private async read(name: Name): Promise<Bytes> {
    const address = this.assets[name];
    if (isLocal(address)) {
      const name = "node:fs/promises"; // in a variable, so that no bundler looks for it
      const { readFile } = await import(name);
      return new Uint8Array(await readFile(new URL(address)));
    }
    const [size, digest] = __FILES__[name];
    this.total += size;
    this.count(this.loaded, this.total);
    const response = await fetch(address).catch((cause) => {
      throw Error(`Rose could not load ${address}`, { cause });
    });
    if (!response.ok)
      throw Error(`Rose could not load ${address}: ${response.status}`);
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const reader = response.body!.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (at + value.length <= size) bytes.set(value, at);
      at += value.length;
      this.loaded += value.length;
      this.count(this.loaded, this.total);
    }
    if (at !== size || !(await isIntact(bytes, digest)))
      throw Error(
        `Rose could not load ${address}: it is not the file that belongs to this build`,
      );
    return bytes;
  }
}

/** Pages without https cannot hash; there the length has to do. */
const isIntact = async (bytes: Bytes, digest: string): Promise<boolean> => {
  if (!globalThis.crypto?.subtle) return true;
  const found = await crypto.subtle.digest("SHA-256", bytes);
  return btoa(String.fromCharCode(...new Uint8Array(found))) === digest;
};
