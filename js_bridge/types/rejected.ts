// Programs that must be refused: by the compiler, and when they are run.

import {
  Bool,
  Dual,
  Null,
  Real,
  Size,
  Vec,
  add,
  checkpoint,
  compile,
  cond,
  configure,
  fn,
  fori,
  hot,
  functional,
  grad,
  gt,
  hvp,
  iadd,
  index,
  inspect,
  interp,
  isub,
  jacobian,
  jet,
  jvp,
  minimize,
  linearize,
  mul,
  not,
  odeint,
  opaque,
  python,
  quad,
  ready,
  real,
  root,
  scan,
  select,
  sin,
  struct,
  sum,
  valueAndGrad,
  vec,
  vjp,
  vmap,
  whileLoop,
  zero,
} from "rose";

await ready();

const R3 = Vec(3, Real);
const Point = struct({ x: Real, y: Real });
const n = Size("n");
const f = fn([R3, Point], Real, (v, p) => mul(v[0], p.x));
const square = fn([Real], Real, (x) => mul(x, x));
const total = fn([Vec(n, Real)], Real, (v) => sum(n, (i) => v[i]));
const run = interp(f);
const Pair = [Real, Bool] as const;
const both = () => [1, true] as const;
const one = () => 1;
const nothing = () => null;
const structs = fn([], Vec(1, { x: Real }), () => [{ x: 1 }]);
const pairs = fn([], Vec(1, [Real, Real]), () => [[1, 2]]);
const bools = fn([], Vec(1, Vec(1, Bool)), () => [[true]]);
const scalar = fn([], Real, one);
const primal = (_: Real, { re }: { re: Real }) => re;

/** Each throws, and the compiler knows it. */
export const rejected: (() => unknown)[] = [
  // ---- types ----
  // @ts-expect-error
  () => Vec(Real, Real),
  // @ts-expect-error
  () => Vec("3", Real),
  // @ts-expect-error
  () => fn([struct({ x: "Real" })], Real, ({ x }) => x),
  // @ts-expect-error
  () => fn([1n], Real, (x) => x),
  // @ts-expect-error
  () => fn([undefined], Real, (x) => x),
  // @ts-expect-error
  () => fn(Real, Real, () => 1),
  // @ts-expect-error
  () => fn([Vec(3, "Real")], Real, (v) => v[0]),
  // @ts-expect-error
  () => fn([Real], "Real", () => 1),
  // @ts-expect-error
  () => fn([], Real, () => vec(3, "Real", () => 1)[0]),
  // @ts-expect-error
  () => fn([], Real, () => select(true, "Real", 1, 2)),
  // @ts-expect-error
  () => fn([Real], Real),

  // ---- results of bodies ----
  // @ts-expect-error
  () => fn([], Real, () => null),
  // @ts-expect-error
  () => fn([], Real, () => true),
  // @ts-expect-error
  () => fn([], Real, () => "1"),
  // @ts-expect-error
  () => fn([], Real, () => {}),
  // @ts-expect-error
  () => fn([Bool], Real, (p) => p),
  // @ts-expect-error
  () => fn([Real], Bool, (x) => x),
  // @ts-expect-error
  () => fn([Real], Null, (x) => x),
  // @ts-expect-error
  () => fn([Real], R3, (x) => x),
  // @ts-expect-error
  () => fn([], R3, () => [1, 2, false]),
  // @ts-expect-error
  () => fn([], Point, () => ({ x: 1 })),
  // @ts-expect-error
  () => fn([], Point, () => ({ x: 1, y: true })),

  // ---- operations ----
  // @ts-expect-error
  () => fn([Bool], Real, (p) => add(p, 1)),
  // @ts-expect-error
  () => fn([R3], Real, (v) => sin(v)),
  // @ts-expect-error
  () => fn([Real], Bool, (x) => not(x)),
  // @ts-expect-error
  () => fn([Bool], Bool, (p) => gt(p, 1)),
  // @ts-expect-error
  () => fn([Real], 3, (x) => iadd(3, x, 1)),
  // @ts-expect-error
  () => fn([Real], Real, (x) => select(x, Real, 1, 2)),
  // @ts-expect-error
  () => fn([Real], Real, (x) => select(true, Real, x, null)),
  // @ts-expect-error
  () => fn([], R3, () => vec(Real, Real, () => 1)),
  // @ts-expect-error
  () => fn([], R3, () => vec(3, Real, () => true)),
  // @ts-expect-error
  () => fn([], Real, () => sum(3, (i) => not(i))),
  // @ts-expect-error
  () => fn([Dual], Dual, ({ re, du }) => ({ re, du: mul(du, du) })),
  // @ts-expect-error
  () => fn([Dual], Dual, ({ re, du }) => ({ re, du: add(du, re) })),
  // @ts-expect-error
  () => fn([Dual], Dual, ({ re }) => ({ re, du: re })),
  // @ts-expect-error
  () => fn([], Real, () => zero()),

  // ---- choices and loops ----
  // @ts-expect-error
  () => fn([Real], Real, (x) => cond(true, Real, x, 2)),
  // @ts-expect-error
  () => fn([Real], Real, (x) => cond(x, Real, one, one)),
  // @ts-expect-error
  () => fn([], Real, () => cond(true, Real, one, nothing)),
  // @ts-expect-error
  () => fn([Real], Real, (x) => fori(3, Real, x, () => true)),
  // @ts-expect-error
  () => fn([Real], Real, (x) => fori(true, Real, x, () => x)),
  // @ts-expect-error
  () => fn([Real], Real, (x) => fori(3, Real, null, () => x)),
  // @ts-expect-error
  () => fn([Point], Real, (p) => fori(3, Point, p, (i, q) => q)),
  // @ts-expect-error
  () => fn([Real], Real, (x) => fori(3, Real, x, one, { limit: 3 })),
  // @ts-expect-error
  () => fn([], Real, () => fori(3, Real, 1, one, { checkpoint: "all" })),
  // @ts-expect-error
  () => fn([Real], Real, (x) => whileLoop(Real, x, (s) => s, one)),
  // @ts-expect-error
  () => fn([Real], Real, (x) => whileLoop(Real, x, (s) => gt(s, 1), nothing)),
  // @ts-expect-error
  () => fn([Real], Real, (x) => scan(3, Real, x, (s) => s)[0]),
  // @ts-expect-error
  () => fn([Real], Real, (x) => scan(3, Real, x, (s) => [s, "1"])[0]),
  // @ts-expect-error
  () => fn([Real], Real, (x) => scan(3, Real, x, (s) => [s, s])[1]),
  // @ts-expect-error
  () => fn([Real], Real, (x) => scan(x, Real, x, (s) => [s, s])[0]),
  // @ts-expect-error
  () => fn([Real], Real, (x) => cond(true, Pair, both, () => [x])[0]),
  // @ts-expect-error
  () => fn([Real], Real, (x) => cond(true, Pair, () => [true, x], both)[0]),
  // @ts-expect-error
  () => fn([Real], Real, (x) => fori(3, Pair, [x, true], (i, [y]) => [y])[0]),
  // @ts-expect-error
  () => fn([Real], Real, (x) => fori(3, Pair, [x], both)[0]),
  // @ts-expect-error
  () => fn([Real], Real, (x) => fori(3, ["Real"], ["x"], (i, s) => s)[0]),
  // @ts-expect-error
  () => fn([], Pair, () => whileLoop(Pair, [1, true], ([x]) => x, both)),
  // @ts-expect-error
  () => fn([], Pair, () => whileLoop(Pair, [1, true], ([, p]) => p, one)),
  // @ts-expect-error
  () => fn([], Pair, () => scan(3, Pair, [1, true], ([x]) => [[x, x], x])[0]),
  // @ts-expect-error
  () => fn([], Real, () => vec(3, Pair, () => [1, 2])[0][0]),
  // @ts-expect-error
  () => fn([R3], R3, (v) => v.set(0, true)),
  // @ts-expect-error
  () => fn([R3, Real], R3, (v, x) => v.set(x, 1)),
  // @ts-expect-error
  () => fn([R3], R3, (v) => v.set(1)),
  // @ts-expect-error
  () => fn([R3], R3, (v) => v.at[0].set(true)),
  // @ts-expect-error
  () => fn([R3], R3, (v) => v.at[0][1].set(1)),
  // @ts-expect-error
  () => fn([Real], 3, (x) => isub(3, x, 1)),
  // @ts-expect-error
  () => fn([Real], 3, (x) => index(Real, x)),
  // @ts-expect-error
  () => fn([Real], Real, (x) => real(x)),
  // @ts-expect-error
  () => checkpoint(Math.sin),

  // ---- calls ----
  // @ts-expect-error
  () => fn([Real], Real, (x) => square(x, x)),
  // @ts-expect-error
  () => fn([], Real, () => square()),
  // @ts-expect-error
  () => fn([Bool], Real, (p) => square(p)),
  // @ts-expect-error
  () => fn([R3], Real, (v) => f(v, { x: 1 })),
  // @ts-expect-error
  () => fn([Point], Real, (p) => p.z),
  // @ts-expect-error
  () => fn([R3, Real], Real, (v, x) => v[x]),

  // ---- derivatives ----
  // @ts-expect-error
  () => jvp(Math.sin),
  // @ts-expect-error
  () => vjp(Math.sin),
  // @ts-expect-error
  () => vjp(3),
  // @ts-expect-error
  () => fn([R3], Real, (v) => vjp(f)(v).ret),
  // @ts-expect-error
  () => fn([Real], Real, (x) => vjp(square)(x).grad([1])),
  // @ts-expect-error
  () => fn([R3, Point], R3, (v, p) => vjp(f)(v, p).grad(1)),
  // @ts-expect-error
  () => fn([Real], Dual, (x) => jvp(square)(x)),
  () => {
    const cube = fn([Real], Real, (x) => mul(x, square(x)));
    // @ts-expect-error
    cube.jvp = square;
    return compile(fn([Real], Real, (x) => vjp(cube)(x).grad(1)));
  },

  // ---- runs ----
  // @ts-expect-error
  async () => (await compile(structs)).into(new Float64Array(1)),
  // @ts-expect-error
  async () => (await compile(pairs)).into(new Float64Array(2)),
  // @ts-expect-error
  async () => (await compile(bools)).into(new Float64Array(1)),
  // @ts-expect-error
  async () => (await compile(scalar)).into(5),
  // @ts-expect-error
  () => run([1, 2, 3]),
  // @ts-expect-error
  () => run([1, 2, "3"], { x: 1, y: 2 }),
  // @ts-expect-error
  () => run([1, 2, 3], { x: 1 }),
  // @ts-expect-error
  () => run([1, 2, 3], { x: 1, y: 2 }, 3),
  // @ts-expect-error
  () => run(1, { x: 1, y: 2 }),
  // @ts-expect-error
  () => interp((x: number) => x),
  // @ts-expect-error
  () => interp(total),
  // @ts-expect-error
  () => compile(total),
  // @ts-expect-error
  () => compile(square, { memory: 3 }),
  // @ts-expect-error
  () => interp(opaque([Real], Real, (x) => x > 0))(1),
  // @ts-expect-error
  () => interp(opaque([Real], Pair, (x) => [x, x]))(1),
  // @ts-expect-error
  () => configure({ core: "thread" }),
  // @ts-expect-error
  () => configure({ place: "main" }),

  // ---- functions of functions ----
  // @ts-expect-error
  () => fn([Real], Real, (a) => root((x) => gt(x, a), 1)),
  // @ts-expect-error
  () => fn([Real], Real, (a) => root((x) => x, a, { rtol: 1 })),
  // @ts-expect-error
  () => fn([Real], Real, (a) => minimize((x) => x, a, { method: "sgd" })),
  // @ts-expect-error
  () => fn([Real], Real, (a) => quad((x) => gt(x, 0), 0, a)),
  // @ts-expect-error
  () => fn([Real], Vec(2, Real), (a) => odeint((y) => y, a, 1)),
  // @ts-expect-error
  () => functional([], [Real], Real, one, primal),
  // @ts-expect-error
  () => functional([one], [Real], Real, one, zero),
  // @ts-expect-error
  () => functional([], [Pair], Pair, (p) => [p[0]], primal),
  // ---- operators ----
  // @ts-expect-error
  () => grad((x: number) => x),
  // @ts-expect-error
  () => grad(square, "0"),
  // @ts-expect-error
  () => inspect((x: number) => x),
  // @ts-expect-error
  () => jacobian(square, 0, { mode: "sparse" }),
  // @ts-expect-error
  () => interp(hvp(square))(1),
  // @ts-expect-error
  () => fn([Real], Real, (x) => linearize(square)(x).push(x, x)),
  // @ts-expect-error
  () => valueAndGrad(opaque([Real], R3, (x) => [x, x, x])),

  // @ts-expect-error
  () => jet(square, "2"),
  // @ts-expect-error
  () => vmap(square, 1),
  // @ts-expect-error
  () => vmap(square).at({ rows: 2 }),

  // ---- sizes ----
  // @ts-expect-error
  () => total.at({ m: 3 }),
  // @ts-expect-error
  () => total.at({ n: "3" }),
  // @ts-expect-error
  () => square.at({ n: 3 }),
];

/** Each is a mistake in what is done with a value, of which only the compiler knows. */
export const misused = async (): Promise<void> => {
  // @ts-expect-error
  const text: string = run([1, 2, 3], { x: 1, y: 2 });
  const compiled = await compile(square);
  // @ts-expect-error
  const vector: number[] = compiled(1);
  const gradient = fn([R3, Point], Point, (v, p) => {
    // @ts-expect-error
    const cotangent: Real = vjp(f)(v, p).grad(1);
    return vjp(f)(v, p).grad(1)[1];
  });
  // @ts-expect-error
  interp(gradient)([1, 2, 3], { x: 1, y: 2 }).z;
  // @ts-expect-error
  fn([R3], Real, (v) => v.x);
  // @ts-expect-error
  fn([R3], R3, (v) => v.push(1));
  // @ts-expect-error
  fn([R3], R3, (v) => ((v[0] = 1), v));
  const two = [Real, Real] as const;
  // @ts-expect-error
  fori(3, two, [1, 2], (_, [a]) => [a]);
  const no = () => false;
  // @ts-expect-error
  whileLoop(two, [1, 2], no, ([a]) => [a, true]);
  const ok = () => [1, 2] as const;
  // @ts-expect-error
  cond(true, two, ok, () => [1, true]);
  // @ts-expect-error
  scan(3, two, [1, 2], ([a]) => [[a, true], a]);
  // @ts-expect-error
  opaque([Real], two, (x) => [x, true]);
  const { unsaid } = await python();
  // @ts-expect-error
  const known: number = interp(unsaid)(1);
  // @ts-expect-error
  unsaid.at({ n: 3 });
  const live = hot<[number], number>();
  // @ts-expect-error
  live("1");
  // @ts-expect-error
  void live.update(gradient);
};
