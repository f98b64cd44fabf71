// From a program to a module: frozen with the page, in the browser's cache, or else from the core.

import { type Artifact, type Bytes, isOf, open } from "./artifact";
import { core, type MemoryKind } from "./core";
import { freezer, frozen } from "./frozen";
import { hash, recordingOf } from "./identity";
import type { Program } from "./program";
import { settings } from "./settings";
import { discard, find } from "./store";

/** The module of a program. */
export const moduleOf = async (
  program: Program,
  memory: MemoryKind,
  signal?: AbortSignal,
): Promise<Artifact> => {
  const recording = recordingOf(program, memory);
  const key = hash(recording);
  const file = fileOf(program, memory, recording, key, signal);
  freezer()?.(file, key);
  return open(await file);
};

const fileOf = async (
  { header, ints, reals }: Program,
  memory: MemoryKind,
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
  const request = {
    program: { header, ints, reals },
    memory,
    recording,
    key,
    limit,
  };
  const compiler = await core();
  signal?.throwIfAborted();
  return compiler.compile(request, signal);
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

/** What the cache has; what is no good there is thrown away. */
const kept = async (
  key: string,
  recording: Bytes,
): Promise<Bytes | undefined> => {
  const file = await find(key);
  if (file === undefined || isOf(file, recording)) return file;
  await discard(key);
  return undefined;
};
