// Programs for the playground, each in both languages, and where to look at them.

/** @typedef {{ javascript: string, python: string, at: string }} Program */

/** @type {Record<string, Program>} */
export const PROGRAMS = {
  waves: {
    javascript: `import { Real, add, fn, mul, sin } from "./rose.js";

export const f = fn([Real, Real], Real, (x, y) => {
  const wave = sin(mul(x, y));
  return add(mul(x, wave), mul(y, y));
});
`,
    python: `from rose_core import Real, fn, sin

@fn
def f(x: Real, y: Real) -> Real:
    wave = sin(x * y)
    return x * wave + y * y
`,
    at: "1.3, 0.7",
  },

  valley: {
    javascript: `import { Real, Vec, add, fn, mul, sub } from "./rose.js";

const N = 8;

export const f = fn([Vec(N, Real)], Real, (x) => {
  let total = 0;
  for (let i = 0; i + 1 < N; ++i) {
    const a = sub(1, x[i]);
    const b = sub(x[i + 1], mul(x[i], x[i]));
    total = add(total, add(mul(a, a), mul(100, mul(b, b))));
  }
  return total;
});
`,
    python: `from rose_core import Real, Vec, fn

N = 8

@fn
def f(x: Vec(N, Real)) -> Real:
    total = 0
    for i in range(N - 1):
        a = 1 - x[i]
        b = x[i + 1] - x[i] * x[i]
        total = total + (a * a + 100 * (b * b))
    return total
`,
    at: "[1, 0.9, 1.1, 1, 0.8, 0.7, 0.5, 0.2]",
  },

  loop: {
    javascript: `import { Real, fn, fori, mul, sub } from "./rose.js";

// a population that grows by the factor r, where there is room
export const f = fn([Real, Real], Real, (r, x) =>
  fori(50, Real, x, (i, y) => mul(mul(r, y), sub(1, y))),
);
`,
    python: `from rose_core import Real, fn, fori

# a population that grows by the factor r, where there is room
@fn
def f(r: Real, x: Real) -> Real:
    return fori(50, Real, x, lambda i, y: r * y * (1 - y))
`,
    at: "3.2, 0.1",
  },

  root: {
    javascript: `import { Real, cos, fn, root, mul, sub } from "./rose.js";

// where cos y = a y: found by Newton's method
export const f = fn([Real], Real, (a) =>
  root((y) => sub(cos(y), mul(a, y)), 1),
);
`,
    python: `from rose_core import Real, cos, fn, root

# where cos y = a y: found by Newton's method
@fn
def f(a: Real) -> Real:
    return root(lambda y: cos(y) - a * y, 1.0)
`,
    at: "1.5",
  },
};
