// What the core makes of functions by name, for drafts: derivatives. `gradients.py` and `jacobian.py` in
// `rose_core/operators/` have the same.

import { enough } from "./flat";
import type { FnData } from "../record/data";
import type { Argnums } from "../record/operators";
import {
  dualsOf,
  reals,
  scalarsOf,
  shaped,
  split,
  taking,
  type Taken,
  type Value,
  type Walk,
} from "./walk";

/** The leaves that the arguments have by which a derivative is taken, in the order of the derivative's leaves. */
const selected = ({ params }: FnData, argnums: Argnums): number[] => {
  let end = 0;
  const leaves = params.map(({ leaves }) =>
    Array.from({ length: leaves }, () => end++),
  );
  return typeof argnums === "number"
    ? leaves[argnums]
    : argnums
        .map(String)
        .sort()
        .flatMap((k) => leaves[+k]);
};

/** The value of `f`, which is a Real, and its gradient. */
const valueAndGradient = (
  walk: Walk,
  f: FnData,
  args: readonly Value[],
  argnums: Argnums,
): [Value, Value[]] => {
  const { ins } = walk.signature(f);
  const taken = walk.takeCall(f, args);
  const [value] = taken.results;
  const next = taking(walk.pull(taken, [value], [walk.flat.number(1)]));
  const all = args.map((arg, k) => (ins[k] ? shaped(arg, next) : arg));
  return [value, selected(f, argnums).map((k) => all[k])];
};

/** The forward derivative of `f`, on duals: its own rule, or a sweep. */
const forward = (
  walk: Walk,
  f: FnData,
  duals: readonly Value[],
): readonly Value[] => {
  if (f.jvp) return walk.call(f.jvp, duals);
  const { ins, outs } = walk.signature(f);
  const { primals, tangents } = split(ins, duals);
  const taken = walk.takeCall(f, primals);
  const { results } = taken;
  const next = taking(
    walk.push(taken, scalarsOf(tangents), reals(outs, results)),
  );
  return dualsOf(outs, results, (result) => shaped(result, next));
};

/** The changes of what was taken along these ones of the arguments; what is no Real is as it is. */
const changes = (
  walk: Walk,
  taken: Taken,
  isReal: readonly boolean[],
  directions: readonly Value[],
  outs: readonly boolean[],
): Value[] => {
  const tangents = reals(isReal, directions);
  const next = taking(walk.push(taken, tangents, reals(outs, taken.results)));
  return taken.results.map((result, k) =>
    outs[k] ? shaped(result, next) : result,
  );
};

/** Values like these, all of them zeros. */
const zerosLike = (walk: Walk, values: readonly Value[]): Value[] => {
  const zero = (): number => walk.flat.number(0);
  return values.map((value) => shaped(value, zero));
};

/** `shape` with `f` of each of its scalars in their place, by their number. */
const numbered = (
  shape: Value,
  f: (k: number) => Value,
  next = { k: 0 },
): Value =>
  typeof shape === "number"
    ? f(next.k++)
    : shape.map((item: Value) => numbered(item, f, next));

/** In place of every scalar of these leaves, what is like the `inner` ones, by the numbers of both: leaf by leaf. */
const table = (
  outer: readonly Value[],
  inner: readonly Value[],
  at: (i: number, j: number) => Value,
): Value[] => {
  let before = 0;
  return outer.flatMap((row) => {
    const size = scalarsOf([row]).length;
    let behind = 0;
    const leaves = inner.map((column) => {
      const width = scalarsOf([column]).length;
      const [i0, j0] = [before, behind];
      behind += width;
      return numbered(row, (i) => numbered(column, (j) => at(i0 + i, j0 + j)));
    });
    before += size;
    return leaves;
  });
};

/** How `f` changes with the selected arguments, along each of which a sweep goes, or back from each result. */
const jacobian = (
  walk: Walk,
  f: FnData,
  args: readonly Value[],
  { argnums, mode = "auto" }: { argnums: Argnums; mode?: string },
): Value[] => {
  const { ins, outs } = walk.signature(f);
  const leaves = selected(f, argnums);
  // of what is no Real, the core has something to say
  if (outs.includes(false) || leaves.some((k) => !ins[k])) enough();
  const taken = walk.takeCall(f, args);
  const inner = leaves.map((k) => taken.args[k]);
  const [columns, rows] = [scalarsOf(inner), scalarsOf(taken.results)];
  const places = columns.map((id) => taken.ins.indexOf(id));
  const isForward =
    mode === "forward" || (mode === "auto" && columns.length <= rows.length);
  const one = walk.flat.number(1);
  const zero = walk.flat.number(0);
  const found = isForward
    ? columns.map((id) => {
        const tangents = taken.ins.map((other) => (other === id ? one : zero));
        return walk.push(taken, tangents, rows);
      })
    : rows.map((id) => {
        const pulled = walk.pull(taken, [id], [one]);
        return places.map((k) => pulled[k]);
      });
  return table(taken.results, inner, (i, j) =>
    isForward ? found[j][i] : found[i][j],
  );
};

/** What is made of `f`, on arguments. */
type Maker = (
  walk: Walk,
  f: FnData,
  args: readonly Value[],
  options: any,
) => readonly Value[];

export const makers: Readonly<Record<string, Maker | undefined>> = {
  jvp: forward,
  grad: (walk, f, args, { argnums }) =>
    valueAndGradient(walk, f, args, argnums)[1],
  valueAndGrad(walk, f, args, { argnums }) {
    const [value, gradient] = valueAndGradient(walk, f, args, argnums);
    return [...gradient, value]; // by the names of the fields
  },
  hvp(walk, f, args, { argnums }) {
    const leaves = selected(f, argnums);
    const { ins } = walk.signature(f);
    const count = ins.length - f.captures.length;
    const end = count + leaves.length;
    const directions = zerosLike(walk, args.slice(0, count));
    leaves.forEach((k, j) => (directions[k] = args[count + j]));
    const own = [...args.slice(0, count), ...args.slice(end)];
    const taken = walk.take(
      ins,
      own,
      (args) => valueAndGradient(walk, f, args, argnums)[1],
    );
    return changes(
      walk,
      taken,
      ins,
      [...directions, ...zerosLike(walk, args.slice(end))],
      leaves.map((k) => ins[k]),
    );
  },
  push(walk, f, args) {
    const { ins, outs } = walk.signature(f);
    const count = ins.length - f.captures.length;
    const captured = args.slice(2 * count);
    const directions = [
      ...args.slice(count, 2 * count),
      ...zerosLike(walk, captured),
    ];
    const own = [...args.slice(0, count), ...captured];
    const duals = dualsOf(ins, own, (_, k) => directions[k]);
    const { primals, tangents } = split(outs, forward(walk, f, duals));
    let at = 0;
    return outs.map((isReal, k) => (isReal ? tangents[at++] : primals[k]));
  },
  jacobian,
  hessian(walk, f, args, { argnums }) {
    const { ins } = walk.signature(f);
    const leaves = selected(f, argnums);
    const reverse = { argnums, mode: "reverse" };
    const taken = walk.take(ins, args, (args) =>
      jacobian(walk, f, args, reverse),
    );
    const inner = leaves.map((k) => taken.args[k]);
    const one = walk.flat.number(1);
    const zero = walk.flat.number(0);
    const rows = scalarsOf(taken.results);
    const found = scalarsOf(inner).map((id) => {
      const tangents = taken.ins.map((other) => (other === id ? one : zero));
      return walk.push(taken, tangents, rows);
    });
    return table(taken.results, inner, (i, j) => found[j][i]);
  },
};
