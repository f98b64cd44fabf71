// From a program to a module: from the browser's cache if it is there, else from the core.

import { type Artifact, open, unpack } from "./artifact";
import { core, type MemoryKind } from "./core";
import { hash, recordingOf } from "./identity";
import type { Program } from "./program";
import { settings } from "./settings";
import { discard, find } from "./store";

/** The module of a program. */
export const moduleOf = async (
  program: Program,
  memory: MemoryKind,
): Promise<Artifact> => {
  const recording = recordingOf(program, memory);
  const key = hash(recording);
  const limit = settings.cache;
  const known = limit ? await kept(key, recording) : undefined;
  if (known) return known;
  const { header, ints, reals } = program;
  const file = await (
    await core()
  ).compile({
    program: { header, ints, reals },
    memory,
    recording,
    key,
    limit,
  });
  return open(file);
};

/** What the cache has; what is no good there is thrown away. */
const kept = async (
  key: string,
  recording: Uint8Array,
): Promise<Artifact | undefined> => {
  const file = await find(key);
  if (file === undefined) return undefined;
  const artifact = await unpack(file, recording).catch(() => undefined);
  if (artifact === undefined) await discard(key);
  return artifact;
};
