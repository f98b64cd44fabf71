import { Real, Vec, compile, fn, struct, vjp } from "../rose.js";
import { add, and, div, lt, mul, neg, real, sin, sqrt, sub } from "../rose.js";
import { cond, fori, scan, sum, tanh, vec } from "../rose.js";
import { dot, minus, plus, times } from "./plane.js";

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

/** The walk of a body: what there is to compile. */
export const walker = ({ masses, muscles, struts }) => {
  const n = masses.length;
  const inputs = WAVES + 4 * n + 2;
  const Point = Vec(2, Real);
  const Points = Vec(n, Point);
  const Body = struct({ x: Points, v: Points });
  const Spring = struct({
    ...{ a: n, b: n },
    ...{ length: Real, stiffness: Real, stretch: Real },
  });
  const Springs = struct({
    muscles: Vec(muscles.length, Spring),
    struts: Vec(struts.length, Spring),
  });
  const Layer = (rows, columns) =>
    struct({ weights: Vec(rows, Vec(columns, Real)), bias: Vec(rows, Real) });
  const Network = struct({
    hidden: Layer(HIDDEN, inputs),
    output: Layer(muscles.length, HIDDEN),
  });

  const layer = (rows, columns) =>
    fn([Layer(rows, columns), Vec(columns, Real)], Vec(rows, Real), (l, x) =>
      vec(rows, Real, (i) => {
        const total = sum(columns, (j) => mul(l.weights[i][j], x[j]));
        return tanh(add(total, l.bias[i]));
      }),
    );
  const hidden = layer(HIDDEN, inputs);
  const output = layer(muscles.length, HIDDEN);

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
    [Spring, Real, Point, Point],
    Point,
    (spring, signal, a, b) => {
      const d = minus(a, b);
      const length = add(sqrt(dot(d, d)), 1e-4);
      const rest = mul(spring.length, add(1, mul(spring.stretch, signal)));
      const force = mul(spring.stiffness, sub(length, rest));
      return times(div(mul(DT, force), length), d);
    },
  );

  /** What becomes of a mass that moves with velocity u: the ground holds what it catches. */
  const move = ({ x, u }) => {
    const caught = and(lt(add(x[1], mul(DT, u[1])), GROUND), lt(u[1], -1e-4));
    const Mass = struct({ x: Point, v: Point });
    return cond(
      caught,
      Mass,
      () => {
        const when = div(sub(GROUND, x[1]), u[1]);
        return { x: plus(x, times(when, u)), v: [0, 0] };
      },
      () => ({ x: plus(x, times(DT, u)), v: u }),
    );
  };

  const update = (k, { x, v }, network, springs) => {
    const signals = output(
      network.output,
      hidden(network.hidden, senses(k, { x, v })),
    );
    const act = (dv, spring, signal) => {
      const { a, b } = spring;
      const by = pull(spring, signal, x[a], x[b]);
      const first = dv.set(a, minus(dv[a], by));
      return first.set(b, plus(first[b], by));
    };
    const free = vec(n, Point, (i) =>
      plus(times(KEPT, v[i]), [0, DT * GRAVITY]),
    );
    const flexed = fori(muscles.length, Points, free, (i, dv) =>
      act(dv, springs.muscles[i], signals[i]),
    );
    const u = fori(struts.length, Points, flexed, (i, dv) =>
      act(dv, springs.struts[i], 0),
    );
    const moved = vec(n, struct({ x: Point, v: Point }), (i) =>
      move({ x: x[i], u: u[i] }),
    );
    return {
      next: {
        x: vec(n, Point, (i) => moved[i].x),
        v: vec(n, Point, (i) => moved[i].v),
      },
      signals,
    };
  };

  const start = { x: masses, v: masses.map(() => [0, 0]) };

  /** Minus how far the marked foot gets: it is the first mass. */
  const loss = fn([Network, Springs], Real, (network, springs) => {
    const end = fori(FRAMES * UPDATES, Body, start, (k, body) => {
      return update(real(k), body, network, springs).next;
    });
    return neg(end.x[0][0]);
  });
  const all = fn(
    [Network, Springs],
    { loss: Real, grad: Network },
    (...given) => {
      const { ret, grad } = vjp(loss)(...given);
      return { loss: ret, grad: grad(1)[0] };
    },
  );

  const Frame = struct({ x: Points, signals: Vec(muscles.length, Real) });
  const walk = fn(
    [Network, Springs],
    Vec(FRAMES, Frame),
    (network, springs) => {
      return scan(FRAMES, Body, start, (body, k) => {
        const from = mul(UPDATES, real(k));
        const first = update(from, body, network, springs);
        const next = fori(UPDATES - 1, Body, first.next, (j, body) => {
          return update(add(from, add(1, real(j))), body, network, springs)
            .next;
        });
        return [next, { x: body.x, signals: first.signals }];
      })[1];
    },
  );

  const springs = { muscles, struts };
  const of = async (f) => {
    const compiled = await compile(f);
    return (network) => compiled(network, springs);
  };
  return { inputs, train: () => of(all), walk: () => of(walk) };
};
