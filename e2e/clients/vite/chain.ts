// A chain of springs between two ends, at rest: its energy, and how hard it pulls on its right end.

import {
  Real,
  Vec,
  add,
  compile,
  fn,
  hypot,
  iadd,
  mul,
  sub,
  sum,
  vjp,
} from "rose-web";

export const LINKS = 7;
const LENGTH = 1;

const Line = Vec(LINKS + 1, Real);
const Chain = { xs: Line, ys: Line };

/** The springs' energy, and that of the weights between them. */
const energy = fn([Chain], Real, ({ xs, ys }) =>
  sum(LINKS, (k) => {
    const [i, j] = [iadd(LINKS + 1, k, 0), iadd(LINKS + 1, k, 1)];
    const stretch = sub(hypot(sub(xs[j], xs[i]), sub(ys[j], ys[i])), LENGTH);
    return add(mul(20, mul(stretch, stretch)), ys[i]);
  }),
);

const gradient = fn([Chain], Chain, (chain) => vjp(energy)(chain).grad(1));

export const load = async () => {
  const [value, slope] = await Promise.all([
    compile(energy),
    compile(gradient),
  ]);

  /** The chain at rest over `span`, found by descent. */
  return (span: number): { energy: number; pull: number } => {
    const xs = Array.from({ length: LINKS + 1 }, (_, k) => (span * k) / LINKS);
    const ys: number[] = xs.map((_, k) => -0.3 * Math.min(k, LINKS - k));
    for (let step = 0; step < 4000; ++step) {
      const by = slope({ xs, ys });
      for (let k = 1; k < LINKS; ++k) {
        xs[k] -= 0.01 * by.xs[k];
        ys[k] -= 0.01 * by.ys[k];
      }
    }
    return { energy: value({ xs, ys }), pull: slope({ xs, ys }).xs[LINKS] };
  };
};
