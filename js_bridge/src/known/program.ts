// A program in the form that the core takes: a header in JSON, ints, and literals.
// `rose_core/recording/record.py` describes it.

import type { FnData } from "../record/data";
import { isPure } from "../record/functions";
import { joined } from "./joined";
import { settings } from "../host/settings";
import { numbering } from "../record/numbering";
import { noteNumber, notes } from "../record/recorder";
import type { Ty } from "../record/types";

/** A function and all it needs, flat. */
export interface Program {
  readonly header: string;
  readonly ints: Int32Array;
  readonly reals: Float64Array;
  /** The opaque functions, in the header's order. */
  readonly opaque: FnData[];
  /** What it says of values that are not defined, by number. */
  readonly notes: readonly string[];
  /** Which of `reals` are numbers of notes. */
  readonly noteAt: readonly number[];
  /** Which of `ints` are numbers of notes, plus 1. */
  readonly intNoteAt: readonly number[];
}

/**
 * How a module gets its memory: for itself, or together with others. Or what else to say of a program
 * than a module: about the sparse matrix that it is to give, or what becomes of it, see
 * `rose_core/inspection.py`.
 */
export type MemoryKind = "imported" | "shared" | Telling;
export type Telling = "sparse" | "text";

/** The functions that `root` needs, callees first, and derivatives after what they are of. */
const reachable = (root: FnData): FnData[] => {
  const order = new Set<FnData>();
  const opened = new Set<FnData>();
  // depth first without recursion, as call chains can be long
  const todo = [root];
  while (todo.length) {
    const f = todo[todo.length - 1];
    if (opened.has(f)) {
      todo.pop();
      if (f.jvp && !order.has(f)) todo.unshift(f.jvp);
      order.add(f);
    } else {
      opened.add(f);
      const needs = f.named ? [f.named.of] : (f.recording?.callees ?? []);
      for (const g of [...needs].reverse()) todo.push(g);
    }
  }
  return [...order];
};

/** What gives the numbers of types, and those of what they are made of before their own. */
const typeNumbering = (list: Ty[]): ((ty: Ty) => number) => {
  const numbered = numbering(list);
  const number = ({ like: ty }: Ty): number => {
    if (ty.elem) number(ty.elem);
    for (const [, field] of ty.fields) number(field);
    return numbered(ty);
  };
  return number;
};

/** A row of a header's type table. */
const typeRow = (ty: Ty, number: (ty: Ty) => number): unknown => {
  switch (ty.kind) {
    case "null":
      return "unit";
    case "fin":
      return ty.size;
    case "vec":
      return ["vec", ty.size, number(ty.elem!)];
    case "struct":
      return [
        "struct",
        ty.fields.map(([name]) => name),
        ty.fields.map(([, field]) => number(field)),
      ];
    default:
      return ty.kind;
  }
};

/** Put together the program whose entry is `root`. */
export const programOf = (
  root: FnData,
  precise = settings.precise,
): Program => {
  root.checkStandsAlone();
  const functions = reachable(root);
  const numbers = new Map(functions.map((f, k) => [f, k]));
  const types: Ty[] = [];
  const type = typeNumbering(types);
  const ints: ArrayLike<number>[] = [];
  const reals: ArrayLike<number>[] = [];
  let at = 0;
  let literal = 0;
  const put = (items: ArrayLike<number>): void => {
    ints.push(items);
    at += items.length;
  };
  const used: number[] = [];
  /** The number of a note within the program, so that the same program is the same recording. */
  const numbered = numbering(used);
  const noteAt: number[] = [];
  const intNoteAt: number[] = [];
  const entries = functions.map((f) => {
    const common = {
      name: f.name,
      params: f.params.map(type),
      ret: type(f.ret),
      remat: f.remat,
      jvp: numbers.get(f.jvp!) ?? -1,
      fault: f.fault,
    };
    const r = f.recording;
    if (f.named) {
      const { by, of, options, place } = f.named;
      return {
        ...common,
        kind: "named",
        by,
        of: numbers.get(of),
        options,
        place: place === undefined ? place : numbered(noteNumber(place)),
      };
    }
    if (!r) return { ...common, kind: "opaque", pure: isPure(f.host) };
    put(r.rows);
    const extra = r.extraNotes.length ? [...r.extra] : r.extra;
    for (const k of r.extraNotes) {
      extra[k] = 1 + numbered(extra[k] - 1);
      intNoteAt.push(at + k);
    }
    put(extra);
    put(r.literalTypes.map(r.type));
    const literals = r.notes.length ? [...r.literals] : r.literals;
    for (const k of r.notes) {
      literals[k] = numbered(literals[k]);
      noteAt.push(literal + k);
    }
    reals.push(literals);
    literal += literals.length;
    return {
      ...common,
      kind: "fn",
      opaque: f.isOpaque,
      sizes: [r.rows.length / 3, extra.length, literals.length],
      types: r.types.map(type),
      captures: r.captures.map((x) => type(x.ty)),
      callees: r.callees.map((g) => numbers.get(g)),
      calls: r.takesVjp || r.hasControl ? "v" : r.callees.length ? "c" : "",
      results: r.results,
    };
  });
  const header = JSON.stringify({
    types: types.map((ty) => typeRow(ty, type)),
    functions: entries,
    notes: used.length,
    root: numbers.get(root),
    precise: precise || undefined,
  });
  return {
    header,
    ints: joined(Int32Array, ints),
    reals: joined(Float64Array, reals),
    opaque: functions.filter(({ host }) => host),
    notes: used.map((note) => notes[note]),
    noteAt,
    intNoteAt,
  };
};
