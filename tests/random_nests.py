"""Random nests of loops: sums, vectors, choices, updates and states, with indices of any loop around them."""

from __future__ import annotations

import math
import random

from rose_core import Real, Vec, checkpoint, cond, cos, exp, fn, fori, iadd, imod, select, sin, tanh, vec, vjp
from rose_core import max as max_
from rose_core import sum as total
from tests.test_unroll import wave

SIZES = (1, 2, 3, 4, 5, 7, 18)

MOST_PARTS = 40
MOST_TRIPS = 300
"""In so many iterations there is no further loop."""


def array(shape):
    t = Real
    for size in reversed(shape):
        t = Vec(size, t)
    return t


def pulled(f):
    """The product of the derivative of ``f`` and its own value, by each of its several arguments."""
    params = f.func.param_types
    fields = {str(k): t for k, t in enumerate(params)}

    def body(*xs):
        y, grad = vjp(f)(*xs)
        return dict(zip(fields, grad(y), strict=True))

    return fn(params, fields, body)


SMOOTH = [sin, cos, sin, cos, tanh, lambda x: exp(-(x * x))]


class RandomNest:
    """A function of vectors and matrices, and its derivatives in reverse.

    Attributes:
        value: it gives a number, a vector or a matrix.
        grad, twice: `pulled` of it, and of that.
        args: arguments for all of them.
    """

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.left = MOST_PARTS
        self.sizes = rng.sample(SIZES, 3)
        self.shapes = [(m,) for m in self.sizes]
        self.shapes += rng.sample([(m, n) for m in self.sizes for n in self.sizes], rng.randrange(1, 7))
        self.args = [wave(*shape, phase=k) for k, shape in enumerate(self.shapes)]
        params = [array(shape) for shape in self.shapes]
        shape = rng.choices(self.sizes, k=rng.randrange(3))
        self.value = fn(params, array(shape), lambda *xs: self.filled(self.known(xs), shape, []))
        self.grad = pulled(self.value)
        self.twice = pulled(self.grad)

    def known(self, xs):
        return list(zip(self.shapes, xs, strict=True))

    def filled(self, known, shape, indices):
        """An array of this shape."""
        if not shape:
            return self.number(known, indices)
        size, *rest = shape
        return vec(size, array(rest), lambda i: self.filled(known, rest, [*indices, i]))

    def index(self, indices, size: int):
        """An index of this size, that of a loop if there is one."""
        rng = self.rng
        own = [i for i in indices if i.type.size == size]
        which = rng.random()
        if own and which < 0.6:
            return rng.choice(own)
        if own and which < 0.75:
            return imod(size, iadd(2 * size, rng.choice(own), rng.randrange(size)))
        return imod(size, rng.choice(indices)) if indices and which < 0.9 else rng.randrange(size)

    def element(self, known, indices):
        shape, x = self.rng.choice(known)
        for size in shape:
            x = x[self.index(indices, size)]
        return x

    def number(self, known, indices):
        self.left -= 1
        if self.left < 0 or math.prod(i.type.size for i in indices) > MOST_TRIPS:
            return self.element(known, indices)
        kinds = (
            [self.sum] * 7
            + [self.product] * 3
            + [self.both, self.both, self.smooth, self.smooth, self.of_element, self.of_element]
            + [self.choice, self.branch]
            + [self.of_vector, self.of_vector, self.of_matrix, self.state, self.states, self.update]
            + [self.call, self.call, self.again, self.largest, self.element]
        )
        return self.rng.choice(kinds)(known, indices)

    def sum(self, known, indices):
        return total(self.rng.choice(self.sizes), lambda i: self.number(known, [*indices, i]))

    def product(self, known, indices):
        return self.number(known, indices) * self.number(known, indices)

    def both(self, known, indices):
        return self.number(known, indices) + self.number(known, indices)

    def smooth(self, known, indices):
        return self.rng.choice(SMOOTH)(self.number(known, indices))

    def of_element(self, known, indices):
        """What other loops compute as well, of the same elements."""
        return self.rng.choice(SMOOTH)(self.element(known, indices))

    def choice(self, known, indices):
        x = self.number(known, indices)
        return select(x > self.element(known, indices), Real, x, self.number(known, indices))

    def branch(self, known, indices):
        x = self.element(known, indices)
        sides = [lambda: self.number(known, indices), lambda: self.element(known, indices)]
        return cond(x > 0.1, Real, *sides)

    def of_vector(self, known, indices):
        return self.of_array(known, indices, self.rng.choices(self.sizes, k=1))

    def of_matrix(self, known, indices):
        return self.of_array(known, indices, self.rng.choices(self.sizes, k=2))

    def of_array(self, known, indices, shape):
        x = self.filled(known, shape, indices)
        return self.number([*known, (shape, x), (shape, x)], indices)

    def state(self, known, indices):
        start, trips = self.element(known, indices), self.rng.choice(self.sizes)
        return fori(trips, Real, start, lambda i, x: x * 0.5 + self.number(known, [*indices, i]))

    def states(self, known, indices):
        shape, start = self.rng.choice([(shape, x) for shape, x in known if len(shape) == 1])

        def iteration(i, x):
            inside = [*known, (shape, x), (shape, x)]
            return vec(shape[0], Real, lambda k: x[k] * 0.5 + self.number(inside, [*indices, i, k]))

        x = fori(self.rng.choice(self.sizes), array(shape), start, iteration)
        return self.number([*known, (shape, x), (shape, x)], indices)

    def call(self, known, indices):
        """Of a function of its own, which uses what is around it, too."""
        shape, x = self.rng.choice(known)

        def body(x, y):
            return self.number([*known, (shape, x), (shape, x)], indices) + y

        return fn([array(shape), Real], Real, body)(x, self.element(known, indices))

    def again(self, known, indices):
        """Of which reverse mode keeps the arguments only."""
        shape, x = self.rng.choice(known)

        def body(x):
            return self.number([*known, (shape, x), (shape, x)], indices)

        return checkpoint(fn([array(shape)], Real, body))(x)

    def largest(self, known, indices):
        return max_(self.number(known, indices), self.element(known, indices))

    def update(self, known, indices):
        shape, x = self.rng.choice([(shape, x) for shape, x in known if len(shape) == 1])
        y = x.at[self.index(indices, shape[0])].set(self.number(known, indices))
        return self.number([*known, (shape, y), (shape, y)], indices)
