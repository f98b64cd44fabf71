// Compiled programs kept in the browser, for all pages of an origin: IndexedDB, which unlike Cache
// Storage is there without https, too.
//
// `files` holds the files, `uses` when each was last used and how large it is, so that the least
// recently used can go first without reading any, and how large all are. Whatever fails here (storage
// denied, a full disk, a database that was deleted meanwhile) is as if nothing had been kept.

import { soon } from "../host/abort";
import type { Bytes } from "./artifact";

/** The name of the database; others of the same origin have names of their own. */
const NAME = "rose programs";
const FILES = "files";
const USES = "uses";

interface Use {
  key: string;
  /** When it was last used, in milliseconds since 1970. */
  used: number;
  size: number;
}

/** In milliseconds. */
const DAY = 864e5;

/** The key of the size of all, which has no time. To add sizes up would take longer the more are kept. */
const ALL = "";

/** How many milliseconds to wait for what is kept: some browsers, in some private windows, never answer. */
const PATIENCE = 1000;
/** Who has not answered in that time is not waited for again, before an answer has come. */
let patience = PATIENCE;

let opened: Promise<IDBDatabase> | undefined;

/** The database, which is opened once. */
export const database = (): Promise<IDBDatabase> =>
  (opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(FILES);
      request.result
        .createObjectStore(USES, { keyPath: "key" })
        .createIndex("used", "used");
    };
    request.onsuccess = () => {
      const { result } = request;
      if (result.objectStoreNames.length !== 2) {
        // somebody else has made one of this name
        result.close();
        indexedDB.deleteDatabase(NAME);
        opened = undefined;
        return resolve(database());
      }
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

/** The file kept under `key` if it is the one wanted, which counts as a use of it; else undefined. */
export const find = async (
  key: string,
  isWanted: (file: Bytes) => boolean,
): Promise<Bytes | undefined> => {
  try {
    const answer = transact("readonly", (files) => files.get(key)).then(
      (file: unknown = null) => {
        patience = PATIENCE;
        return file;
      },
    );
    const file = await soon(answer, patience);
    if (file === undefined) patience = 0;
    if (!(file instanceof Uint8Array && isWanted(file as Bytes)))
      return undefined;
    transact("readwrite", (_, uses) => touch(uses, key)).catch(() => {});
    return file as Bytes;
  } catch {
    return undefined;
  }
};

/** Note that a file was used, unless it has gone meanwhile. */
const touch = (uses: IDBObjectStore, key: string): IDBRequest => {
  const request = uses.openCursor(key);
  request.onsuccess = () => {
    const { result } = request;
    result?.update({ ...(result.value as Use), used: Date.now() });
  };
  return request;
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
const discard = (key: string): Promise<unknown> =>
  transact("readwrite", (files, uses) =>
    total(uses, key, 0, (size) => {
      files.delete(key);
      uses.delete(key);
      uses.put({ key: ALL, size });
    }),
  ).catch(() => {});

/**
 * Put a file under `key`, if there is one, and throw away those not used for the longest, until all have no more
 * than `limit` bytes and no more than this share of what they had.
 */
const put = (
  key: string,
  file: Uint8Array | undefined,
  limit: number,
  share = 1,
): Promise<unknown> =>
  transact("readwrite", (files, uses) =>
    total(uses, key, file?.length ?? 0, (size) => {
      const most = Math.min(limit, share * size);
      if (file) {
        files.put(file, key);
        uses.put({ key, used: Date.now(), size: file.length } satisfies Use);
      } else {
        files.delete(key);
        uses.delete(key);
      }
      const write = () => uses.put({ key: ALL, size });
      if (size <= most) return void write();
      const drop = (range: IDBKeyRange | null, then: () => void) => {
        const oldest = uses.index("used").openCursor(range);
        oldest.onsuccess = () => {
          const { result } = oldest;
          if (size <= most || !result) return then();
          const use: Use = result.value;
          if (use.key !== key) {
            size -= use.size;
            files.delete(use.key);
            result.delete();
          }
          result.continue();
        };
      };
      // what is of later days was used before the clock was set back, and would stay for ever
      drop(IDBKeyRange.lowerBound(Date.now() + DAY), () => drop(null, write));
    }),
  );

/** Keep a file under `key`, and of all files those used last, up to `limit` bytes, or as many as there is room for. */
export const keep = (
  key: string,
  file: Uint8Array,
  limit: number,
): Promise<unknown> =>
  file.length > limit
    ? discard(key)
    : put(key, file, limit)
        .catch(async (error: DOMException) => {
          if (error.name !== "QuotaExceededError") throw error;
          await put(key, undefined, limit, 1 / 2);
          await put(key, file, limit);
        })
        .catch(() => {});
