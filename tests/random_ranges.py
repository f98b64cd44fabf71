"""Random loops that do something only where comparisons of indices hold, on arrays or on sums."""

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
    igt,
    ileq,
    ilt,
    imax,
    imin,
    imul,
    ineq,
    isub,
    not_,
    or_,
    select,
    sin,
    struct,
)

N = 7
V = Vec(N, Real)
M = Vec(N, V)
STATE = struct(x=V, m=M, s=Real)
COMPARISONS = [ilt, ileq, igt, igeq, ieq, ineq, igt, ilt]


class Ranges:
    """A function of two vectors, a matrix, a number and two indices, and arguments for it."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        draw = Random(f"{seed} kind")
        self.changes = draw.choice(["a vector", "a vector", "a matrix", "a number", "a sum"])
        self.is_counted = draw.random() < 0.25
        self.function = fn([V, V, M, Real, N, N], STATE, self.body)

    def args(self, k: int):
        draw = Random(f"{self.seed} {k}")

        def vector():
            return [draw.choice([draw.uniform(-1, 1)] * 4 + [0.0, -0.0]) for _ in range(N)]

        m = [vector() for _ in range(N)]
        return vector(), vector(), m, draw.uniform(-1, 1), draw.randrange(N), draw.randrange(N)

    def body(self, x, y, m, s, k, j):
        self.draw = Random(self.seed)
        seed, start = self.draw.random(), self.draw.choice([0.0, 0.0, s, -0.0, 1.0])
        self.y, self.others = y, [k, j]

        def iteration(i, state):
            self.draw = Random(seed)
            return self.iteration(i, state)

        return fori(k if self.is_counted else N, STATE, {"x": x, "m": m, "s": start}, iteration)

    def of_iteration(self, i):
        """An index that goes with the iteration, or against it."""
        other = self.draw.choice(self.others)
        kinds = [
            *[lambda: i] * 3,
            lambda: iadd(99, i, self.draw.randrange(3)),
            lambda: iadd(99, i, other),
            lambda: isub(99, iadd(99, i, N), other),
            lambda: isub(99, iadd(99, other, N), i),
        ]
        return self.draw.choice(kinds)()

    def bound(self):
        """An index that is the same in all iterations."""
        draw, (k, j) = self.draw, self.others
        one, number = draw.choice([k, j]), draw.randrange(N)
        kinds = [
            *[lambda: one] * 3,
            lambda: number,
            lambda: iadd(99, one, number),
            lambda: imin(99, iadd(99, one, 1), number),
            lambda: imax(99, one, number),
            lambda: iadd(99, k, j),
            lambda: imul(99, one, 2),
        ]
        return draw.choice(kinds)()

    def comparison(self, i):
        draw = self.draw
        given = [self.of_iteration(i) if draw.random() < 0.9 else draw.choice(self.others), self.bound()]
        if draw.random() < 0.2:
            given.reverse()
        return draw.choice(COMPARISONS)(99, *given)

    def condition(self, i):
        p, which = self.comparison(i), self.draw.random()
        if which < 0.3:
            return self.draw.choice([and_, and_, or_])(p, self.comparison(i))
        return not_(p) if which < 0.35 else p

    def index(self, i):
        return self.draw.choice([i, *self.others, *self.others, self.draw.randrange(N)])

    def element(self, i, x, m):
        kinds = [
            lambda: x[self.index(i)],
            lambda: x[self.index(i)],
            lambda: m[self.index(i)][self.index(i)],
            lambda: self.y[self.index(i)],
        ]
        return self.draw.choice(kinds)()

    def number(self, i, x, m):
        one, other = self.element(i, x, m), self.element(i, x, m)
        return self.draw.choice([one, one * 0.5 + other, sin(one) * other])

    def changed(self, i, state):
        draw, x = self.draw, self.number(i, state.x, state.m)
        at = draw.choice([i, i, i, *self.others])
        after = {"x": state.x, "m": state.m, "s": state.s}
        if self.changes == "a vector":
            after["x"] = state.x.set(at, x)
            if draw.random() < 0.3:
                after["x"] = after["x"].set(draw.choice([i, *self.others]), sin(x))
        elif self.changes == "a matrix":
            after["m"] = state.m.at[at, draw.choice([i, *self.others])].set(x)
        else:
            after["s"] = state.s + x if self.changes == "a sum" else x * 0.5 + state.s * 0.3
        return after

    def iteration(self, i, state):
        draw, p = self.draw, self.condition(i)
        same = {"x": state.x, "m": state.m, "s": state.s}
        if self.changes == "a sum" and draw.random() < 0.5:
            term = select(p, Real, self.number(i, state.x, state.m), 0.0)
            return {**same, "s": draw.choice([state.s + term, state.s - term, state.s + term * 0.5])}
        sides = [lambda: self.changed(i, state), lambda: same]
        if draw.random() < 0.25:
            sides.reverse()
        elif draw.random() < 0.25:
            q = self.condition(i)
            return cond(p, STATE, lambda: cond(q, STATE, *sides), lambda: same)
        return cond(p, STATE, *sides)
