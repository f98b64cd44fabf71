"""Random sums of products in each other, with factors of any of the loops around, some of them twice."""

from __future__ import annotations

from random import Random

from random_points import numbers

from rose_core import Real, Vec, cond, exp, fn, real, select, sin, sqrt, vec
from rose_core import max as greatest
from rose_core import sum as total

SIZES = (1, 2, 3, 5, 6, 7)
MOST_TRIPS = 2000
DEEPEST = 5


class NestedSums:
    """A function of matrices: sums in sums, which are the same in all iterations of some loops around
    them.
    """

    def __init__(self, seed: int) -> None:
        self.draw = draw = Random(seed)
        self.sizes = draw.choices(SIZES, k=3)
        self.shapes = [(m, n) for m in self.sizes for n in self.sizes]
        plan = self.planned(1, [])
        params = [Vec(m, Vec(n, Real)) for m, n in self.shapes]
        self.function = fn(params, Real, lambda *xs: self.built(plan, xs, []))

    def arguments(self):
        return [numbers(self.draw, shape) for shape in self.shapes]

    def planned(self, trips: int, around: list[int]):
        """What is computed in loops of these sizes: a number of elements at their indices, and of sums."""
        draw = self.draw
        made = [self.read(around) for _ in range(draw.choice([1, 1, 2, 3]))]
        for _ in range(draw.choice([1, 1, 2]) if len(around) < DEEPEST else 0):
            size = draw.choice(self.sizes)
            if trips * size <= MOST_TRIPS:
                kind = draw.choice(["sum", "sum", "sum", "element"])
                made.append((kind, size, self.planned(trips * size, [*around, size])))
                if draw.random() < 0.4:
                    made.append(made[-1])
        draw.shuffle(made)
        return draw.choice(OPERATIONS), made, draw.randrange(6), draw.randrange(6)

    def read(self, around: list[int]):
        """An element of a matrix, at indices of loops around."""
        pairs = [(i, j) for i in range(len(around)) for j in range(len(around))]
        if not pairs:
            return "one", 0, 0, 0
        i, j = self.draw.choice(pairs)
        return "read", self.shapes.index((around[i], around[j])), i, j

    def built(self, plan, xs, at):
        operation, parts, p, q = plan
        values = []
        for part in parts:
            kind, size, *more = part
            if kind in ("sum", "element"):
                term = lambda i, inner=more[0]: self.built(inner, xs, [*at, i])  # noqa: E731
                values.append(total(size, term) if kind == "sum" else vec(size, Real, term)[p % size])
            else:
                values.append(xs[size][at[more[0]]][at[more[1]]] if kind == "read" else 0.7)
        return operation(values, at, p, q)


def product(values, at, p, q):
    found = values[0]
    for x in values[1:]:
        found = found * x
    return found


def added(values, at, p, q):
    found = values[0] * 0.3
    for x in values[1:]:
        found = found - x * x * 0.1
    return found


def of_first(values, at, p, q):
    return sin(values[0]) * product(values, at, p, q)


def root(values, at, p, q):
    return product(values, at, p, q) / sqrt(1.0 + values[-1] * values[-1])


def chosen(values, at, p, q):
    """By indices, a root of what may be 0 there."""
    if len(at) < 2:
        return of_first(values, at, p, q)
    i, j = at[p % len(at)], at[q % len(at)]
    return select(real(i) < real(j), sqrt(values[-1] * values[-1]), product(values, at, p, q))


def on_one_side(values, at, p, q):
    return cond(
        values[0] > 0.2, Real, lambda: exp(-values[-1] * values[-1]), lambda: product(values, at, p, q)
    )


def of_greatest(values, at, p, q):
    return greatest(values[0], values[-1]) * values[len(values) // 2]


def by_iteration(values, at, p, q):
    return product(values, at, p, q) * (real(at[p % len(at)]) + 0.5 if at else 1.0)


def less(values, at, p, q):
    """The last by itself, and in a product: a sum may be needed here and ahead."""
    return -values[-1] + values[0] * values[-1] if values[1:] else -values[-1]


OPERATIONS = [
    product,
    product,
    product,
    added,
    of_first,
    root,
    chosen,
    on_one_side,
    of_greatest,
    by_iteration,
]
OPERATIONS += [less] * 4
