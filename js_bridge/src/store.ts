// Compiled programs kept in the browser, for all pages of an origin: IndexedDB, which unlike Cache
// Storage is there without https, too.
//
// `files` holds the files, `uses` when each was last used and how large it is, so that the least
// recently used can go first without reading any. Whatever fails here (storage denied, a full disk,
// a database that was deleted meanwhile) is as if nothing had been kept.

import type { Bytes } from "./artifact";

const FILES = "files";
const USES = "uses";

interface Use {
  key: string;
  /** When it was last used, in milliseconds since 1970. */
  used: number;
  size: number;
}

/** How long to wait for what is kept: some browsers, in some private windows, never answer. */
const PATIENCE = 1000;

let opened: Promise<IDBDatabase> | undefined;

/** The database, which is opened once. */
export const database = (): Promise<IDBDatabase> =>
  (opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("rose", 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(FILES);
      request.result
        .createObjectStore(USES, { keyPath: "key" })
        .createIndex("used", "used");
    };
    request.onsuccess = () => {
      const { result } = request;
      // the reader clears this site's data, or another version of the library wants the name
      result.onclose = result.onversionchange = () => {
        result.close();
        opened = undefined;
      };
      resolve(result);
    };
    request.onerror = () => reject(request.error);
  }));

/** Run `action` on both stores in one transaction; resolves to its result, once all that it has written is kept. */
const transact = async <T>(
  mode: IDBTransactionMode,
  action: (files: IDBObjectStore, uses: IDBObjectStore) => IDBRequest<T>,
): Promise<T> => {
  const transaction = (await database()).transaction([FILES, USES], mode);
  const [files, uses] = [FILES, USES].map((s) => transaction.objectStore(s));
  const request = action(files, uses);
  return new Promise((resolve, reject) => {
    if (mode === "readonly") request.onsuccess = () => resolve(request.result);
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = () => reject(transaction.error);
  });
};

/** The file kept under `key`, which counts as a use of it; undefined if there is none. */
export const find = async (key: string): Promise<Bytes | undefined> => {
  try {
    const file = await Promise.race([
      transact("readonly", (files) => files.get(key)),
      new Promise((wake) => setTimeout(wake, PATIENCE)),
    ]);
    if (!(file instanceof Uint8Array)) return undefined;
    const use: Use = { key, used: Date.now(), size: file.length };
    transact("readwrite", (_, uses) => uses.put(use)).catch(() => {});
    return file as Bytes;
  } catch {
    return undefined;
  }
};

/** Forget the file under `key`. */
export const discard = (key: string): Promise<unknown> =>
  transact("readwrite", (files, uses) => {
    files.delete(key);
    return uses.delete(key);
  }).catch(() => {});

/** Keep a file under `key`, and of all files those used last, up to `limit` bytes. */
export const keep = (
  key: string,
  file: Uint8Array,
  limit: number,
): Promise<unknown> =>
  file.length > limit
    ? discard(key)
    : transact("readwrite", (files, uses) => {
        files.put(file, key);
        uses.put({ key, used: Date.now(), size: file.length } satisfies Use);
        const all: IDBRequest<Use[]> = uses.index("used").getAll();
        all.onsuccess = () => {
          let total = file.length;
          for (const use of all.result.reverse()) {
            if (use.key === key || (total += use.size) <= limit) continue;
            files.delete(use.key);
            uses.delete(use.key);
          }
        };
        return all;
      }).catch(() => {});
