// The types of the package: what a program in TypeScript sees of the bridge.
//
// Written by hand, because they say more than the bridge's own sources do: the bridge works on values
// whose Rose types it learns when it runs, and tells right from wrong then; these declarations compute
// from the Rose types in an author's source text what goes in and what comes out. Generated from the
// sources they would say `unknown`. Options are declared here alone, and the bridge imports their types.
// For the rest, `src/contract.ts` has the compiler compare both (the same names, and functions that take
// what is promised here), and `types/` has programs that must be accepted, and run to see that their values
// are of the types they have here, and programs that must be refused. The names of npm's `rose` 0.4.10 are
// here with their meanings.

// ---- types of values ----

declare const scalar: unique symbol;
declare const unsaid: unique symbol;

/** The null type. */
export interface Nulls {
  readonly [scalar]: "Null";
}
/** The boolean type. */
export interface Bools {
  readonly [scalar]: "Bool";
}
/** The 64-bit floating-point type. */
export interface Reals {
  readonly [scalar]: "Real";
}
/** The type of tangents, which enter only linearly. */
export interface Tans {
  readonly [scalar]: "Tan";
}

/**
 * A type that the program does not say, as it may be with a function in Python. Of its ordinary values nothing
 * is known; in bodies they count as Reals, of which there are gradients.
 */
export interface Unsaid extends Reals {
  readonly [unsaid]: true;
}

// not the unique symbols that they are: those are only symbols in an object literal
export declare const Null: Nulls;
export declare const Bool: Bools;
export declare const Real: Reals;
export declare const Tan: Tans;

/** An index type: the indices below this size. */
export type Nats = number;

/** A size that is not known yet: a call of the function tells it. */
export interface Size<N extends string = string> {
  readonly name: N;
  /** The size, in the body of a function that has it: `+n` is a number there. */
  valueOf(): number;
}
/** A size that is not known yet, for parameters such as `Vec(n, Real)`. */
export declare const Size: <const N extends string = "n">(name?: N) => Size<N>;

declare const below: unique symbol;
declare const element: unique symbol;

/** The type of vectors from the index type `K` to the element type `V`. */
export interface Vecs<K, V> {
  readonly [below]: K;
  readonly [element]: V;
}
// What functions take as a type is any `T`, since programs have functions of their own that are generic in
// it. `Symbolic` and `Value` say what is no type: of that there are no values, and nothing can be done
// with one.

/** The type of vectors from the index type `index`, a size, to `elem`. */
export declare const Vec: <K extends Nats | Size, const V>(
  index: K,
  elem: V,
) => Vecs<K extends Nats ? Nats : K, V>;

/** A struct type with these fields; in a body, where they are values, the struct of these. */
export declare const struct: <const T extends object>(fields: T) => T;

/** The type of a number with its tangent. */
export declare const Dual: { readonly re: Reals; readonly du: Tans };

type Scalars = Nulls | Bools | Reals | Tans | Nats;

/** The type of structs with fields of these types. */
export interface Structs {
  readonly [name: string]: Type;
}

/** A type of values, as an author writes it. Tuples are of such, which would be without end to compare. */
export type Type =
  Scalars | Size | Vecs<unknown, unknown> | Structs | readonly unknown[];

// ---- symbolic values, as bodies of functions see them ----

declare const kind: unique symbol;

interface Var<K> {
  readonly [kind]: K;
}

/** A symbolic null. */
export type Null = null;
/** A boolean, known or symbolic. */
export type Bool = boolean | Var<Bools>;
/** A number, known or symbolic. */
export type Real = number | Var<Reals>;
/** A symbolic tangent; of known ones there is only `zero()`. */
export type Tan = Var<Tans>;
/** A natural number, known or symbolic, which can index a vector. */
export type Nat = number | symbol;
/** A symbolic vector: an array, that takes symbolic indices too. */
export type Vec<T> = readonly T[] & { readonly [K: symbol]: T } & Updates<T>;

interface Updates<T> {
  /** The vector with `x` at `i`. */
  set(i: Nat, x: Given<T>): Vec<T>;
  /** `v.at[i].set(x)` is `v.set(i, x)`; `v.at[i][j].set(x)` goes further down, and `add` adds `x`. */
  readonly at: {
    readonly [K in number | symbol]: Place<T, Vec<T>>;
  };
}

/** The place of a `T` in a `Whole`. */
type Place<T, Whole> = {
  /** The whole vector with `x` at this place. */
  set(x: Given<T>): Whole;
  /** The whole vector with `x` added to what is at this place. */
  add(x: Given<T>): Whole;
} & (T extends readonly (infer V)[]
  ? { readonly [K in number | symbol]: Place<V, Whole> }
  : unknown);

/** The values that are taken where a symbolic value is a `T`. */
type Given<T> = [T] extends [Scalar]
  ? T
  : T extends readonly (infer V)[]
    ? readonly Given<V>[]
    : { readonly [K in keyof T]: Given<T[K]> };

/** A symbolic value that is no vector and no struct. */
type Scalar = Null | Bool | Real | Tan | Nat;

/** The symbolic values of a type: what a body is given, and what calls give. */
export type Symbolic<T> = T extends Nulls
  ? Null
  : T extends Bools
    ? Bool
    : T extends Reals
      ? Real
      : T extends Tans
        ? Tan
        : T extends Nats | Size
          ? Nat
          : T extends Vecs<unknown, infer V>
            ? Vec<Symbolic<V>>
            : T extends object
              ? { [K in keyof T]: Symbolic<T[K]> }
              : unknown;

/** The values that are taken for a type: what a body returns, and what calls are given. */
export type Value<T> = T extends Unsaid
  ? unknown
  : T extends Nulls
    ? Null
    : T extends Bools
      ? Bool
      : T extends Reals
        ? Real
        : T extends Tans
          ? Tan
          : T extends Nats | Size
            ? Nat
            : T extends Vecs<unknown, infer V>
              ? readonly Value<V>[] | Numbers<V>
              : T extends object
                ? { readonly [K in keyof T]: Value<T[K]> }
                : unknown extends T
                  ? unknown
                  : never;

type Symbolics<P> = { [K in keyof P]: Symbolic<P[K]> };
type Values<P> = { [K in keyof P]: Value<P[K]> };

// ---- ordinary values, as compiled functions see them ----

/** The typed arrays that are taken for a vector of elements of type `V`. */
type Numbers<V> = V extends Reals | Nats | Size
  ? | Float64Array
    | Float32Array
    | Int32Array
    | Uint32Array
    | Int16Array
    | Uint16Array
    | Int8Array
    | Uint8Array
    | Uint8ClampedArray
  : never;

/** All numbers of vectors of type `V`, in a row. */
type Flat<V> =
  V extends Vecs<unknown, infer E>
    ? E extends Reals | Tans
      ? Float64Array
      : Flat<E>
    : never;

/** The ordinary values that are taken for a type. */
export type Input<T> = T extends Unsaid
  ? unknown
  : T extends Nulls
    ? null
    : T extends Bools
      ? boolean
      : T extends Reals | Tans | Nats | Size
        ? number
        : T extends Vecs<unknown, infer V>
          ? readonly Input<V>[] | Numbers<V extends Tans ? Reals : V> | Flat<V>
          : T extends object
            ? { readonly [K in keyof T]: Input<T[K]> }
            : unknown extends T
              ? unknown
              : never;

/** The ordinary values that come out for a type. */
export type Output<T> = T extends Unsaid
  ? unknown
  : T extends Nulls
    ? null
    : T extends Bools
      ? boolean
      : T extends Reals | Tans | Nats | Size
        ? number
        : T extends Vecs<unknown, infer V>
          ? Output<V>[]
          : T extends object
            ? { -readonly [K in keyof T]: Output<T[K]> }
            : unknown;

type Inputs<P> = { [K in keyof P]: Input<P[K]> };
type Outputs<P> = { [K in keyof P]: Output<P[K]> };

// ---- functions of which only the call is known ----
//
// Programs for `rose` 0.4.10 may say `Fn & ((x: Real) => Real)`, which says nothing of Rose types.

/** The ordinary values for symbolic ones. */
type Ordinary<T> = [T] extends [Null]
  ? null
  : [T] extends [Bool]
    ? boolean
    : [T] extends [Real | Tan | Nat]
      ? number
      : T extends readonly (infer V)[]
        ? Ordinary<V>[]
        : { [K in keyof T]: Ordinary<T[K]> };

/** A function of which only the call is known, and that all its sizes are. */
type Loose<A extends readonly unknown[], B> = Fn &
  ((...args: A) => B) & { at?: never };

type Ordinaries<A> = { [K in keyof A]: Ordinary<A[K]> };

/** Symbolic values with a dual number for every number. */
type SymbolicDual<T> = [T] extends [Null | Bool]
  ? T
  : [T] extends [Real | Tan]
    ? { re: Real; du: Tan }
    : [T] extends [Nat]
      ? Nat
      : T extends Vec<infer V>
        ? Vec<SymbolicDual<V>>
        : { [K in keyof T]: SymbolicDual<T[K]> };

type SymbolicDuals<A> = { [K in keyof A]: SymbolicDual<A[K]> };

// ---- functions ----

declare const made: unique symbol;
declare const signature: unique symbol;
declare const sizes: unique symbol;

/** A function made with `fn` or `opaque`, of whatever type. */
export interface Fn {
  readonly [made]: true;
  jvp?: Fn | undefined;
}

/** What can be the derivative `F` of a function: any `Fn` that is not known to be of another type. */
type Rule<F> = Fn &
  Partial<Pick<F, keyof F & (typeof signature | typeof sizes)>>;

/**
 * A function with the forward derivative `D`. An interface of its own because the compiler compares a type's
 * own properties before inherited ones: two types of functions differ in their signatures, and else in their
 * derivatives, whose derivatives it would compare, without end.
 */
interface Differentiable<D extends Fn> extends Fn {
  /** The forward derivative that is taken in place of the one that follows from the body. */
  get jvp(): D | undefined;
  set jvp(rule: Rule<D>);
}

/** A function with parameters of the types `P` and a result of type `R`; to be called on symbolic values. */
export interface Func<P extends readonly unknown[], R> extends Differentiable<
  Func<Duals<P>, DualOf<R>>
> {
  (...args: Values<P>): Symbolic<R>;
  readonly [signature]: readonly [readonly [...P], R];
}

/** A function with sizes that are not known yet: a call tells them, or `at` does. */
export interface GenericFunc<
  P extends readonly unknown[],
  R,
> extends Differentiable<GenericFunc<Duals<P>, DualOf<R>>> {
  (...args: Values<P>): Symbolic<R>;
  readonly [sizes]: readonly [readonly [...P], R];
  /** The function at these sizes, by name. */
  at(sizes: { readonly [N in SizeNames<P>]: number }): Func<Known<P>, Known<R>>;
}

/** The names of the sizes in a type that are not known yet. */
type SizeNames<T> =
  T extends Size<infer N>
    ? N
    : T extends Scalars
      ? never
      : T extends Vecs<infer K, infer V>
        ? SizeNames<K> | SizeNames<V>
        : T extends object
          ? { [K in keyof T]: SizeNames<T[K]> }[T extends readonly unknown[]
              ? keyof T & number
              : keyof T]
          : never;

/** A type with numbers for the sizes in it. */
type Known<T> = T extends Size
  ? Nats
  : T extends Scalars
    ? T
    : T extends Vecs<infer K, infer V>
      ? Vecs<Known<K>, Known<V>>
      : T extends object
        ? { [K in keyof T]: Known<T[K]> }
        : T;

/** The function type for these parameter and result types. */
type Made<P extends readonly unknown[], R> = [SizeNames<P>] extends [never]
  ? Func<P, R>
  : GenericFunc<P, R>;

/** Define a function: the body runs once, now, on symbolic values. */
export declare const fn: <
  const P extends readonly unknown[],
  const R,
  const B extends Value<R>, // of its own, so that an array in the body may be a tuple
>(
  params: P,
  ret: R,
  body: (...args: Symbolics<P>) => B,
) => Made<P, R>;

/** A function that runs JavaScript; its derivative is what `jvp` is set to. */
export declare const opaque: <
  const P extends readonly Type[],
  const R extends Type,
  const B extends Input<R>,
>(
  params: P,
  ret: R,
  host: (...args: Outputs<P>) => B,
) => Func<P, R>;

// ---- derivatives ----

/** A type with a dual number for every number. */
export type DualOf<T> = T extends Unsaid
  ? T
  : T extends Reals | Tans
    ? typeof Dual
    : T extends Nulls | Bools | Nats | Size
      ? T
      : T extends Vecs<infer K, infer V>
        ? Vecs<K, DualOf<V>>
        : { [K in keyof T]: DualOf<T[K]> };

type Duals<P extends readonly unknown[]> = { [K in keyof P]: DualOf<P[K]> };

/** `T` with numbers in place of tangents. */
export type NumbersOf<T> = T extends Unsaid
  ? T
  : T extends Tans
    ? Reals
    : T extends Scalars | Size
      ? T
      : T extends Vecs<infer K, infer V>
        ? Vecs<K, NumbersOf<V>>
        : { [K in keyof T]: NumbersOf<T[K]> };

/** The forward derivative of a function, to be called with numbers for tangents, too, where it gives such. */
type Forward<P extends readonly unknown[], R> = Func<P, R> &
  ((...args: Values<NumbersOf<P>>) => Symbolic<NumbersOf<R>>);

/** The same of one with sizes that are not known yet. */
type GenericForward<P extends readonly unknown[], R> = GenericFunc<P, R> &
  ((...args: Values<NumbersOf<P>>) => Symbolic<NumbersOf<R>>);

/** The forward derivative of `f`: the same function on dual numbers. */
export declare const jvp: {
  <P extends readonly unknown[], R>(
    f: Func<P, R>,
  ): Forward<Duals<P>, DualOf<R>>;
  <P extends readonly unknown[], R>(
    f: GenericFunc<P, R>,
  ): GenericForward<Duals<P>, DualOf<R>>;
  <A extends readonly unknown[], B>(
    f: Fn & ((...args: A) => B),
  ): Fn & ((...args: SymbolicDuals<A>) => SymbolicDual<B>);
};

/** What the reverse derivative gives: the value, and the function from its cotangent to the arguments'. */
export interface Pullback<P extends readonly unknown[], R> {
  readonly ret: Symbolic<R>;
  /** The cotangent of the argument; of several arguments, an array of them. */
  readonly grad: (
    cotangent: Value<R>,
  ) => number extends P["length"]
    ? unknown
    : P extends readonly [infer A]
      ? Symbolic<A>
      : Symbolics<P>;
}

/** The reverse derivative of `f`, at arguments of it. */
export declare const vjp: {
  <P extends readonly unknown[], R>(
    f: Func<P, R> | GenericFunc<P, R>,
  ): (...args: Values<P>) => Pullback<P, R>;
  <A, B>(
    f: Fn & ((arg: A) => B),
  ): (arg: A) => { readonly ret: B; readonly grad: (cotangent: B) => A };
};

/** The numbers of arguments to differentiate by: one, or several. */
type Argnums = number | readonly number[];

/**
 * The argument with this number, as a type; of several a struct with the numbers as names, or of the first
 * ones a tuple. What is known as `number` only can be any.
 */
type Chosen<P extends readonly unknown[], A> = A extends number
  ? P[A]
  : A extends readonly number[]
    ? Counts<A> extends true
      ? { readonly [K in keyof A]: P[A[K] & keyof P] }
      : { [K in A[number] as `${K}`]: P[K] }
    : never;

/** Whether numbers are 0, 1, and so on. */
type Counts<A extends readonly unknown[]> = A extends readonly []
  ? true
  : A extends readonly [...infer Rest, infer Last]
    ? Last extends Rest["length"]
      ? Counts<Rest>
      : false
    : false;

/** `T` with `E` in place of every Real. */
export type Over<T, E> = T extends Unsaid
  ? T
  : T extends Reals
    ? E
    : T extends Nulls | Bools | Nats | Size
      ? T
      : T extends Vecs<infer K, infer V>
        ? Vecs<K, Over<V, E>>
        : { [K in keyof T]: Over<T[K], E> };

/** The gradient of `f`, by the argument with this number, or by several: a function of the same arguments. */
export declare const grad: {
  <P extends readonly unknown[], const A extends Argnums = 0>(
    f: Func<P, Reals>,
    argnums?: A,
  ): Func<P, Chosen<P, A>>;
  <P extends readonly unknown[], const A extends Argnums = 0>(
    f: GenericFunc<P, Reals>,
    argnums?: A,
  ): GenericFunc<P, Chosen<P, A>>;
};

/** The value of `f` and its gradient, computed together. */
export declare const valueAndGrad: {
  <P extends readonly unknown[], const A extends Argnums = 0>(
    f: Func<P, Reals>,
    argnums?: A,
  ): Func<P, { readonly value: Reals; readonly grad: Chosen<P, A> }>;
  <P extends readonly unknown[], const A extends Argnums = 0>(
    f: GenericFunc<P, Reals>,
    argnums?: A,
  ): GenericFunc<P, { readonly value: Reals; readonly grad: Chosen<P, A> }>;
};

/** The Hessian of `f` times a direction, which is one more argument. */
export declare const hvp: {
  <P extends readonly unknown[], const A extends Argnums = 0>(
    f: Func<P, Reals>,
    argnums?: A,
  ): Func<readonly [...P, Chosen<P, A>], Chosen<P, A>>;
  <P extends readonly unknown[], const A extends Argnums = 0>(
    f: GenericFunc<P, Reals>,
    argnums?: A,
  ): GenericFunc<readonly [...P, Chosen<P, A>], Chosen<P, A>>;
};

/** `f` near its arguments: its value, and the linear map from changes of the arguments to its change. */
export declare const linearize: <P extends readonly unknown[], R>(
  f: Func<P, R> | GenericFunc<P, R>,
) => (...args: Values<P>) => {
  readonly ret: Symbolic<R>;
  readonly push: (...directions: Values<P>) => Symbolic<R>;
};

export interface JacobianOptions {
  /**
   * "forward" takes a pass for each Real of the argument, "reverse" one for each Real of the result; "auto", the
   * default, takes whichever are fewer.
   */
  mode?: "auto" | "forward" | "reverse";
}

/** The Jacobian of `f`: in place of every Real of the result, its gradient. */
export declare const jacobian: {
  <P extends readonly unknown[], R, const A extends Argnums = 0>(
    f: Func<P, R>,
    argnums?: A,
    options?: JacobianOptions,
  ): Func<P, Over<R, Chosen<P, A>>>;
  <P extends readonly unknown[], R, const A extends Argnums = 0>(
    f: GenericFunc<P, R>,
    argnums?: A,
    options?: JacobianOptions,
  ): GenericFunc<P, Over<R, Chosen<P, A>>>;
};

/** The Hessian of `f`: in place of every Real of its gradient, the gradient of that. */
export declare const hessian: {
  <P extends readonly unknown[], R, const A extends Argnums = 0>(
    f: Func<P, R>,
    argnums?: A,
  ): Func<P, Over<Over<R, Chosen<P, A>>, Chosen<P, A>>>;
  <P extends readonly unknown[], R, const A extends Argnums = 0>(
    f: GenericFunc<P, R>,
    argnums?: A,
  ): GenericFunc<P, Over<Over<R, Chosen<P, A>>, Chosen<P, A>>>;
};

/** A matrix of derivatives of which most elements are always zero. */
export interface Sparse<P extends readonly unknown[]> {
  /** For each element that may not be zero, the number of its row, in ascending order. */
  readonly rows: Int32Array;
  /** And that of its column, in ascending order in each row. */
  readonly columns: Int32Array;
  /** How many rows and columns there are. */
  readonly shape: readonly [number, number];
  /** How many derivatives along a direction, or of a weighted sum, the values take. */
  readonly passes: number;
  /** The elements, as a function of the arguments of the function that was differentiated. */
  readonly values: Func<P, Vecs<Nats, Reals>>;
}

/**
 * The Jacobian of `f` as a sparse matrix, by the pattern of the program, whatever its numbers are. Reals
 * count in the order in which they are written: fields as declared, elements from the first on.
 */
export declare const sparseJacobian: <P extends readonly unknown[], R>(
  f: Func<P, R>,
  argnums?: Argnums,
  options?: { signal?: AbortSignal },
) => Promise<Sparse<P>>;

/** The Hessian of `f`, which gives a Real, as a sparse matrix, computed as a symmetric one. */
export declare const sparseHessian: <P extends readonly unknown[]>(
  f: Func<P, Reals>,
  argnums?: Argnums,
  options?: { signal?: AbortSignal },
) => Promise<Sparse<P>>;

/** For each argument 0, or null for one that all elements share. */
type InAxes = 0 | readonly (0 | null)[];

type Batched<P extends readonly unknown[], A, N extends string> = {
  [K in keyof P]: A extends 0
    ? Vecs<Size<N>, P[K]>
    : A[K & keyof A] extends null
      ? P[K]
      : Vecs<Size<N>, P[K]>;
};

/**
 * `f` on a vector of each of its arguments, element by element: a function that is generic in how many
 * there are, of the name `size`.
 */
export declare const vmap: <
  const P extends readonly unknown[],
  R,
  const A extends InAxes = 0,
  const N extends string = "batch",
>(
  f: Func<P, R> | GenericFunc<P, R>,
  inAxes?: A,
  size?: N,
) => GenericFunc<Batched<P, A, N>, Vecs<Size<N>, R>>;

/**
 * `f` on Taylor series up to `order`: it takes for each argument, and gives, an array of `order + 1`
 * coefficients, `x[0] + x[1] t + x[2] t² + …`.
 */
export declare const jet: {
  <P extends readonly unknown[], R>(
    f: Func<P, R>,
    order: number,
  ): Func<{ readonly [K in keyof P]: Vecs<Nats, P[K]> }, Vecs<Nats, R>>;
  <P extends readonly unknown[], R>(
    f: GenericFunc<P, R>,
    order: number,
  ): GenericFunc<{ readonly [K in keyof P]: Vecs<Nats, P[K]> }, Vecs<Nats, R>>;
};

// ---- running ----

/**
 * A value in memory: a typed array with its scalars in a row (Float64Array of Reals, Int32Array of indices,
 * Uint8Array of Bools); an object of views for a struct, or for a vector of structs.
 */
export type View =
  | Float64Array
  | Int32Array
  | Uint8Array
  | null
  | readonly View[]
  | { readonly [field: string]: View };

/** What the elements of a vector are, of ordinary values; nothing of a tuple. */
type ElementOf<B> = B extends readonly (infer E)[]
  ? number extends B["length"]
    ? E
    : never
  : never;

/** The view of an ordinary value of type `B`, or of what is taken for one, of which an array says what it is. */
export type ViewOf<B> = unknown extends B
  ? View
  : [B] extends [null]
    ? null
    : [B] extends [boolean]
      ? Uint8Array
      : [B] extends [number]
        ? Float64Array | Int32Array
        : [ElementOf<B>] extends [never]
          ? { readonly [K in keyof B]: ViewOf<B[K]> }
          : ViewOf<ElementOf<B>>;

/** A typed array for all numbers of vectors of vectors, row by row. */
type Rows<B> = [ElementOf<B>] extends [never]
  ? never
  : ElementOf<B> extends number
    ? Float64Array
    : Rows<ElementOf<B>>;

/** What can be filled with an ordinary value of type `B`: of a scalar nothing, but for a field of that type. */
export type Filled<B> = [B] extends [number | boolean | null]
  ? never
  : Filling<B>;

type Filling<B> = [ElementOf<B>] extends [never]
  ? B extends object
    ? { [K in keyof B]: Filling<B[K]> }
    : B
  : ElementOf<B> extends number
    ? number[] | Float64Array | Float32Array | Int32Array
    : ElementOf<B> extends boolean
      ? boolean[] | Uint8Array
      : Filling<ElementOf<B>>[] | Rows<B>;

/** A compiled function, from ordinary values to an ordinary value. */
export interface Compiled<A extends readonly unknown[], B> {
  (...args: A): B;
  /** The same, the result put into `out`, an array or object of its form; gives `out`. */
  into<Out extends Filled<B>>(out: Out, ...args: A): Out;
  /**
   * The arguments in memory, to be filled for `run`; a scalar is an array of one. When memory grows, older views
   * become empty: memory that was given to `compile` may grow, and so may, in a first call, that of a function with
   * a loop whose number of iterations is not known before. Any call of a function with the same memory overwrites
   * them.
   */
  readonly args: { readonly [K in keyof A]: ViewOf<A[K]> };
  /** The result in memory. */
  readonly result: ViewOf<B>;
  /** Compute the result in memory from the arguments in memory, and give it. Allocates nothing. */
  run(): ViewOf<B>;
  /**
   * A promise of whether compiled code runs, for a function that was a draft at first: false if it stays a draft
   * (the console says why, unless the signal has cancelled the compilation) or was disposed of.
   */
  readonly settled: Promise<boolean>;
  /** Free its memory, which empties the views of it; after that it cannot be called. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** `WebAssembly.Memory`; where the program has no types of a browser, as in Node, what of it is used. */
type Memory = typeof globalThis extends {
  WebAssembly: { Memory: { prototype: infer M } };
}
  ? M
  : {
      readonly buffer: ArrayBuffer | SharedArrayBuffer;
      grow(pages: number): number;
    };

export interface CompileOptions {
  /**
   * The memory to use, which is grown as needed; by default the function gets its own, of which browsers allow
   * about 100 for a page.
   */
  memory?: Memory;
  /** Cancels the compilation: the promise is rejected with the signal's reason. */
  signal?: AbortSignal;
  /**
   * Whether it may be a draft at first: a function that is there at once, without Python, but many times slower
   * than the compiled code that takes its place when that has come and the page pauses. Last digits may differ.
   */
  draft?: boolean;
  /**
   * Whether powers like `pow(x, 8)` are as near to the exact value as other functions are, a unit in the last
   * place; else they are products, which take a tenth of the time, with up to 8 roundings.
   */
  precise?: boolean;
}

/**
 * Compile `f` to WebAssembly; the promise of a function on ordinary values. It is rejected with what is wrong with
 * `f`, as where a derivative does not exist, or why the compiler cannot be loaded. Calls throw a TypeError for
 * arguments of another type or number, and a RangeError for a vector of another length, an index that is none, or
 * where the program itself cannot go on; after that the function can be called again.
 */
export declare const compile: {
  <P extends readonly unknown[], R>(
    f: Func<P, R>,
    options?: CompileOptions,
  ): Promise<Compiled<Inputs<P>, Output<R>>>;
  <A extends readonly unknown[], B>(
    f: Loose<A, B>,
    options?: CompileOptions,
  ): Promise<Compiled<Ordinaries<A>, Ordinary<B>>>;
};

/** A function that is edited while it is used. */
export interface Hot<A extends readonly unknown[], B> {
  /** Call what compiled last; throws if nothing has. */
  (...args: A): B;
  /** What compiled last: disposed of when the next one takes its place. */
  readonly current: Compiled<A, B> | undefined;
  /**
   * Compile `f` and put it in place; false if a later edit has overtaken it. If it does not compile, the
   * promise is rejected, and all stays as it is. Of edits that come while another compiles, only the last
   * is compiled.
   */
  update<P extends readonly unknown[], R>(
    f: Func<P, R> &
      (A extends Inputs<P> ? unknown : never) &
      (Output<R> extends B ? unknown : never),
  ): Promise<boolean>;
  /** Free its memory; after that it cannot be called or updated. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** A function that `update` gives what to do: `hot<[number], number>()`. */
export declare const hot: <A extends readonly unknown[], B>(
  options?: CompileOptions,
) => Hot<A, B>;

/**
 * Run `f` by the interpreter: slow, and by definition right. Needs the core on this thread where `f` takes
 * derivatives; where it does not, functions such as `exp` are those of `Math`, and may differ in the last digit.
 */
export declare const interp: {
  <P extends readonly unknown[], R>(
    f: Func<P, R>,
  ): (...args: Inputs<P>) => Output<R>;
  <A extends readonly unknown[], B>(
    f: Loose<A, B>,
  ): (...args: Ordinaries<A>) => Ordinary<B>;
};

/**
 * The functions that the page's scripts of the type `text/x-rose` define in Python, by name, or those that
 * `source` defines. The page says what their types are, `python<{ f: Func<[Reals], Reals> }>()`; else what
 * comes out is `unknown`. The scripts are run like any program: never put text of strangers there.
 */
export declare const python: <
  F extends object = Record<string, Func<readonly Unsaid[], Unsaid>>,
>(
  source?: string,
  options?: { signal?: AbortSignal },
) => Promise<F>;
/** What the compiler makes of a function, as text. */
export interface Inspection {
  /** As it was recorded, with the functions that it calls, and derivatives by name. */
  readonly recorded: string;
  /** As a program without derivatives, in the notation of the paper. */
  readonly ir: string;
  /** As WebAssembly, with the bytes of each instruction beside it. */
  readonly wat: string;
  /** How many bytes of WebAssembly that is. */
  readonly size: number;
}

/** What the compiler makes of `f`, as text. */
export declare const inspect: <P extends readonly unknown[], R>(
  f: Func<P, R>,
  options?: { signal?: AbortSignal },
) => Promise<Inspection>;

export interface Configuration {
  /** Where Python runs: in a worker, so that the page is never held up, or on this thread. */
  core?: "worker" | "main";
  /** The folder of `rose.worker.js`, `rose.python.js` and `pyodide/`, relative to that of `rose.js`, the default. */
  assets?: string | URL;
  /** Whether the browser keeps compiled programs, or how many bytes of them at most. */
  cache?: boolean | number;
  /** Whether a program is compiled only where it differs from earlier ones; true by default. */
  incremental?: boolean;
  /** Whether functions may be drafts before they are compiled, unless `compile` is told otherwise. */
  draft?: boolean;
  /** Whether powers are as near to the exact value as other functions, unless `compile` is told otherwise. */
  precise?: boolean;
  /** The folder of `rose.frozen.json`, relative to the page; by default `assets`. False: nothing is frozen. */
  frozen?: string | URL | false;
}

/** Choose how Rose works on this page; `core` and `assets` before the core is first needed. */
export declare const configure: (configuration?: Configuration) => void;

/**
 * Load the core ahead of need; resolves when it can compile. `idle`: when the page has nothing else to
 * do, and not at all where the reader asks to save data.
 */
export declare const ready: (options?: { idle?: boolean }) => Promise<void>;

/**
 * How far the start of Python is: the `detail` of the event `rose-progress` on the window. A listener
 * that shows it in its own way prevents the default, a thin bar at the top of the page.
 */
export interface Progress {
  /** Files are on their way, Python starts from them, it is ready, or none of that worked. */
  readonly stage: "download" | "start" | "ready" | "failed";
  /** Bytes of the files that have come, and of all. */
  readonly loaded: number;
  readonly total: number;
}

// ---- loops and choices ----

/**
 * The vector of `body(i)` for each index `i` below `index`, where the body runs once; or the elements of an array
 * as a vector, which can be read at symbolic indices.
 */
export declare const vec: <const T, const B extends Value<T>>(
  index: Nats | Size,
  elem: T,
  body: ((i: Nat) => B) | ArrayLike<Value<T>>,
) => Vec<Symbolic<T>>;

/** The sum of `body(i)` over each index `i` below `index`, of numbers or tangents; the body runs once. */
export declare const sum: {
  (index: Nats | Size, body: (i: Nat) => Real): Real;
  (index: Nats | Size, body: (i: Nat) => Tan): Tan;
};

/** `yes` where `p` holds, else `no`: both of type `type`. */
export declare const select: <const T>(
  p: Bool,
  type: T,
  yes: Value<T>,
  no: Value<T>,
) => Symbolic<T>;

/**
 * `yes()` where `p` holds, else `no()`, both of type `type`. Only the side that is taken runs, and only
 * its derivative is taken.
 */
export declare const cond: <
  const T extends Type,
  const A extends Value<T>,
  const B extends Value<T>,
>(
  p: Bool,
  type: T,
  yes: () => A,
  no: () => B,
) => Symbolic<T>;

export interface LoopOptions {
  /**
   * With a number k, reverse mode keeps the state of every k-th iteration and computes the others again. "revolve"
   * takes as many iterations between two states as there are states; "none", the default, keeps every iteration.
   */
  checkpoint?: "none" | "revolve" | number;
}

export interface WhileOptions extends LoopOptions {
  /** More iterations than this are a RangeError of the call; by default there may be about two thousand million. */
  limit?: number;
}

/** From the state `init`, `body` as long as `test` holds. */
export declare const whileLoop: <
  const T extends Type,
  const B extends Value<T>,
>(
  type: T,
  init: Value<T>,
  test: (state: Symbolic<T>) => Bool,
  body: (state: Symbolic<T>) => B,
  options?: WhileOptions,
) => Symbolic<T>;

/** A number of iterations: a size, or a number that is known only at run time. */
type TripCount = Size | Nat | Real;

/**
 * From the state `init`, `body(i, state)` for `i` from 0 up. `n` is a size, and `i` an index below it;
 * or a symbolic index, and `i` an index of its type, of which a sum such as `iadd(size, k, 1)` may be the
 * size, too; or a symbolic Real, and `i` an index of any size.
 */
export declare const fori: <const T extends Type, const B extends Value<T>>(
  n: TripCount,
  type: T,
  init: Value<T>,
  body: (i: Nat, state: Symbolic<T>) => B,
  options?: LoopOptions,
) => Symbolic<T>;

/**
 * As `fori`, of a body that gives `[state, y]`: the last state, and the vector of every iteration's `y`. With
 * a symbolic index `n` that has as many elements as its type, of which those from `n` on are zero.
 */
export declare const scan: <
  const T extends Type,
  const B extends Value<T>,
  Y extends Scalar | object,
>(
  n: Size | Nat,
  type: T,
  init: Value<T>,
  body: (state: Symbolic<T>, i: Nat) => readonly [B, Y],
) => [Symbolic<T>, [Y] extends [Null] ? Null : Vec<Lifted<Y>>];

/** The symbolic value that a value is by itself. */
type Lifted<Y> = [Y] extends [Null]
  ? Null
  : [Y] extends [Bool]
    ? Bool
    : [Y] extends [Real]
      ? Real
      : [Y] extends [Tan]
        ? Tan
        : [Y] extends [Nat]
          ? Nat
          : Y extends readonly (infer V)[]
            ? Vec<Lifted<V>>
            : { [K in keyof Y]: Lifted<Y[K]> };

/** `f`, of which reverse mode keeps only the arguments, and computes the rest again. */
export declare const checkpoint: {
  <P extends readonly unknown[], R>(f: Func<P, R>): Func<P, R>;
  <P extends readonly unknown[], R>(f: GenericFunc<P, R>): GenericFunc<P, R>;
  <A extends readonly unknown[], B>(f: Loose<A, B>): Fn & ((...args: A) => B);
};

// ---- functions of functions ----

/** The type of the tangents of a type of numbers. */
export type TangentOf<T> = T extends Reals | Tans
  ? Tans
  : T extends Vecs<infer K, infer V>
    ? Vecs<K, TangentOf<V>>
    : { [K in keyof T]: TangentOf<T[K]> };

/**
 * What `body(f, x)` computes, for functions `f` and arguments `x`, with the derivative `rule(y, f, x)`: the
 * tangent of `y`, which `body` gives, from duals for the arguments. In the rule, `jvp` of one of the
 * functions, or of one that is made of them, is the derivative along its arguments and along all that they
 * use from around them.
 */
export declare const functional: <
  const F extends readonly Fn[],
  const P extends readonly unknown[],
  const R,
  const B extends Value<R>,
  const D extends Value<TangentOf<R>>,
>(
  functions: readonly [...F],
  params: P,
  ret: R,
  body: (...args: [...F, ...Symbolics<P>]) => B,
  rule: (...args: [Symbolic<R>, ...F, ...Symbolics<Duals<P>>]) => D,
) => Func<P, R>;

export interface SolveOptions {
  /**
   * The change of the last step, relative to the result, 1e-12 by default; of `quad` the error, relative to ∫ |f|
   * if `f` is finite, 1e-10; of `minimize` the largest derivative of `f`, 1e-8.
   */
  tolerance?: number;
  /**
   * More steps, or parts of the interval, than this are a RangeError of the call: 100 of `root`, 10,000 of
   * `fixedPoint` and `quad`, 1000 of `minimize`, but 100,000 of its method "adam".
   */
  limit?: number;
}

/** From a function and a start to a number or a vector of them. */
interface Solve {
  (f: Fn | ((x: Real) => Real), x0: Real, options?: SolveOptions): Real;
  (
    f: Fn | ((x: Vec<Real>) => readonly Real[]),
    x0: readonly Real[] | Numbers<Reals>,
    options?: SolveOptions,
  ): Vec<Real>;
}

/**
 * `x` with `f(x) = 0`, near `x0`. The derivative with respect to all that `f` uses from around it is that
 * of the root; `x0` has none.
 */
export declare const root: Solve;
/**
 * `x` with `f(x) = x`, from `x0` by `x = f(x)` again and again. The derivative is that of the fixed point,
 * with respect to all that `f` uses from around it; `x0` has none.
 */
export declare const fixedPoint: Solve;

/**
 * The integral of `f` from `a` to `b`, each finite, or the number `Infinity` or `-Infinity`; of a function made
 * with `fn`, which may give any type of Reals, or of a plain one. Far from the other bound, or from 0, a narrow
 * peak may be missed: integrate to it and from it on. The derivative is that of the integral, with respect to
 * `a`, `b` and all that `f` uses from around it; but for the part of a jump of `f` at a place that depends on
 * these, which an integral for each side has.
 */
export declare const quad: {
  <R>(
    f: Func<readonly [Reals], R>,
    a: Real,
    b: Real,
    options?: SolveOptions,
  ): Symbolic<R>;
  (f: (x: Real) => Real, a: Real, b: Real, options?: SolveOptions): Real;
};

export interface OdeOptions extends LoopOptions {
  /** The error of a step, relative to the solution: 1e-8 by default. */
  rtol?: number;
  /** The error of a step where the solution is near zero, in units of that: 1e-10 by default. */
  atol?: number;
  /** More steps than this from one time to the next, by default 100,000, are a RangeError of the call. */
  limit?: number;
}

type Times = readonly Real[] | Numbers<Reals>;

/**
 * The solution of `y' = f(y, t)` that is `y0` at `ts[0]`, at all times `ts`, as a vector. The derivative is
 * that of the solution, with respect to `y0`, `ts` and all that `f` uses from around it.
 */
export declare const odeint: {
  <T>(
    f: Func<readonly [T, Reals], T>,
    y0: Value<T>,
    ts: Times,
    options?: OdeOptions,
  ): Vec<Symbolic<T>>;
  (
    f: (y: Real, t: Real) => Real,
    y0: Real,
    ts: Times,
    options?: OdeOptions,
  ): Vec<Real>;
  (
    f: (y: Vec<Real>, t: Real) => readonly Real[],
    y0: readonly Real[] | Numbers<Reals>,
    ts: Times,
    options?: OdeOptions,
  ): Vec<Vec<Real>>;
};

export interface MinimizeOptions extends SolveOptions {
  /** L-BFGS, the default; Newton's method, for few variables; or Adam. */
  method?: "lbfgs" | "newton" | "adam";
  /** About how long the steps of Adam are, in units of `x`: 0.01 by default. */
  rate?: number;
}

/**
 * `x` near `x0` where `f(x)` is smallest, so that no derivative of `f` is larger than `tolerance`. The
 * derivative is that of the minimum, with respect to all that `f` uses from around it; `x0` has none.
 */
export declare const minimize: {
  (f: Fn | ((x: Real) => Real), x0: Real, options?: MinimizeOptions): Real;
  (
    f: Fn | ((x: Vec<Real>) => Real),
    x0: readonly Real[] | Numbers<Reals>,
    options?: MinimizeOptions,
  ): Vec<Real>;
};

// ---- operations ----

type Unary = (x: Real) => Real;
type Binary = (x: Real, y: Real) => Real;
type Compare = (x: Real, y: Real) => Bool;
type Logic = (p: Bool, q: Bool) => Bool;
type CompareIndices = (index: Nats | Size, i: Nat, j: Nat) => Bool;

/** The zero tangent. */
export declare const zero: () => Tan;
export declare const neg: {
  (x: Real): Real;
  (x: Tan): Tan;
};
export declare const add: {
  (x: Real, y: Real): Real;
  (x: Tan, y: Tan): Tan;
};
export declare const sub: {
  (x: Real, y: Real): Real;
  (x: Tan, y: Tan): Tan;
};
export declare const mul: {
  (x: Real, y: Real): Real;
  (x: Tan, y: Real): Tan;
  (x: Real, y: Tan): Tan;
};
export declare const div: {
  (x: Real, y: Real): Real;
  (x: Tan, y: Real): Tan;
};

export declare const abs: Unary;
/** 1, or -1 where the sign bit is set, so also of -0; NaN of NaN. */
export declare const sign: Unary;
export declare const ceil: Unary;
export declare const floor: Unary;
export declare const trunc: Unary;
export declare const sqrt: Unary;
export declare const cbrt: Unary;
export declare const sin: Unary;
export declare const cos: Unary;
export declare const tan: Unary;
export declare const asin: Unary;
export declare const acos: Unary;
export declare const atan: Unary;
export declare const sinh: Unary;
export declare const cosh: Unary;
export declare const tanh: Unary;
export declare const exp: Unary;
export declare const expm1: Unary;
export declare const log: Unary;
export declare const log1p: Unary;
export declare const log2: Unary;
export declare const log10: Unary;

export declare const min: Binary;
export declare const max: Binary;
export declare const pow: Binary;
/** The angle of the point (x, y), which are the second and the first argument. */
export declare const atan2: Binary;
export declare const hypot: Binary;

export declare const neq: Compare;
export declare const lt: Compare;
export declare const leq: Compare;
export declare const eq: Compare;
export declare const gt: Compare;
export declare const geq: Compare;

export declare const not: (p: Bool) => Bool;
export declare const and: Logic;
export declare const or: Logic;
/** Whether `p` and `q` are equal. */
export declare const iff: Logic;
export declare const xor: Logic;

/** Arithmetic on indices of any types; the result is an index below the size `index`. */
type Arithmetic = (index: Nats | Size, i: Nat, j: Nat) => Nat;

export declare const iadd: Arithmetic;
export declare const isub: Arithmetic;
export declare const imul: Arithmetic;
export declare const imin: Arithmetic;
export declare const imax: Arithmetic;
/** The index `i`, of any index type, modulo the size `index`. */
export declare const imod: (index: Nats | Size, i: Nat) => Nat;
/** How many times the whole number `by` goes into the index `i`, of any index type, rounded down. */
export declare const idiv: (
  index: Nats | Size,
  i: Nat,
  by: number | Size,
) => Nat;
/** The number `x`, a Real or an index of any type, as an index below `size`. */
export declare const index: (size: Nats | Size, x: Real | Nat) => Nat;
/** The index `i`, of any type, as a Real. */
export declare const real: (i: Nat) => Real;
export declare const ineq: CompareIndices;
export declare const ilt: CompareIndices;
export declare const ileq: CompareIndices;
export declare const ieq: CompareIndices;
export declare const igt: CompareIndices;
export declare const igeq: CompareIndices;

// without this, everything above would be exported
export {};

/** The classic script puts the same there. */
export as namespace rose;

// as in the library `esnext.disposable`, which a program need not have
declare global {
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}
