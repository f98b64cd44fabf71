// Random programs over the whole vocabulary of rose 0.4.10, as source text: the body of a function
// of `rose`, a module's namespace, that gives `{ f, args }`, a function and arguments for it.
//
// Numbers are small and dyadic, so that most values are exact and the rest well conditioned.

/** A generator of pseudorandom numbers below 1 (mulberry32). */
const generator = (seed) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};

const REAL = { kind: "real", text: "Real" };
const BOOL = { kind: "bool", text: "Bool" };
const TAN = { kind: "tan", text: "Tan" };
const NULL = { kind: "null", text: "Null" };
const fin = (size) => ({ kind: "fin", size, text: `${size}` });
const vecOf = (size, elem) => ({
  kind: "vec",
  size,
  elem,
  text: `Vec(${size}, ${elem.text})`,
});
const structOf = (fields) => ({
  kind: "struct",
  fields,
  text: `{ ${fields.map(([name, ty]) => `${name}: ${ty.text}`).join(", ")} }`,
});
const DUAL = structOf([
  ["re", REAL],
  ["du", REAL],
]);

/** The type of `ty` with a dual number, as a forward derivative takes it in a body, for every number. */
const dualOf = (ty) => {
  if (ty.kind === "real") return DUAL;
  if (ty.kind === "vec") return vecOf(ty.size, dualOf(ty.elem));
  if (ty.kind === "struct")
    return structOf(ty.fields.map(([name, field]) => [name, dualOf(field)]));
  return ty;
};

const PRELUDE = `
const leak = (body) => {
  let kept;
  body((x) => (kept = x));
  return kept;
};
const above1 = (x) => add(1, mul(x, x));
let elsewhere;
fn([Real], Real, (x) => (elsewhere = x));
const sin = opaque([Real], Real, Math.sin);
const cos = opaque([Real], Real, Math.cos);
sin.jvp = fn([Dual], Dual, ({ re: x, du: dx }) => ({ re: sin(x), du: mul(dx, cos(x)) }));
cos.jvp = fn([Dual], Dual, ({ re: x, du: dx }) => ({ re: cos(x), du: neg(mul(dx, sin(x))) }));
const damp = opaque([Real, Real], Real, (x, y) => x / (1 + y * y));
damp.jvp = fn([Dual, Dual], Dual, ({ re: x, du: dx }, { re: y, du: dy }) => {
  const s = add(1, mul(y, y));
  return { re: damp(x, y), du: sub(div(dx, s), mul(dy, div(mul(2, mul(x, y)), mul(s, s)))) };
});
`;

/** One random program. */
class Program {
  constructor(seed, wrong) {
    this.random = generator(seed);
    this.names = 0;
    /** How many expressions were asked for. */
    this.sites = 0;
    /** The number of the expression in whose place a mistake is made. */
    this.mistakeAt = wrong ? this.below(30) : -1;
    /** The name of the mistake, once it is made. */
    this.mistaken = undefined;
    /** The functions defined so far: { name, params, ret, linear }. */
    this.functions = [
      { name: "sin", params: [REAL], ret: REAL },
      { name: "cos", params: [REAL], ret: REAL },
      { name: "damp", params: [REAL, REAL], ret: REAL },
    ];
  }

  below(n) {
    return Math.floor(this.random() * n);
  }

  pick(choices) {
    return choices[this.below(choices.length)];
  }

  chance(p) {
    return this.random() < p;
  }

  name() {
    return `v${++this.names}`;
  }

  // ---- types ----

  type(depth) {
    const kinds = ["real", "real", "real", "real", "bool", "fin", "null"];
    if (depth > 0) kinds.push("vec", "vec", "vec", "struct", "struct");
    switch (this.pick(kinds)) {
      case "real":
        return REAL;
      case "bool":
        return BOOL;
      case "fin":
        return fin(1 + this.below(4));
      case "null":
        return this.chance(0.3) ? NULL : REAL;
      case "vec":
        return vecOf(
          this.below(8) ? 1 + this.below(3) : 0,
          this.type(depth - 1),
        );
      default: {
        // not in the order in which they are kept
        const names = this.pick([["x"], ["b", "a"], ["z", "c", "y"]]);
        return structOf(names.map((name) => [name, this.type(depth - 1)]));
      }
    }
  }

  // ---- values for arguments ----

  number() {
    return this.pick(["0", "-0", "1", "-1", "2", "0.5", "-1.5", "3", "-2.25"]);
  }

  value(ty) {
    switch (ty.kind) {
      case "real":
      case "tan":
        return this.number();
      case "bool":
        return this.pick(["true", "false"]);
      case "fin":
        return `${this.below(ty.size)}`;
      case "null":
        return "null";
      case "vec":
        return `[${Array.from({ length: ty.size }, () => this.value(ty.elem)).join(", ")}]`;
      default:
        return this.object(ty, (field) => this.value(field));
    }
  }

  /** A struct's literal, its keys in any order. */
  object(ty, field) {
    const entries = ty.fields.map(([name, of]) => `${name}: ${field(of)}`);
    if (this.chance(0.5)) entries.reverse();
    return `({ ${entries.join(", ")} })`;
  }

  // ---- expressions ----

  /** What of type `ty` can be reached from the variables in `scope`. */
  reachable(ty, scope) {
    const found = [];
    const visit = (text, of, literal) => {
      if (of.text === ty.text) found.push(text);
      if (of.kind === "struct")
        for (const [name, field] of of.fields)
          visit(`${text}.${name}`, field, literal);
      if (of.kind === "vec" && of.size) {
        const indices = scope.filter(
          ({ ty: { kind, size } }) => kind === "fin" && size === of.size,
        );
        const index =
          indices.length && !literal && this.chance(0.7)
            ? this.pick(indices).text
            : this.below(of.size);
        visit(`${text}[${index}]`, of.elem, literal);
      }
    };
    for (const { text, ty: of, literal } of scope) visit(text, of, literal);
    return found;
  }

  /** An expression of type `ty`, of at most so many levels. */
  expression(ty, depth, scope) {
    if (this.sites++ === this.mistakeAt) return this.mistake(ty, scope);
    if (this.chance(depth > 0 ? 0.25 : 0.8)) {
      const found = this.reachable(ty, scope);
      if (found.length) return this.pick(found);
    }
    const sub = (of) => this.expression(of, depth - 1, scope);
    if (depth > 0 && ty !== TAN && this.chance(0.12))
      return `select(${sub(BOOL)}, ${ty.text}, ${sub(ty)}, ${sub(ty)})`;
    if (depth > 0 && this.chance(0.3)) {
      const calls = this.functions.filter(({ ret }) => ret.text === ty.text);
      if (calls.length) return this.call(this.pick(calls), sub);
    }
    if (depth > 0 && this.chance(0.2)) {
      const found = this.derivative(ty, sub);
      if (found) return found;
    }
    return this[ty.kind](ty, depth, scope, sub);
  }

  call({ name, params }, sub) {
    return `${name}(${params.map(sub).join(", ")})`;
  }

  /** The value or cotangent of a function of one argument that is of type `ty`. */
  derivative(ty, sub) {
    const single = this.functions.filter(
      ({ name, params }) => params.length === 1 && name !== this.ruled,
    );
    const values = single.filter(({ ret }) => ret.text === ty.text);
    const cotangents = single.filter(
      ({ params, ret }) => params[0].text === ty.text && hasTangent(ret),
    );
    if (values.length && this.chance(0.4)) {
      const { name, params } = this.pick(values);
      return `vjp(${name})(${sub(params[0])}).ret`;
    }
    if (cotangents.length === 0) return undefined;
    const { name, params, ret } = this.pick(cotangents);
    return `vjp(${name})(${sub(params[0])}).grad(${sub(ret)})`;
  }

  real(_, depth, scope, sub) {
    if (depth <= 0) return this.number();
    switch (this.below(8)) {
      case 0:
        return this.number();
      case 1:
        return this.chance(0.4)
          ? `neg(${sub(REAL)})`
          : `${this.pick(["abs", "sign", "ceil", "floor", "trunc"])}(${this.stepped(sub)})`;
      case 2:
        return `sqrt(above1(${sub(REAL)}))`;
      case 3:
        return `div(${sub(REAL)}, above1(${sub(REAL)}))`;
      case 4: {
        const size = this.below(4);
        const i = this.name();
        const inner = [...scope, { text: i, ty: fin(size) }];
        return `sum(${size}, (${i}) => ${this.expression(REAL, depth - 1, inner)})`;
      }
      default:
        return `${this.pick(["add", "sub", "mul"])}(${sub(REAL)}, ${sub(REAL)})`;
    }
  }

  /**
   * A number for a function with steps in it or in its derivative: known to the bit, or away from
   * the steps. The sign of a derivative that is zero depends on how many zeros were added up.
   */
  stepped(sub) {
    return this.chance(0.3) ? this.number() : `add(0.1, ${sub(REAL)})`;
  }

  tan(_, depth, scope, sub) {
    if (depth <= 0) return "zero()";
    switch (this.below(5)) {
      case 0:
        return `neg(${sub(TAN)})`;
      case 1:
        return `${this.pick(["add", "sub"])}(${sub(TAN)}, ${sub(TAN)})`;
      case 2:
        return `div(${sub(TAN)}, above1(${sub(REAL)}))`;
      default:
        return `mul(${sub(TAN)}, ${sub(REAL)})`;
    }
  }

  bool(_, depth, scope, sub) {
    if (depth <= 0) return this.pick(["true", "false"]);
    const op = this.pick(["not", "logic", "compare", "compare", "indices"]);
    switch (op) {
      case "not":
        return `not(${sub(BOOL)})`;
      case "logic":
        return `${this.pick(["and", "or", "iff", "xor"])}(${sub(BOOL)}, ${sub(BOOL)})`;
      case "compare":
        return `${this.pick(["neq", "lt", "leq", "eq", "gt", "geq"])}(${sub(REAL)}, ${sub(REAL)})`;
      default: {
        const ty = fin(1 + this.below(4));
        const compare = this.pick([
          "ineq",
          "ilt",
          "ileq",
          "ieq",
          "igt",
          "igeq",
        ]);
        return `${compare}(${ty.text}, ${sub(ty)}, ${sub(ty)})`;
      }
    }
  }

  fin({ size }, depth, scope, sub) {
    if (depth <= 0 || this.chance(0.4)) return `${this.below(size)}`;
    const i = sub(fin(size));
    // a sum may be past the end, its remainder never is
    return this.chance(0.3)
      ? `imod(${size}, ${this.below(20)})`
      : `imod(${size}, iadd(${size}, ${i}, ${sub(fin(size))}))`;
  }

  null() {
    return "null";
  }

  vec({ size, elem }, depth, scope, sub) {
    if (depth <= 0 || this.chance(0.4))
      return `[${Array.from({ length: size }, () => sub(elem)).join(", ")}]`;
    const i = this.name();
    const inner = [...scope, { text: i, ty: fin(size) }];
    // JavaScript takes what follows `=>` and begins with a brace as statements
    return `vec(${size}, ${elem.text}, (${i}) => ${this.expression(elem, depth - 1, inner)})`;
  }

  struct(ty, depth, scope, sub) {
    return this.object(ty, sub);
  }

  // ---- mistakes ----

  /** An expression that is none of type `ty`. */
  mistake(ty, scope) {
    const others = scope.filter(({ ty: of }) => of.text !== ty.text);
    const vectors = scope.filter(
      ({ ty: of }) => of.kind === "vec" && of.elem.text === ty.text,
    );
    const calls = this.functions.filter(({ ret }) => ret.text === ty.text);
    const choices = [
      ["undefined", "undefined"],
      ["a string", '"1"'],
      ["a bigint", "1n"],
      ["a function", "(() => 1)"],
      ["a symbol", "Symbol()"],
      ["a type", "Real"],
      ["an object", "({ none: 1 })"],
      ["no type", "select(true, undefined, 1, 2)"],
      ["vjp of no function", "vjp(3)(1).ret"],
      ["jvp of no function", "jvp(3)(1)"],
    ];
    const among = (name, list, text) => {
      if (list.length) choices.push([name, text(this.pick(list))]);
    };
    const value = (of) => this.value(of);
    among("another type", others, ({ text }) => text);
    among(
      "past the end of a vector",
      vectors,
      ({ text, ty: { size } }) => `${text}[${size}]`,
    );
    among(
      "an operator of JavaScript",
      scope.filter(({ ty: of }) => of.kind === "real" && ty.kind === "real"),
      ({ text }) => `Math.abs(${text})`,
    );
    among(
      "a comparison of JavaScript",
      scope.filter(({ ty: of }) => of.kind === "real" && ty.kind === "bool"),
      ({ text }) => `${text} < 1`,
    );
    among(
      "an assignment",
      vectors,
      ({ text, ty: { elem } }) => `(${text}[0] = ${value(elem)})`,
    );
    among(
      "too few arguments",
      calls,
      ({ name, params }) => `${name}(${params.slice(1).map(value)})`,
    );
    among(
      "too many arguments",
      calls,
      ({ name, params }) => `${name}(${[...params, REAL].map(value)})`,
    );
    if (ty !== NULL) choices.push(["null", "null"]);
    if (ty !== BOOL) choices.push(["a boolean", "true"]);
    switch (ty.kind) {
      case "real":
        choices.push(
          ["a Bool", "not(true)"],
          [
            "a value of a loop that has ended",
            "leak((keep) => vec(2, Real, (i) => keep(mul(2, 3))))",
          ],
          ["a value of another function", "elsewhere"],
          ["a sum over no size", "sum(Real, () => 1)"],
          [
            "an element of a vector over no size",
            "vec(Bool, Real, () => 1)[0]",
          ],
        );
        break;
      case "bool":
        choices.push(["a Real", "add(1, 2)"], ["a number", "1"]);
        break;
      case "tan":
        choices.push(
          ["a Real", "add(1, 2)"],
          ["a product of tangents", "mul(dx, dx)"],
          ["a quotient by a tangent", "div(dx, dx)"],
        );
        break;
      case "fin":
        choices.push(
          ["past the end", `${ty.size}`],
          ["negative", "-1"],
          ["a fraction", "0.5"],
          [
            "an index of a loop that has ended",
            `leak((keep) => vec(${ty.size}, Real, (i) => (keep(i), 1)))`,
          ],
          [
            "an index of another size",
            `leak((keep) => vec(${ty.size}, ${ty.size}, (i) => (keep(i), imod(${ty.size + 1}, 0))))`,
          ],
        );
        break;
      case "vec":
        choices.push(
          [
            "too long",
            `[${Array.from({ length: ty.size + 1 }, () => this.value(ty.elem))}]`,
          ],
          ["a number", "1"],
        );
        if (ty.size)
          choices.push([
            "too short",
            `[${Array.from({ length: ty.size - 1 }, () => this.value(ty.elem))}]`,
          ]);
        break;
      case "struct":
        choices.push(
          ["a key too few", this.value({ ...ty, fields: ty.fields.slice(1) })],
          [
            "a key too many",
            this.value({ ...ty, fields: [...ty.fields, ["more", REAL]] }),
          ],
          [
            "a key that there is not",
            `leak((keep) => keep(${this.value(ty)})).none`,
          ],
          ["a number", "1"],
        );
    }
    const [name, text] = this.pick(choices);
    this.mistaken = name;
    return text;
  }

  // ---- functions ----

  /** The statements that define a function, after which it can be called. */
  define(params, ret, depth) {
    const name = `f${++this.names}`;
    const scope = params.map((ty) => ({ text: this.name(), ty }));
    const args = scope.map(({ text }) => text).join(", ");
    const statements = [];
    for (let k = this.below(3); k > 0; --k) {
      const ty = this.chance(0.5) ? REAL : this.type(2);
      const text = this.name();
      const value = this.expression(ty, depth, scope);
      statements.push(`const ${text} = ${value};`);
      // an array or index of JavaScript's own: no symbolic index finds anything in it
      const literal = /^[[(\d]/.test(value);
      scope.push({ text, ty, literal });
    }
    const result = this.expression(ret, depth, scope);
    const types = params.map(({ text }) => text).join(", ");
    const lines = [...statements, `return ${result};`];
    this.functions.push({ name, params, ret });
    return `const ${name} = fn([${types}], ${ret.text}, (${args}) => {\n  ${lines.join("\n  ")}\n});\n`;
  }

  /** The same with a derivative of the program's own. */
  rule() {
    const text = this.define([REAL], REAL, 2);
    const { name } = this.functions.at(-1);
    const scope = [
      { text: "x", ty: REAL },
      { text: "dx", ty: TAN },
    ];
    this.ruled = name;
    const du = this.expression(TAN, 2, scope);
    this.ruled = undefined;
    return `${text}${name}.jvp = fn([Dual], Dual, ({ re: x, du: dx }) => ({ re: ${name}(x), du: ${du} }));\n`;
  }

  /** A function whose derivative is a function itself. */
  forward() {
    const { name, params, ret } = this.pick(this.functions);
    const dual = `f${++this.names}`;
    this.functions.push({
      name: dual,
      params: params.map(dualOf),
      ret: dualOf(ret),
    });
    return `const ${dual} = jvp(${name});\n`;
  }

  text() {
    const parts = [];
    for (let k = 1 + this.below(4); k > 0; --k) {
      const params = Array.from({ length: 1 + this.below(2) }, () =>
        this.type(2),
      );
      parts.push(this.define(params, this.type(2), 3));
      if (this.chance(0.3)) parts.push(this.rule());
      if (this.chance(0.4)) parts.push(this.forward());
    }
    const { name, params } = this.functions.at(-1);
    const args = Array.from(
      { length: 2 },
      () => `[${params.map((ty) => this.value(ty)).join(", ")}]`,
    );
    return { definitions: parts.join(""), name, args: `[${args.join(", ")}]` };
  }
}

const hasTangent = (ty) =>
  ty.kind === "real" ||
  (ty.kind === "vec" && hasTangent(ty.elem)) ||
  (ty.kind === "struct" && ty.fields.some(([, field]) => hasTangent(field)));

/** The source of the random program number `seed`, and the name of the mistake in it, if it is to have one. */
export const program = (seed, wrong) => {
  const random = new Program(seed, wrong);
  const { definitions, name, args } = random.text();
  const source = `${PRELUDE}${definitions}return { f: ${name}, args: ${args} };`;
  return { source, mistake: random.mistaken };
};
