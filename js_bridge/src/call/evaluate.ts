// Recorded functions, run row by row: what `interp` does with a program without derivatives, for
// which it needs no core.

import type { FnData } from "../record/data";
import { FAILURES, OP, S } from "../opcodes.gen";
import { type Operation, operations } from "./operations";
import { notes } from "../record/recorder";
import type { Ty } from "../record/types";

/** A leaf: a number, 0 or 1 for a Bool, or nested arrays of them. Loops and calls give several. */
export type Value = number | Value[];

/** What an opaque function runs, on leaves. */
export type Host = (f: FnData, args: Value[]) => Value[];

/**
 * What a program calls when it cannot go on: throws what is wrong, by its code in `FAILURES`, or after
 * those by the number of one of its notes, which are `texts`.
 */
export const fail = (
  code: number,
  x: number,
  y: number,
  texts: readonly string[] = notes,
): never => {
  const text = FAILURES[code] ?? texts[code - FAILURES.length];
  throw RangeError(text.replace("{x}", `${x}`).replace("{y}", `${y}`));
};

/** Throw what a note says. */
const noted = (note: number, x = 0, y = 0): never =>
  fail(FAILURES.length + note, x, y);

/** `x`, if it is a whole number from 0 to below `size`. */
const whole = (x: number, size: number, note: number): number =>
  Number.isInteger(x) && x >= 0 && x < size
    ? x + 0 // of no sign
    : noted(note, x, size - 1);

/** They are made when the first program is run here. */
let table: Operation[] | undefined;

/** Whether a derivative is taken anywhere in `f`, or in a function that it calls. */
export const takesDerivatives = (
  f: FnData,
  seen = new Set<FnData>(),
): boolean => {
  if (seen.has(f)) return false;
  seen.add(f);
  const { named, recording } = f;
  if (named || recording?.takesVjp) return true;
  return (recording?.callees ?? []).some((g) => takesDerivatives(g, seen));
};

/** The result leaves of `f` for argument leaves. */
export const evaluate = (f: FnData, args: Value[], host: Host): Value[] => {
  if (!f.recording) return host(f, args);
  const { rows, extra, literals, callees, types, results } = f.recording;
  const env: Value[] = [];
  const at = (id: number): any => (id < 0 ? literals[~id] : env[id]);
  /** Operands in the extra list. */
  const operands = (start: number, count: number): number[] =>
    extra.slice(start, start + count);
  const all = (start: number, count: number): any[] =>
    operands(start, count).map(at);
  const call = (callee: number, args: Value[]): Value[] =>
    evaluate(callees[callee], args, host);

  /** Run a loop with a state: its last state, the number of iterations, and what it keeps of them. */
  const controlLoop = (row: readonly number[]): Value[] => {
    const [body, test, carries, type, outputs, mustEnd, , ...ids] = row;
    const [count, ...given] = ids.map(at);
    const { params, captures, recording } = callees[body];
    const end = params.length + captures.length - 1;
    const args = given.slice(carries, end);
    let state: Value[] = given.slice(0, carries);
    const goes = (): boolean =>
      test < 0 || call(test, [...state, ...given.slice(end)])[0] === 1;
    const kept = Array.from({ length: outputs }, (): Value[] => []);
    let i = 0;
    for (; i < count && goes(); ++i) {
      const results = call(body, [i, ...state, ...args]);
      state = results.slice(0, carries);
      kept.forEach((column, k) => column.push(results[carries + k]));
    }
    if (mustEnd && i === count && goes()) noted(mustEnd - 1);
    kept.forEach((column, k) => {
      while (column.length < types[type].size)
        column.push(nested(recording!.resultTypes[carries + k], () => 0));
    });
    return [...state, i, ...kept];
  };

  /** Run rows, of which a loop's last one stands for it. */
  const run = (from: number, to: number): void => {
    for (let k = from; k < to; ++k) {
      const [op, x, y] = rows.slice(3 * k, 3 * k + 3);
      if (op !== S.FOR) {
        env[k] = row(op, x, y);
        continue;
      }
      const start = k;
      for (let depth = 1; depth;) {
        const op = rows[3 * ++k];
        depth += +(op === S.FOR) - +(op === S.END);
      }
      const [, first, count] = rows.slice(3 * k, 3 * k + 3);
      const columns = Array.from({ length: count }, (): Value[] => []);
      for (let i = 0; i < types[x].size; ++i) {
        env[start] = i;
        run(start + 1, k);
        all(first, count).forEach((value, c) => columns[c].push(value));
      }
      env[k] = columns;
    }
  };

  const row = (op: number, x: number, y: number): Value => {
    switch (op) {
      case S.PARAM:
        return args[x];
      case S.INDEX:
        return at(x)[at(y)];
      case S.VEC:
        return all(x + 1, y - 1);
      case S.GET:
        return at(x)[y];
      case S.CALL:
        return call(extra[x], all(x + 1, y - 1));
      case S.COND: {
        const [f, g, taken, ...ids] = operands(x, y);
        const [p, ...args] = ids.map(at);
        return p ? call(f, args.slice(0, taken)) : call(g, args.slice(taken));
      }
      case S.LOOP:
        return controlLoop(operands(x, y));
      case S.SET: {
        const [array, i, element] = all(x, y);
        const changed = [...array];
        changed[i] = element;
        return changed;
      }
      case S.ACCUM:
        return [at(x)];
      case S.ADD_TO: {
        const sum = at(x);
        sum[0] += at(y);
        return sum;
      }
      case S.RESOLVE:
        return at(x)[0];
      case OP.defined: {
        const value = at(x);
        return value === value ? value : noted(at(y));
      }
      case OP.bound:
      case OP.index: {
        const [i, size, note] = all(x, y);
        return whole(i, size, note);
      }
      case OP.select: {
        const [p, a, b] = all(x, y);
        return p ? a : b;
      }
    }
    // an operation of one operand takes no notice of the other
    return (table ??= operations())[op](at(x), at(y));
  };

  run(0, rows.length / 3);
  return results.map(at);
};

/** A leaf of numbers that `next` gives. */
export const nested = (leaf: Ty, next: () => number): Value =>
  leaf.kind === "vec"
    ? Array.from({ length: leaf.size }, () => nested(leaf.elem!, next))
    : next();
