// A function that is edited while it is used: what compiled last is called until the next edit is ready.

import type { CompileOptions } from "../../rose";
import { type Compiled, makeDisposable } from "./callable";
import { checkOptions } from "../record/options";
import { compile, OPTIONS } from "./compile";

export interface Hot {
  /** Call what compiled last; throws if nothing has. */
  (...args: unknown[]): unknown;
  /** What compiled last: disposed of when the next one takes its place. */
  readonly current: Compiled | undefined;
  /**
   * Compile `f` and put it in place; false if a later edit has overtaken it. If it does not compile, the
   * promise is rejected, and all stays as it is. Of edits that come while another compiles, only the last
   * is compiled.
   */
  update(f: unknown): Promise<boolean>;
  /** Give back its memory; after that it cannot be called or updated. */
  dispose(): void;
}

interface Edit {
  readonly f: unknown;
  start(work: Promise<boolean> | boolean): void;
}

/** A function that `update` gives what to do. */
export const hot = (options: CompileOptions = {}): Hot => {
  checkOptions("hot", options, OPTIONS);
  let current: Compiled | undefined;
  let waiting: Edit | undefined;
  let isBusy = false;
  let isOver = false;

  const put = async (f: unknown): Promise<boolean> => {
    const compiled = await compile(f, options);
    current?.dispose();
    current = compiled;
    if (isOver) compiled.dispose();
    return !isOver;
  };

  /** Work on the edits that wait, one at a time. */
  const work = async (): Promise<void> => {
    isBusy = true;
    while (waiting) {
      const { f, start } = waiting;
      waiting = undefined;
      const done = put(f);
      start(done);
      await done.catch(() => {});
    }
    isBusy = false;
  };

  const call = (...args: unknown[]): unknown => {
    if (current === undefined) throw Error("hot: nothing has compiled yet");
    return current(...args);
  };
  makeDisposable(call, () => {
    isOver = true;
    waiting?.start(false);
    waiting = undefined;
    current?.dispose();
  });
  return Object.defineProperties(call, {
    current: { get: () => current },
    update: {
      value: (f: unknown): Promise<boolean> =>
        new Promise((start) => {
          if (isOver) throw Error("hot: it was disposed of");
          waiting?.start(false);
          waiting = { f, start };
          if (!isBusy) void work();
        }),
    },
  }) as Hot;
};
