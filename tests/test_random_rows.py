"""Rows of matrices that are made of rows of the same ones, in their place or not: compiled = interpreted."""

from __future__ import annotations

from random import Random

import pytest
from engines import same

from rose_core import Real, Vec, fn, fori, iadd, imod, imul, isub, real, sum, vec


class RandomRows:
    """A matrix ``m`` whose rows are set to what is in others of it, and of another one ``o``.

    Its elements are numbers, points, or as long as the row. A row is set to numbers made of elements, or to
    elements as they are.
    """

    def __init__(self, seed: int) -> None:
        self.draw = draw = Random(seed)
        self.rows, self.columns = draw.choice([3, 4, 20]), draw.choice([2, 4, 5, 8, 9])
        self.size = draw.choice([0, 0, 0, 2, 3, self.columns])
        self.elem = Vec(self.size, Real) if self.size else Real
        self.matrix = Vec(self.rows, Vec(self.columns, self.elem))
        self.are_whole = self.size > 0 and draw.random() < 0.5
        self.makes = [
            self.element() if self.are_whole else self.number(2) for _ in range(draw.choice([1, 1, 2]))
        ]
        self.around = draw.choice(["nothing", "a loop", "two loops", "what sets another row first"])

    def element(self):
        """An element, by the matrices, the row `i` that is set, `k`, and the column `j`."""
        draw, n, c = self.draw, self.columns, 3 * self.columns
        of, row = draw.choice("mmo"), draw.choice(["i", "i", "k", 1, self.rows - 1])
        column = draw.choice(
            [
                *[lambda j: j] * 3,
                lambda j: isub(n, n - 1, j),
                lambda j: imod(n, iadd(c, j, 1)),
                lambda j: imod(n, imul(c, j, 2)),
                lambda j: 1,
            ]
        )
        if draw.random() < 0.2:
            return lambda at, j: self.changed(at[of][at.get(row, row)], j)[column(j)]
        return lambda at, j: at[of][at.get(row, row)][column(j)]

    def changed(self, row, j):
        """A row with its last element at the place of the one that is made, too."""
        return row.set(j, row[self.columns - 1])

    def number(self, depth: int):
        draw, size = self.draw, self.size
        kind = draw.random()
        if depth == 0 or kind < 0.4:
            element = self.element()
            if size == self.columns and draw.random() < 0.5:
                return lambda at, j, d: element(at, d)[j]
            return lambda at, j, d: element(at, j)[d] if size else element(at, j)
        if kind < 0.5:
            return lambda at, j, d: real(j)
        if kind < 0.6:
            term = self.number(0)
            return lambda at, j, d: sum(self.columns, lambda j: term(at, j, d))
        a, b = self.number(depth - 1), self.number(depth - 1)
        if kind < 0.8:
            return lambda at, j, d: a(at, j, d) - b(at, j, d)
        return lambda at, j, d: a(at, j, d) * b(at, j, d) * 0.25

    def made(self, make, at):
        def element(j):
            if self.are_whole:
                return make(at, j)
            return vec(self.size, Real, lambda d: make(at, j, d)) if self.size else make(at, j, None)

        return vec(self.columns, self.elem, element)

    def program(self):
        n, matrix = self.rows, self.matrix

        def step(m, o, i, k):
            for make in self.makes:
                m = m.set(i, self.made(make, {"m": m, "o": o, "i": i, "k": k}))
            return m

        def trips(m, o, k):
            return fori(n, matrix, m, lambda i, s: step(s, o, i, k))

        around = {
            "nothing": lambda m, o, k: step(m, o, k, 2),
            "a loop": trips,
            "two loops": lambda m, o, k: fori(2, matrix, m, lambda _, s: trips(s, o, k)),
            "what sets another row first": lambda m, o, k: trips(step(m, o, k, 0), m, k),
        }
        return fn([matrix, matrix, n], matrix, around[self.around])

    def argument(self):
        def element():
            return (
                [self.draw.uniform(-1, 1) for _ in range(self.size)]
                if self.size
                else self.draw.uniform(-1, 1)
            )

        return [[element() for _ in range(self.columns)] for _ in range(self.rows)]


@pytest.mark.parametrize("seeds", [range(k, k + 50) for k in range(0, 200, 50)], ids=str)
def test_values(seeds) -> None:
    for seed in seeds:
        it = RandomRows(seed)
        same(it.program(), it.argument(), it.argument(), it.draw.randrange(it.rows))
