// Compiled programs kept in the browser, for all pages of an origin: IndexedDB, which unlike Cache
// Storage is there without https, too.
//
// `files` holds the files, `uses` when each was last used and how large it is, so that the least
// recently used can go first without reading any, and how large all are. Whatever fails here (storage
// denied, a full disk, a database that was deleted meanwhile) is as if nothing had been kept.

import type { Bytes } from "./artifact";

const FILES = "files";
const USES = "uses";

interface Use {
  key: string;
  /** When it was last used, in milliseconds since 1970. */
  used: number;
  size: number;
}

/** The key of the size of all, which has no time. To add sizes up would take longer the more are kept. */
const ALL = "";

/** How long to wait for what is kept: some browsers, in some private windows, never answer. */
const PATIENCE = 1000;

let opened: Promise<IDBDatabase> | undefined;

/** The database, which is opened once. */
export const database = (): Promise<IDBDatabase> =>
  (opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("rose", 2);
    request.onupgradeneeded = () => {
      for (const name of request.result.objectStoreNames)
        request.result.deleteObjectStore(name);
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

/** Find out how large all files are, if the one under `key` is of so many bytes from now on. */
const total = (
  uses: IDBObjectStore,
  key: string,
  size: number,
  then: (total: number) => void,
): IDBRequest => {
  const before: IDBRequest<Use | undefined> = uses.get(key);
  const all: IDBRequest<Use | undefined> = uses.get(ALL);
  all.onsuccess = () =>
    then(size + (all.result?.size ?? 0) - (before.result?.size ?? 0));
  return all;
};

/** Forget the file under `key`. */
export const discard = (key: string): Promise<unknown> =>
  transact("readwrite", (files, uses) =>
    total(uses, key, 0, (size) => {
      files.delete(key);
      uses.delete(key);
      uses.put({ key: ALL, size });
    }),
  ).catch(() => {});

/** Keep a file under `key`, and of all files those used last, up to `limit` bytes. */
export const keep = (
  key: string,
  file: Uint8Array,
  limit: number,
): Promise<unknown> =>
  file.length > limit
    ? discard(key)
    : transact("readwrite", (files, uses) =>
        total(uses, key, file.length, (size) => {
          files.put(file, key);
          uses.put({ key, used: Date.now(), size: file.length } satisfies Use);
          const write = () => uses.put({ key: ALL, size });
          if (size <= limit) return void write();
          const oldest = uses.index("used").openCursor();
          oldest.onsuccess = () => {
            const { result } = oldest;
            if (size <= limit || !result) return void write();
            const use: Use = result.value;
            if (use.key !== key) {
              size -= use.size;
              files.delete(use.key);
              result.delete();
            }
            result.continue();
          };
        }),
      ).catch(() => {});
