// What the bridge keeps of a function, and of those that the core makes of it.

import { type Recorder, Var } from "./recorder";
import {
  isReal,
  numbersOf,
  tangentOf,
  texts,
  type Ty,
  typeOfCapture,
} from "./types";

/** A value of an enclosing function, or in its place the zero of a type. */
export type Capture = Var | Ty;

/**
 * What the forward derivative of `f` is passed for what `f` uses of enclosing functions. It is the
 * derivative by the arguments, so the tangents are zero; but the rule of a `functional` says what they are.
 */
const withTangents = (f: FnData): Capture[] =>
  f.captures.flatMap((x) => {
    const leaf = typeOfCapture(x);
    if (!isReal(leaf)) return [x];
    const known = x instanceof Var && x.recorder.tangents?.get(x.id);
    return [known || tangentOf(leaf), onNumbers(x)];
  });

const onNumbers = (x: Capture): Capture =>
  x instanceof Var ? x : numbersOf(x);

/** What the core makes of a function: see `rose_core/recording/named.py`. */
export interface Named {
  /** Its name there; "jvp" is the forward derivative. */
  readonly by: string;
  readonly of: FnData;
  readonly options: object;
  /** Where an author asks for it, if it can fail. */
  readonly place: string | undefined;
}

/** What callers have to know of a function. */
export interface Signature {
  readonly name: string;
  readonly params: readonly Ty[];
  readonly ret: Ty;
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
  private made: Map<string, FnData> | undefined;

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
    const bound = { of: this.code, captures };
    return Object.assign(Object.create(this), { bound });
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
    const made = (code.made ??= new Map());
    let found = made.get(key);
    if (found === undefined) {
      // the author's own may be changed before they are written down
      const named = { by, of: code, options: JSON.parse(key)[1], place };
      const name = `${by}_${this.name}`;
      found = new FnData(name, params, ret, undefined, undefined, named);
      made.set(key, found);
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
    return bound ? numbers.with(this.captures.map(onNumbers)) : numbers;
  }

  /** What it uses of enclosing functions, which is passed to it after its arguments. */
  get captures(): readonly Capture[] {
    if (this.bound) return this.bound.captures;
    if (this.named) return capturesOf(this, this.named.of);
    return this.recording?.captures ?? [];
  }

  /** Throw if it uses values of a function around it; `what` is it for, and the advice what else to do. */
  checkStandsAlone(advice = "so it can be called only there", what = ""): void {
    const around = this.captures.find((x) => x instanceof Var)?.recorder.name;
    if (around !== undefined)
      throw ReferenceError(
        `${what}${this.name} uses values of the function ${around} around it, ${advice}`,
      );
  }
}

/** What is passed to `f`, which the core makes of `of`, for what that uses of enclosing functions. */
const capturesOf = (f: FnData, of: FnData): readonly Capture[] => {
  if (f.named!.by !== "jvp") return of.captures;
  const captures = withTangents(of);
  return [...f.params, f.ret].every((ty) => ty === numbersOf(ty))
    ? captures.map(onNumbers)
    : captures;
};
