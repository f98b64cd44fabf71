// The robot of the site, and the same as a program for npm's rose 0.4.10, which has no loops with a state
// and no arrays to update: all time steps are calls, and springs are written out one by one.

import { memoryOf, sideBySide } from "../simulation.js";
import { CELLS, build } from "../../site/robot/body.js";
import { network } from "../../site/robot/network.js";
import * as site from "../../site/robot/walker.js";

const DT = 0.004;
const KEPT = Math.exp(-15 * DT);
const WAVES = 10;
const UPDATES = site.FRAMES * site.UPDATES;

const body = build(CELLS);
const robot = site.walker(body);
const layers = {
  inputs: robot.inputs,
  hidden: site.HIDDEN,
  outputs: body.muscles.length,
};
const weights = network(1, layers);

export const title = "Robot";
export const sizes = [UPDATES];

export const measure = (n, options) =>
  sideBySide({ ours, original, problem }, options);

/** What the libraries for Python are given; the network has a signal for each muscle. */
export const problem = {
  weights,
  masses: body.masses,
  muscles: body.muscles,
  struts: body.struts,
  updates: UPDATES,
};

export const ours = async () => {
  const train = await robot.train();
  return {
    call: () => train(weights),
    memory: () => memoryOf(train),
    settled: train.settled,
    dispose: train.dispose,
  };
};

/** `sin` and `tanh`, as the README of npm's rose teaches to define functions. */
const words = ({ Dual, Real, fn, mul, opaque, sub }) => {
  const sin = opaque([Real], Real, Math.sin);
  const cos = opaque([Real], Real, Math.cos);
  const tanh = opaque([Real], Real, Math.tanh);
  sin.jvp = fn([Dual], Dual, ({ re, du }) => ({
    re: sin(re),
    du: mul(du, cos(re)),
  }));
  tanh.jvp = fn([Dual], Dual, ({ re, du }) => {
    const y = tanh(re);
    return { re: y, du: mul(du, sub(1, mul(y, y))) };
  });
  return { sin, tanh };
};

export const original = async (lib) => {
  const { Real, Vec, add, and, compile, div, fn, lt, mul, neg, select } = lib;
  const { sqrt, sub, sum, vec, vjp } = lib;
  const { sin, tanh } = words(lib);
  const { masses, muscles, struts } = body;
  const { inputs, hidden, outputs } = layers;
  const Point = Vec(2, Real);
  const Points = Vec(masses.length, Point);
  const Layer = (rows, columns) => ({
    weights: Vec(rows, Vec(columns, Real)),
    bias: Vec(rows, Real),
  });
  const Network = {
    hidden: Layer(hidden, inputs),
    output: Layer(outputs, hidden),
  };
  const State = { x: Points, v: Points };
  const both = (f) => [f(0), f(1)];

  const layer = (rows, columns) =>
    fn(
      [{ l: Layer(rows, columns), x: Vec(columns, Real) }],
      Vec(rows, Real),
      ({ l, x }) =>
        vec(rows, Real, (i) => {
          const total = sum(columns, (j) => mul(l.weights[i][j], x[j]));
          return tanh(add(total, l.bias[i]));
        }),
    );
  const first = layer(hidden, inputs);
  const second = layer(outputs, hidden);

  const pull = fn(
    [{ a: Point, b: Point, rest: Real, stiffness: Real }],
    Point,
    ({ a, b, rest, stiffness }) => {
      const d = both((c) => sub(a[c], b[c]));
      const square = add(mul(d[0], d[0]), mul(d[1], d[1]));
      const length = add(sqrt(square), 1e-4);
      const force = mul(mul(DT, stiffness), sub(length, rest));
      const part = div(force, length);
      return both((c) => mul(part, d[c]));
    },
  );
  const Mass = { x: Point, v: Point };
  const move = fn([{ x: Point, u: Point }], Mass, ({ x, u }) => {
    const isLow = lt(add(x[1], mul(DT, u[1])), site.GROUND);
    const caught = and(isLow, lt(u[1], -1e-4));
    const when = select(caught, Real, div(sub(site.GROUND, x[1]), u[1]), DT);
    return {
      x: both((c) => add(x[c], mul(when, u[c]))),
      v: both((c) => select(caught, Real, 0, u[c])),
    };
  });

  const update = fn(
    [{ k: Real, state: State, net: Network }],
    State,
    ({ k, state, net }) => {
      const { x, v } = state;
      const n = masses.length;
      const centre = both((c) =>
        div(
          sum(n, (i) => x[i][c]),
          n,
        ),
      );
      const senses = [];
      for (let j = 0; j < WAVES; ++j)
        senses.push(sin(add(mul(10 * DT, k), (2 * Math.PI * j) / WAVES)));
      for (let i = 0; i < n; ++i) {
        senses.push(...both((c) => mul(0.05, sub(x[i][c], centre[c]))));
        senses.push(...both((c) => mul(0.05, v[i][c])));
      }
      senses.push(sub(0.9, centre[0]), sub(0.2, centre[1]));
      const between = first({ l: net.hidden, x: senses });
      const signals = second({ l: net.output, x: between });
      const u = masses.map((_, i) => [
        mul(KEPT, v[i][0]),
        add(mul(KEPT, v[i][1]), -4.8 * DT),
      ]);
      for (const [k, spring] of [...muscles, ...struts].entries()) {
        const { a, b, length, stiffness, stretch } = spring;
        const rest = stretch
          ? mul(length, add(1, mul(stretch, signals[k])))
          : length;
        const by = pull({ a: x[a], b: x[b], rest, stiffness });
        u[a] = both((c) => sub(u[a][c], by[c]));
        u[b] = both((c) => add(u[b][c], by[c]));
      }
      const moved = masses.map((_, i) => move({ x: x[i], u: u[i] }));
      return { x: moved.map(({ x }) => x), v: moved.map(({ v }) => v) };
    },
  );

  const loss = fn([Network], Real, (net) => {
    let state = { x: masses, v: masses.map(() => [0, 0]) };
    for (let k = 0; k < UPDATES; ++k) state = update({ k, state, net });
    return neg(state.x[0][0]);
  });
  const compiled = await compile(
    fn([Network], { loss: Real, grad: Network }, (net) => {
      const { ret, grad } = vjp(loss)(net);
      return { loss: ret, grad: grad(1) };
    }),
  );
  return { call: () => compiled(weights) };
};
