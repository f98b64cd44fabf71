"""The least or largest of a vector that is made for it: the gradient is that of one number."""

from __future__ import annotations

import builtins
import math
from random import Random

import pytest
from engines import same
from test_extremes import forward, gradient, is_searched, points, slopes
from test_growth import functions
from test_nearest import chosen

from rose_core import Real, Vec, abs, exp, fn, fori, max, min, real, select, sqrt, struct, sum, vec, vjp
from rose_core.derivatives.expand import Expansion

N, MANY, FEW = 5, 20, 6


def by_coordinates(p, q):
    return (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1])


def as_a_sum(p, q):
    return sum(2, lambda k: (p[k] - q[k]) * (p[k] - q[k]))


def as_a_root(p, q):
    return sqrt(as_a_sum(p, q) + 0.1) - abs(p[0] - q[0])


DISTANCES = [by_coordinates, as_a_sum, as_a_root]


def nearest(m: int, distance, extreme=min):
    types = [Vec(N, Vec(2, Real)), Vec(m, Vec(2, Real))]
    return fn(
        types,
        Real,
        lambda a, b: sum(N, lambda i: extreme(vec(m, Real, lambda j: distance(a[i], b[j])))),
    )


def vectors(f, m: int) -> int:
    """How many loops of the gradient make vectors of so many numbers."""
    found = functions(Expansion(gradient(f).func).root)
    return [bool(b.results) and b.size.size == m for g in found for b in g.blocks[1:]].count(True)


@pytest.mark.parametrize("distance", DISTANCES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("extreme", [min, max])
@pytest.mark.parametrize("m", [MANY, FEW])
def test_points(m: int, extreme, distance) -> None:
    f = nearest(m, distance, extreme)
    args = points(N, 1), points(m, 2)
    assert slopes(f, args) == pytest.approx(forward(f, args), rel=1e-13, abs=1e-14)
    assert vectors(f, m) == 0
    assert is_searched(f) if m == MANY else chosen(f)


@pytest.mark.parametrize("m", [MANY, FEW])
def test_each_of_several_has_its_share(m: int) -> None:
    f = nearest(m, as_a_sum)
    a, b = points(N, 1), points(m, 2)
    for k in (0, 2, m - 1):
        b[k] = [a[0][0] + 1e-3, a[0][1]]
    assert slopes(f, (a, b)) == pytest.approx(forward(f, (a, b)), rel=1e-13, abs=1e-14)


@pytest.mark.parametrize("m", [MANY, FEW])
@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf, -0.0])
def test_numbers_that_are_none(special: float, m: int) -> None:
    """As in a loop that has no vector, and is told from one that is written out in tests/test_extremes.py."""
    V = Vec(m, Real)

    def twice(x, j):
        return x[j] + x[j]

    def by_loop(x):
        return fori(m - 1, Real, twice(x, 0), lambda j, s: min(s, twice(x, j + 1)))

    made = fn([V], Real, lambda x: sum(N, lambda i: min(vec(m, Real, lambda j: twice(x, j)))))
    read = fn([V], Real, lambda x: sum(N, lambda i: by_loop(x)))
    for k in (0, 3, m - 1):
        x = [Random(5).uniform(-1, 1) + j for j in range(m)]
        x[k] = special
        assert repr(slopes(made, [x])) == repr(slopes(read, [x]))


@pytest.mark.parametrize(
    "use",
    [
        lambda v: min(v) + sum(MANY, lambda j: v[j] * v[j]),
        lambda v: max(v) - min(v),
        lambda v: fori(MANY, Real, 9.0, lambda j, s: min(s, v[j] + v[MANY - 1])),
        lambda v: sum(MANY, lambda j: fori(MANY, Real, 9.0, lambda k, s: min(s, v[k] + real(j)))),
    ],
    ids=[
        "a sum, too",
        "the largest, too",
        "one of its numbers in every iteration",
        "in every iteration around",
    ],
)
def test_what_is_used_more_than_once_is_a_vector(use) -> None:
    V = Vec(MANY, Real)
    f = fn([V, V], Real, lambda x, y: use(vec(MANY, Real, lambda j: x[j] * y[j])))
    args = [[math.sin(j) for j in range(MANY)], [math.cos(2 * j) for j in range(MANY)]]
    assert slopes(f, args) == pytest.approx(forward(f, args), rel=1e-13, abs=1e-14)
    assert vectors(f, MANY)


def test_a_vector_that_is_a_result() -> None:
    V = Vec(MANY, Real)

    def both(x):
        v = vec(MANY, Real, lambda j: x[j] * x[j])
        return {"least": min(v), "all": v}

    def slopes_of(both):
        f = fn([V], struct(least=Real, all=V), both)
        return fn([V], V, lambda x: vjp(f)(x).grad({"least": 1.0, "all": [0.5] * MANY}))

    x = [1 + math.sin(j) for j in range(MANY)]
    least = builtins.min(range(MANY), key=lambda j: x[j])
    assert same(slopes_of(both), x) == [x[j] + (2 * x[j] if j == least else 0.0) for j in range(MANY)]


def test_functions_are_computed_two_at_a_time_before() -> None:
    V = Vec(MANY, Real)
    f = fn([V], Real, lambda x: max(vec(MANY, Real, lambda j: exp(x[j]))))
    assert slopes(f, [[math.sin(j) for j in range(MANY)]])
    assert vectors(f, MANY)


@pytest.mark.parametrize("m", [MANY, FEW])
def test_in_a_loop_that_never_runs(m: int) -> None:
    V = Vec(m, Real)
    f = fn([V], Real, lambda x: x[0] + sum(0, lambda i: min(vec(m, Real, lambda j: x[j] * x[i]))))
    assert slopes(f, [[2.0] * m]) == [1.0] + [0.0] * (m - 1)


@pytest.mark.parametrize("seed", range(60))
def test_random(seed: int) -> None:
    draw = Random(seed)
    n, m = draw.randrange(1, 7), draw.randrange(2, 24)
    extreme, other = draw.sample((min, max), 2)
    distance = draw.choice(DISTANCES)
    shift = draw.randrange(m)
    kind = draw.choice(("numbers", "from a number", "chosen", "of several"))

    def one(p, b):
        v = vec(m, Real, lambda j: distance(p, b[j]) * b[shift][0])
        if kind == "numbers":
            return extreme(v)
        if kind == "from a number":
            return fori(m, Real, p[0], lambda j, s: extreme(s, v[j]))
        if kind == "chosen":
            return fori(m, Real, v[shift], lambda j, s: select(b[j][1] > 0, Real, extreme(s, v[j]), s))
        return extreme(v) * other(vec(m, Real, lambda j: v[j] - p[1] * b[j][0]))

    f = fn(
        [Vec(n, Vec(2, Real)), Vec(m, Vec(2, Real))],
        Real,
        lambda a, b: sum(n, lambda i: one(a[i], b)),
    )
    args = points(n, seed), points(m, -1 - seed)
    assert slopes(f, args) == pytest.approx(forward(f, args), rel=1e-12, abs=1e-12)
