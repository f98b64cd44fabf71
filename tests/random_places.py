"""Random sums in each other over products of elements of few arrays: what is added to these often meets."""

from __future__ import annotations

import random

from rose_core import Real, Vec, fn, grad, iadd, imod, isub, max, sin
from rose_core import sum as total
from tests.test_interchange import wave

N = 14
WIDEST = 60
"""More than any sum of iterations."""

SHAPES = [(N,), (N, N), (N, N), (N, 3)]
FUNCTIONS = [lambda y: y, lambda y: y * y, sin, lambda y: max(y, 0.0), lambda y: 1 / (y * y + 1)]


def array(shape):
    t = Real
    for size in reversed(shape):
        t = Vec(size, t)
    return t


class RandomPlaces:
    """A gradient, and arguments for it."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.sizes = [rng.randrange(2, 7) for _ in range(rng.choice((2, 3, 3, 4)))]
        self.functions = [rng.choice(FUNCTIONS) for _ in self.sizes]
        shapes = [rng.choice(SHAPES) for _ in range(rng.choice((1, 2, 2, 3)))]
        self.factors = [self.factor(shapes) for _ in range(rng.choice((2, 3, 3, 4)))]
        value = fn([array(shape) for shape in shapes], Real, lambda *xs: self.sum_of(xs, []))
        self.grad = grad(value, [*range(len(shapes))])
        self.args = [wave(*shape, phase=k) for k, shape in enumerate(shapes)]

    def factor(self, shapes):
        """Which array it is an element of, and its indices."""
        k = self.rng.randrange(len(shapes))
        last = self.rng.randrange(3)
        return k, [self.index() if size == N else lambda trips: last for size in shapes[k]]

    def index(self):
        """A sum of iterations, or that from the end, or round it."""
        rng = self.rng
        parts = rng.sample(range(len(self.sizes)), rng.choice((0, 1, 1, 1, 2)))
        more = rng.choice((0, 0, 0, 1, 2))
        way = rng.choices(("sum", "from the end", "round"), (8, 1, 1))[0]

        def at(trips):
            found = more
            for part in parts:
                found = iadd(WIDEST, found, trips[part])
            if way == "round":
                return imod(N, iadd(WIDEST, found, 5))
            return isub(N, N - 1, found) if way == "from the end" else iadd(N, found, 0)

        return at

    def sum_of(self, arrays, trips):
        """What is added up over the loop after these iterations."""
        depth = len(trips)
        if depth < len(self.sizes):
            f = self.functions[depth]
            return total(self.sizes[depth], lambda i: f(self.sum_of(arrays, [*trips, i])))
        product = 1.0
        for k, places in self.factors:
            element = arrays[k]
            for place in places:
                element = element[place(trips)]
            product = product * element
        return product
