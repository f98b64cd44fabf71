"""The least or largest of numbers computed alike, in loops: the gradient of one of them is the same."""

from __future__ import annotations

import math
from random import Random

import pytest
from engines import same
from random_nearest import MEMBERS, TRIPS, WIDTH, program
from test_extremes import forward, gradient, points, slopes
from test_growth import functions
from unchanged import assert_unchanged

from rose_core import (
    Real,
    Vec,
    abs,
    compile,
    exp,
    fn,
    grad,
    hessian,
    hypot,
    index,
    jvp,
    max,
    min,
    sum,
    vec,
    vjp,
)
from rose_core.derivatives import alike, expand
from rose_core.derivatives.expand import Expansion

CENTRES, N = 5, 20
C, P = Vec(CENTRES, Vec(2, Real)), Vec(N, Vec(2, Real))


@pytest.fixture
def plain(monkeypatch):
    """Has all numbers gone back into from then on."""
    return lambda: monkeypatch.setattr(expand, "by_nearest", lambda f: f)


@pytest.fixture
def however_little(monkeypatch):
    """Only one number is gone back into, however little work that saves."""
    monkeypatch.setattr(alike, "LEAST_WORK", -1000)


def chosen(f) -> list[str]:
    """The functions by which the gradient of ``f`` goes back into one of several numbers."""
    names = [g.name for g in functions(Expansion(gradient(f).func).root)]
    return [name for name in names if "nearest" in name]


def least(members, extreme=min):
    best = members[0]
    for x in members[1:]:
        best = extreme(best, x)
    return best


def squared(p, q):
    return (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1])


def summed(p, q):
    return sum(2, lambda k: (p[k] - q[k]) * (p[k] - q[k]))


def to_segment(p, a, b):
    t = ((p[0] - a[0]) * (b[0] - a[0]) + (p[1] - a[1]) * (b[1] - a[1])) / (squared(a, b) + 1e-9)
    t = min(1.0, max(0.0, t))
    return hypot(p[0] - a[0] - t * (b[0] - a[0]), p[1] - a[1] - t * (b[1] - a[1]))


LOSSES = {
    "squared": lambda c, p: least([squared(p, c[k]) for k in range(CENTRES)]),
    "sums": lambda c, p: least([summed(p, c[k]) for k in range(CENTRES)]),
    "largest": lambda c, p: least([squared(p, c[k]) for k in range(CENTRES)], max),
    "the other way round": lambda c, p: least([squared(p, c[k]) for k in reversed(range(CENTRES))]),
    "new ones first": lambda c, p: least([squared(p, c[k]) for k in range(CENTRES)], lambda x, y: min(y, x)),
    "three": lambda c, p: least([squared(p, c[k]) for k in range(3)]),
    "some of them": lambda c, p: least([squared(p, c[k]) for k in (1, 2, 4)]),
    "polygon": lambda c, p: least([to_segment(p, c[k], c[(k + 1) % CENTRES]) for k in range(CENTRES)]),
    "literals": lambda c, p: least([exp(c[0][0] * k - squared(p, c[k])) * (k + 0.5) for k in range(CENTRES)]),
    "in others": lambda c, p: least([max(squared(p, c[k]), abs(p[0] * c[k][1])) for k in range(CENTRES)]),
    "one in two": lambda c, p: (
        least([squared(p, c[k]) for k in range(CENTRES)])
        * least([abs(p[0] - c[k][0] * 2) for k in range(CENTRES)])
    ),
    "with a start": lambda c, p: least([1e300, *(squared(p, c[k]) for k in range(CENTRES))]),
    "at least": lambda c, p: least([*(p[0] * c[k][0] - c[k][1] for k in range(CENTRES)), 0.5], max),
    "at most one of them": lambda c, p: least([c[0][1], *(squared(p, c[k]) for k in range(CENTRES))]),
    "of another kind": lambda c, p: least([p[0] - p[1], *(squared(p, c[k]) for k in range(CENTRES))]),
    "used again": lambda c, p: (lambda d: least(d) + least(d, max) * d[2])(
        [squared(p, c[k]) for k in range(CENTRES)]
    ),
}


def loss(name):
    return fn([C, P], Real, lambda c, p: sum(N, lambda i: LOSSES[name](c, p[i])))


@pytest.mark.parametrize("name", LOSSES)
def test_gradients(name, however_little) -> None:
    f = loss(name)
    assert chosen(f)
    args = points(CENTRES, 1), points(N, 2)
    assert slopes(f, args) == pytest.approx(forward(f, args), rel=1e-13, abs=1e-14)


@pytest.mark.parametrize("same", [(0, 1), (1, 4), (0, 2, 3), (0, 1, 2, 3, 4)])
@pytest.mark.parametrize(
    "name",
    [
        "squared",
        "sums",
        "largest",
        "new ones first",
        "in others",
        "with a start",
        "of another kind",
    ],
)
def test_each_of_several_has_its_share(name, same, however_little) -> None:
    f = loss(name)
    c, p = points(CENTRES, 1), points(N, 2)
    for k in same:
        c[k] = [3.0, -2.0] if name == "largest" else [p[0][0] + 1e-3, p[0][1]]
    assert slopes(f, (c, p)) == pytest.approx(forward(f, (c, p)), rel=1e-13, abs=1e-14)


@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("extreme", [min, max])
def test_numbers_that_are_none(extreme, special, however_little, plain) -> None:
    """Of a member or of an iteration, as where nothing is looked for."""

    def body(c, p):
        return sum(N, lambda i: least([abs(c[k] - p[i]) * 2.0 + c[k] for k in range(CENTRES)], extreme))

    def outcomes():
        f = fn([Vec(CENTRES, Real), Vec(N, Real)], Real, body)
        for k in (0, 2, 4):
            c, p = [x for x, _ in points(CENTRES, 1)], [x for x, _ in points(N, 2)]
            c[k] = special
            yield slopes(f, (c, p))
            c[k], p[3] = 0.5, special
            yield slopes(f, (c, p))

    found = repr([*outcomes()])
    plain()
    assert repr([*outcomes()]) == found


def test_second_derivatives(however_little) -> None:
    def body(c, p):
        return sum(N, lambda i: least([exp(-squared(c[k], p[i])) for k in range(CENTRES)], max))

    f = fn([C, P], Real, body)
    p = points(N, 2)
    flat = fn(
        [Vec(2 * CENTRES, Real)], Real, lambda x: f([[x[2 * k], x[2 * k + 1]] for k in range(CENTRES)], p)
    )
    x = [y for c in points(CENTRES, 1) for y in c]
    h = hessian(flat)
    found = same(h, x)
    slope = compile(fn([Vec(10, Real)], Vec(10, Real), lambda x: vjp(flat)(x).grad(1)))
    for k in range(10):
        d = 1e-6
        ends = [slope([y + (j == k) * s for j, y in enumerate(x)]) for s in (d, -d)]
        expected = [(a - b) / (2 * d) for a, b in zip(*ends, strict=True)]
        assert list(found[k]) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("start", [0.25, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("extreme", [min, max])
def test_against_what_is_known_before(extreme, start, however_little, plain) -> None:
    """A number, a parameter, and both."""

    def body(s, c, p):
        def iteration(i):
            members = [c[k] * p[i] + c[k] for k in range(CENTRES)]
            before = [start], [s], [s, start]
            return least([least([*x, *members], extreme) for x in before], extreme)

        return sum(N, iteration)

    def outcomes():
        f = fn([Real, Vec(CENTRES, Real), Vec(N, Real)], Real, body)
        for s in (0.25, 0.3, math.nan):
            yield slopes(f, (s, [x for x, _ in points(CENTRES, 1)], [x for x, _ in points(N, 2)]))

    found = [*outcomes()]
    plain()
    for numbers, expected in zip(found, outcomes(), strict=True):
        assert numbers == pytest.approx(expected, rel=1e-13, abs=1e-14, nan_ok=True)


def test_what_is_not_alike_stays() -> None:
    def body(c, p):
        return sum(
            N, lambda i: least([squared(p[i], c[0]), abs(p[i][0] * c[1][0]), p[i][1] + c[2][1], c[3][0]])
        )

    f = fn([C, P], Real, body)
    assert not chosen(f)
    args = points(CENTRES, 1), points(N, 2)
    assert slopes(f, args) == pytest.approx(forward(f, args), rel=1e-13, abs=1e-14)


@pytest.mark.parametrize(
    "body",
    [
        lambda c, p: sum(N, lambda i: max(0.0, p[i][0] - c[0][0])),
        lambda c, p: sum(N, lambda i: max(p[i][0] * c[0][0], p[i][0] * c[1][0])),
        lambda c, p: sum(N, lambda i: least([exp(-squared(p[i], c[k])) for k in range(CENTRES)])),
        lambda c, p: sum(3, lambda i: least([squared(p[index(N, i)], c[k]) for k in range(CENTRES)])),
        lambda c, p: least([squared(p[0], c[k]) for k in range(CENTRES)]),
    ],
    ids=["against a number", "little work", "a function of a library", "few iterations", "no loop"],
)
def test_where_it_is_not_worth_it(body) -> None:
    f = fn([C, P], Real, body)
    assert not chosen(f)


def test_what_costs_more_to_compute_twice() -> None:
    """A point of many functions, and three distances."""

    def body(c, p):
        def iteration(i):
            x, y = p[i][0], p[i][1]
            for _ in range(6):
                x, y = exp(-x * x) + y, exp(-y * y) - x
            return least([squared((x, y), c[k]) for k in range(3)])

        return sum(N, iteration)

    f = fn([C, P], Real, body)
    assert not chosen(f)


def test_elements_of_vectors_that_are_made_in_different_ways() -> None:
    """One of numbers, which are a table, and one of what is computed."""
    n = 16
    V = Vec(n, Real)

    def body(x):
        table = vec(n, Real, [0.1 * k for k in range(n)])
        made = vec(n, Real, [x[k] * x[n - 1 - k] for k in range(n)])
        return sum(n, lambda i: min(table[i], made[i]) * x[i])

    f = fn([V], Real, body)
    same(grad(f), [0.3 * k - 1 for k in range(n)])
    assert not chosen(f)


def test_many_operations_in_each_other() -> None:
    """As deep as a recording may be; nothing is looked for there."""

    def deep(x):
        for k in range(3000):
            x = x * 0.999 + k
        return x

    f = fn([C, P], Real, lambda c, p: sum(N, lambda i: least([deep(p[i][0] * c[k][0]) for k in range(4)])))
    assert not chosen(f)


@pytest.mark.parametrize("seeds", [range(k, k + 5) for k in range(0, 100, 5)], ids=str)
def test_random_programs(seeds, however_little, plain) -> None:
    """The value, the gradient, and its product with a direction are those of programs as they are written."""
    assert_unchanged(seeds, outcomes, plain, rel=1e-10, abs=1e-12, nan_ok=True)


def outcomes(seed):
    """Of a random program: its value and its gradient, compiled and interpreted, forward and backward."""
    f, draw = program(seed), Random(seed)
    # with whole numbers, several are often the least
    number = (lambda: float(draw.randrange(-1, 2))) if seed % 3 == 0 else (lambda: draw.uniform(-1.5, 1.5))
    c = [[number() for _ in range(WIDTH)] for _ in range(MEMBERS)]
    p = [[number() for _ in range(WIDTH)] for _ in range(TRIPS)]
    w = [number() for _ in range(MEMBERS)]
    g = gradient(f)
    slope = same(g, c, p, w)
    value = same(f, c, p, w)
    flat = [x for k in "01" for row in slope[k] for x in row] + list(slope["2"])
    d = [draw.uniform(-1, 1) for _ in flat]
    numbers = iter(d)

    def dual(x):
        return [dual(y) for y in x] if isinstance(x, list) else {"re": x, "du": next(numbers)}

    along = compile(jvp(f))(dual(c), dual(p), dual(w))
    assert repr(along.re) == repr(value)
    expected = math.fsum(a * b for a, b in zip(flat, d, strict=True))
    assert along.du == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)
    return value, flat


def test_random_programs_are_of_both_kinds(however_little) -> None:
    kinds = [bool(chosen(program(seed))) for seed in range(100)]
    assert 60 <= kinds.count(True) < 100
