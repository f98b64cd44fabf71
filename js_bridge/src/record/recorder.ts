// The recording of one function's body: rows of three ints, as `rose_core/recording/record.py` describes them.
//
// Symbolic values are row numbers, or `~k` for literal k. The recorder knows which blocks (the body,
// and those of loops) are open, so that a value used out of its scope is refused on the spot.

import type { FnData } from "./data";
import { numbering } from "./numbering";
import { OP, OUT_OF_RANGE, S } from "../opcodes.gen";
import {
  ANY,
  BOOL,
  describe,
  INDEX_NAME,
  indicesBelow,
  ofOthers,
  REAL,
  symbolicType,
  TAN,
  type Ty,
} from "./types";
import { place } from "./where";

/** A symbolic Real, Tan or Bool. */
export class Var {
  constructor(
    readonly recorder: Recorder,
    readonly id: number,
    readonly ty: Ty,
    readonly block: number,
  ) {}

  /** What JavaScript asks for where it takes a value for a number or a text; else that would be NaN. */
  [Symbol.toPrimitive](hint: string): never {
    throw hint === "string" && this.ty === REAL
      ? TypeError(
          "a symbolic Real is no index or text of JavaScript: index(n, x) makes it an index; " +
            "the body of a fori has the index first, that of a scan last",
        )
      : noPrimitive(this.ty);
  }

  /** The same where it is to be JSON. */
  toJSON(): never {
    throw noPrimitive(this.ty);
  }
}

/** The mistake of taking a symbolic value of type `ty` for a number or a text of JavaScript. */
export const noPrimitive = (ty: Ty): Error =>
  TypeError(
    `a symbolic ${ty.text} is no number or text of JavaScript: write add(x, y) for x + y, ` +
      "lt(x, y) for x < y, sin(x) for Math.sin(x), and so on",
  );

const ARRAY =
  "array of JavaScript has no element at a symbolic index, but vec(n, T, array) has";

/** What is said of a symbolic index, which is a symbol, where it is taken for a number, and what is to be said. */
const FOREIGN: readonly (readonly [RegExp, string])[] = [
  [
    /.*conver.*symbol.*/i,
    "a symbolic index is no number of JavaScript: iadd(n, i, 1) is i + 1, imod(n, i) the rest, " +
      "idiv(n, i, 2) a quotient, " +
      "ieq(n, i, j) and ilt(n, i, j) compare, real(i) is its value",
  ],
  [RegExp(`.*Symbol\\(${INDEX_NAME}.*`), `an ${ARRAY}`],
  [
    /invalid value: expected .*, got undefined$/,
    `$&; a return or an argument may be missing, and an ${ARRAY}`,
  ],
];

/** What was thrown by a body, in terms of Rose if JavaScript itself did. */
export const explained = (error: unknown): unknown => {
  if (error instanceof TypeError)
    for (const [pattern, text] of FOREIGN)
      if (pattern.test(error.message) && !/symbolic/.test(error.message)) {
        const { message } = error;
        error.message = message.replace(pattern, text);
        error.stack = error.stack?.replace(message, () => error.message);
      }
  return error;
};

/** A whole number from `low` to `high` that is to be an index: checked where it is used as one. */
export interface Loose {
  readonly number: Var;
  readonly low: number;
  readonly high: number;
  readonly ty: Ty;
  /** The operation that gave it. */
  readonly name: string;
  checked?: Var;
}

/** More operations take so much memory that no browser compiles them. */
const MOST_ROWS = 2 ** 23;

/** One would do to tell of it; who makes many uses them at once. */
const MOST_UNUSED = 100;

/** The zero tangent. */
export const ZERO = Symbol("zero");

/** What programs say of values that are not defined, by number. */
export const notes: string[] = [];

export const noteNumber = numbering(notes);

/** A value of an enclosing function as a parameter: which of the captures it is, and its id in a block. */
interface Captured {
  readonly number: number;
  readonly id: number;
  readonly block: number;
}

export class Recorder {
  /** The function under construction. */
  static current: Recorder | undefined;

  rows: number[] = [];
  readonly extra: number[] = [];
  readonly literals: number[] = [];
  readonly literalTypes: Ty[] = [];
  /** Which literals are numbers of notes. */
  readonly notes: number[] = [];
  /** Which items of `extra` are numbers of notes, plus 1. */
  readonly extraNotes: number[] = [];
  /** The types that rows and literals refer to, by number. */
  readonly types: Ty[] = [];
  readonly type = numbering(this.types);
  /** The functions that rows refer to, by number. */
  readonly callees: FnData[] = [];
  readonly callee = numbering(this.callees);
  results: number[] = [];
  /** The types of the results, of what is kept of the iterations of a loop. */
  resultTypes: readonly Ty[] = [];
  /** Values of enclosing functions that this one uses: they are passed as further parameters. */
  readonly captures: Var[] = [];
  /** In the rule of a `functional`: the tangents of what the given functions use from around them. */
  tangents: Map<number, Var> | undefined;
  /** Whether a reverse derivative is taken in the body. */
  takesVjp = false;
  /** Whether there are choices or loops with a state in the body. */
  hasControl = false;
  /** Whether it is of a part of an author's function: a loop, or a side of a choice. */
  isPart = false;
  /** How many leaves the declared parameters have. */
  params = 0;
  /** The first symbolic Bools of which nothing has been made. */
  readonly unused = new Set<number>();

  /** The innermost block that is open. */
  block = 0;
  private readonly isOpen = [true];
  /** How many loops are open that never run. */
  private idle = 0;
  /** Symbolic indices: they are JavaScript symbols, so that `v[i]` reaches the vector. */
  private indices: Map<symbol, Var | Loose> | undefined;
  private captured: Map<Recorder, Map<number, Captured>> | undefined;

  constructor(
    readonly name: string,
    /** The recorder of the function in whose body this one is defined. */
    readonly parent?: Recorder,
  ) {}

  /** Append a row; its number is the id of its value. */
  row(op: number, x: number, y: number): number {
    const id = this.rows.push(op, x, y) / 3 - 1;
    if (id >= MOST_ROWS)
      throw RangeError(
        `${this.author.name} has more than ${MOST_ROWS} operations: a loop of JavaScript on symbolic values may never end; ` +
          "whileLoop and fori are loops that run later",
      );
    return id;
  }

  /** What the row `id` gives, of type `ty`. */
  result(id: number, ty: Ty): Var {
    if (ty === BOOL && this.unused.size < MOST_UNUSED) this.unused.add(id);
    return new Var(this, id, ty, this.block);
  }

  /** Append a row with these operands in the extra list. */
  rowOf(op: number, operands: readonly number[]): number {
    const at = this.extra.length;
    for (const operand of operands) this.extra.push(operand);
    return this.row(op, at, operands.length);
  }

  /**
   * The id of a literal, a new one for every use: rows are to be the same in functions that differ
   * in literals only.
   */
  literal(x: number, ty: Ty): number {
    this.literalTypes.push(ty);
    return ~(this.literals.push(x) - 1);
  }

  /** The id of the number of a note. */
  note(text: string, ty: Ty): number {
    const id = this.literal(noteNumber(text), ty);
    this.notes.push(~id);
    return id;
  }

  /** Whether values of `block` may be used now. */
  inScope(block: number): boolean {
    return this.isOpen[block];
  }

  /** A fresh symbolic index for the value `id`. */
  newIndex(id: number, ty: Ty): symbol {
    return this.newSymbol(new Var(this, id, ty, this.block));
  }

  /** A fresh symbolic index for an index, or a number that may be none. */
  newSymbol(meaning: Var | Loose): symbol {
    const symbol = Symbol(INDEX_NAME + meaning.ty.size);
    (this.indices ??= new Map()).set(symbol, meaning);
    return symbol;
  }

  /** What stands for `x` in this or an enclosing function, if it is a symbolic index. */
  meaning(x: unknown): Var | Loose | undefined {
    return typeof x === "symbol"
      ? (this.indices?.get(x) ?? this.parent?.meaning(x))
      : undefined;
  }

  /** What `x` is, if it is a symbolic index of this or an enclosing function. */
  indexOf(x: unknown, wanted?: Ty): Var | undefined {
    const found = this.meaning(x);
    return found && "low" in found ? this.checked(found, wanted) : found;
  }

  /** A number as the index that it is to be: checked here, since who needs it here only may never run. */
  private checked(loose: Loose, wanted = loose.ty): Var {
    const { number, low, high, name, checked } = loose;
    const index = wanted.size > loose.ty.size ? wanted : loose.ty;
    if (
      checked?.ty === index &&
      checked.recorder.inScope(checked.block) &&
      this.isWithin(checked.recorder)
    )
      return checked;
    if ((high < 0 || low >= index.size) && !this.isPart && !this.idle)
      throw RangeError(
        `${name}: ${low === high ? low : `${low} to ${high}`} is out of range, ` +
          `expected ${indicesBelow(index.size)}`,
      );
    const i = this.use(number, number.ty);
    const id =
      low < 0 || high >= index.size
        ? this.check(OP.bound, i, index.size, name, OUT_OF_RANGE)
        : this.asIndex(i, index);
    return (loose.checked = new Var(this, id, index, this.block));
  }

  /** The id of the number `i`, which is known to be one, as an index of type `ty`. */
  asIndex(i: number, ty: Ty): number {
    return this.row(OP.narrow, i, this.literal(ty.size, ANY));
  }

  /** The id of the number `i` as an index below `size`, or else an error of the construct `name`. */
  check(
    op: number,
    i: number,
    size: number,
    name: string,
    complaint: string,
  ): number {
    const note = this.note(`${name}: ${complaint}${place()}`, ANY);
    return this.rowOf(op, [i, this.literal(size, ANY), note]);
  }

  /** The id, in this recording, of a value `x` of this or an enclosing function; throws if there is none. */
  use(x: Var, expected: Ty): number {
    if (x.ty !== expected) throw this.refuse(x, expected.text);
    this.reach(x.recorder, x.block, x.ty);
    if (expected === BOOL) x.recorder.unused.delete(x.id);
    return x.recorder === this ? x.id : this.capture(x);
  }

  /** Throw unless a value of type `ty` of `block` of `owner` may be used in this recording now. */
  reach(owner: Recorder, block: number, ty: Ty): void {
    if (!owner.inScope(block) || !this.isWithin(owner))
      throw this.refuse(new Var(owner, 0, ty, block), ty.text);
  }

  private capture(x: Var): number {
    if (x.id < 0) return this.literal(x.recorder.literals[~x.id], x.ty);
    const captured = (this.captured ??= new Map());
    let known = captured.get(x.recorder);
    if (known === undefined) captured.set(x.recorder, (known = new Map()));
    let found = known.get(x.id);
    // a row in a loop that has ended since may never be run, or have been taken back
    if (!found || !this.inScope(found.block)) {
      const number = found?.number ?? this.captures.push(x) - 1;
      const id = this.row(S.PARAM, this.params + number, 0);
      known.set(x.id, (found = { number, id, block: this.block }));
    }
    return found.id;
  }

  /** Whether this function is that of `outer`, or defined, at some depth, in its body. */
  private isWithin(outer: Recorder): boolean {
    return this === outer || !!this.parent?.isWithin(outer);
  }

  /**
   * Record a loop over `ty`, whose body `record` is run once and gives the ids of its results; the
   * id of the loop. If `record` throws, nothing of the loop is left.
   */
  loop(ty: Ty, record: (index: symbol) => readonly number[]): number {
    const { block } = this;
    const { length } = this.rows;
    const extra = this.extra.length;
    const id = this.row(S.FOR, this.type(ty), 0);
    this.block = this.isOpen.push(true) - 1;
    if (!ty.size) ++this.idle;
    try {
      return this.rowOf(S.END, record(this.newIndex(id, ty)));
    } catch (error) {
      this.rows.length = length;
      this.extra.length = extra;
      const { extraNotes, unused } = this;
      for (const id of unused) if (id * 3 >= length) unused.delete(id);
      while (extraNotes[extraNotes.length - 1] >= extra) extraNotes.pop();
      throw error;
    } finally {
      // what loops in it have left open, they have closed
      this.isOpen[this.block] = false;
      this.block = block;
      if (!ty.size) --this.idle;
    }
  }

  /** The author's function that this one is, or is a part of. */
  get author(): Recorder {
    return this.isPart && this.parent ? this.parent.author : this;
  }

  /** The end of recording: symbolic values of this function are of no use any more. */
  close(): void {
    this.isOpen.fill(false);
    this.indices = undefined;
  }

  /** Why a symbolic value cannot be used here, as an error to throw. */
  refuse(x: Var, expected: string): Error {
    const { name, isPart } = x.recorder;
    const isOver = !this.isWithin(x.recorder);
    if (isOver || !x.recorder.inScope(x.block))
      return ReferenceError(
        `variable is out of scope: this ${x.ty.text} belongs to ` +
          (isOver && !isPart
            ? `the function ${name}; pass it as an argument`
            : "a loop or a side of a cond that has ended; outside, use what that returns"),
      );
    const areIndices = x.ty.kind === "fin" && /^\d+$/.test(expected);
    return TypeError(
      areIndices
        ? `variable type mismatch: expected an index below ${expected}, got one below ${x.ty.text}; index(${expected}, i) makes it one`
        : `variable type mismatch: expected ${expected}, got ${x.ty.text}`,
    );
  }
}

/** The function being defined right now; throws if there is none. */
export const recorder = (): Recorder => {
  const current = Recorder.current;
  if (current === undefined)
    throw Error(
      "no `fn` context found: this works only in the body of a function given to fn; " +
        "compile it for numbers" +
        ofOthers(),
    );
  return current;
};

/** What gives the ids of scalars of type `ty`: symbolic ones, and what `number` finds a number for. */
const scalarId =
  (ty: Ty, number: (x: unknown) => unknown) =>
  (r: Recorder, x: unknown): number => {
    if (x instanceof Var) return r.use(x, ty);
    const literal = number(x);
    if (typeof literal !== "number") throw invalid(x, ty.text);
    return r.literal(literal, ty);
  };

/** The id of a Real: a number or a symbolic value. */
export const realId = scalarId(REAL, (x) => x);

/** The id of a Bool. */
export const boolId = scalarId(BOOL, (x) => x === !!x && +x);

/** The id of a tangent, of which 0 is the only one that is known. */
export const tanId = scalarId(TAN, (x) => (x === ZERO || x === 0) && 0);

/** The id of an index of type `ty`: a whole number, or a symbolic index of that type. */
export const indexId = (r: Recorder, ty: Ty, x: unknown): number => {
  const v = r.indexOf(x, ty);
  if (v)
    return v.ty.size < ty.size
      ? r.asIndex(r.use(v, v.ty), ty) // as in v[i], where there are more elements than iterations
      : r.use(v, ty);
  if (typeof x === "symbol")
    throw ReferenceError(
      "variable is out of scope: this index belongs to another function",
    );
  if (typeof x !== "number")
    throw invalid(x, `an index${ty === ANY ? "" : ` below ${ty.size}`}`);
  if (!Number.isInteger(x) || x < 0 || x >= ty.size)
    throw RangeError(
      `invalid value: ${x} is out of range, expected ${indicesBelow(ty.size)}`,
    );
  return r.literal(x + 0, ty); // of no sign
};

/** The error for a value that is not what was expected. */
export const invalid = (x: unknown, expected: string): Error =>
  TypeError(
    x === null
      ? `did not expect null: expected ${expected}`
      : `invalid value: expected ${expected}, got ${describe(x)}${hint(x)}`,
  );

/** What may help who gave `x` for a Real. */
const hint = (x: unknown): string => {
  if (typeof x === "symbol" && x.description?.startsWith(INDEX_NAME))
    return "; real(i) is its value, and ieq(n, i, j) compares indices";
  const ty = symbolicType(x);
  return ty?.kind === "vec"
    ? `; vec(${ty.size}, Real, (i) => …) does something with each element`
    : "";
};
