// Control flow: choices of which one side runs, and loops that carry a state.
//
// Bodies run once, each as a function of its own; what they use from outside becomes arguments of that.

import type { LoopOptions, WhileOptions } from "../../rose";
import { call, captured, results } from "./calls";
import { define, type Fn, functionFor, ofAnySize, recorded } from "./functions";
import { FnData } from "./data";
import { LARGEST } from "./largest";
import { NO_COUNT, OP, S } from "../opcodes.gen";
import { noteNumber, type Recorder, recorder, Var } from "./recorder";
import { CHECKPOINT, checkOptions, WHOLE } from "./options";
import {
  ANY,
  BOOL,
  fin,
  indexType,
  NULL,
  REAL,
  type Ty,
  tyOf,
  unlike,
  vecOf,
} from "./types";
import { leavesOf, typeOf, wrap } from "./values";
import { place, within } from "./where";

/** `f`, of which reverse mode keeps the arguments only, and computes the rest again. */
export const checkpoint = (f: unknown): Fn =>
  ofAnySize(f, "checkpoint", (data) => {
    const { name, params, ret } = data;
    const made = define(name, params, ret, (...args) => call(data, args));
    made.remat = true;
    return made;
  });

/** The function of leaves that a part of an author's program is; `body` gives the ids of its results. */
const inline = (
  name: string,
  params: readonly Ty[],
  body: (inner: Recorder, ids: number[]) => number[],
): FnData =>
  new FnData(
    name,
    params,
    NULL,
    recorded(name, params.length, (inner, ids) => {
      inner.isPart = true;
      return body(inner, ids);
    }),
  );

/** The type that the construct `name` is given. */
const typeFor = (name: string, type: unknown): Ty => {
  try {
    return tyOf(type);
  } catch (error) {
    throw within(error, name);
  }
};

/**
 * `yes()` where `p` holds, else `no()`, both of type `type`. Only the side that is taken runs, and only
 * its derivative is taken.
 */
export const cond = (
  p: unknown,
  type: unknown,
  yes: () => unknown,
  no: () => unknown,
): unknown => {
  const r = recorder();
  const ty = typeFor("cond", type);
  for (const side of [yes, no]) functionFor(side, "cond");
  const [c] = leavesOf(r, BOOL, p, "the condition of cond");
  const [f, g] = [yes, no].map((side, k) =>
    inline(["then", "otherwise"][k], [], (inner) =>
      leavesOf(inner, ty, side(), `side ${k + 1} of cond`),
    ),
  );
  const args = captured(r, f);
  r.hasControl = true;
  const at = r.rowOf(S.COND, [
    r.callee(f),
    r.callee(g),
    args.length,
    c,
    ...args,
    ...captured(r, g),
  ]);
  return results(r, ty, at);
};

/** From the state `init`, `body` as long as `test` holds. */
export const whileLoop = (
  type: unknown,
  init: unknown,
  test: (state: any) => unknown,
  body: (state: any) => unknown,
  options: WhileOptions = {},
): unknown => {
  functionFor(test, "whileLoop: the test");
  functionFor(body, "whileLoop: the body");
  checkOptions("whileLoop", options, { limit: WHOLE, checkpoint: CHECKPOINT });
  const { limit = LARGEST - 1 } = options;
  const note = `whileLoop: it did not end within its limit of ${limit} iterations${place()}`;
  const r = recorder();
  const most = r.literal(limit, ANY);
  const iteration = (state: unknown) => [body(state), null] as const;
  const end = { test, note: 1 + noteNumber(note) };
  const distance = distanceOf(options, limit);
  return loop(
    r,
    "whileLoop",
    [most, ANY],
    type,
    init,
    iteration,
    distance,
    end,
  )[0];
};

/**
 * From the state `init`, `body(i, state)` for `i` from 0 up. `n` is a size, and `i` an index below it;
 * or a symbolic index, and `i` an index of its type; or a symbolic Real, and `i` an index of any size.
 */
export const fori = (
  n: unknown,
  type: unknown,
  init: unknown,
  body: (i: any, state: any) => unknown,
  options: LoopOptions = {},
): unknown => {
  functionFor(body, "fori: the body");
  const iteration = (state: unknown, i: unknown) =>
    [body(i, state), null] as const;
  return counted("fori", n, type, init, iteration, options)[0];
};

/**
 * As `fori`, of a body that gives `[state, y]`: the last state, and the vector of every iteration's `y`. With
 * a symbolic index `n` that has as many elements as its type, of which those from `n` on are zero.
 */
export const scan = (
  ...given: [
    n: unknown,
    type: unknown,
    init: unknown,
    body: (state: any, i: any) => readonly [unknown, unknown],
  ]
): [unknown, unknown] => {
  const [n, type, init, body] = given;
  functionFor(body, "scan: the body");
  if (given.length > 4)
    throw TypeError(
      "scan takes 4 arguments: checkpoints are for fori and whileLoop",
    );
  const iteration = (state: unknown, i: unknown) => {
    const result = body(state, i);
    if (!Array.isArray(result) || result.length !== 2)
      throw unlike(
        result,
        "an array of a state and a value",
        "the body of scan",
      );
    return result as unknown as readonly [unknown, unknown];
  };
  return counted("scan", n, type, init, iteration, {});
};

const counted = (
  name: string,
  n: unknown,
  type: unknown,
  init: unknown,
  body: Iteration,
  options: LoopOptions,
): [unknown, unknown] => {
  const r = recorder();
  const count = trips(r, n, name);
  checkOptions(name, options, { checkpoint: CHECKPOINT });
  const distance = distanceOf(options, count[1].size);
  return loop(r, name, count, type, init, body, distance);
};

/** From a state and the number of an iteration, the next state and what is kept of the iteration. */
type Iteration = (state: unknown, i: unknown) => readonly [unknown, unknown];

/** A loop, with its last state and what is kept. Unless it only counts, `end` tells its test and a note's number. */
const loop = (
  r: Recorder,
  name: string,
  [count, index]: [number, Ty],
  type: unknown,
  init: unknown,
  body: Iteration,
  distance: number,
  end?: { test: (state: unknown) => unknown; note: number },
): [unknown, unknown] => {
  const ty = typeFor(name, type);
  const start = leavesOf(r, ty, init, `the initial state of ${name}`);
  let kept = NULL;
  const f = inline("body", [index, ...ty.leafTypes], (inner, [i, ...ids]) => {
    const [after, y] = body(wrap(inner, ty, ids), inner.newIndex(i, index));
    const what = `what the body of ${name} gives`;
    kept = typeOf(inner, y, what);
    inner.resultTypes = [...ty.leafTypes, ...kept.leafTypes];
    return [
      ...leavesOf(inner, ty, after, `the state that the body of ${name} gives`),
      ...leavesOf(inner, kept, y, what),
    ];
  });
  if (kept.leaves && index === ANY)
    throw TypeError(
      `${name}: expected a size or an index as the number of iterations, since it gives a vector`,
    );
  const g =
    end &&
    inline("test", ty.leafTypes, (inner, ids) =>
      leavesOf(
        inner,
        BOOL,
        end.test(wrap(inner, ty, ids)),
        `the test of ${name}`,
      ),
    );
  r.hasControl = true;
  const head = [
    r.callee(f),
    g ? r.callee(g) : -1,
    ty.leaves,
    r.type(index),
    kept.leaves,
  ];
  const args = [...captured(r, f), ...(g ? captured(r, g) : [])];
  if (end) r.extraNotes.push(r.extra.length + head.length);
  const at = r.rowOf(S.LOOP, [
    ...head,
    end?.note ?? 0,
    distance,
    count,
    ...start,
    ...args,
  ]);
  const whole = kept.leaves ? vecOf(index.size, kept) : NULL;
  return [results(r, ty, at), results(r, whole, at, ty.leaves + 1)];
};

/** The id of a number of iterations, and the type of their numbers. */
const trips = (r: Recorder, n: unknown, name: string): [number, Ty] => {
  if (n instanceof Var && n.ty === REAL) {
    const id = r.use(n, REAL);
    return [r.check(OP.index, id, LARGEST, name, NO_COUNT), ANY];
  }
  // one that is not checked yet, as `iadd(n, i, 1)`, may run as often as there are indices
  const index = r.meaning(n)?.ty;
  if (index) {
    const v = r.indexOf(n, fin(Math.min(index.size + 1, LARGEST)))!;
    return [r.use(v, v.ty), index];
  }
  const size = indexType(n, name);
  return [r.literal(size.size, ANY), size];
};

/** Iterations between the states that are kept where their number is not known: right for a million. */
const ROOT = 1024;

/** How many iterations are between the states that reverse mode keeps; 0 if it keeps everything. */
const distanceOf = ({ checkpoint = "none" }: LoopOptions, most: number) =>
  checkpoint === "none"
    ? 0
    : checkpoint === "revolve"
      ? most > ROOT ** 2
        ? ROOT
        : Math.max(1, Math.round(Math.sqrt(most)))
      : checkpoint;
