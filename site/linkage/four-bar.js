import { Real, Vec, compile, fn, jacobian, root, struct } from "../../rose.js";
import { cos, div, mul, neg, sin, sub } from "../../rose.js";
import { dot, minus, plus, times } from "../lib/plane.js";

const NUMBERS = 9; // that say what a linkage is like

const Point = Vec(2, Real);
const Linkage = Vec(NUMBERS, Real);
const Joints = struct({ B: Point, C: Point, pen: Point });

const turned = (v) => [neg(v[1]), v[0]];

/** By how much the square of the distance from p to q is not that of the length. */
const misfit = (p, q, length) => {
  const d = minus(p, q);
  return sub(dot(d, d), mul(length, length));
};

/** Where the joints and the pen are when the crank is at this angle. */
const joints = fn([Linkage, Real], Joints, (linkage, angle) => {
  const [ax, ay, dx, dy, crank, coupler, rocker, along, aside] = linkage;
  const [A, D] = [
    [ax, ay],
    [dx, dy],
  ];
  const B = plus(A, times(crank, [cos(angle), sin(angle)]));
  // two circles meet in C; of such points, the one on the left of the way from B to D
  const left = plus(B, turned(minus(D, B)));
  const meet = (C) => [misfit(C, B, coupler), misfit(C, D, rocker)];
  const C = root(meet, left);
  const bar = times(div(1, coupler), minus(C, B));
  const reach = plus(times(along, bar), times(aside, turned(bar)));
  return { B, C, pen: plus(B, reach) };
});

const pen = fn([Linkage, Real], Point, (...given) => joints(...given).pen);

export const move = () => compile(joints);

/** Where the pen is, and how it would move: a row for x and one for y, with a slope for each number. */
export const sensitivity = () =>
  compile(
    fn([Linkage, Real], { at: Point, slopes: Vec(2, Linkage) }, (...given) => ({
      at: pen(...given),
      slopes: jacobian(pen)(...given),
    })),
  );
