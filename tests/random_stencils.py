"""Random programs of stencils: clamped, wrapped and tested at the ends, in one dimension and two."""

from __future__ import annotations

from random import Random

from rose_core import (
    Real,
    Vec,
    and_,
    cond,
    fn,
    fori,
    iadd,
    ieq,
    igeq,
    ilt,
    imax,
    imin,
    imod,
    index,
    ineq,
    isub,
    not_,
    or_,
    real,
    select,
    sin,
    sqrt,
    sum,
    vec,
)

FAR = 6


class Stencil:
    """What an iteration reads of its neighbours: the same each time that it is asked, by the draws."""

    def __init__(self, draw: Random, n: int, k=None) -> None:
        """``n``: the number of cells; ``k``: an index of less than `FAR`, if iterations end that far before
        it.
        """
        self.draw = draw
        self.n = n
        self.k = k

    def neighbour(self, i):
        """A cell near the iteration's."""
        draw, n = self.draw, self.n
        if self.k is not None and draw.random() < 0.5:
            backward = imod(n // 2, isub(n, n - 1, i))
            return draw.choice([iadd(n, i, self.k), (i + FAR) + (self.k - FAR), backward])
        by = draw.randrange(1, 4)
        kind = draw.randrange(7)
        if kind == 0:
            return imin(n, iadd(n + by, i, by), n - 1)
        if kind == 1:
            return isub(n, imax(n, i, by), by)
        if kind == 2:
            return imod(n, iadd(2 * n, i, draw.randrange(n)))
        if kind == 3:
            return isub(n, n - 1, i)  # backwards
        if kind == 4:
            return select(ilt(n, i, by), 0, isub(n, imax(n, i, by), by))
        if kind == 5:
            return index(n, iadd(2 * n, i, by) // (by + 1))
        return imin(n, imax(n, imod(n, iadd(2 * n, i, n - by)), by), n - 1 - by)

    def test(self, i):
        """Something that is so at most cells."""
        draw, n = self.draw, self.n
        if self.k is not None and draw.random() < 0.5:
            return draw.choice([ilt, ieq, igeq])(n, iadd(n, i, self.k), draw.randrange(n))
        k = draw.randrange(3)
        across = ineq(n, imod(n, iadd(2 * n, i, 2)), 0)
        tests = [ieq(n, i, 0), ieq(n, i, n - 1), ilt(n, i, k), igeq(n, i, n - 1 - k), not_(across)]
        p, q = draw.sample(tests, 2)
        kind = draw.randrange(4)
        return p if kind < 2 else or_(p, q) if kind == 2 else not_(and_(not_(p), not_(q)))

    def beyond(self, of, i):
        """A cell that some have no neighbour at, which have something else."""
        draw, n = self.draw, self.n
        by = draw.randrange(1, 4)
        before = [ilt(n, i, by), real(i) < by, not_(igeq(n, i, by)), real(i) <= by - 0.5]
        after = [igeq(n, i, n - by), real(i) > n - 1 - by, iadd(2 * n, i, by) >= n]
        if by == 1:
            before, after = [*before, ieq(n, i, 0)], [*after, i == n - 1, real(i) == n - 1]
        first, last = draw.choice(before), draw.choice(after)
        kind = draw.randrange(4)
        if kind == 0:
            return cond(first, Real, lambda: draw.choice([0.0, of[i]]), lambda: of[i - by])
        if kind == 1:
            return cond(not_(last), Real, lambda: of[i + by], lambda: draw.choice([-0.0, of[0] * of[i]]))
        if kind == 2:
            return cond(or_(last, first), Real, lambda: of[i], lambda: of[i - by] * of[i + by])
        return cond(
            first, Real, lambda: 1.0, lambda: cond(last, Real, lambda: 0.5, lambda: of[i + by] - of[i - by])
        )

    def number(self, i, x, y):
        """A number of a cell, which is not large if ``x`` and ``y`` have no large ones."""
        draw = self.draw
        of = x if draw.random() < 0.7 else y
        kind = draw.randrange(9)
        if kind < 3:
            return of[self.neighbour(i)]
        if kind > 6:
            return self.beyond(of, i)
        if kind == 3:
            return of[i]
        if kind == 4:
            return select(self.test(i), draw.choice([0.0, 0.5]), of[self.neighbour(i)])
        if kind == 5:
            return 0.1 * real(i if draw.random() < 0.5 else self.neighbour(i))
        return of[i] * (of[self.neighbour(i)] - x[i])

    def cell(self, i, x, y):
        total = self.number(i, x, y)
        for _ in range(self.draw.randrange(1, 4)):
            more = self.number(i, x, y)
            total = total + 0.3 * more if self.draw.random() < 0.7 else total * more - more
        return total if self.draw.random() < 0.8 else sin(total)


def line(seed: int):
    """A function of two vectors, and the number of their elements."""
    draw = Random(seed)
    n = draw.choice([4, 6, 7, 9, 12, 13])
    steps = draw.randrange(3)
    also_within = draw.random() < 0.5
    V = Vec(n, Real)

    def once(x, y, seed):
        of = Stencil(Random(seed), n)
        return vec(n, Real, lambda i: of.cell(i, x, y))

    def within(x, y):
        """Of cells that have neighbours on both sides."""
        of = Stencil(Random(seed + 2), n)
        by = [of.draw.randrange(3) for _ in range(4)]

        def term(i):
            a, b, c, d = (iadd(n, i, k) for k in by)
            return x[a] * y[b] + x[c] * sin(x[d]) / (2 + real(i)) - (y[d] if by[0] else x[a])

        return (
            sum(n - 2, term) if by[1] else sum(n - 2, lambda i: vec(n - 2, Real, term)[i] * x[iadd(n, i, 1)])
        )

    def loss(x, y):
        if steps:
            x = fori(steps, V, x, lambda _, u: vec(n, Real, lambda i: sin(once(u, y, seed)[i])))
        last = Stencil(Random(-1 - seed), n)
        total = sum(n, lambda i: last.cell(i, once(x, y, seed + 1), x))
        return total + within(x, y) if also_within else total

    return fn([V, V], Real, loss), n


def grid(seed: int):
    """A function of two matrices, and the number of rows and columns."""
    draw = Random(seed)
    n = draw.choice([5, 6, 9])
    M = Vec(n, Vec(n, Real))

    def loss(x, y):
        of = Stencil(Random(seed), n)

        def row(i):
            rows = [x[i], y[i], x[of.neighbour(i)], x[of.neighbour(i)]]
            first, second = of.draw.sample(rows, 2)
            return vec(n, Real, lambda j: of.cell(j, first, second) + 0.2 * of.number(j, rows[2], rows[3]))

        made = vec(n, Vec(n, Real), row)
        return sum(n, lambda i: sum(n, lambda j: made[i][j] * made[i][j] * x[j][i]))

    return fn([M, M], Real, loss), n


def counted(seed: int):
    """A function of two vectors and of the number of its iterations, and the number of their elements."""
    n = Random(seed).choice([6, 9, 12])
    V = Vec(n, Real)

    def loss(x, y, k):
        of = Stencil(Random(seed), n)
        return fori(k, Real, 0.5, lambda i, s: s + sqrt(1 + y[i] * y[i]) * of.cell(i, x, y))

    return fn([V, V, n], Real, loss), n


def moved(seed: int):
    """A function of two vectors and of how far some cells are from the iterations, and how many there are."""
    n = Random(seed).choice([5, 8, 12]) + FAR
    V = Vec(n, Real)

    def loss(x, y, k):
        of = Stencil(Random(seed), n, k)
        return sum(n - FAR, lambda i: of.cell(iadd(n, i, 0), x, y) * of.number(iadd(n, i, 0), y, x))

    return fn([V, V, FAR], Real, loss), n
