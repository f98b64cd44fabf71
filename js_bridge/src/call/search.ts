// From a program to a module: frozen with the page, in the browser's cache, or else from the core.

import { unless } from "../host/abort";
import { type Bytes, descriptorOf, isOf } from "../known/artifact";
import { core, type Request, type Work } from "../core/core";
import { freezer } from "../host/freezer";
import { frozen, frozenFiles, indexAddress, isFrozen } from "../known/frozen";
import { hash, recordingOf, same } from "../known/identity";
import type { MemoryKind, Program, Telling } from "../known/program";
import { settings } from "../host/settings";
import { database, find } from "../known/store";

/**
 * Ask for what a search needs, which takes its time: while it comes, a program can be put together. It is the cache,
 * if nothing is frozen.
 */
export const lookAhead = async (): Promise<void> => {
  const files = await frozenFiles();
  if (settings.cache && !files?.size) await database();
};

/** Look for a program. */
export const search = (
  { header, ints, reals }: Program,
  memory: MemoryKind,
): Wanted => {
  const program = { header, ints, reals };
  const { incremental } = settings;
  const recording = recordingOf(program, memory);
  return new Wanted({ program, memory, incremental }, recording);
};

/** What the core says of a program. */
export const toldOf = async <D>(
  program: Program,
  kind: Telling,
  signal?: AbortSignal,
): Promise<D> => descriptorOf(await search(program, kind).made(signal));

/** The file of what a recording tells apart from everything else, and of which `work` is to be done. */
export class Wanted {
  private readonly key: string;
  private readonly limit = settings.cache;
  readonly known: Promise<Bytes | undefined>;

  constructor(
    private readonly work: Work,
    private readonly recording: Bytes,
  ) {
    this.key = hash(recording);
    const file = frozen(this.key, recording);
    this.known = first([
      // an index that does not come keeps nobody from Python
      isFrozen(this.key).then((is) => (is ? file : undefined)),
      this.limit ? kept(this.key, recording, file) : undefined,
    ]);
  }

  /** Find it, or have the core make it; `told` throws an error of the core in the page's terms. */
  made(
    signal?: AbortSignal,
    told?: (error: Error) => Promise<never>,
  ): Promise<Bytes> {
    const here = Error();
    const file = this.found(signal)
      .catch(told)
      .catch((error) => {
        // of its own, it has the calls of a worker's answer
        if (!signal?.aborted)
          error.stack = here.stack?.replace(/^Error\n/, () => `${error}\n`);
        throw error;
      });
    freezer()?.(file, this.key, indexAddress(), signal);
    return file;
  }

  private async found(signal: AbortSignal | undefined): Promise<Bytes> {
    const { work, recording, key, limit } = this;
    const known = await this.known;
    if (known) return known;
    signal?.throwIfAborted();
    let making = underWay.get(key);
    if (!making || !same(making.recording, recording)) {
      making = begin({ work, recording, key, limit });
      underWay.set(key, making);
    }
    ++making.callers;
    try {
      return await unless(signal, making.file);
    } finally {
      // the last who no longer waits has it, or gives it up
      if (!--making.callers) {
        underWay.delete(key);
        making.ending.abort(signal?.reason);
      }
    }
  }
}

/** What the core has been asked for. */
interface Making {
  readonly recording: Uint8Array;
  readonly file: Promise<Bytes>;
  /** Gives it up. */
  readonly ending: AbortController;
  /** How many wait for it. */
  callers: number;
}

/** What is being made, by key: whoever wants the same waits for that, too. */
const underWay = new Map<string, Making>();

const begin = (request: Request): Making => {
  const ending = new AbortController();
  const { signal } = ending;
  const file = core().then((core) => {
    signal.throwIfAborted();
    return core.make(request, signal);
  });
  return { recording: request.recording, file, ending, callers: 0 };
};

/** The first that is found, if any. */
const first = <T>(
  searches: readonly (Promise<T | undefined> | undefined)[],
): Promise<T | undefined> =>
  Promise.any(
    searches.map(async (search) => (await search) ?? Promise.reject()),
  ).catch(() => undefined);

/**
 * Milliseconds that the index of what is frozen may take after the program is put together: to open the cache
 * would cost a frozen page more.
 */
const HEAD_START = 5;

/** What the cache has, unless the file is frozen; what is no good there is written over. */
const kept = async (
  key: string,
  recording: Bytes,
  frozen: Promise<Bytes | undefined>,
): Promise<Bytes | undefined> => {
  // an index may name what is missing or damaged
  if ((await isFrozen(key, HEAD_START)) && (await frozen)) return undefined;
  return find(key, (file) => isOf(file, recording));
};
