// Sparse Jacobians and Hessians: the pattern once, from the core, and the values in few passes.

import { fori } from "./control";
import {
  dataOf,
  type Fn,
  type FnData,
  pullback,
  push,
  vector,
} from "./functions";
import { type Pattern, toldOf } from "./known";
import { type Argnums, derived, grad, Selection } from "./operators";
import { ieq, select } from "./ops";
import { at, each, needReals, over } from "./places";
import { programOf } from "./program";
import { recorder } from "./recorder";
import { fin, isReal, REAL, Real, type Ty, vecOf } from "./types";
import { lift, wrap } from "./values";

/** A matrix of derivatives of which most elements are always zero. */
export interface Sparse {
  /** For each element that may not be zero, the number of its row, in ascending order. */
  readonly rows: Int32Array;
  /** And that of its column, in ascending order in each row. */
  readonly columns: Int32Array;
  /** How many rows and columns there are. */
  readonly shape: readonly [number, number];
  /** How many derivatives along a direction, or of a weighted sum, the values take. */
  readonly passes: number;
  /** The elements, as a function of the arguments of the function that was differentiated. */
  readonly values: Fn;
}

/**
 * The Jacobian of `f` as a sparse matrix, by the pattern of the program, whatever its numbers are; forward
 * or in reverse, whichever takes fewer passes.
 */
export const sparseJacobian = async (
  f: unknown,
  argnums: Argnums = 0,
): Promise<Sparse> => {
  const data = dataOf(f, "sparseJacobian");
  const by = new Selection(data, argnums, "sparseJacobian");
  needReals(data.ret, `sparseJacobian: the result of ${data.name}`);
  const { rows, forward, colours } = await toldOf<Pattern>(
    programOf(data),
    `jacobian ${leavesOf(data, by).join(" ")}`,
  );
  const reads = rows.flatMap((row, i) =>
    row.map((j) => (forward ? [colours[j], i] : [colours[i], j])),
  );
  const [seeds, sums] = forward ? [by.type, data.ret] : [data.ret, by.type];
  return sparse("sparseJacobian", data, by, data.ret, {
    rows,
    colours,
    reads,
    seeds,
    sums,
    of: (args) => (forward ? by.of(args) : (f as Fn)(...args)),
    derivative: (args, seed) =>
      forward
        ? push(data, args, by.scattered(seed)).change
        : by.pulled(pullback(f, args, "sparseJacobian"), seed),
  });
};

/** The Hessian of `f`, which gives a Real, as a sparse matrix, computed as a symmetric one. */
export const sparseHessian = async (
  f: unknown,
  argnums: Argnums = 0,
): Promise<Sparse> => {
  const data = dataOf(f, "sparseHessian");
  const by = new Selection(data, argnums, "sparseHessian");
  const gradient = dataOf(grad(f, argnums), "sparseHessian");
  const { rows, colours } = await toldOf<Pattern>(
    programOf(gradient),
    `hessian ${leavesOf(data, by).join(" ")}`,
  );
  const reads = rows.flatMap((row, i) => {
    const count = new Map<number, number>();
    for (const j of row)
      count.set(colours[j], (count.get(colours[j]) ?? 0) + 1);
    // where an element does not stand alone, its mirror image does
    return row.map((j) =>
      count.get(colours[j]) === 1 ? [colours[j], i] : [colours[i], j],
    );
  });
  return sparse("sparseHessian", data, by, by.type, {
    rows,
    colours,
    reads,
    seeds: by.type,
    sums: by.type,
    of: (args) => by.of(args),
    derivative: (args, seed) => push(gradient, args, by.scattered(seed)).change,
  });
};

/** The numbers of the leaves that the derivative is by, in the order of those of the selection's type. */
const leavesOf = ({ params }: FnData, by: Selection): number[] => {
  const starts: number[] = [];
  let start = 0;
  for (const { leaves } of params) {
    starts.push(start);
    start += leaves;
  }
  return by.order.flatMap((k) =>
    params[k].leafTypes.map((_, leaf) => starts[k] + leaf),
  );
};

/** What the values are computed from; Reals count leaf after leaf. */
interface Plan extends Omit<Pattern, "forward"> {
  /** For each element, row by row, the colour and the number of the Real in whose sum it is read. */
  readonly reads: readonly (readonly number[])[];
  /** The type of what has 1 at the places of a colour, */
  readonly seeds: Ty;
  /** and that of the derivative along it. */
  readonly sums: Ty;
  readonly of: (args: unknown[]) => unknown;
  readonly derivative: (args: unknown[], seed: unknown) => unknown;
}

type Path = readonly (string | number)[];

/** A place as it is written, and the number it has leaf after leaf. */
interface Written {
  readonly path: Path;
  readonly number: number;
}

/** All Reals of a type, in the order in which they are written. */
const written = (ty: Ty): Written[] => {
  const starts: number[] = [];
  let start = 0;
  for (const leaf of ty.leafTypes) {
    starts.push(start);
    if (isReal(leaf)) start += size(leaf);
  }
  const found: Written[] = [];
  const visit = (t: Ty, leaf: number, within: number, path: Path): void => {
    if (t.kind === "vec")
      for (let i = 0; i < t.size; ++i)
        visit(t.elem!, leaf, within * t.size + i, [...path, i]);
    else if (t.kind === "struct") {
      const leaves = new Map<string, [Ty, number]>();
      let next = leaf;
      for (const [name, field] of t.fields) {
        leaves.set(name, [field, next]);
        next += field.leaves;
      }
      for (const name of t.order)
        visit(...leaves.get(name)!, within, [...path, name]);
    } else if (t === REAL) found.push({ path, number: starts[leaf] + within });
  };
  visit(ty, 0, 0, []);
  return found;
};

const size = (leaf: Ty): number =>
  leaf.kind === "vec" ? leaf.size * size(leaf.elem!) : 1;

/** Of places as they are written: for each number leaf after leaf, how manieth it is. */
const ranks = (places: readonly Written[]): Int32Array => {
  const found = new Int32Array(places.length);
  places.forEach(({ number }, rank) => (found[number] = rank));
  return found;
};

const sparse = (
  what: string,
  f: FnData,
  by: Selection,
  ret: Ty,
  plan: Plan,
): Sparse => {
  const rowOf = ranks(written(ret));
  const columnOf = ranks(written(by.type));
  const elements = plan.rows
    .flatMap((row, i) => row.map((j) => [rowOf[i], columnOf[j]]))
    .map(([row, column], k) => ({ row, column, read: plan.reads[k] }))
    .sort((a, b) => a.row - b.row || a.column - b.column);
  const passes = plan.colours.reduce((most, c) => Math.max(most, c + 1), 0);
  return {
    rows: Int32Array.from(elements, ({ row }) => row),
    columns: Int32Array.from(elements, ({ column }) => column),
    shape: [rowOf.length, columnOf.length],
    passes,
    values: valuesOf(
      what,
      f,
      plan,
      passes,
      elements.map(({ read }) => read),
    ),
  };
};

/** What is read in one field: for each element, which it is, its colour, and its place. */
type Group = { k: number; colour: number; path: Path }[];

const valuesOf = (
  what: string,
  f: FnData,
  { colours, seeds, sums, of, derivative }: Plan,
  passes: number,
  reads: readonly (readonly number[])[],
): Fn => {
  const pathOf: Path[] = [];
  for (const { path, number } of written(sums)) pathOf[number] = path;
  const groups = new Map<string, Group>();
  reads.forEach(([colour, number], k) => {
    const path = pathOf[number];
    const kind = JSON.stringify(
      path.filter((step) => typeof step === "string"),
    );
    const group = groups.get(kind);
    if (group) group.push({ k, colour, path });
    else groups.set(kind, [{ k, colour, path }]);
  });
  const ret = vecOf(reads.length, REAL);
  return derived(f, what, f.params, ret, (...args) => {
    const x = of(args);
    const colourAt = table(over(seeds, fin(passes)), coloured(seeds, colours));
    const compressed = vector(fin(passes), sums, (c) => {
      const isHere = (place: Parameters<typeof at>[1]): unknown =>
        select(ieq(passes, at(colourAt, place) as symbol, c), Real, 1, 0);
      return derivative(args, each(seeds, REAL, isHere, x));
    });
    let values = vector(fin(reads.length), REAL, () => 0);
    for (const group of groups.values()) {
      const piece = gathered(compressed, passes, sums, group);
      if (group.length === reads.length) return piece;
      const where = table(
        vecOf(group.length, fin(reads.length)),
        group.map(({ k }) => k),
      ) as Record<symbol, symbol>;
      values = fori(group.length, ret, values, (e: symbol, into) =>
        (into as Settable).set(where[e], piece[e]),
      );
    }
    return values;
  });
};

interface Settable {
  set(i: symbol, x: unknown): unknown;
}

/** A value with the colours of its Reals, which count leaf after leaf. */
const coloured = (ty: Ty, colours: readonly number[]): unknown => {
  const at = written(ty)[Symbol.iterator]();
  const build = (t: Ty): unknown => {
    if (t.kind === "vec")
      return Array.from({ length: t.size }, () => build(t.elem!));
    if (t.kind === "struct") {
      const fields = new Map(t.fields);
      return Object.fromEntries(
        t.order.map((name) => [name, build(fields.get(name)!)]),
      );
    }
    if (t === REAL) return colours[at.next().value!.number];
    // never looked at
    return t.kind === "bool" ? false : t.kind === "null" ? null : 0;
  };
  return build(ty);
};

/** The elements that are read in one field, by tables of the indices on the way there. */
const gathered = (
  compressed: unknown,
  passes: number,
  sums: Ty,
  group: Group,
): Record<symbol, unknown> => {
  const indices = (size: number, of: (element: Group[0]) => number): unknown =>
    table(vecOf(group.length, fin(size)), group.map(of));
  const first = indices(passes, ({ colour }) => colour);
  let ty = sums;
  const steps = group[0].path.map((step, level) => {
    if (ty.kind !== "vec") {
      ty = new Map(ty.fields).get(step as string)!;
      return step;
    }
    const { size: length, elem } = ty;
    ty = elem!;
    return indices(length, ({ path }) => path[level] as number);
  });
  return vector(fin(group.length), REAL, (e) => {
    const here = (step: unknown): string | symbol =>
      typeof step === "string" ? step : (step as Record<symbol, symbol>)[e];
    return at(compressed, [first, ...steps].map(here));
  }) as Record<symbol, unknown>;
};

/** Constants as a symbolic value. */
const table = (ty: Ty, x: unknown): unknown => {
  const r = recorder();
  const ids: number[] = [];
  lift(r, ty, x, ids);
  return wrap(r, ty, ids);
};
