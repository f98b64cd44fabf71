// Programs that must be accepted, with the types of what is in them. They are run, too.

import {
  Bool,
  type CompileOptions,
  type Compiled,
  Dual,
  type Fn,
  type Func,
  type GenericFunc,
  Null,
  Real,
  Size,
  Tan,
  type Unsaid,
  Vec,
  type Nat,
  type Nats,
  type Reals,
  type Symbolic,
  type Value,
  type Vecs,
  add,
  and,
  checkpoint,
  compile,
  cond,
  configure,
  div,
  fixedPoint,
  fn,
  fori,
  functional,
  hot,
  inspect,
  grad,
  gt,
  hessian,
  hvp,
  iadd,
  idiv,
  ieq,
  igt,
  imax,
  imin,
  imod,
  imul,
  index,
  interp,
  isub,
  jacobian,
  jet,
  jvp,
  linearize,
  lt,
  minimize,
  mul,
  neg,
  not,
  odeint,
  opaque,
  or,
  pow,
  python,
  quad,
  ready,
  real,
  root,
  scan,
  select,
  sin,
  sparseHessian,
  sparseJacobian,
  sqrt,
  struct,
  sub,
  sum,
  valueAndGrad,
  vec,
  vjp,
  vmap,
  whileLoop,
  zero,
} from "rose";
import { gives, is } from "./expect";

export { given } from "./expect";

configure({ core: "main", draft: false });
is<Promise<void>>()(ready());
await ready();

// ---- arguments and results ----

const R3 = Vec(3, Real);
is<Vecs<number, Reals>>()(R3);

const doubled = fn([R3], R3, (v) => {
  is<Vec<Real>>()(v);
  return vec(3, Real, (i) => {
    is<Nat>()(i);
    is<Real>()(v[i]);
    return mul(2, v[i]);
  });
});
const runDoubled = await compile(doubled);
gives<number[]>()(runDoubled([1, 2, 3]), [2, 4, 6]);
gives<number[]>()(runDoubled(new Float64Array([1, 2, 3])), [2, 4, 6]);
const frozen: readonly number[] = Object.freeze([1, 2, 3]);
gives<number[]>()(interp(doubled)(frozen), [2, 4, 6]);

const Point = struct({ x: Real, y: Real });
const Shape = {
  center: Point,
  corners: Vec(2, Point),
  filled: Bool,
  none: Null,
};
const mirrored = fn([Shape], Shape, ({ center, corners, filled, none }) => {
  is<Real>()(center.x);
  is<Bool>()(filled);
  is<null>()(none);
  return {
    center: { x: neg(center.x), y: center.y },
    corners: vec(2, Point, (i) => ({ x: neg(corners[i].x), y: corners[i].y })),
    filled: not(filled),
    none,
  };
});
gives<{
  center: { x: number; y: number };
  corners: { x: number; y: number }[];
  filled: boolean;
  none: null;
}>()(
  (await compile(mirrored))({
    center: { x: 1, y: 2 },
    corners: [
      { x: 3, y: 4 },
      { x: 5, y: 6 },
    ],
    filled: true,
    none: null,
  }),
  {
    center: { x: -1, y: 2 },
    corners: [
      { x: -3, y: 4 },
      { x: -5, y: 6 },
    ],
    filled: false,
    none: null,
  },
);

const wrapped = fn([Vec(4, 4), 4], 4, (v, i) => {
  is<Nat>()(v[i]);
  return imod(4, iadd(7, v[i], 3));
});
gives<number>()(interp(wrapped)([3, 2, 1, 0], 1), 1);
gives<number>()(interp(wrapped)(new Uint8Array([3, 2, 1, 0]), 2), 0);

const nothing = fn([], Null, () => null);
gives<null>()(interp(nothing)(), null);
const matrix = fn([Vec(2, Vec(2, Bool))], Vec(2, Bool), (m) =>
  vec(2, Bool, (i) => and(m[i][0], or(m[i][1], lt(1, 2)))),
);
gives<boolean[]>()(
  interp(matrix)([
    [true, false],
    [false, true],
  ]),
  [true, false],
);

// ---- bodies ----

const body = fn([R3, Real, Shape], Real, (v, x, shape) => {
  const [a, b, c] = v;
  is<Real>()(a);
  is<number>()(v.length);
  is<Real[]>()(v.map((each) => mul(each, x)));
  const total = [...v].reduce((p, q) => add(p, q), 0);
  is<Real>()(total);
  for (const corner of shape.corners) is<Real>()(corner.y);
  is<Real>()(sum(3, (i) => v[i]));
  const chosen = select(lt(a, b), Shape, shape, { ...shape, filled: true });
  is<Bool>()(chosen.filled);
  is<Vec<Symbolic<typeof Point>>>()(chosen.corners);
  is<Bool>()(ieq(3, 1, 2));
  let value: Real = 0;
  value = add(value, c);
  return add(pow(total, 2), add(div(value, sqrt(chosen.center.x)), sub(a, b)));
});
gives<number>()(
  interp(body)([1, 2, 3], 1, {
    center: { x: 4, y: 0 },
    corners: [
      { x: 0, y: 0 },
      { x: 0, y: 0 },
    ],
    filled: false,
    none: null,
  }),
  36.5,
);

const outer = fn([Real], Real, (x) => {
  const inner = fn([Real], Real, (y) => mul(x, y));
  return inner(inner(2));
});
gives<number>()(interp(outer)(3), 18);

/** Generic over types: what is called with a type gives its values. */
const first = <T extends Value<typeof R3>>(v: T): Real => v[0] as Real;
const length = (v: Vec<Real>): Real =>
  sqrt(sum(v.length, (i) => mul(v[i], v[i])));
gives<number>()(
  interp(fn([R3], Real, (v) => add(first([7, 8, 9]), length(v))))([2, 3, 6]),
  14,
);

// ---- derivatives ----

const f = fn([R3], Real, ([x, y, z]) => mul(x, mul(y, sin(z))));
const gradient = fn([R3], R3, (v) => {
  const { ret, grad } = vjp(f)(v);
  is<Real>()(ret);
  is<Vec<Real>>()(grad(1));
  return grad(1);
});
gives<number[]>()(interp(gradient)([2, 3, 0]), [0, 0, 6]);

const two = fn([R3, Point], Point, (v, p) => ({ x: mul(v[0], p.x), y: p.y }));
const both = fn([R3, Point], Point, (v, p) => {
  const { ret, grad } = vjp(two)(v, p);
  is<Real>()(ret.x);
  const [dv, dp] = grad({ x: 1, y: 1 });
  is<Vec<Real>>()(dv);
  return { x: dv[0], y: dp.x };
});
gives<{ x: number; y: number }>()(interp(both)([2, 0, 0], { x: 3, y: 4 }), {
  x: 3,
  y: 2,
});

const forward = jvp(two);
gives<{ x: { re: number; du: number }; y: { re: number; du: number } }>()(
  (await compile(forward))(
    [
      { re: 2, du: 1 },
      { re: 0, du: 0 },
      { re: 0, du: 0 },
    ],
    { x: { re: 3, du: 0 }, y: { re: 4, du: 5 } },
  ),
  { x: { re: 6, du: 3 }, y: { re: 4, du: 5 } },
);
const directional = fn([Dual], Dual, (x) => {
  is<Tan>()(x.du);
  const { re, du } = jvp(fn([Real], Real, (y) => mul(y, y)))(x);
  is<Tan>()(du);
  return { re, du: add(mul(du, 2), mul(re, neg(zero()))) };
});
gives<{ re: number; du: number }>()(interp(directional)({ re: 3, du: 1 }), {
  re: 9,
  du: 12,
});
const along = fn([R3, R3], Real, (v, w) => {
  const { ret, grad } = vjp(f)(v);
  const ways = vec(3, { re: Real, du: Real }, (i) => ({ re: v[i], du: w[i] }));
  const { du } = jvp(f)(ways);
  is<Real>()(du);
  is<Real>()(jvp(f)([{ re: 1, du: 1 }, ways[1], ways[2]]).re);
  return sub(du, mul(grad(1)[0], mul(w[0], sub(ret, ret))));
});
gives<number>()(interp(along)([2, 3, 0], [0, 1, 1]), 6);
const secondSlope = fn([Real], Real, (x) => {
  const cubed = fn([Real], Real, (y) => mul(y, mul(y, y)));
  const x2 = { re: { re: x, du: 1 }, du: { re: 1, du: 0 } };
  return jvp(jvp(cubed))(x2).du.du;
});
gives<number>()(interp(secondSlope)(2), 12);
/** Parameters may be said as a tuple that could be changed. */
const slopeOf = (g: Func<[Reals], Reals>) => grad(g);
gives<number>()(interp(slopeOf(secondSlope))(2), 6);
gives<number[]>()([1, 2].map(await compile(secondSlope)), [6, 12]);
const tangents = fn([Vec(2, Tan)], Tan, ([s, t]) => add(s, t));
gives<number>()(interp(tangents)([1, 2]), 3);

const smooth = opaque([Real], Real, Math.log);
smooth.jvp = fn([Dual], Dual, ({ re: x, du: dx }) => ({
  re: smooth(x),
  du: div(dx, x),
}));
gives<number>()(
  interp(fn([Real], Real, (x) => vjp(smooth)(x).grad(1)))(4),
  0.25,
);
const counted = opaque([Shape, Vec(2, Bool)], 3, (shape, flags) => {
  is<{ x: number; y: number }[]>()(shape.corners);
  is<boolean[]>()(flags);
  return flags.filter((flag) => flag).length;
});
const count = fn([Vec(2, Bool)], 3, (flags) =>
  counted(
    {
      center: { x: 0, y: 0 },
      corners: [
        { x: 0, y: 0 },
        { x: 0, y: 0 },
      ],
      filled: true,
      none: null,
    },
    flags,
  ),
);
gives<number>()(interp(count)([true, false]), 1);

// ---- sizes ----

const n = Size("n");
const m = Size("m");
is<Size<"n">>()(n);
const total = fn([Vec(m, Vec(n, Real))], Real, (rows) =>
  sum(m, (i) => sum(n, (j) => mul(rows[i][j], +n))),
);
is<GenericFunc<readonly [Vecs<Size<"m">, Vecs<Size<"n">, Reals>>], Reals>>()(
  total,
);
const total23 = total.at({ m: 2, n: 3 });
is<Func<readonly [Vecs<Nats, Vecs<Nats, Reals>>], Reals>>()(total23);
const rows = [
  [1, 2, 3],
  [4, 5, 6],
];
gives<number>()((await compile(total23))(rows), 63);
gives<number>()(
  interp(fn([Vec(2, Vec(3, Real))], Real, (v) => total(v)))(rows),
  63,
);
gives<number[]>()(
  interp(fn([R3], R3, (v) => vjp(total)([v]).grad(1)[0]))([1, 2, 3]),
  [3, 3, 3],
);
const squares = fn([Vec(n, Real)], Vec(n, Real), (v) =>
  vec(n, Real, (i) => mul(v[i], v[i])),
);
gives<{ re: number; du: number }[]>()(
  interp(jvp(squares).at({ n: 1 }))([{ re: 3, du: 1 }]),
  [{ re: 9, du: 6 }],
);
const plain = Size();
is<Size<"n">>()(plain);

// ---- compiled functions ----

const memory = new WebAssembly.Memory({ initial: 0 });
const memoryOf = (options: CompileOptions) => options.memory;
is<WebAssembly.Memory | undefined>()(memoryOf({ memory }));
const compiled = await compile(f, { memory });
is<Compiled<readonly [readonly number[] | NumberArray], number>>()(compiled);
is<Float64Array | Int32Array>()(compiled.run());
gives<number>()(compiled([1, 2, 0]), 0);
is<Promise<boolean>>()(compiled.settled);
const several = fn(
  [Vec(2, Vec(2, Real)), Vec(2, [Real, Bool])],
  [Vec(2, Vec(2, Real)), Vec(2, [Real, Bool])],
  (m, v) => [m, v],
);
const all = await compile(several);
const outs: [Float64Array, [number, boolean][]] = [
  new Float64Array(4),
  [
    [0, false],
    [0, false],
  ],
];
all.into(outs, Float64Array.of(1, 2, 3, 4), [
  [5, true],
  [6, false],
]);
gives<[Float64Array, [number, boolean][]]>()(outs, [
  Float64Array.of(1, 2, 3, 4),
  [
    [5, true],
    [6, false],
  ],
]);
type Numbers = Float64Array | Int32Array;
gives<readonly [Numbers, readonly [Numbers, Uint8Array]]>()(all.run(), [
  Float64Array.of(1, 2, 3, 4),
  [Float64Array.of(5, 6), Uint8Array.of(1, 0)],
]);
const inPlace = await compile(several);
inPlace.args[0].set([4, 3, 2, 1]);
inPlace.args[1][1].fill(1);
is<readonly [Numbers, Uint8Array]>()(inPlace.args[1]);
gives<Numbers>()(inPlace.run()[0], Float64Array.of(4, 3, 2, 1));
gives<void>()(compiled.dispose(), undefined);
const draft = await compile(f, { draft: true });
gives<boolean>()(await draft.settled, true);
const corner = interp(fn([Vec(2, Vec(2, Real))], Real, (m) => m[1][0]));
gives<number>()(corner(Float64Array.of(1, 2, 3, 4)), 3);

type NumberArray =
  | Float64Array
  | Float32Array
  | Int32Array
  | Uint32Array
  | Int16Array
  | Uint16Array
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray;

// ---- choices and loops ----

const guarded = fn([Real], Real, (x) =>
  cond(
    gt(x, 0),
    Real,
    () => sqrt(x),
    () => 0,
  ),
);
gives<number>()(interp(guarded)(4), 2);
const either = fn([Bool, Point], Point, (p, q) => {
  const chosen = cond(
    p,
    Point,
    () => q,
    () => ({ ...q, y: 0 }),
  );
  is<Real>()(chosen.y);
  return chosen;
});
gives<{ x: number; y: number }>()(interp(either)(false, { x: 1, y: 2 }), {
  x: 1,
  y: 0,
});

const Squaring = struct({ y: Real, left: 9 });
const power = fn([Real, 9], Real, (x, left) => {
  const last = whileLoop(
    Squaring,
    { y: x, left },
    (state) => igt(9, state.left, 0),
    (state) => {
      is<Nat>()(state.left);
      return { y: mul(state.y, state.y), left: isub(9, state.left, 1) };
    },
    { limit: 8, checkpoint: "revolve" },
  );
  is<Real>()(last.y);
  return last.y;
});
gives<number>()(interp(power)(2, 3), 256);

const cube = fn([Real], Real, (x) =>
  fori(3, Real, 1, (i, y) => {
    is<Nat>()(i);
    is<Real>()(y);
    return mul(y, x);
  }),
);
gives<number>()(interp(checkpoint(cube))(2), 8);
const turns = fn([Real, 5], Vec(2, Real), (x, k) => {
  const byNumber = fori(x, Real, 0, (i, y) => add(y, real(i)));
  const byIndex = fori(k, Real, 0, (i, y) => add(y, real(i)), {
    checkpoint: 2,
  });
  return [byNumber, byIndex];
});
gives<number[]>()(interp(turns)(4, 3), [6, 3]);

const sums = fn([R3], R3, (v) => {
  const [last, all] = scan(3, Real, 0, (s, i) => {
    const t = add(s, v[i]);
    return [t, t];
  });
  is<Real>()(last);
  is<Vec<Real>>()(all);
  return all;
});
gives<number[]>()(interp(sums)([1, 2, 3]), [1, 3, 6]);
const kinds = fn([R3, 3], Vec(3, { p: Bool, i: 3, w: R3 }), (v, k) => {
  const [, each] = scan(3, Null, null, (state, i) => {
    is<null>()(state);
    return [state, { p: gt(v[i], 1), i: imax(3, i, k), w: [v[i], 0, 0] }];
  });
  is<Bool>()(each[k].p);
  is<Nat>()(each[k].i);
  is<Real>()(each[k].w[k]);
  return each;
});
gives<{ p: boolean; i: number; w: number[] }[]>()(interp(kinds)([1, 2, 3], 1), [
  { p: false, i: 1, w: [1, 0, 0] },
  { p: true, i: 1, w: [2, 0, 0] },
  { p: true, i: 2, w: [3, 0, 0] },
]);
const nothings = fn([Real], Real, (x) => {
  const [last, none] = scan(2, Real, x, (s) => [mul(s, s), null]);
  is<null>()(none);
  return last;
});
gives<number>()(interp(nothings)(3), 81);

const reversed = fn([R3], R3, (v) =>
  fori(3, R3, v, (i, w) => w.set(i, v[isub(3, 2, i)])),
);
gives<number[]>()(interp(reversed)([1, 2, 3]), [3, 2, 1]);
const counts = fn([R3], R3, (v) =>
  fori(3, R3, v, (i, w) => w.at[i].add(w[0]).at[2].set(mul(v.at(-1)!, 2))),
);
gives<number[]>()(interp(counts)([1, 2, 3]), [2, 4, 6]);
const Rows = Vec(2, Vec(2, Real));
const diagonal = fn([Rows, 2], Rows, (v, i) =>
  v.at[i][i].add(10).at[0].add(v[1]),
);
gives<number[][]>()(
  interp(diagonal)(
    [
      [1, 2],
      [3, 4],
    ],
    0,
  ),
  [
    [14, 6],
    [3, 4],
  ],
);
const row = fn([Rows, 2], Rows, (v, i) => {
  const w = v.set(i, [7, v[0][i]]);
  is<Vec<Vec<Real>>>()(w);
  return w.set(0, w[0].set(0, 9));
});
gives<number[][]>()(
  interp(row)(
    [
      [1, 2],
      [3, 4],
    ],
    1,
  ),
  [
    [9, 2],
    [7, 2],
  ],
);

const fibonacci = fn([9], Real, (k) => {
  const [a, b] = fori(k, [Real, Real], [0, 1], (_, [a, b]) => [b, add(a, b)]);
  is<Real>()(b);
  return a;
});
gives<number>()(interp(fibonacci)(8), 21);
const Flagged = [Real, Bool] as const;
const raised = fn([Real], Flagged, (x) =>
  whileLoop(
    [Real, Bool],
    [x, false],
    ([y]) => lt(y, 9),
    ([y, p]) => {
      is<Bool>()(p);
      return [mul(y, 2), true];
    },
  ),
);
gives<[number, boolean]>()(interp(raised)(3), [12, true]);
const turned = fn([Real], [Vec(2, Flagged), Real], (x) => {
  const [[last], all] = scan(2, [Real, Bool], [x, true], ([y, p]) => [
    [neg(y), not(p)],
    y,
  ]);
  is<Vec<Real>>()(all);
  return [vec(2, [Real, Bool], (i) => [all[i], true]), last];
});
gives<[[number, boolean][], number]>()(interp(turned)(3), [
  [
    [3, true],
    [-3, true],
  ],
  3,
]);
const chosen = fn([Bool, Flagged], { pair: Flagged }, (p, pair) =>
  cond(
    p,
    { pair: Flagged },
    () => ({ pair }),
    () => ({ pair: [0, p] }),
  ),
);
gives<{ pair: [number, boolean] }>()(interp(chosen)(false, [3, true]), {
  pair: [0, false],
});
const outside = opaque([Flagged], [Bool, Real], ([x, p]) => [!p, x]);
gives<[boolean, number]>()(interp(outside)([3, true]), [false, 3]);
const exchanged = functional(
  [],
  [[Real, Real]],
  [Real, Real],
  ([x, y]) => [y, x],
  (_, [x, y]) => [y.du, x.du],
);
gives<[number, number]>()(interp(exchanged)([1, 2]), [2, 1]);

const arithmetic = fn([9, Real], Vec(6, 9), (i, x) => [
  imul(9, i, 2),
  imin(9, i, 1),
  imod(9, isub(9, i, 1)),
  idiv(9, isub(9, i, 1), 2),
  index(9, x),
  index(9, i),
]);
gives<number[]>()(interp(arithmetic)(3, 5), [6, 1, 2, 1, 5, 3]);

const squaresOf = checkpoint(squares);
is<typeof squares>()(squaresOf);
gives<number[]>()(interp(squaresOf.at({ n: 2 }))([1, 2]), [1, 4]);

// ---- functions of functions ----

const R2 = Vec(2, Real);
const cubeRoot = fn([Real], Real, (a) => {
  const x = root((x) => {
    is<Real>()(x);
    return sub(mul(x, mul(x, x)), a);
  }, 1);
  is<Real>()(x);
  return x;
});
gives<number>()(interp(cubeRoot)(8), 2);
const rectangle = fn([R2], R2, (v) =>
  root(
    (x) => [sub(add(x[0], x[1]), v[0]), sub(mul(x[0], x[1]), v[1])],
    [3, 0.5],
    { limit: 20 },
  ),
);
gives<number[]>()(interp(rectangle)([5, 6]), [3, 2]);
const area = fn([Real], Real, (a) => {
  const whole = quad((x) => mul(x, a), 0, a);
  is<Real>()(whole);
  return whole;
});
gives<number>()(interp(area)(2), 4);
const pairOf = fn([Real], R2, (x) => [x, 1]);
const pairs = fn([], R2, () => quad(pairOf, 0, 2, { tolerance: 1e-8 }));
gives<number[]>()(interp(pairs)(), [2, 2]);
const still = fn([Real], Vec(3, Real), (a) => odeint(() => 0, a, [0, 1, 2]));
gives<number[]>()(interp(still)(7), [7, 7, 7]);
const fixed = fn([R2, Real], R2, () => [0, 0]);
const states = fn([R2], Vec(2, R2), (v) => odeint(fixed, v, [0, 1]));
gives<number[][]>()(interp(states)([3, 4]), [
  [3, 4],
  [3, 4],
]);
const planar = fn([R2], R2, (v) => {
  const all = odeint((y) => [mul(0, y[0]), 0], v, [0, 1], { atol: 1 });
  is<Vec<Vec<Real>>>()(all);
  return all[1];
});
gives<number[]>()(interp(planar)([3, 4]), [3, 4]);
const lowest = fn([Real], Real, (a) =>
  minimize((x) => mul(sub(x, a), sub(x, a)), a, { method: "newton" }),
);
gives<number>()(interp(lowest)(5), 5);
const lowestOf = fn([R2], R2, (v) =>
  minimize((x) => add(mul(x[0], x[0]), mul(x[1], x[1])), v, { limit: 9 }),
);
gives<number[]>()(interp(lowestOf)([0, 0]), [0, 0]);
const half = fn([Real], Real, (x) => div(x, 2));
gives<number>()(interp(fn([], Real, () => fixedPoint(half, 0)))(), 0);
const tripled = functional(
  [half],
  [Real, R2],
  R2,
  (f, x, v) => [mul(6, f(x)), v[1]],
  (y, f, x, v) => {
    is<Vec<Real>>()(y);
    const { du } = jvp(f)(x);
    return [mul(du, 6), v[1].du];
  },
);
is<Func<readonly [Reals, typeof R2], typeof R2>>()(tripled);
gives<number[]>()(interp(tripled)(2, [3, 4]), [6, 4]);

const lengths = fn(
  [
    [R2, R2],
    [Real, Real],
  ],
  R3,
  (pair, point) => {
    const length = fn([R2], Real, ([x, y]) => add(mul(x, x), mul(y, y)));
    return [...pair.map(length), length(point)];
  },
);
gives<number[]>()(
  interp(lengths)(
    [
      [1, 2],
      [3, 4],
    ],
    [5, 6],
  ),
  [5, 25, 61],
);

// ---- functions of which only the call is known ----

const call: Fn & ((x: Real, v: Vec<Real>, i: Nat) => Real) = fn(
  [Real, R3, 3],
  Real,
  (x, v, i) => mul(x, v[i]),
);
gives<number>()(interp(call)(2, [1, 2, 3], 1), 4);
gives<number>()((await compile(call))(2, [1, 2, 3], 1), 4);
const square: Fn & ((x: Real) => Real) = fn([Real], Real, (x) => mul(x, x));
gives<number>()(interp(fn([Real], Real, (x) => vjp(square)(x).grad(1)))(3), 6);
gives<{ re: number; du: number }>()(interp(jvp(square))({ re: 3, du: 1 }), {
  re: 9,
  du: 6,
});
const kept: Fn[] = [f, square, smooth, jvp(f), total];
gives<number>()(kept.length, 5);
const untyped = (g: Fn, rule: Fn): void => {
  g.jvp = rule;
};
const twice = fn([Real], Real, (x) => mul(2, x));
const rule: Fn = fn([Dual], Dual, ({ re, du }) => ({
  re: twice(re),
  du: mul(du, 3),
}));
untyped(twice, rule);
twice.jvp = rule;
is<Func<readonly [typeof Dual], typeof Dual> | undefined>()(twice.jvp);
gives<number>()(interp(fn([Real], Real, (x) => vjp(twice)(x).grad(1)))(1), 3);

/** As programs have it that do something about every function. */
const counting = <const P extends readonly unknown[], const R>(
  params: P,
  ret: R,
  f: (...args: { [K in keyof P]: Symbolic<P[K]> }) => Value<R>,
) => fn(params, ret, f);
const counter = counting([R3, Point], Point, (v, p) => ({ x: v[0], y: p.x }));
is<typeof two>()(counter);
gives<{ x: number; y: number }>()(interp(counter)([1, 2, 3], { x: 4, y: 5 }), {
  x: 1,
  y: 4,
});
const otherwise = <T>(p: Bool, type: T, x: Value<T>, y: Value<T>) =>
  select(p, struct({ taken: type }), { taken: x }, { taken: y }).taken;
gives<number[]>()(
  interp(fn([Bool, R3], R3, (p, v) => otherwise(p, R3, [0, 0, 0], v)))(
    false,
    [1, 2, 3],
  ),
  [1, 2, 3],
);

// ---- operators ----

const scaled = fn([Real, { v: R3, n: 3, ok: Bool }], Real, (a, s) =>
  mul(a, mul(s.v[s.n], s.v[0])),
);
is<Func<readonly [Reals], Reals>>()(grad(cube));
const shape = { v: [1, 2, 3], n: 1, ok: true };
gives<number>()(interp(grad(scaled))(2, shape), 2);
const times = fn([Real, Real, Real], Real, (x, y, z) => mul(x, mul(y, z)));
const [byX, byY]: readonly number[] = interp(grad(times, [0, 1]))(2, 3, 5);
gives<number>()(byX + byY, 25);
gives<{ 0: number; 2: number }>()(interp(grad(times, [2, 0]))(2, 3, 5), {
  0: 15,
  2: 6,
});
gives<{ v: number[]; n: number; ok: boolean }>()(
  interp(grad(scaled, 1))(2, shape),
  { v: [4, 2, 0], n: 1, ok: true },
);
const byBoth = interp(valueAndGrad(scaled, [0, 1]))(2, shape);
gives<number>()(byBoth.value, 4);
gives<number>()(byBoth.grad[0], 2);
gives<number[]>()(byBoth.grad[1].v, [4, 2, 0]);
gives<number>()(interp(hvp(cube))(2, 3), 36);
gives<number[][]>()(interp(jacobian(doubled))([1, 2, 3]), [
  [2, 0, 0],
  [0, 2, 0],
  [0, 0, 2],
]);
gives<number[]>()(
  interp(jacobian(doubled, 0, { mode: "reverse" }))([1, 2, 3])[0],
  [2, 0, 0],
);
gives<number>()(interp(hessian(cube))(2), 12);
const changes = fn([R3], R3, (v) => {
  const { ret, push } = linearize(doubled)(v);
  is<Vec<Real>>()(ret);
  return push([1, 2, 3]);
});
gives<number[]>()(interp(changes)([0, 0, 0]), [2, 4, 6]);
const squaresGrad = grad(fn([Vec(Size(), Real)], Real, (v) => mul(v[0], v[0])));
gives<number[]>()(interp(squaresGrad.at({ n: 2 }))([3, 4]), [6, 0]);
gives<number[]>()(interp(jet(cube, 3))([1, 1, 0, 0]), [1, 3, 3, 1]);
is<
  GenericFunc<readonly [Vecs<Size<"batch">, Reals>], Vecs<Size<"batch">, Reals>>
>()(vmap(cube));
gives<number[]>()(interp(vmap(cube).at({ batch: 2 }))([1, 2]), [1, 8]);
gives<number[]>()(
  interp(vmap(scaled, [0, null], "rows").at({ rows: 2 }))([1, 2], shape),
  [2, 4],
);

const seen = await inspect(grad(cube), {
  signal: new AbortController().signal,
});
gives<boolean>()(seen.recorded.includes("vjp"), true);
gives<boolean>()(seen.wat.startsWith("(module") && seen.size > 8, true);

const written = await python<{
  bowl: Func<[Vecs<2, Reals>], Reals>;
}>(`
    from rose_core import Real, Vec, fn

    @fn
    def bowl(v: Vec(2, Real)) -> Real:
        return v[0] * v[0] + 3 * v[1]
`);
gives<number>()(interp(written.bowl)([2, 1]), 7);
gives<number[]>()(interp(grad(written.bowl))([2, 1]), [4, 3]);
const { f: double } = await python(
  "from rose_core import expr\nf = expr('2 * x')",
);
is<Func<readonly Unsaid[], Unsaid>>()(double);
gives<boolean>()("jvp" in double, true);
const slope = await compile(grad(double));
gives<unknown>()(slope(3), 2);
const slopes = valueAndGrad(fn([Real], Real, (x) => add(double(x), 1)));
gives<{ value: number; grad: number }>()(interp(slopes)(3), {
  value: 7,
  grad: 2,
});
gives<unknown>()(interp(grad(grad(double)))(3), 0);
const through = fn([Real], Real, (x) => written.bowl([x, 1]));
gives<number>()(interp(grad(through))(3), 6);

const minus = (a: Vec<Real>, b: Vec<Real>) =>
  struct([sub(a[0], b[0]), sub(a[1], b[1])]);
const swapped = fn([Vec(2, Real)], [Real, Real], (v) => {
  const [x, y] = minus(v, v);
  return [y, x];
});
const [left, right] = interp(swapped)([1, 2]);
gives<number>()(left + right, 0);

const tuples = fn([Real], [Real, Bool, Real, Real, Real], (x) => {
  const [grown] = whileLoop(
    [Real, Real],
    [x, 10],
    ([a, b]) => lt(a, b),
    ([a, b]) => [add(a, 1), b],
  );
  const [, isLess] = cond(
    lt(x, 1),
    [Real, Bool],
    () => [x, true],
    () => [1, lt(x, 0)],
  );
  const [a, b] = fori(3, [Real, Real], [1, x], (_, [a, b]) => [b, add(a, b)]);
  const [[, last], kept] = scan(2, [Real, Real], [x, 1], ([a, b]) => [
    [b, a],
    a,
  ]);
  return [grown, isLess, add(a, b), last, kept[1]];
});
gives<[number, boolean, number, number, number]>()(interp(tuples)(2), [
  10,
  false,
  13,
  1,
  1,
]);
const onceAndTwice = opaque([Real], [Real, Real], (x) => [x, 2 * x]);
gives<[number, number]>()(interp(onceAndTwice)(3), [3, 6]);

const live = hot<[number], number>();
is<boolean>()(await live.update(cube));
gives<number>()(live(2), 8);
gives<void>()(live[Symbol.dispose](), undefined);
const jacobianOf = await sparseJacobian(scaled, 1);
is<Int32Array>()(jacobianOf.columns);
gives<number[]>()([...jacobianOf.rows], [0, 0, 0]);
gives<number[]>()(interp(jacobianOf.values)(2, shape), [4, 2, 0]);
const { signal: silent } = new AbortController();
const curved = await sparseHessian(cube, 0, { signal: silent });
gives<number[]>()(interp(curved.values)(2), [12]);
