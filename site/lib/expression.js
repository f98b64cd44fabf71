// Expressions in x and y, as people type them: text to tree, tree to function, tree to Rose.
//
//   sum      = product (("+" | "-") product)*
//   product  = factor (("*" | "/") factor)*
//   factor   = ("-" | "+") factor | power
//   power    = atom (("^" | "**") factor)?         so -x^2 is -(x^2), and 2^-x and 2^3^2 work
//   atom     = number | "x" | "y" | "pi" | "e" | name "(" sum ("," sum)* ")" | "(" sum ")"
//
// by precedence climbing. A tree has only operations of this file's table, each under the name that
// Rose has for it, so nothing that is typed ever runs as a program.

/**
 * @typedef {{ kind: "number", value: number }
 *   | { kind: "variable", name: string }
 *   | { kind: "call", op: string, args: Tree[] }} Tree
 * @typedef {{ kind: "number" | "name" | "sign" | "end", text: string, at: number }} Token
 */

/** What is wrong with an expression, and where: `length` characters from `at` on. */
export class ExpressionError extends Error {
  /** @param {string} message @param {number} at @param {number} length */
  constructor(message, at, length) {
    super(message);
    this.at = at;
    this.length = length;
  }
}

/** Functions of one argument. @type {Record<string, (x: number) => number>} */
const UNARY = {
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  exp: Math.exp,
  log: Math.log,
  log2: Math.log2,
  log10: Math.log10,
  sqrt: Math.sqrt,
  cbrt: Math.cbrt,
  abs: Math.abs,
  sign: Math.sign,
  floor: Math.floor,
  ceil: Math.ceil,
};

/** Functions of two. @type {Record<string, (x: number, y: number) => number>} */
const BINARY = {
  pow: Math.pow,
  min: Math.min,
  max: Math.max,
  atan2: Math.atan2,
  hypot: Math.hypot,
};

/** What operators stand for. @type {typeof BINARY} */
const ARITHMETIC = {
  add: (x, y) => x + y,
  sub: (x, y) => x - y,
  mul: (x, y) => x * y,
  div: (x, y) => x / y,
};

const NEGATION = { neg: (/** @type {number} */ x) => -x };

/** What the operations of trees do. @type {Record<string, (...args: number[]) => number>} */
export const OPERATIONS = { ...UNARY, ...BINARY, ...ARITHMETIC, ...NEGATION };

/** @type {Record<string, string>} */
const ALIASES = { ln: "log", arcsin: "asin", arccos: "acos", arctan: "atan" };

/** @type {Record<string, number>} */
const CONSTANTS = { pi: Math.PI, π: Math.PI, e: Math.E };

/** The names that an expression can have, for the page to list. */
export const FUNCTIONS = [...Object.keys(UNARY), ...Object.keys(BINARY)];

/** Operators: how tightly they bind, and what they are. @type {Record<string, { binds: number, op: string }>} */
const OPERATORS = {
  "+": { binds: 1, op: "add" },
  "-": { binds: 1, op: "sub" },
  "*": { binds: 2, op: "mul" },
  "/": { binds: 2, op: "div" },
  "^": { binds: 3, op: "pow" },
};

/** Other ways to write them. @type {Record<string, string>} */
const SIGNS = { "**": "^", "−": "-", "·": "*", "×": "*", "÷": "/" };

/** More parentheses within parentheses than anyone needs, and fewer than the stack can take. */
const DEEPEST = 100;

/** More numbers, names and signs than anyone types, and fewer than the stack can take. */
const LONGEST = 2000;

const TOKEN =
  /(\d[\d.]*(?:[eE][+-]?\d+)?|\.\d[\d.]*(?:[eE][+-]?\d+)?)|([\p{L}_][\p{L}\d_]*)|(\*\*|[-+*/^(),−·×÷])|\s+/uy;

/** @param {string} text @returns {Token[]} */
const tokenize = (text) => {
  /** @type {Token[]} */
  const tokens = [];
  for (let at = 0; at < text.length;) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (!found) {
      const [sign] = text.slice(at);
      throw new ExpressionError(
        `“${sign}” means nothing in an expression.`,
        at,
        sign.length,
      );
    }
    const [all, number, name, sign] = found;
    if (number && !Number.isFinite(Number(number)))
      throw new ExpressionError(
        `“${number}” is not a number.`,
        at,
        number.length,
      );
    if (number) tokens.push({ kind: "number", text: number, at });
    else if (name) tokens.push({ kind: "name", text: name, at });
    else if (sign) tokens.push({ kind: "sign", text: SIGNS[sign] ?? sign, at });
    at += all.length;
  }
  tokens.push({ kind: "end", text: "", at: text.length });
  return tokens;
};

/**
 * The tree of an expression; throws an ExpressionError where there is none.
 *
 * @param {string} text
 * @returns {Tree}
 */
export const parse = (text) => {
  const tokens = tokenize(text);
  if (tokens.length === 1)
    throw new ExpressionError(
      "Type an expression in x and y, for example x*y.",
      0,
      1,
    );
  const parser = new Parser(tokens);
  if (tokens.length > LONGEST)
    parser.fail("This is too long.", tokens[LONGEST - 1]);
  return parser.whole();
};

class Parser {
  /** @param {Token[]} tokens */
  constructor(tokens) {
    this.tokens = tokens;
    this.next = 0;
    this.depth = 0;
  }

  get token() {
    return this.tokens[this.next];
  }

  /** @param {string} message @param {Token} [token] @returns {never} */
  fail(message, token = this.token) {
    throw new ExpressionError(message, token.at, token.text.length || 1);
  }

  /** Whether the next token is this sign; if so, it is passed. @param {string} sign */
  passes(sign) {
    const { kind, text } = this.token;
    if (kind !== "sign" || text !== sign) return false;
    this.next += 1;
    return true;
  }

  whole() {
    const tree = this.operation(1);
    const { kind, text } = this.token;
    if (kind === "end") return tree;
    if (text === ")") this.fail("This “)” closes nothing.");
    if (text === ",")
      this.fail("A comma stands only between the arguments of a function.");
    const before = this.tokens[this.next - 1].text;
    return this.fail(
      `An operator is missing between “${before}” and “${text}”: write * to multiply.`,
    );
  }

  /** Operators that bind at least so tightly. @param {number} least @returns {Tree} */
  operation(least) {
    if (++this.depth > DEEPEST) this.fail("This is nested too deeply.");
    let left = this.operand();
    for (;;) {
      const { kind, text } = this.token;
      const operator = kind === "sign" ? OPERATORS[text] : undefined;
      if (!operator || operator.binds < least) break;
      this.next += 1;
      // powers group to the right and take a signed exponent, all else groups to the left
      const right =
        operator.op === "pow"
          ? this.operation(3)
          : this.operation(operator.binds + 1);
      left = { kind: "call", op: operator.op, args: [left, right] };
    }
    this.depth -= 1;
    return left;
  }

  /** @returns {Tree} */
  operand() {
    if (this.passes("-"))
      return { kind: "call", op: "neg", args: [this.operation(3)] };
    if (this.passes("+")) return this.operation(3);
    const { token } = this;
    this.next += 1;
    if (token.kind === "number")
      return { kind: "number", value: Number(token.text) };
    if (token.kind === "name") return this.name(token);
    if (token.text === "(") {
      const inner = this.operation(1);
      this.close(token);
      return inner;
    }
    this.next -= 1;
    const before = this.next ? this.tokens[this.next - 1].text : "";
    const after = before ? `after “${before}”` : "here";
    return this.fail(
      token.kind === "end"
        ? `Something is missing ${after}.`
        : `Expected a number, x or y ${after}.`,
    );
  }

  /** The parenthesis that belongs to this one. @param {Token} open */
  close(open) {
    if (this.passes(")")) return;
    const { kind, text } = this.token;
    if (kind === "end") this.fail("This “(” is never closed.", open);
    if (text === ",")
      this.fail("A comma stands only between the arguments of a function.");
    const before = this.tokens[this.next - 1].text;
    this.fail(
      `An operator is missing between “${before}” and “${text}”: write * to multiply.`,
    );
  }

  /** @param {Token} token @returns {Tree} */
  name(token) {
    const { text } = token;
    const called = this.token.kind === "sign" && this.token.text === "(";
    const isValue =
      text === "x" || text === "y" || Object.hasOwn(CONSTANTS, text);
    if (isValue && called)
      this.fail(
        `“${text}” is not a function: to multiply, write ${text}*(…).`,
        token,
      );
    if (text === "x" || text === "y") return { kind: "variable", name: text };
    if (isValue) return { kind: "number", value: CONSTANTS[text] };
    const op = Object.hasOwn(ALIASES, text) ? ALIASES[text] : text;
    if (!FUNCTIONS.includes(op)) this.fail(unknown(text), token);
    if (!called) this.fail(`“${text}” needs parentheses: ${text}(…).`, token);
    return this.call(op, token);
  }

  /** The arguments of a function. @param {string} op @param {Token} name @returns {Tree} */
  call(op, name) {
    const open = this.token;
    this.next += 1;
    const args = [this.operation(1)];
    while (this.passes(",")) args.push(this.operation(1));
    this.close(open);
    const takes = Object.hasOwn(UNARY, op) ? 1 : 2;
    const isExtreme = op === "min" || op === "max";
    if (isExtreme ? args.length < 2 : args.length !== takes)
      this.fail(
        `“${name.text}” takes ${isExtreme ? "two arguments or more" : `${takes} argument${takes > 1 ? "s" : ""}`}, ` +
          `here are ${args.length}.`.replace("are 1", "is 1"),
        name,
      );
    return args
      .slice(1)
      .reduce(
        (all, arg) => ({ kind: "call", op, args: [all, arg] }),
        takes === 1 ? { kind: "call", op, args } : args[0],
      );
  }
}

/** @param {string} text */
const unknown = (text) => {
  const lower = text.toLowerCase();
  const known = [
    ...FUNCTIONS,
    ...Object.keys(ALIASES),
    ...Object.keys(CONSTANTS),
    "x",
    "y",
  ];
  const near =
    known.find((name) => name === lower) ??
    known.find((name) => isNear(name, lower));
  if (near) return `There is no “${text}”; is it “${near}”?`;
  return `There is no “${text}”: the variables are x and y, and the functions are listed below.`;
};

/** One letter more, less or other, or two swapped, in names of three letters or more. @param {string} a @param {string} b */
const isNear = (a, b) => {
  if (Math.min(a.length, b.length) < 3) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  const rests = [
    [1, 1],
    [1, 0],
    [0, 1],
  ];
  if (rests.some(([i, j]) => a.slice(start + i) === b.slice(start + j)))
    return true;
  return (
    a[start] === b[start + 1] &&
    a[start + 1] === b[start] &&
    a.slice(start + 2) === b.slice(start + 2)
  );
};

/**
 * The expression as an ordinary function.
 *
 * @param {Tree} tree
 * @returns {(x: number, y: number) => number}
 */
export const evaluator = (tree) => {
  if (tree.kind === "number") return () => tree.value;
  if (tree.kind === "variable")
    return tree.name === "x" ? (x) => x : (_, y) => y;
  const f = OPERATIONS[tree.op];
  const [a, b] = tree.args.map(evaluator);
  return b ? (x, y) => f(a(x, y), b(x, y)) : (x, y) => f(a(x, y));
};

/**
 * The expression in the body of a Rose function, by calling Rose's operations.
 *
 * @template Real
 * @param {Tree} tree
 * @param {Record<string, any>} rose  its operations, by name
 * @param {Real} x
 * @param {Real} y
 * @returns {Real | number}
 */
export const record = (tree, rose, x, y) => {
  if (tree.kind === "number") return tree.value;
  if (tree.kind === "variable") return tree.name === "x" ? x : y;
  return rose[tree.op](...tree.args.map((arg) => record(arg, rose, x, y)));
};
