import { Real, Vec, compile, fn, struct, vjp } from "../../rose.js";
import {
  add,
  and,
  div,
  lt,
  mul,
  neg,
  real,
  sin,
  sqrt,
  sub,
} from "../../rose.js";
import { fori, scan, select, sum, tanh, vec } from "../../rose.js";
import { dot, minus, plus, times } from "../lib/plane.js";

const DT = 0.004;
const GRAVITY = -4.8;
export const GROUND = 0.1;
const KEPT = Math.exp(-15 * DT); // of a velocity, after a time step
export const FRAMES = 341; // pictures of a walk, and between two of them:
export const UPDATES = 4;
export const SECONDS = FRAMES * UPDATES * DT;
const GOAL = [0.9, 0.2]; // which the network is told, no more
const WAVES = 10;
export const HIDDEN = 32;

/** The walk of a body: what there is to compile. @param {import("./body.js").Body} body */
export const walker = ({ masses, muscles, struts }) => {
  const n = masses.length;
  const inputs = WAVES + 4 * n + 2;
  const Point = Vec(2, Real);
  const Points = Vec(n, Point);
  const Mass = struct({ x: Point, v: Point });
  const Body = struct({ x: Points, v: Points });
  /** @param {number} rows @param {number} columns */
  const Layer = (rows, columns) =>
    struct({ weights: Vec(rows, Vec(columns, Real)), bias: Vec(rows, Real) });
  const Network = struct({
    hidden: Layer(HIDDEN, inputs),
    output: Layer(muscles.length, HIDDEN),
  });

  /** @param {number} rows @param {number} columns */
  const layer = (rows, columns) =>
    fn([Layer(rows, columns), Vec(columns, Real)], Vec(rows, Real), (l, x) =>
      vec(rows, Real, (i) => {
        const total = sum(columns, (j) => mul(l.weights[i][j], x[j]));
        return tanh(add(total, l.bias[i]));
      }),
    );
  const first = layer(HIDDEN, inputs);
  const second = layer(muscles.length, HIDDEN);

  /** What the network is told: a clock, where the masses are and how they move, and the goal. */
  const senses = (k, { x, v }) => {
    const mean = (c) =>
      div(
        sum(n, (i) => x[i][c]),
        n,
      );
    const centre = [mean(0), mean(1)];
    const waves = Array.from({ length: WAVES }, (_, j) =>
      sin(add(mul(10 * DT, k), (2 * Math.PI * j) / WAVES)),
    );
    const body = Array.from({ length: n }, (_, i) => [
      ...times(0.05, minus(x[i], centre)),
      ...times(0.05, v[i]),
    ]);
    return [...waves, ...body.flat(), ...minus(GOAL, centre)];
  };

  /** What a spring does to the velocity of its second end, and to its first, reversed. */
  const pull = fn(
    [Point, Point, Real, Real],
    Point,
    (from, to, rest, stiffness) => {
      const d = minus(from, to);
      const length = add(sqrt(dot(d, d)), 1e-4);
      const force = mul(stiffness, sub(length, rest));
      return times(div(mul(DT, force), length), d);
    },
  );

  /** What becomes of a mass that moves with velocity u: the ground holds what it catches. */
  const move = fn([Point, Point], Mass, (x, u) => {
    const isLow = lt(add(x[1], mul(DT, u[1])), GROUND);
    const caught = and(isLow, lt(u[1], -1e-4));
    const contact = div(sub(GROUND, x[1]), u[1]);
    const time = select(caught, Real, contact, DT);
    return {
      x: plus(x, times(time, u)),
      v: select(caught, Point, [0, 0], u),
    };
  });

  const update = (k, { x, v }, { hidden, output }) => {
    const signals = second(output, first(hidden, senses(k, { x, v })));
    const u = masses.map((_, i) => plus(times(KEPT, v[i]), [0, DT * GRAVITY]));
    const act = ({ a, b, length, stiffness }, stretch) => {
      const rest = mul(length, add(1, stretch));
      const by = pull(x[a], x[b], rest, stiffness);
      u[a] = minus(u[a], by);
      u[b] = plus(u[b], by);
    };
    muscles.forEach((spring, k) =>
      act(spring, mul(spring.stretch, signals[k])),
    );
    struts.forEach((spring) => act(spring, 0));
    const moved = masses.map((_, i) => move(x[i], u[i]));
    return {
      next: { x: moved.map(({ x }) => x), v: moved.map(({ v }) => v) },
      signals,
    };
  };

  const start = { x: masses, v: masses.map(() => [0, 0]) };

  /** Minus how far the marked foot gets: it is the first mass. */
  const loss = fn([Network], Real, (network) => {
    const end = fori(FRAMES * UPDATES, Body, start, (k, body) => {
      return update(real(k), body, network).next;
    });
    return neg(end.x[0][0]);
  });
  const lossAndGradient = fn(
    [Network],
    { loss: Real, grad: Network },
    (network) => {
      const { ret, grad } = vjp(loss)(network);
      return { loss: ret, grad: grad(1) };
    },
  );

  const Frame = struct({ x: Points, signals: Vec(muscles.length, Real) });
  const frames = fn([Network], Vec(FRAMES, Frame), (network) => {
    return scan(FRAMES, Body, start, (body, k) => {
      const from = mul(UPDATES, real(k));
      const { next, signals } = update(from, body, network);
      const last = fori(UPDATES - 1, Body, next, (j, body) => {
        return update(add(from, add(1, real(j))), body, network).next;
      });
      return [last, { x: body.x, signals }];
    })[1];
  });

  return {
    inputs,
    train: () => compile(lossAndGradient),
    walk: () => compile(frames),
  };
};
