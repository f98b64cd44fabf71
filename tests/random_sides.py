"""Random programs of loops with choices, by numbers and by indices, in whose sides others are."""

from __future__ import annotations

from random import Random

from rose_core import (
    Real,
    Vec,
    and_,
    cond,
    exp,
    fn,
    fori,
    iadd,
    imin,
    imod,
    not_,
    or_,
    real,
    sqrt,
    sum,
    vec,
)


class Choosing:
    """What an iteration computes: the same each time that it is asked, by the draws."""

    def __init__(self, draw: Random, n: int) -> None:
        self.draw = draw
        self.n = n

    def read(self, xs, i, low: int, high: int):
        """A number near cell ``i``, which is known to have so many before it, and after it."""
        draw, n, x = self.draw, self.n, self.draw.choice(xs)
        kind = draw.randrange(6)
        if kind == 0 and low:
            return x[i - draw.randrange(1, low + 1)]
        if kind == 1 and high:
            return x[i + draw.randrange(1, high + 1)]
        if kind == 2:
            return x[imod(n, iadd(2 * n, i, draw.randrange(n)))]
        if kind == 3:
            return x[imin(n, iadd(n + 2, i, draw.randrange(1, 3)), n - 1)]
        return x[i] if kind < 5 else x[draw.randrange(n)]

    def test(self, xs, i):
        """A condition, and how many cells there are before and after one where it holds, and where not."""
        draw, n = self.draw, self.n
        kind, k = draw.randrange(8), draw.randrange(1, n - 1)
        if kind == 0:
            return i < k, (0, n - k), (k, 0)
        if kind == 1:
            return i >= k, (k, 0), (0, n - k)
        if kind == 2:
            return and_(i >= 2, i < n - 1), (2, 1), (0, 0)
        if kind == 3:
            p, one, other = self.test(xs, i)
            return not_(p), other, one
        x, y = self.read(xs, i, 0, 0), self.read(xs, i, 0, 0)
        p = x < y if kind < 6 else or_(x > 0.5, y * y < 0.1)
        return (and_(p, i < k), (0, n - k), (0, 0)) if kind == 5 else (p, (0, 0), (0, 0))

    def value(self, xs, i, depth: int, low: int = 0, high: int = 0):
        draw = self.draw
        kind = draw.randrange(9 if depth else 3)
        if kind < 2:
            return self.read(xs, i, low, high)
        if kind == 2:
            return draw.choice([0.0, -0.0, 1.5, -0.25])
        if kind < 6:
            a, b = (self.value(xs, i, depth - 1, low, high) for _ in range(2))
            return [a + b, a * b, a - b * a][kind - 3]
        if kind == 6:
            return sqrt(self.value(xs, i, depth - 1, low, high)) if draw.random() < 0.7 else real(i) * 0.1
        p, (before, after), (earlier, later) = self.test(xs, i)
        sides = [
            (max(low, before), max(high, after)),
            (max(low, earlier), max(high, later)),
        ]
        made = [lambda ends=ends: self.value(xs, i, depth - 1, *ends) + 0.0 for ends in sides]
        return cond(p, Real, *made)


def added(n, term):
    """A sum as a loop with a state."""
    return fori(n, Real, 0.0, lambda i, s: s + term(i))


def line(draw: Random):
    """A function of a vector, and its size."""
    n = draw.randrange(8, 14)
    v = Vec(n, Real)

    def f(x):
        cells = Choosing(draw, n)
        depth = draw.randrange(2, 5)
        y = vec(n, Real, lambda i: cells.value([x], i, depth) + 0.0)
        if draw.random() < 0.4:
            steps = draw.randrange(1, 4)
            y = fori(steps, v, y, lambda _, z: vec(n, Real, lambda i: cells.value([x, z], i, depth) * 0.5))
        add = draw.choice([sum, added])
        return add(n, lambda i: cells.value([x, y], i, depth) + y[i] * (exp(x[i]) if n % 2 else x[i]))

    return fn([v], Real, f), n


def grid(draw: Random):
    """A function of rows of a vector, of which pairs are compared, and its size."""
    n = draw.randrange(8, 11)
    v = Vec(n, Real)

    def f(x):
        cells = Choosing(draw, n)

        def pair(i, j):
            xs = [x, vec(n, Real, lambda k: x[k] * x[i])] if draw.random() < 0.3 else [x]
            a = cells.value(xs, j, 2)
            inner = cond(
                a < x[i], Real, lambda: cells.value([x], i, 2) * a, lambda: cells.value([x], j, 1) + 0.0
            )
            return cond(draw.choice([i == j, i < j, j >= 3]), Real, lambda: a * 1.0, lambda: inner + a)

        if draw.random() < 0.5:
            return sum(n, lambda i: added(i, lambda j: pair(i, j)))
        return sum(n, lambda i: draw.choice([sum, added])(n, lambda j: pair(i, j)))

    return fn([v], Real, f), n
