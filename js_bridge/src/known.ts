// From a program to a module: frozen with the page, in the browser's cache, or else from the core.

import { type Bytes, descriptorOf, isOf } from "./artifact";
import { core, type MemoryKind, type Telling, type Work } from "./core";
import { freezer, frozen, frozenFiles, indexAddress, isFrozen } from "./frozen";
import { hash, recordingOf } from "./identity";
import type { Program } from "./program";
import { settings } from "./settings";
import { database, discard, find } from "./store";

/** Ask for what a search needs, which takes its time: while it comes, a program can be put together. */
export const lookAhead = (): void => {
  const files = Promise.resolve(frozenFiles());
  // the cache, if nothing is frozen; without one there is no error
  if (settings.cache)
    files
      .then((found) => (found?.size ? undefined : database()))
      .catch(() => {});
};

/** The file of a program. */
export const compiled = (
  program: Program,
  memory: MemoryKind,
  signal?: AbortSignal,
): Promise<Bytes> => {
  const { header, ints, reals } = program;
  const { incremental } = settings;
  const work = { program: { header, ints, reals }, memory, incremental };
  return fileOf(work, recordingOf(program, memory), signal);
};

/** What the core says of a program. */
export const toldOf = async <D>(program: Program, kind: Telling): Promise<D> =>
  descriptorOf(await compiled(program, kind));

/** The file of what this recording tells apart from everything else, and of which `work` is to be done. */
export const fileOf = (
  work: Work,
  recording: Bytes,
  signal?: AbortSignal,
): Promise<Bytes> => {
  const key = hash(recording);
  const file = found(work, recording, key, signal);
  freezer()?.(file, key, indexAddress());
  return file;
};

const found = async (
  work: Work,
  recording: Bytes,
  key: string,
  signal: AbortSignal | undefined,
): Promise<Bytes> => {
  const limit = settings.cache;
  const known = await first([
    frozen(key, recording),
    limit ? kept(key, recording) : undefined,
  ]);
  if (known) return known;
  signal?.throwIfAborted();
  const maker = await core();
  signal?.throwIfAborted();
  return maker.make({ work, recording, key, limit }, signal);
};

/** The first that is found, if any. */
const first = <T>(
  searches: readonly (Promise<T | undefined> | undefined)[],
): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const found = searches.map((search) =>
      search?.then((x) => x && resolve(x)),
    );
    Promise.all(found).then(() => resolve(undefined), reject);
  });

/**
 * Milliseconds that the index of what is frozen may take after the program is put together: to open the cache
 * would cost a frozen page more.
 */
const HEAD_START = 5;

/** What the cache has; what is no good there is thrown away. */
const kept = async (
  key: string,
  recording: Bytes,
): Promise<Bytes | undefined> => {
  if (await isFrozen(key, HEAD_START)) return undefined;
  const file = await find(key);
  if (file === undefined || isOf(file, recording)) return file;
  await discard(key);
  return undefined;
};
