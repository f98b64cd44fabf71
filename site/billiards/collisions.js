import { Bool, Real, Vec, compile, fn, struct, vjp } from "../../rose.js";
import {
  add,
  and,
  div,
  gt,
  lt,
  min,
  mul,
  select,
  sqrt,
  sub,
} from "../../rose.js";
import { cond, fori, scan, sum, vec } from "../../rose.js";
import { dot, minus, plus, times } from "../lib/plane.js";
import { BALLS, RACK, RADIUS } from "./rack.js";

const DT = 0.003;
const ELASTICITY = 0.8;
export const FRAMES = 256; // pictures of a game, and between two of them:
export const UPDATES = 4;
export const SECONDS = FRAMES * UPDATES * DT;

const Point = Vec(2, Real);
const Points = Vec(BALLS, Point);
const Table = struct({ x: Points, v: Points });
const Shot = struct({ x: Point, v: Point });
const Push = struct({ dv: Point, dx: Point });
const pair = [Point, Point, Point, Point];

/** How one ball is about to lie from another, and how it moves from there. */
const between = (xi, vi, xj, vj) => {
  const w = minus(vi, vj);
  return { d: plus(minus(xi, xj), times(DT, w)), w };
};

const touch = fn(pair, Bool, (...balls) => {
  const { d, w } = between(...balls);
  return and(lt(sqrt(dot(d, d)), 2 * RADIUS), lt(dot(d, w), 0));
});

/** What a collision does to the first of two balls. */
const push = fn(pair, Push, (...balls) => {
  const { d, w } = between(...balls);
  const distance = sqrt(dot(d, d));
  const normal = times(div(1, add(distance, 1e-6)), d);
  const speed = dot(normal, w);
  const dv = times(mul((-1 - ELASTICITY) / 2, speed), normal);
  // they touch within the time step, and part for the rest of it
  const when = div(sub(distance, 2 * RADIUS), min(-1e-3, speed));
  return { dv, dx: times(min(sub(when, DT), 0), dv) };
});

const roll = (x, v) => vec(BALLS, Point, (i) => plus(x[i], times(DT, v[i])));

const collide = (x, v) => {
  const pushes = vec(BALLS, Push, (i) =>
    fori(BALLS, Push, { dv: [0, 0], dx: [0, 0] }, (j, { dv, dx }) => {
      const balls = [x[i], v[i], x[j], v[j]];
      const pushed = () => {
        const more = push(...balls);
        return { dv: plus(dv, more.dv), dx: plus(dx, more.dx) };
      };
      return cond(touch(...balls), Push, pushed, () => ({ dv, dx }));
    }),
  );
  const after = vec(BALLS, Point, (i) => plus(v[i], pushes[i].dv));
  const rolled = roll(x, after);
  return {
    x: vec(BALLS, Point, (i) => plus(rolled[i], pushes[i].dx)),
    v: after,
  };
};

const update = ({ x, v }) => {
  const count = sum(BALLS, (i) =>
    sum(BALLS, (j) => select(touch(x[i], v[i], x[j], v[j]), Real, 1, 0)),
  );
  // most of the time nothing touches, which costs little, backwards even less
  return cond(
    gt(count, 0),
    Table,
    () => collide(x, v),
    () => ({ x: roll(x, v), v }),
  );
};

const begin = ({ x, v }) => ({
  x: [x, ...RACK],
  v: [v, ...RACK.map(() => [0, 0])],
});

/** How far the target is from the goal in the end, squared. */
const loss = fn([Shot, Point, BALLS], Real, (shot, goal, target) => {
  const end = fori(FRAMES * UPDATES, Table, begin(shot), (_, t) => update(t));
  const miss = minus(end.x[target], goal);
  return dot(miss, miss);
});

/** The loss of a shot and its gradient, as a WebAssembly function. */
export const aim = () =>
  compile(
    fn([Shot, Point, BALLS], { loss: Real, grad: Shot }, (...given) => {
      const { ret, grad } = vjp(loss)(...given);
      return { loss: ret, grad: grad(1)[0] };
    }),
  );

/** Where the balls are in each frame after a shot. */
export const play = () =>
  compile(
    fn([Shot], Vec(FRAMES, Points), (shot) => {
      const frame = (table) => fori(UPDATES, Table, table, (_, t) => update(t));
      return scan(FRAMES, Table, begin(shot), (table) => {
        const next = frame(table);
        return [next, next.x];
      })[1];
    }),
  );
