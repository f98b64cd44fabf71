"""Random programs whose iterations set elements of arrays, and read what iterations before have set."""

from __future__ import annotations

from functools import partial
from random import Random

from rose_core import Real, Vec, cond, fn, fori, iadd, imod, isub, max, real, select, sin, struct, vec

S = 14
"""How many elements there are."""

ROWS = {0: Real, 2: Vec(2, Real), S: Vec(S, Real)}
MOST_TRIPS = 5


class Recurrence:
    """A function of two arrays, a number, an index and how many iterations there are; the same for a seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.draw = Random(seed)
        self.width = self.draw.choice([0, 0, 0, 2, S])
        self.type = Vec(S, ROWS[self.width])
        self.kind = self.draw.randrange(7)
        """Of its indices."""
        self.nested = self.draw.random() < 0.3
        self.counted = self.draw.random() < 0.4
        self.state = struct({"x": self.type, "y": self.type, "s": Real})
        types = [self.type, self.type, Real, 4, MOST_TRIPS + 1]
        self.function = fn(types, self.state, self.body)

    def body(self, x, y, s, k, n):
        self.draw = Random(self.seed + 1)
        start = {"x": x.set(1, y[2]), "y": y, "s": s}

        def trips(state, k):
            seed = self.draw.random()

            def iteration(i, state):
                self.draw = Random(seed)
                return self.iteration(i, state, k)

            return fori(
                n if self.counted else self.draw.randrange(MOST_TRIPS + 1), self.state, state, iteration
            )

        if not self.nested:
            return trips(start, k)
        seed = self.draw.random()

        def around(i, state):
            self.draw = Random(seed)
            return trips(state, i)

        return fori(4, self.state, start, around)

    def index(self, i, k):
        """Mostly of one kind: the iteration, or what is away from it by a number or an index."""
        c = self.draw.choice([0, 1, 1, 2, 2, 3, 4])
        kinds = [
            lambda: iadd(S, i, c),
            lambda: iadd(S, iadd(S, i, k), c),
            lambda: isub(S, S - 1 - c, i),
            lambda: isub(S, isub(S, S - 1 - c, i), k),
            lambda: isub(S, iadd(S, i, 5 + c), k),
            lambda: iadd(S, k, c),
            lambda: c,
            lambda: imod(S, iadd(99, iadd(99, i, i), c)),
            lambda: iadd(S, iadd(S, i, i), c),
        ]
        return kinds[self.draw.choice([*[self.kind] * 20, *range(len(kinds))])]()

    def element(self, a, i, k):
        row = a[self.index(i, k)]
        return row if not self.width else row[self.draw.randrange(2) if self.width == 2 else self.index(i, k)]

    def number(self, i, k, arrays, s):
        draw = self.draw
        found = self.element(draw.choice(arrays), i, k)
        for _ in range(draw.randrange(3)):
            other = self.element(draw.choice(arrays), i, k) if draw.random() < 0.7 else s
            side = partial(self.element, draw.choice(arrays), i, k)
            found = draw.choice([
                lambda a=found, side=side: cond(a > 0, Real, side, lambda: 0.5 * a),
                lambda a=found, b=other, side=side: cond(b > 0.1, Real, lambda: sin(a) * side(), side),
                lambda a=found, b=other: 0.5 * a - 0.75 * b,
                lambda a=found, b=other: sin(a) * b,
                lambda a=found, b=other: max(a, b),
                lambda a=found, b=other: select(b > 0, -a, 0.5 * real(i) - a),
            ])()  # fmt: skip
        return draw.choice([found, -found, found, draw.choice([0.0, -0.0, 1.5])])

    def put(self, a, i, k, arrays, s):
        """The array ``a`` with something in it."""
        draw, at = self.draw, self.index(i, k)
        if not self.width:
            return a.set(at, self.number(i, k, arrays, s))
        kind = draw.randrange(5)
        if kind == 0:
            return a.set(at, draw.choice(arrays)[self.index(i, k)])
        if kind == 1 or (kind == 2 and self.width == 2):
            return a.set(at, [self.number(i, k, arrays, s) for _ in range(self.width)])
        if kind == 2:
            return a.set(at, vec(S, Real, lambda j: 0.5 * a[at][j]))
        j = draw.randrange(2) if self.width == 2 else self.index(i, k)
        if kind == 3:
            return a.at[at][j].set(self.number(i, k, arrays, s))
        return a.set(at, a[at].set(j, self.number(i, k, arrays, s)).set(1, self.number(i, k, arrays, s)))

    def iteration(self, i, state, k):
        draw = self.draw
        x, y, s = state.x, state.y, state.s
        arrays = [x, x, y]
        for _ in range(draw.choice([1, 1, 1, 2, 3])):
            new = self.put(x, i, k, arrays, s)
            if draw.random() < 0.1:
                old = x
                new = cond(s > 0.1, self.type, lambda new=new: new, lambda old=old: old)
            x = new
            if draw.random() < 0.3:
                arrays = [*arrays, x]
        if draw.random() < 0.3:
            y = self.put(y, i, k, arrays, s)
        if draw.random() < 0.1:
            x, y = y, x
        if draw.random() < 0.5:
            s = 0.5 * s + self.number(i, k, arrays, s)
        return {"x": x, "y": y, "s": s}

    def args(self):
        draw = Random(self.seed + 2)

        def numbers(width):
            return [draw.choice([draw.uniform(-1, 1), 0.0, -0.0, 0.5]) for _ in range(width)]

        x, y = ([numbers(self.width) for _ in range(S)] if self.width else numbers(S) for _ in range(2))
        return x, y, draw.uniform(-1, 1), draw.randrange(4), draw.randrange(MOST_TRIPS + 1)
