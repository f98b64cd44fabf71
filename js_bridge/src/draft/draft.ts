// Drafts: what a function is run by until its compiled code is there.

import { unless } from "../host/abort";
import type { Callee, Draft, Enter, Entered, Held } from "../call/callable";
import {
  type Kind,
  leafOf,
  type MemoryCells,
  type Numbers,
  SHIFT,
  type Slot,
} from "../call/cells";
import { F, NoDraft } from "./flat";
import type { FnData } from "../record/data";
import type { Drafting, Tools } from "../call/compile";
import { type HostCall, Tape } from "./tape";
import { sizeOf, type Ty } from "../record/types";
import { Walk } from "./walk";
import { scalarsIn, workOf } from "./work";

/** What takes and does more than so much is compiled sooner than a draft is of use. */
const MOST = 1_500_000;
/** Where Python waits already, that is so much, and so much more for each number that the program is written down in. */
const [AT_ONCE, PER_NUMBER] = [50_000, 30];

/**
 * The function `f` as a draft, if there is one, which becomes what `work` gives: that is begun when the page has
 * the draft, unless it was disposed of by then, or the signal has given it up. `length`: how many numbers the
 * program is written down in; infinity while Python is still to come.
 */
export const drafted: Drafting = (f, tools, work, signal, length) => {
  const most = Math.min(MOST, AT_ONCE + PER_NUMBER * length);
  const instance = draftOf(f, tools, most);
  signal?.throwIfAborted();
  if (instance === undefined) return undefined;
  const done = inTurn(async () => {
    if (!held.callee) return false;
    try {
      return replaced(held, await work(), tools);
    } catch (error) {
      if (!signal?.aborted) complain(f, (error as Error).message);
      return false;
    }
  });
  const settled = unless(signal, done).catch(() => false);
  const held = tools.callable(f, { instance }, settled);
  return held.compiled;
};

/** Whether another instance has taken a draft's place: not if that was disposed of. */
const replaced = (held: Held, by: Entered, tools: Tools): boolean => {
  const { callee, draft } = held;
  if (!callee) {
    if (by.own) tools.giveBack(by.own);
    return false;
  }
  held.own = by.own;
  const next = new tools.Callee(callee.data, by.instance);
  // views of what a draft has in memory stay what they are
  if (callee.isViewed && draft) draft.relay(next);
  else {
    held.callee = next;
    held.draft = undefined; // which has much memory
  }
  return true;
};

let said: string | undefined;

/** Say why a draft stays one; of many for the same reason, of the first. */
const complain = (f: FnData, reason: string): void => {
  if (reason !== said)
    console.warn(`Rose: ${f.name} works, but slowly, since ${reason}`);
  said = reason;
};

/** When there is time for what takes the place of the next draft. */
let last: Promise<unknown> = Promise.resolve();

/** What `work` gives, which is begun when all before it is done, and not before the page has its draft. */
const inTurn = (work: () => Promise<boolean>): Promise<boolean> => {
  const done = last.then(pause).then(work);
  last = done;
  return done;
};

/** Let the page go on for a moment; a timer would take a second in one that is hidden. */
const pause = (): Promise<void> =>
  new Promise((wake) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      wake();
    };
    port2.postMessage(0);
  });

/** The draft of a function, if there is one, and it takes and does no more than `most`. */
const draftOf = (f: FnData, tools: Tools, most: number): Draft | undefined => {
  try {
    const room = scalarsIn([...f.params, f.ret]) + workOf(f);
    return room <= most ? made(f, room, tools) : undefined;
  } catch (error) {
    // what is wrong with a function, the core says
    if (error instanceof NoDraft || error instanceof RangeError)
      return undefined;
    throw error;
  }
};

/** No memory, for what needs none. */
const NOWHERE = { buffer: new ArrayBuffer(0) };

/** `room`: for about how many instructions. */
const made = (f: FnData, room: number, tools: Tools): Draft => {
  const walk = new Walk(room);
  const { flat } = walk;
  const given: number[] = [];
  const scalars = (ty: Ty): unknown => {
    if (ty.kind === "vec")
      return Array.from({ length: ty.size }, () => scalars(ty.elem!));
    const id = flat.add(F.GIVEN);
    given.push(id);
    return id;
  };
  const types = f.params.flatMap(({ leafTypes }) => leafTypes);
  const results = walk.call(f, types.map(scalars));
  const tape = new Tape(
    flat,
    given,
    results.flat(Infinity as 1) as number[],
    walk.hosts.map(({ f, args }) => {
      const nowhere = new tools.MemoryCells(NOWHERE, false);
      const run = tools.hostImport(f, nowhere, [], []) as HostCall["run"];
      return { args, run };
    }),
  );
  const layout = new Layout();
  const args = types.map((ty) => layout.slot(ty));
  const outs = f.ret.leafTypes.map((ty) => layout.slot(ty));
  const buffer = new ArrayBuffer(layout.end);
  const cells = new tools.MemoryCells({ buffer }, false);
  return instance(tape, args, outs, cells, walk.hosts.length > 0);
};

/** Gives leaves their places, one behind the other. */
class Layout {
  /** In bytes. */
  end = 0;

  slot(leaf: Ty): Slot {
    let scalar = leaf;
    while (scalar.kind === "vec") scalar = scalar.elem!;
    const kind: Kind =
      scalar.kind === "fin" ? "i" : scalar.kind === "bool" ? "b" : "f";
    const address = this.end;
    const count = sizeOf(leaf);
    this.end += ((count << SHIFT[kind]) + 7) & -8;
    return [kind, address, count, false];
  }
}

const instance = (
  tape: Tape,
  args: readonly Slot[],
  results: readonly Slot[],
  cells: MemoryCells,
  callsHost: boolean,
): Draft => {
  const ins = args.map((slot) => leafOf(slot, cells));
  const outs = results.map((slot) => leafOf(slot, cells));
  const rowOf = (slots: readonly Slot[]): Float64Array =>
    new Float64Array(slots.reduce((sum, [, , count]) => sum + count, 0));
  const given = rowOf(args);
  const found = rowOf(results);
  let work = (): void => {
    let at = 0;
    for (const view of ins) {
      given.set(view, at);
      at += view.length;
    }
    tape.run(given, found);
    at = 0;
    for (const view of outs) view.set(found.subarray(at, (at += view.length)));
  };
  const run = (): void => work();
  return {
    args,
    results,
    cells,
    end: cells.b.length,
    callsHost,
    exports: { f: run, r: run },
    relay(to) {
      work = () => relayed(to, ins, outs);
    },
  };
};

/** Run a function on leaves that lie elsewhere, and put the results where others lie. */
const relayed = (
  to: Callee,
  ins: readonly Numbers[],
  outs: readonly Numbers[],
): void => {
  const { cells, instance } = to;
  if (cells.busy) return to.meanwhile(() => relayed(to, ins, outs));
  cells.refresh();
  ++cells.turn;
  instance.args.forEach((slot, k) => leafOf(slot, cells).set(ins[k]));
  to.go(instance.exports.r as Enter);
  instance.results.forEach((slot, k) => outs[k].set(leafOf(slot, cells)));
};
