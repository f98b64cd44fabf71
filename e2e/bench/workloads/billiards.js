// The billiard table of the site, and the same game as a program for npm's rose 0.4.10, which has no
// loops with a state and no choices that skip a side: all time steps are calls, all pairs are computed.

import { memoryOf, sideBySide } from "../simulation.js";
import * as site from "../../site/billiards/collisions.js";
import { BALLS, RACK, RADIUS } from "../../site/billiards/rack.js";

const SHOT = { x: [0.1, 0.5], v: [0.3, 0] };
const GOAL = [0.9, 0.75];
const TARGET = BALLS - 1;
const DT = 0.003;
const UPDATES = site.FRAMES * site.UPDATES;

export const title = "Billiards";
export const sizes = [UPDATES];

export const measure = (n, options) =>
  sideBySide({ ours, original, problem }, options);

/** What the libraries for Python are given; the rest of the game they know. */
export const problem = {
  shot: SHOT,
  goal: GOAL,
  target: TARGET,
  rack: RACK,
  updates: UPDATES,
};

export const ours = async () => {
  const aim = await site.aim();
  return {
    call: () => aim(SHOT, GOAL, TARGET),
    memory: () => memoryOf(aim),
    settled: aim.settled,
    dispose: aim.dispose,
  };
};

export const original = async (lib) => {
  const { Bool, Real, Vec, add, and, compile, div, fn, ieq, lt, mul } = lib;
  const { select, sqrt, sub, sum, vec, vjp } = lib;
  const Point = Vec(2, Real);
  const Points = Vec(BALLS, Point);
  const Table = { x: Points, v: Points };
  const Push = { dv: Point, dx: Point };
  const both = (f) => [f(0), f(1)];

  const push = fn(
    [{ isSame: Bool, xi: Point, vi: Point, xj: Point, vj: Point }],
    Push,
    ({ isSame, xi, vi, xj, vj }) => {
      const w = both((c) => sub(vi[c], vj[c]));
      const d = both((c) => add(sub(xi[c], xj[c]), mul(DT, w[c])));
      const square = add(mul(d[0], d[0]), mul(d[1], d[1]));
      // of a ball and itself, the root would have no derivative
      const distance = sqrt(select(isSame, Real, 1, square));
      const normal = both((c) => div(d[c], add(distance, 1e-6)));
      const speed = add(mul(normal[0], w[0]), mul(normal[1], w[1]));
      const isHit = and(lt(distance, 2 * RADIUS), lt(speed, 0));
      const dv = both((c) => mul(mul(-0.9, speed), normal[c]));
      const bounded = select(lt(speed, -1e-3), Real, speed, -1e-3);
      const rest = sub(div(sub(distance, 2 * RADIUS), bounded), DT);
      const late = select(lt(rest, 0), Real, rest, 0);
      const hit = (x) => select(isHit, Real, x, 0);
      return {
        dv: both((c) => hit(dv[c])),
        dx: both((c) => hit(mul(late, dv[c]))),
      };
    },
  );

  const update = fn([Table], Table, ({ x, v }) => {
    const pushes = vec(BALLS, Push, (i) => {
      const all = vec(BALLS, Push, (j) =>
        push({
          isSame: ieq(BALLS, i, j),
          xi: x[i],
          vi: v[i],
          xj: x[j],
          vj: v[j],
        }),
      );
      return {
        dv: both((c) => sum(BALLS, (j) => all[j].dv[c])),
        dx: both((c) => sum(BALLS, (j) => all[j].dx[c])),
      };
    });
    const after = vec(BALLS, Point, (i) =>
      both((c) => add(v[i][c], pushes[i].dv[c])),
    );
    const rolled = vec(BALLS, Point, (i) =>
      both((c) => add(add(x[i][c], mul(DT, after[i][c])), pushes[i].dx[c])),
    );
    return { x: rolled, v: after };
  });

  const Shot = { x: Point, v: Point };
  const loss = fn([Shot], Real, ({ x, v }) => {
    let table = { x: [x, ...RACK], v: [v, ...RACK.map(() => [0, 0])] };
    for (let k = 0; k < UPDATES; ++k) table = update(table);
    const miss = both((c) => sub(table.x[TARGET][c], GOAL[c]));
    return add(mul(miss[0], miss[0]), mul(miss[1], miss[1]));
  });
  const compiled = await compile(
    fn([Shot], { loss: Real, grad: Shot }, (shot) => {
      const { ret, grad } = vjp(loss)(shot);
      return { loss: ret, grad: grad(1) };
    }),
  );
  return { call: () => compiled(SHOT) };
};
