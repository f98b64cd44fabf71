"""Random programs in which every iteration of a loop goes on from a state of its own, step after step."""

from __future__ import annotations

from functools import partial
from random import Random

from rose_core import (
    Real,
    Vec,
    cond,
    exp,
    fn,
    fori,
    iadd,
    ieq,
    ilt,
    imod,
    max,
    min,
    real,
    scan,
    select,
    sin,
    sqrt,
    struct,
    sum,
    vec,
)

N, T = 7, 18
"""How many iterations the outer loop has, and the inner ones; more than are unrolled."""


class Orbits:
    """A function of vectors, matrices, and how many steps there are; the same for a seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        draw = Random(seed)
        self.width = draw.choice([1, 1, 2, 3])
        """How many numbers a state is."""
        self.loops = draw.choice([1, 1, 2])
        self.counted = draw.random() < 0.15
        self.keeps = draw.random() < 0.4
        row, column = Vec(N, Real), Vec(T, Real)
        types = [row, column, Vec(N, column), Vec(T, row), Real, T, Vec(N + T, Real)]
        self.result = draw.choice([Real, Real, Vec(N, Real), Vec(N, column)])
        self.function = fn(types, self.result, self.body)

    def body(self, x, r, m, c, a, n, w):
        self.draw = Random(self.seed + 1)
        self.given = x, r, m, c, a, w
        if self.result is Real:
            return sum(N, lambda i: self.iteration(i, n))
        if self.result == Vec(N, Real):
            return vec(N, Real, lambda i: self.iteration(i, n))
        self.keeps, self.counted = True, False
        return vec(N, Vec(T, Real), lambda i: self.orbit(i, n, [x[i], a])[1])

    def iteration(self, i, n):
        x, _, m, _, a, _ = self.given
        numbers = [x[i], a]
        first = numbers[:]
        for k in range(self.loops):
            # the same body may be run by two loops
            again = k > 0 and self.draw.random() < 0.5
            ends, kept = self.orbit(i, n, first if again else numbers, again)
            numbers += ends
            if kept is not None:
                more = fori(T, Real, 0.1, partial(self.again, i, kept, self.draw.choice([None, None, i])))
                numbers += [more, kept[self.draw.randrange(T)]]
                numbers.append(sum(T, partial(self.far, i, kept, numbers[:2])))
                if self.draw.random() < 0.3:
                    numbers.append(vec(T, Real, partial(self.far, i, kept, numbers[:2]))[2])
        if self.draw.random() < 0.3:
            numbers.append(sum(T, lambda j: m[i][j] * numbers[-1]))
        return self.term(i, None, numbers, 2)

    def again(self, i, kept, at, j, s):
        """A step that reads what is kept of others."""
        return 0.5 * s + kept[j if at is None else at] * self.leaf(i, j, [s])

    def far(self, i, kept, numbers, j):
        """A number of what is kept of a step."""
        return (kept[j] - self.leaf(i, j, numbers)) * self.term(i, j, [kept[j], *numbers], 1)

    def orbit(self, i, n, numbers, again=False):
        """The numbers that a state ends with, and what is kept of all steps, if something is."""
        draw, self.step = self.draw, self.step if again else self.draw.random()
        seed = self.step
        names = "pqr"[: self.width]
        start = {name: self.term(i, None, numbers, 1) for name in names}

        def step(j, s):
            self.draw = Random(seed)
            now = [s[name] for name in names]
            return {name: 0.5 * s[name] + 0.4 * self.term(i, j, [*now, *now, *numbers], 2) for name in names}

        t = struct(dict.fromkeys(names, Real))
        if self.keeps and not self.counted:
            end, kept = scan(T, t, start, lambda s, j: (lambda new: [new, 0.3 * new[names[-1]]])(step(j, s)))
        else:
            end, kept = fori(n if self.counted else T, t, start, step), None
        self.draw = draw
        return [end[name] for name in names], kept

    def leaf(self, i, j, numbers):
        x, r, m, c, _, w = self.given
        draw = self.draw
        kinds = [lambda: draw.choice(numbers)] * 4 + [
            lambda: x[i],
            lambda: draw.choice([0.5, -1.0, 0.0, -0.0]),
        ]
        if j is not None:
            k = imod(T, iadd(2 * T, j, 1))
            kinds += [lambda: r[j], lambda: m[i][j], lambda: c[j][i], lambda: 0.1 * real(j)]
            kinds += [lambda: 0.1 * real(i), lambda: 0.1 * real(iadd(N + T, i, j))]
            kinds += [
                lambda: w[iadd(N + T, i, j)],
                lambda: w[iadd(N + T, i, 2)],
                lambda: w[iadd(N + T, j, 3)],
            ]
            kinds += [lambda: r[k], lambda: m[i][k], lambda: x[2], lambda: r[3]]
        return draw.choice(kinds)()

    def term(self, i, j, numbers, depth):
        draw = self.draw
        if depth == 0 or draw.random() < 0.1:
            return self.leaf(i, j, numbers)
        a, b = (self.term(i, j, numbers, depth - 1) for _ in range(2))
        kinds = [
            lambda: a * b,
            lambda: a + b,
            lambda: a - 0.5 * b,
            lambda: sqrt(1.0 + a * a),
            lambda: sin(a),
            lambda: exp(-(a * a)) * b,
            lambda: max(a, b),
            lambda: min(a, b),
            lambda: select(a > 0.1, a, b),
            lambda: cond(a > b, Real, lambda: 0.5 * a, lambda: -b),
            lambda: b / (1.5 + a * a),
        ]
        if j is not None:
            kinds.append(lambda: cond(ilt(T, j, 5), Real, lambda: a, lambda: b))
            kinds.append(lambda: cond(ilt(T, j, i), Real, lambda: a, lambda: b))
            kinds.append(lambda: select(ieq(T, i, imod(3, j)), a, b))
        return draw.choice(kinds)()

    def args(self):
        draw = Random(self.seed + 2)

        def numbers(n):
            return [draw.choice([draw.uniform(-1, 1), draw.uniform(-1, 1), 0.0, -0.0, 0.5]) for _ in range(n)]

        x, r, m, c = numbers(N), numbers(T), [numbers(T) for _ in range(N)], [numbers(N) for _ in range(T)]
        return x, r, m, c, draw.uniform(-1, 1), draw.randrange(T), numbers(N + T)


def total(f):
    """The sum of the squares of all that a function gives; itself if it gives a Real."""
    if f.func.ret is Real:
        return f

    def squares(*args):
        rows = f(*args)
        if f.func.ret == Vec(N, Real):
            return sum(N, lambda i: rows[i] * rows[i])
        return sum(N, lambda i: sum(T, lambda j: rows[i][j] * rows[i][j]))

    return fn(f.func.param_types, Real, squares)
