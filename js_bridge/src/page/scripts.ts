// From scripts in Python to functions: a module of its own, for pages that have such.
//
// The core runs the scripts and gives recordings of the functions that they define. These are kept as
// compiled programs are, in the browser and by `rose freeze`, so that a page which was here before, or is
// frozen, has its functions without Python.

import { descriptorOf } from "../known/artifact";
import type { FnData } from "../record/data";
import type { Fn } from "../record/functions";
import { recordingOf } from "../known/identity";
import type { Bridge } from "./page";
import { S } from "../opcodes.gen";
import type { Recorder } from "../record/recorder";
import { type Source, sourceOf, sourcesIn, translated } from "./sources";
import type { Ty } from "../record/types";

export const build = __BRIDGE__;

/** What the core says of a function, as `rose_core/recording/serialize.py` writes it. */
interface Entry {
  readonly name: string;
  readonly kind: "fn" | "named";
  readonly params: readonly number[];
  readonly ret: number;
  readonly remat: boolean;
  /** The function that is its custom derivative, or -1. */
  readonly jvp: number;
  /** Of a derivative: see `Named`. */
  readonly by: string;
  readonly of: number;
  readonly options: object;
  /** Of a body: how many rows, further operands and literals there are. */
  readonly sizes: readonly [number, number, number];
  readonly opaque: boolean;
  readonly types: readonly number[];
  readonly captures: readonly number[];
  readonly callees: readonly number[];
  readonly results: readonly number[];
  readonly resultTypes: readonly number[];
}

/** The functions of scripts, as `rose_core/recording/scripts.py` hands them over. */
interface Functions {
  readonly types: readonly any[];
  readonly functions: readonly Entry[];
  readonly ints: readonly number[];
  /** JSON has no infinities and no NaN: these are text. */
  readonly reals: readonly (number | "inf" | "-inf" | "nan")[];
  readonly notes: readonly string[];
  readonly noteAt: readonly number[];
  readonly intNoteAt: readonly number[];
  readonly exports: Readonly<Record<string, number>>;
  /** Those with sizes that are not known: the names of these. */
  readonly open: Readonly<Record<string, readonly string[]>>;
  readonly warnings: readonly string[];
}

/** The scripts read last, and the promise of their functions: the same ones whoever asks for them. */
let last: { key: string; functions: Promise<object> } | undefined;

/** The functions that the page's scripts define, or those that `given` does. */
export const functionsOf = async (
  bridge: Bridge,
  given: string | undefined,
  signal: AbortSignal | undefined,
): Promise<object> => {
  const sources = given === undefined ? await sourcesIn() : [sourceOf(given)];
  const key = JSON.stringify(sources.map(({ text }) => text));
  if (signal) return made(bridge, key, sources, signal);
  if (key !== last?.key) {
    const functions = made(bridge, key, sources, signal);
    last = { key, functions };
    functions.catch(() => {
      if (last?.functions === functions) last = undefined;
    });
  }
  return last.functions;
};

const made = async (
  bridge: Bridge,
  scripts: string,
  sources: readonly Source[],
  signal: AbortSignal | undefined,
): Promise<object> => {
  const empty = { ints: new Int32Array(), reals: new Float64Array() };
  const recording = recordingOf({ header: scripts, ...empty }, "scripts");
  const wanted = new bridge.Wanted({ scripts }, recording);
  const file = await wanted.made(signal, async (error) => {
    const told = await translated(error.message, sources);
    throw told === error.message ? error : Error(told, { cause: error });
  });
  const found: Functions = descriptorOf(file);
  for (const warning of found.warnings)
    console.warn(await translated(warning, sources));
  const notes = found.notes.map((note) => translated(note, sources));
  return new Reader(bridge, found, await Promise.all(notes)).exports();
};

const NUMBERS = { inf: Infinity, "-inf": -Infinity, nan: NaN };

/** Makes functions of what the core gave. */
class Reader {
  private readonly types: Ty[] = [];
  private readonly functions: FnData[] = [];
  /** By place in `reals` or `ints`, the number of a note. */
  private readonly noteAt: ReadonlySet<number>;
  private readonly intNoteAt: ReadonlySet<number>;
  private int = 0;
  private real = 0;

  constructor(
    private readonly bridge: Bridge,
    private readonly found: Functions,
    private readonly notes: readonly string[],
  ) {
    this.noteAt = new Set(found.noteAt);
    this.intNoteAt = new Set(found.intNoteAt);
    for (const row of found.types) this.types.push(this.type(row));
    for (const entry of found.functions) this.functions.push(this.made(entry));
    found.functions.forEach(({ jvp }, k) => {
      this.functions[k].jvp = this.functions[jvp];
    });
  }

  /** The functions that the page can use, by name. */
  exports(): object {
    const { makeFn } = this.bridge;
    const { exports, open } = this.found;
    const all: Record<string, Fn> = {};
    if ("then" in { ...exports, ...open })
      throw TypeError(
        "python: JavaScript takes an object with a then for a promise; rename that function",
      );
    for (const [name, number] of Object.entries(exports)) {
      const data = this.functions[number];
      const f = (all[name] = makeFn(data));
      if (data.jvp) f.jvp = makeFn(data.jvp);
    }
    for (const [name, sizes] of Object.entries(open))
      Object.defineProperty(all, name, {
        get() {
          const given = sizes.map((size) => `${size}=…`).join(", ");
          throw TypeError(
            `${name} has sizes that are not known: give them in Python, as in ${name}_at = ${name}.at(${given})`,
          );
        },
      });
    return all;
  }

  private type(row: any): Ty {
    const { NULL, BOOL, REAL, TAN, fin, vecOf, structOf } = this.bridge;
    if (typeof row === "number") return fin(row);
    if (typeof row === "string")
      return { unit: NULL, bool: BOOL, real: REAL, tan: TAN }[row]!;
    const [kind, first, second] = row;
    return kind === "vec"
      ? vecOf(first, this.types[second])
      : structOf(
          first.map((name: string, k: number) => [name, this.types[second[k]]]),
        );
  }

  private made(entry: Entry): FnData {
    const { name, kind, by, of, options, remat, opaque } = entry;
    const params = entry.params.map((ty) => this.types[ty]);
    const ret = this.types[entry.ret];
    const recording = kind === "fn" ? this.recorded(entry, params) : undefined;
    const named =
      kind === "named"
        ? { by, of: this.functions[of], options, place: undefined }
        : undefined;
    const f = new this.bridge.FnData(
      name,
      params,
      ret,
      recording,
      undefined,
      named,
      opaque ?? false,
    );
    f.remat = remat;
    return f;
  }

  private recorded(entry: Entry, params: readonly Ty[]): Recorder {
    const { Recorder, Var, noteNumber } = this.bridge;
    const [rows, extra, literals] = entry.sizes;
    const r = new Recorder(entry.name);
    const types = entry.types.map((ty) => this.types[ty]);
    types.forEach((ty) => r.type(ty));
    entry.callees.forEach((g) => r.callee(this.functions[g]));
    r.params = params.reduce((n, ty) => n + ty.leaves, 0);
    r.rows = this.ints(3 * rows);
    const start = this.int;
    this.ints(extra).forEach((x, k) => {
      const isNote = this.intNoteAt.has(start + k);
      if (isNote) r.extraNotes.push(k);
      r.extra.push(isNote ? 1 + noteNumber(this.notes[x - 1]) : x);
    });
    for (const ty of this.ints(literals)) {
      const x = this.found.reals[this.real];
      const value = typeof x === "string" ? NUMBERS[x] : x;
      if (this.noteAt.has(this.real++)) r.note(this.notes[value], types[ty]);
      else r.literal(value, types[ty]);
    }
    r.results = [...entry.results];
    r.resultTypes = entry.resultTypes.map((ty) => this.types[ty]);
    r.captures.push(
      ...entry.captures.map((ty) => new Var(r, 0, this.types[ty], 0)),
    );
    const opcodes = r.rows.filter((_, k) => k % 3 === 0);
    r.takesVjp = opcodes.includes(S.VJP);
    r.hasControl = opcodes.includes(S.COND) || opcodes.includes(S.LOOP);
    r.close();
    return r;
  }

  /** The next of the ints. */
  private ints(count: number): number[] {
    this.int += count;
    return this.found.ints.slice(this.int - count, this.int);
  }
}
