// Sparse Jacobians and Hessians: the pattern once, from the core, and the values in few passes.

import { SIGNAL } from "./host/abort";
import { dataOf, type Fn, makeFn } from "./record/functions";
import { toldOf } from "./call/search";
import { type Argnums, needReal, realsOf, selected } from "./record/operators";
import { checkOptions } from "./record/options";
import { programOf } from "./known/program";
import { fieldOf, NULL, REAL, type Ty, vecOf } from "./record/types";

/** What the core says before there are elements. */
interface About {
  readonly rows: readonly number[];
  readonly columns: readonly number[];
  readonly shape: readonly [number, number];
  readonly passes: number;
}

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

export interface SparseOptions {
  /** Gives it up: the promise is rejected with the signal's reason. */
  signal?: AbortSignal;
}

/** The fields of structs in a type, each with those in it, as the author wrote them: that is how Reals count. */
const orderOf = (ty: Ty): unknown =>
  ty.kind === "vec"
    ? orderOf(ty.elem!)
    : ty.order.map((name) => [name, orderOf(fieldOf(ty, name))]);

const sparse = async (
  what: string,
  f: unknown,
  argnums: Argnums,
  options: SparseOptions,
): Promise<Sparse> => {
  checkOptions(what, options, { signal: SIGNAL });
  const data = dataOf(f, what);
  const ty = selected(data, argnums, what);
  if (what === "sparseHessian") needReal(data, what, ty);
  realsOf(data, what);
  const written = [...data.params, data.ret].map(orderOf);
  const elements = (ret: Ty) =>
    data.derive(what, data.params, ret, { argnums, written });
  // of a type that is not known yet
  const program = programOf(elements(NULL));
  const about = await toldOf<About>(program, "sparse", options.signal);
  const { rows, columns } = about;
  return {
    ...about,
    rows: Int32Array.from(rows),
    columns: Int32Array.from(columns),
    values: makeFn(elements(vecOf(rows.length, REAL))),
  };
};

/**
 * The Jacobian of `f` as a sparse matrix, by the pattern of the program, whatever its numbers are; forward
 * or in reverse, whichever takes fewer passes.
 */
export const sparseJacobian = (
  f: unknown,
  argnums: Argnums = 0,
  options: SparseOptions = {},
): Promise<Sparse> => sparse("sparseJacobian", f, argnums, options);

/** The Hessian of `f`, which gives a Real, as a sparse matrix, computed as a symmetric one. */
export const sparseHessian = (
  f: unknown,
  argnums: Argnums = 0,
  options: SparseOptions = {},
): Promise<Sparse> => sparse("sparseHessian", f, argnums, options);
