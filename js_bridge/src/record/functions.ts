// Defining, calling and differentiating functions.

import { askAhead } from "../known/frozen";
import { ON_REALS, S } from "../opcodes.gen";
import { explained, Recorder, recorder, Var, within } from "./recorder";
import {
  describe,
  dualOf,
  isReal,
  numbersOf,
  partsOf,
  REAL,
  type SizeVar,
  sizesIn,
  TAN,
  tangentOf,
  type Ty,
  tyOf,
} from "./types";
import { inferSizes, namedSizes, type Sizes, withSizes } from "./sizes";
import { hasTangent, leavesOf, wrap } from "./values";
import { deeply } from "./where";

/** A value of an enclosing function, or in its place the zero of a type. */
export type Capture = Var | Ty;

export const typeOfCapture = (x: Capture): Ty => (x instanceof Var ? x.ty : x);

/**
 * What the forward derivative of `f` is passed for what `f` uses of enclosing functions. It is the
 * derivative by the arguments, so the tangents are zero; but the rule of a `functional` says what they are.
 */
const withTangents = (f: FnData): Capture[] =>
  f.captures.flatMap((x) => {
    const leaf = typeOfCapture(x);
    if (!isReal(leaf)) return [x];
    return x instanceof Var
      ? [x.recorder.tangents.get(x.id) ?? tangentOf(leaf), x]
      : [tangentOf(leaf), numbersOf(x)];
  });

/** What the core makes of a function: see `rose_core/recording/named.py`. */
export interface Named {
  /** Its name there; "jvp" is the forward derivative. */
  readonly by: string;
  readonly of: FnData;
  readonly options: object;
  /** Where an author asks for it, if it can fail. */
  readonly place: string | undefined;
}

/** A function as the bridge keeps it: its signature, and a recording, a host function or a name. */
export class FnData {
  /** The custom derivative. */
  jvp: FnData | undefined;
  /**
   * Why what was set as custom derivative is none. It is told when the derivative is needed: programs
   * that set a wrong one and never take it are in use.
   */
  fault: string | undefined;
  /** Whether reverse mode computes what it needs of it again, rather than keep it. */
  remat = false;

  /** What the core makes of it, by name, options and types. */
  private readonly made = new Map<string, FnData>();

  /** What it is, but for the values that it uses of enclosing functions; unless that is itself. */
  private bound:
    { readonly of: FnData; readonly captures: readonly Capture[] } | undefined;

  constructor(
    readonly name: string,
    readonly params: readonly Ty[],
    readonly ret: Ty,
    /** What an author's body recorded. */
    readonly recording?: Recorder,
    /** What an opaque function runs. */
    readonly host?: (...args: unknown[]) => unknown,
    readonly named?: Named,
    /** Whether Rose may not look into it to find its derivative. */
    readonly isOpaque = host !== undefined,
  ) {}

  /** The function that calls refer to. */
  get code(): FnData {
    return this.bound?.of ?? this;
  }

  /** This function with other values for those that it uses of enclosing functions. */
  with(captures: readonly Capture[]): FnData {
    const { name, params, ret, recording, host, named, isOpaque } = this;
    const f = new FnData(name, params, ret, recording, host, named, isOpaque);
    f.bound = { of: this.code, captures };
    return f;
  }

  /** What the core makes of this function under the name `by`. */
  derive(
    by: string,
    params: readonly Ty[],
    ret: Ty,
    options: object = {},
    place?: string,
  ): FnData {
    const { code } = this;
    const key = JSON.stringify([by, options, place, texts([...params, ret])]);
    let found = code.made.get(key);
    if (found === undefined) {
      const named = { by, of: code, options, place };
      const name = `${by}_${this.name}`;
      found = new FnData(name, params, ret, undefined, undefined, named);
      code.made.set(key, found);
    }
    return code === this ? found : found.with(capturesOf(found, this));
  }

  /** Of a forward derivative: the same with numbers for tangents, for calls with such. */
  get onNumbers(): FnData {
    const { named, params, ret, bound } = this;
    const numbers = named!.of.derive(
      "jvp",
      params.map(numbersOf),
      numbersOf(ret),
    );
    return bound
      ? numbers.with(
          this.captures.map((x) => (x instanceof Var ? x : numbersOf(x))),
        )
      : numbers;
  }

  /** What it uses of enclosing functions, which is passed to it after its arguments. */
  get captures(): readonly Capture[] {
    if (this.bound) return this.bound.captures;
    if (this.named) return capturesOf(this, this.named.of);
    return this.recording?.captures ?? [];
  }

  /** The name of a function whose values it uses, if there is one. */
  get around(): string | undefined {
    return this.captures.find((x) => x instanceof Var)?.recorder.name;
  }
}

/** What is passed to `f`, which the core makes of `of`, for what that uses of enclosing functions. */
const capturesOf = (f: FnData, of: FnData): readonly Capture[] => {
  if (f.named!.by !== "jvp") return of.captures;
  const captures = withTangents(of);
  return [...f.params, f.ret].every((ty) => ty === numbersOf(ty))
    ? captures.map((x) => (x instanceof Var ? x : numbersOf(x)))
    : captures;
};

const KNOWN = Symbol("function");

/** A function as authors hold it: callable on symbolic values. */
export interface Fn {
  (...args: unknown[]): unknown;
  [KNOWN]?: FnData | Generic;
  jvp?: Fn;
  /** Of a generic function: the function at these sizes, by name. */
  at?: (sizes: Record<string, number>) => Fn;
}

/** A function with sizes that are not known yet, made once for every set of them. */
class Generic {
  readonly instances = new Map<string, Fn>();
  /** The custom derivative. */
  rule: Generic | undefined;

  constructor(
    readonly name: string,
    /** The parameter types as the author wrote them. */
    readonly params: readonly unknown[],
    readonly sizes: readonly SizeVar[],
    private readonly make: () => FnData,
  ) {}

  /** The function at these sizes. */
  at(given: Sizes): Fn {
    const key = this.sizes.map((size) => given.get(size)).join();
    let instance = this.instances.get(key);
    if (instance === undefined) {
      instance = makeFn(withSizes(given, this.make));
      this.instances.set(key, instance);
      if (this.rule) instance.jvp = this.rule.at(given);
    }
    return instance;
  }
}

/** How often a custom derivative was set: whatever was made from functions before may be out of date. */
export let epoch = 0;

/** Whether `f` is a function made with `fn` or the like. */
export const isFn = (f: unknown): f is Fn =>
  typeof f === "function" && KNOWN in f;

/** Throw unless `x` is a function; `what` is what it is for. */
export const functionFor = (x: unknown, what: string): void => {
  if (typeof x !== "function")
    throw TypeError(`${what}: expected a function, got ${describe(x)}`);
};

/** What the bridge knows of `f`; throws if it is no function of ours. */
export const knownOf = (f: unknown, what: string): FnData | Generic => {
  if (isFn(f)) return f[KNOWN]!;
  throw TypeError(
    `${what}: expected a function made with fn or opaque, got ${describe(f)}`,
  );
};

/** As `knownOf`; throws if there are sizes that are not known. */
export const dataOf = (f: unknown, what: string): FnData => {
  const known = knownOf(f, what);
  if (known instanceof FnData) return known;
  const names = known.sizes.map(({ name }) => name).join(", ");
  throw TypeError(
    `${what}: ${known.name} has sizes that are not known: ${names}; give them with .at({ ${names} })`,
  );
};

/** `f` at the sizes that the arguments of a call have. */
export const atArgs = (
  f: unknown,
  args: readonly unknown[],
  what: string,
): FnData => {
  const known = knownOf(f, what);
  if (known instanceof FnData) return known;
  const { name, params, sizes: wanted } = known;
  const sizes: Sizes = new Map();
  params.forEach((type, k) => {
    try {
      inferSizes(type, args[k], { wanted, sizes });
    } catch (error) {
      throw within(error, `argument ${k + 1} of ${name}`);
    }
  });
  for (const size of wanted)
    if (!sizes.has(size))
      throw TypeError(
        `${name}: the arguments do not tell the size ${size.name}; use .at({ ${size.name} })`,
      );
  return dataOf(known.at(sizes), what);
};

/** The function that an author gets. `check` says whether a custom derivative can be one, and keeps it. */
const present = (
  known: FnData | Generic,
  check: (rule: Fn, what: string) => void,
): Fn => {
  const { name } = known;
  const f = ((...args: unknown[]) => call(atArgs(f, args, name), args)) as Fn;
  let jvp: Fn | undefined;
  return Object.defineProperties(f, {
    [KNOWN]: { value: known },
    name: { value: name },
    jvp: {
      get: () => jvp,
      set(rule: Fn) {
        check(rule, `${name}.jvp`);
        jvp = rule;
      },
    },
  });
};

const makeGeneric = (
  name: string,
  params: readonly unknown[],
  sizes: readonly SizeVar[],
  make: () => FnData,
): Fn => {
  const generic = new Generic(name, params, sizes, make);
  const f = present(generic, (rule, what) => {
    const found = knownOf(rule, what);
    if (found instanceof FnData || generic.instances.size)
      throw TypeError(
        `${what}: expected a function with the same sizes, set before ${name} is first called`,
      );
    generic.rule = found;
  });
  return Object.defineProperty(f, "at", {
    value: (given: Record<string, number>) =>
      generic.at(namedSizes(sizes, given, `${name}.at`)),
  });
};

export const makeFn = (data: FnData): Fn =>
  present(data, (rule, what) => {
    const given = dataOf(rule, what);
    for (const { around, name } of [data, given])
      if (around !== undefined)
        throw TypeError(
          `${what}: ${name} uses values of the function ${around} around it, ` +
            "of which a custom derivative knows nothing; pass them as arguments, or use functional",
        );
    const { params, ret } = data;
    data.fault = misfit(what, given, params.map(dualOf), dualOf(ret));
    data.jvp = data.fault ? undefined : given;
    ++epoch;
  });

/** What is wrong with `f`, which is `what`, if it is not a function of these types. */
export const misfit = (
  what: string,
  f: FnData,
  params: readonly Ty[],
  ret: Ty,
): string | undefined => {
  const given = [...f.params, f.ret];
  const expected = [...params, ret];
  if (
    given.length === expected.length &&
    given.every((ty, k) => ty === expected[k])
  )
    return undefined;
  return (
    `${what}: expected a function (${texts(params)}) -> ${ret.text}, ` +
    `got (${texts(f.params)}) -> ${f.ret.text}`
  );
};

export const texts = (types: readonly Ty[]): string =>
  types.map((ty) => ty.text).join(", ");

export const types = (params: unknown, what: string): Ty[] => {
  if (!Array.isArray(params))
    throw TypeError(
      `${what}: expected an array of parameter types, got ${describe(params)}`,
    );
  return params.map(tyOf);
};

/**
 * Define a function: `fn([Real, Vec(3, Real)], Real, (x, v) => …)`. The body runs once, now, on
 * symbolic values.
 */
export const fn = (
  params: unknown,
  ret: unknown,
  body: (...args: any[]) => unknown,
): Fn => {
  if (typeof body !== "function")
    throw TypeError(`fn: expected a body, got ${describe(body)}`);
  const name = body.name || "f";
  const make = () => define(name, types(params, "fn"), tyOf(ret), body);
  const sizes = [...sizesIn(params)];
  return sizes.length
    ? makeGeneric(name, params as unknown[], sizes, make)
    : makeFn(make());
};

/**
 * `make` of `f`, or if that is generic, or there is another size, a function that is made so for every set of
 * sizes. `params` gives the types of its parameters from those of `f`, as an author writes them.
 */
export const ofAnySize = (
  f: unknown,
  what: string,
  make: (f: FnData) => FnData,
  params: (params: readonly unknown[]) => readonly unknown[] = (same) => same,
  another: readonly SizeVar[] = [],
): Fn => {
  const known = knownOf(f, what);
  const { name, sizes = [] } = known as Generic;
  for (const size of another)
    if (sizes.some((other) => other.name === size.name))
      throw TypeError(
        `${what}: ${name} has a size ${size.name} already; give another name`,
      );
  const all = [...sizes, ...another];
  if (known instanceof FnData && !all.length) return makeFn(make(known));
  return makeGeneric(`${what}_${name}`, params(known.params), all, () =>
    make(
      known instanceof FnData
        ? known
        : dataOf(
            known.at(new Map(sizes.map((size) => [size, size.value!]))),
            what,
          ),
    ),
  );
};

/** What `body` records, which gives the ids of the results from those of so many parameters. */
export const recorded = (
  name: string,
  leaves: number,
  body: (r: Recorder, ids: number[]) => number[],
): Recorder => {
  const outer = Recorder.current;
  if (outer === undefined) askAhead();
  const r = new Recorder(name, outer);
  Recorder.current = r;
  try {
    r.params = leaves;
    const ids = Array.from({ length: leaves }, (_, k) => r.row(S.PARAM, k, 0));
    r.results = outer ? body(r, ids) : deeply(() => body(r, ids));
  } catch (error) {
    throw explained(error);
  } finally {
    Recorder.current = outer;
    r.close();
  }
  return r;
};

/** Record what `body` does. */
export const define = (
  name: string,
  params: readonly Ty[],
  ret: Ty,
  body: (...args: any[]) => unknown,
  isOpaque = false,
): FnData => {
  const leaves = params.reduce((n, ty) => n + ty.leaves, 0);
  const r = recorded(name, leaves, (r, ids) => {
    const args = partsOf(params, ids).map((own, k) => wrap(r, params[k], own));
    return leavesOf(r, ret, body(...args), `the result of ${name}`);
  });
  return new FnData(name, params, ret, r, undefined, undefined, isOpaque);
};

/** The name in `Math` of a function that does nothing but compute. */
const nameInMath = (host: unknown): string | undefined =>
  Object.getOwnPropertyNames(Math).find(
    (name) => Math[name as "sin"] === host && host !== Math.random,
  );

/** Whether calls of a host function may be left out, put together or done in any order. */
export const isPure = (host: unknown): boolean =>
  nameInMath(host) !== undefined;

/** A function that runs `host`, which Rose cannot look into; its derivative is what `jvp` is set to. */
export const opaque = (
  params: unknown,
  ret: unknown,
  host: (...args: any[]) => unknown,
): Fn => {
  const paramTypes = types(params, "opaque");
  const retType = tyOf(ret);
  functionFor(host, "opaque");
  const name = host.name || "opaque";
  const op = ON_REALS[nameInMath(host) ?? ""];
  if (
    op !== undefined &&
    retType === REAL &&
    paramTypes.length === host.length &&
    paramTypes.every((ty) => ty === REAL)
  )
    return makeFn(
      define(
        name,
        paramTypes,
        REAL,
        (x: Var, y?: Var) => {
          const r = recorder();
          return new Var(r, r.row(op, x.id, y?.id ?? 0), REAL, r.block);
        },
        true,
      ),
    );
  return makeFn(new FnData(name, paramTypes, retType, undefined, host));
};

/** The leaves of the arguments of a call. */
export const liftArgs = (
  r: Recorder,
  f: FnData,
  args: readonly unknown[],
): number[] => {
  const { name, params } = f;
  if (args.length !== params.length)
    throw TypeError(
      `${name} takes ${count(params.length, "argument")}, got ${args.length}`,
    );
  return params.flatMap((ty, k) =>
    leavesOf(r, ty, args[k], `argument ${k + 1} of ${name}`),
  );
};

/** The leaves of enclosing functions that `f` uses, to be passed to it in a call. */
export const captured = (r: Recorder, f: FnData): number[] =>
  f.captures.map((x) => {
    try {
      return x instanceof Var ? r.use(x, x.ty) : r.literal(0, x);
    } catch (error) {
      throw within(error, `calling ${f.name}`);
    }
  });

export const count = (n: number, noun: string): string =>
  `${n} ${noun}${n === 1 ? "" : "s"}`;

/** The results of the call at row `at`, from one on. */
export const results = (r: Recorder, ty: Ty, at: number, first = 0): unknown =>
  wrap(
    r,
    ty,
    ty.leafTypes.map((_, k) => r.row(S.GET, at, first + k)),
  );

/** The forward derivative `f` as it is called: with tangents that are tangents, or numbers. */
export const asCalled = (f: FnData, args: readonly unknown[]): FnData =>
  f.named?.by === "jvp" &&
  !f.captures.some((x) => x instanceof Var && hasTangent(TAN, x)) &&
  !f.params.some((ty, k) => hasTangent(ty, args[k]))
    ? f.onNumbers
    : f;

/** Call `f` on arguments. */
export const call = (called: FnData, args: readonly unknown[]): unknown => {
  const r = recorder();
  const f = asCalled(called, args);
  return callOn(r, f, liftArgs(r, f, args));
};

/** Call `f` on the leaves of arguments. */
export const callOn = (
  r: Recorder,
  f: FnData,
  ids: readonly number[],
): unknown => results(r, f.ret, r.rowOf(S.CALL, operandsOf(r, f, ids)));

/** The operands of a call of `f` on the leaves of arguments. */
export const operandsOf = (
  r: Recorder,
  f: FnData,
  ids: readonly number[],
): number[] => [r.callee(f.code), ...ids, ...captured(r, f)];
