"""Random programs of loops in each other, in which indices say what iterations do something."""

from __future__ import annotations

from random import Random

from rose_core import (
    Real,
    Vec,
    cond,
    fn,
    fori,
    iadd,
    ieq,
    igeq,
    igt,
    ileq,
    ilt,
    imax,
    imin,
    ineq,
    isub,
    real,
    select,
    sin,
    struct,
    sum,
)

N = 4
MANY = 4 * N
V = Vec(N, Real)
M = Vec(N, V)
State = struct({"m": M, "v": V, "x": Real})


class Triangles:
    """What is done in an iteration: the same each time that it is asked, by the draws."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)

    def index(self, trips):
        return self.draw.choice([*trips, *trips, self.draw.randrange(N)])

    def bound(self, trips):
        """Something below `MANY` to compare an index with."""
        draw, i = self.draw, iadd(MANY, self.index(trips), 0)
        kind = draw.randrange(8)
        if kind < 4:
            return i
        if kind == 4:
            return iadd(MANY, i, draw.randrange(1, 3))
        if kind == 5:
            return isub(MANY, i, imin(MANY, i, draw.randrange(1, 3)))
        if kind == 6:
            return iadd(MANY, i, draw.choice(trips))
        return draw.choice((imin, imax))(MANY, i, self.index(trips))

    def guard(self, trips, depth=1):
        draw = self.draw
        kind = draw.randrange(4 if depth else 2)
        if kind < 2:
            i, j = iadd(MANY, draw.choice(trips), draw.choice((0, 0, 1))), self.bound(trips)
            a, b = (i, j) if draw.random() < 0.5 else (j, i)
            compare = draw.choice((ilt, ileq, igt, igeq, ieq, ineq))
            return compare(MANY, a, b)
        p, q = self.guard(trips, depth - 1), self.guard(trips, depth - 1)
        if kind == 2 or draw.random() < 0.6:
            return p & q
        return p | q if draw.random() < 0.5 else ~p & q

    def number(self, trips, s, depth=2):
        """Some number, smaller than some."""
        draw = self.draw
        kind = draw.randrange(9 if depth else 4)
        i, j = self.index(trips), self.index(trips)
        if kind < 2:
            return s.m[i][j]
        if kind == 2:
            return s.v[i]
        if kind == 3:
            return s.x
        if kind == 4:
            return sin(self.number(trips, s, depth - 1)) * self.number(trips, s, depth - 1)
        if kind == 5:
            a, b = (self.number(trips, s, depth - 1) for _ in range(2))
            return a / (2.0 + b * b)
        seed = draw.random()

        def term(k, old=None):
            self.draw, outer = Random(seed), self.draw
            inside = [*trips, k]
            p, x = self.guard(inside), 0.3 * self.number(inside, s, depth - 1)
            kind = self.draw.randrange(3)
            self.draw = outer
            if kind == 0:
                return select(p, x, 0.0)
            if kind == 1:
                return select(p, 0.0, x)
            return cond(p, Real, lambda: x * real(k), lambda: 0.0)

        if kind < 8:
            return sum(N, term)
        return fori(N, Real, 0.0, lambda k, x: x + term(k))

    def change(self, trips, s):
        draw = self.draw
        i, j = self.index(trips), self.index(trips)
        x = sin(self.number(trips, s))
        kind = draw.randrange(7)
        m, v, y = s.m, s.v, s.x
        if kind < 2:
            m = m.at[i, j].set(0.6 * m[i][j] - 0.5 * x)
        elif kind == 2:
            m = m.at[i, j].add(0.4 * x)
        elif kind == 3:
            v = v.set(i, x)
        elif kind == 4:
            m = m.set(i, m[self.index(trips)].set(j, x))
        elif kind == 5:
            m = m.at[i, j].set(select(self.guard(trips), x, m[i][j]))
        else:
            y = 0.5 * y + x
        return {"m": m, "v": v, "x": y}

    def iteration(self, trips, s, depth):
        """The state after what is done in an iteration."""
        draw = self.draw
        kind = draw.randrange(6)
        if depth and kind < 4:
            seed = draw.random()

            def again(k, t):
                self.draw, outer = Random(seed), self.draw
                found = self.iteration([*trips, k], t, depth - 1)
                self.draw = outer
                return found

            return fori(N, State, s, again)
        changed = [draw.random() for _ in range(draw.randrange(1, 3))]

        def side():
            t = s
            for seed in changed:
                self.draw, outer = Random(seed), self.draw
                t = typed(self.change(trips, t))
                self.draw = outer
            return {"m": t.m, "v": t.v, "x": t.x}

        if draw.random() < 0.8:
            return cond(self.guard(trips), State, side, lambda: s)
        return side()


class typed:
    """The parts of a state by name."""

    def __init__(self, parts) -> None:
        self.m, self.v, self.x = parts["m"], parts["v"], parts["x"]


def program(seed: int):
    """A function of a matrix and a vector, which are changed in loops."""

    def body(m, v):
        draws = Triangles(seed)

        def outer(k, s):
            draws.draw = Random(seed + 1)
            t = draws.iteration([k], s, 2)
            return fori(N, State, t, lambda i, r: guarded(draws, seed, k, i, r))

        s = fori(N, State, {"m": m, "v": v, "x": v[0]}, outer)
        rows = sum(N, lambda i: sum(N, lambda j: sin(s.m[i][j]) * (1.0 + s.m[j][i])))
        return s.x + rows + sum(N, lambda i: s.v[i] * s.v[i])

    def guarded(draws, seed, k, i, s):
        draws.draw = Random(seed + 2)
        return cond(draws.guard([k, i]), State, lambda: draws.iteration([k, i], s, 1), lambda: s)

    return fn([M, V], Real, body)
