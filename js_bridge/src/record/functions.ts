// Functions as authors define and hold them.

import { ON_REALS, S } from "../opcodes.gen";
import { call } from "./calls";
import { FnData } from "./data";
import { explained, Recorder, recorder, Var } from "./recorder";
import {
  describe,
  dualOf,
  ofOthers,
  partsOf,
  REAL,
  type SizeVar,
  sizesIn,
  texts,
  type Ty,
  tyOf,
  unlike,
} from "./types";
import { inferSizes, namedSizes, type Sizes, withSizes } from "./sizes";
import { leavesOf, typeOf, wrap } from "./values";
import { deeply, place, within } from "./where";

const KNOWN = Symbol("function");
const CHECK = Symbol("check");
const RULE = Symbol("rule");

/** What all functions have. */
const looks = Object.create(Function.prototype, {
  jvp: {
    get(this: Fn) {
      return this[RULE];
    },
    set(this: Fn, rule: Fn) {
      this[CHECK]!(rule, `${this.name}.jvp`);
      this[RULE] = rule;
    },
  },
});

/** A function as authors hold it: callable on symbolic values. */
export interface Fn {
  (...args: unknown[]): unknown;
  [KNOWN]?: FnData | Generic;
  /** Says whether a function can be its derivative, and keeps it. */
  [CHECK]?: (rule: Fn, what: string) => void;
  [RULE]?: Fn;
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
  if (typeof x !== "function") throw unlike(x, "a function", what);
};

/** What the bridge knows of `f`; throws if it is no function of ours. */
export const knownOf = (f: unknown, what: string): FnData | Generic => {
  if (isFn(f)) return f[KNOWN]!;
  throw TypeError(
    `${what}: expected a function made with fn or opaque, got ${describe(f)}${ofOthers()}`,
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
  args.slice(0, params.length).forEach((x, k) => {
    const what = `argument ${k + 1} of ${name}`;
    const ty = typeOf(recorder(), x, what);
    try {
      inferSizes(params[k], ty, { wanted, sizes });
    } catch (error) {
      throw within(error, what);
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
  f[KNOWN] = known;
  f[CHECK] = check;
  Object.setPrototypeOf(f, looks);
  return Object.defineProperty(f, "name", { value: name });
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
    for (const f of [data, given])
      f.checkStandsAlone(
        "of which a custom derivative knows nothing; pass them as arguments, or use functional",
        `${what}: `,
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
    given.every((ty, k) => ty.like === expected[k].like)
  )
    return undefined;
  return (
    `${what}: expected a function (${texts(params)}) -> ${ret.text}, ` +
    `got (${texts(f.params)}) -> ${f.ret.text}`
  );
};

/** The parameter types that an author gives; throws if they are no array. */
const listed = (params: unknown, what: string): readonly unknown[] => {
  if (Array.isArray(params)) return params;
  throw unlike(params, "an array of parameter types", what);
};

export const types = (params: unknown, what: string): Ty[] =>
  listed(params, what).map(tyOf);

/**
 * Define a function: `fn([Real, Vec(3, Real)], Real, (x, v) => …)`. The body runs once, now, on
 * symbolic values.
 */
export const fn = (
  params: unknown,
  ret: unknown,
  body: (...args: any[]) => unknown,
): Fn => {
  if (typeof ret === "function" && body === undefined)
    throw TypeError(
      "fn takes the types of the parameters, that of the result and a function, got 2 arguments",
    );
  functionFor(body, "fn");
  const name = body.name || "f";
  const given = listed(params, "fn");
  const make = () => define(name, given.map(tyOf), tyOf(ret), body);
  const sizes = sizesIn(given);
  return sizes.length ? makeGeneric(name, given, sizes, make) : makeFn(make());
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

let ahead = (): void => {};

/** What to do whenever a page has a function recorded, before that is: what may be wanted then can come meanwhile. */
export const beforeRecording = (act: () => void): void => {
  ahead = act;
};

/** What the console has been told. */
const told = new Set<string>();

/** Tell of conditions that nothing has used: most likely JavaScript itself has, which asks no symbol what it is. */
const tellOfUnused = (r: Recorder): void => {
  const text =
    `Rose: ${r.author.name} uses no result of a comparison${place()}, ` +
    "or only in an if, ? :, !, && or filter of JavaScript, where a symbol counts as true: " +
    "write cond, select, not, and, or, eq";
  if (!told.has(text)) console.warn(text);
  told.add(text);
};

/** What `body` records, which gives the ids of the results from those of so many parameters. */
export const recorded = (
  name: string,
  leaves: number,
  body: (r: Recorder, ids: number[]) => number[],
): Recorder => {
  const outer = Recorder.current;
  if (outer === undefined) ahead();
  const r = new Recorder(name, outer);
  Recorder.current = r;
  try {
    r.params = leaves;
    const ids = Array.from({ length: leaves }, (_, k) => r.row(S.PARAM, k, 0));
    r.results = outer ? body(r, ids) : deeply(() => body(r, ids));
    if (r.unused.size) tellOfUnused(r);
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
