// A program in the form that the core takes: a header in JSON, ints, and literals.
// `rose_core/record.py` describes it.

import { type FnData, isPure } from "./functions";
import { noteNumber, notes } from "./recorder";
import type { Ty } from "./types";

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

/** The functions that `root` needs, callees first, and derivatives after what they are of. */
const reachable = (root: FnData): FnData[] => {
  const order: FnData[] = [];
  const seen = new Set<FnData>();
  const todo: FnData[] = [root];
  while (todo.length) {
    // depth first without recursion, as call chains can be long
    const stack: { f: FnData; next: number; needs: FnData[] }[] = [];
    const enter = (f: FnData): void => {
      if (seen.has(f)) return;
      seen.add(f);
      const needs = f.named
        ? [f.named.of]
        : ((f.recording?.callees ?? []) as FnData[]);
      stack.push({ f, next: 0, needs });
    };
    enter(todo.pop()!);
    while (stack.length) {
      const top = stack[stack.length - 1];
      if (top.next < top.needs.length) enter(top.needs[top.next++]);
      else {
        stack.pop();
        order.push(top.f);
        if (top.f.jvp) todo.push(top.f.jvp);
      }
    }
  }
  return order;
};

/** The rows of a header's type table, and the number of each type in it. */
class TypeTable {
  readonly rows: unknown[] = [];
  private readonly numbers = new Map<Ty, number>();

  number(ty: Ty): number {
    let number = this.numbers.get(ty);
    if (number === undefined) {
      const row = this.row(ty);
      number = this.rows.push(row) - 1;
      this.numbers.set(ty, number);
    }
    return number;
  }

  private row(ty: Ty): unknown {
    switch (ty.kind) {
      case "null":
        return "unit";
      case "fin":
        return ty.size;
      case "vec":
        return ["vec", ty.size, this.number(ty.elem!)];
      case "struct":
        return [
          "struct",
          ty.fields.map(([name]) => name),
          ty.fields.map(([, field]) => this.number(field)),
        ];
      default:
        return ty.kind;
    }
  }
}

/** Throw if `root` is of use only in the function around it. */
export const checkStandsAlone = (root: FnData): void => {
  if (root.around !== undefined)
    throw TypeError(
      `${root.name} uses values of the function ${root.around} around it, ` +
        "so it can be called only there",
    );
};

/** Put together the program whose entry is `root`. */
export const programOf = (root: FnData): Program => {
  checkStandsAlone(root);
  const functions = reachable(root);
  const numbers = new Map(functions.map((f, k) => [f, k]));
  const table = new TypeTable();
  const recordings = functions.flatMap(({ recording }) => recording ?? []);
  const total = (size: (r: (typeof recordings)[0]) => number): number =>
    recordings.reduce((sum, r) => sum + size(r), 0);
  const ints = new Int32Array(
    total((r) => r.length + r.extra.length + r.literals.length),
  );
  const reals = new Float64Array(total((r) => r.literals.length));
  let at = 0;
  let literal = 0;
  const put = (items: ArrayLike<number>): void => {
    ints.set(items, at);
    at += items.length;
  };
  const used = new Map<number, number>();
  const noteAt: number[] = [];
  const intNoteAt: number[] = [];
  /** The number of a note within the program, so that the same program is the same recording. */
  const numbered = (note: number): number => {
    const number = used.get(note) ?? used.size;
    used.set(note, number);
    return number;
  };
  const entries = functions.map((f) => {
    const common = {
      name: f.name,
      params: f.params.map((ty) => table.number(ty)),
      ret: table.number(f.ret),
      remat: f.remat,
      jvp: f.jvp ? numbers.get(f.jvp) : -1,
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
    const extra = at;
    put(r.extra);
    for (const k of r.extraNotes) {
      ints[extra + k] = 1 + numbered(r.extra[k] - 1);
      intNoteAt.push(extra + k);
    }
    put(r.literalTypes.map((ty) => r.type(ty)));
    reals.set(r.literals, literal);
    for (const k of r.notes) {
      reals[literal + k] = numbered(r.literals[k]);
      noteAt.push(literal + k);
    }
    literal += r.literals.length;
    return {
      ...common,
      kind: "fn",
      opaque: f.isOpaque,
      sizes: [r.length / 3, r.extra.length, r.literals.length],
      types: r.types.map((ty) => table.number(ty)),
      captures: r.captures.map((x) => table.number(x.ty)),
      callees: r.callees.map((g) => numbers.get(g as FnData)),
      calls: r.takesVjp || r.hasControl ? "v" : r.callees.length ? "c" : "",
      results: r.results,
    };
  });
  const header = JSON.stringify({
    types: table.rows,
    functions: entries,
    notes: used.size,
    root: numbers.get(root),
  });
  const opaque = functions.filter(({ host }) => host);
  return {
    header,
    ints,
    reals,
    opaque,
    notes: [...used.keys()].map((note) => notes[note]),
    noteAt,
    intNoteAt,
  };
};
