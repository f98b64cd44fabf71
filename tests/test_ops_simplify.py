"""Simplification is exact: an op on constants, or on known relations of its operands, keeps every bit.

Each op is traced with literals, where `rose_core.language.simplify` may rewrite it, and with parameters in
their place, where it cannot; the results are compared at all combinations of special values.
"""

from __future__ import annotations

from itertools import product
from math import inf, nan, nextafter, ulp

import pytest
from op_cases import LARGEST, NORMAL, OP_NAMES, SUBNORMAL, bits, case
from op_programs import columns, in_loop, literal, run, straight

from rose_core import Bool, Real, Vec, fn, interp, neg, not_, select, vec
from rose_core.language import reals
from rose_core.optimise.powers import is_short

VALUES = [
    *(y for x in (0.0, SUBNORMAL, 3 * SUBNORMAL, NORMAL, 1e-300, 0.5, 1.0, 2.0, 3.0, inf) for y in (x, -x)),
    *(4.0, 0.1, 0.7, 1 / 3, -1.1, 2.0**1023, 1e300, -1e-300, nextafter(1, 2), nextafter(1, 0), LARGEST, nan),
]  # fmt: skip

REAL_BINARY = [name for name in OP_NAMES if case(name).op.ins == "RR"]
REAL_UNARY = [name for name in OP_NAMES if case(name).op.ins == "R"]


def same(name, points, got, expected):
    for p, g, e in zip(points, got, expected, strict=True):
        assert bits(g) == bits(e), f"{name}{p} becomes {g}, not {e}"


def unsimplified(name, points):
    """The op on parameters, element by element."""
    return run(in_loop(case(name), points), *columns(points))


@pytest.mark.parametrize("name", REAL_BINARY)
def test_one_constant(name):
    points = list(product(VALUES, repeat=2))
    expected = unsimplified(name, points)
    for k in (0, 1):
        got = run(straight(case(name), points, [k]), columns(points)[k])
        if name == "pow":
            got, expected = (drop_short(points, x) for x in (got, expected))
        same(name, points, got, expected)


def drop_short(points, results):
    """Products and quotients in the place of powers differ from those in the last places."""
    return [nan if is_short(y) else result for (_, y), result in zip(points, results, strict=True)]


@pytest.mark.parametrize("y", [-1.0, -0.5, 2.0, 3.0])
def test_short_powers(y):
    points = [(x, y) for x in [*VALUES, 1e100, 1e-160, *(k / 7 for k in range(-99, 99))]]
    x = [x for x, _ in points]
    squares = unsimplified("mul", [(a, a) for a in x])
    cubes = unsimplified("mul", list(zip(squares, x, strict=True)))
    reciprocals = unsimplified("div", [(1.0, a) for a in x])
    roots = [inf if a == -inf else reals.sqrt(a + 0.0) for a in x]
    of_roots = unsimplified("div", [(1.0, a) for a in roots])
    got = run(straight(case("pow"), points, [0]), x)
    same("pow", points, got, {-1.0: reciprocals, -0.5: of_roots, 2.0: squares, 3.0: cubes}[y])
    for point, found in zip(points, got, strict=True):
        exact = case("pow").value(*point)
        assert bits(found) == bits(exact) or abs(found - exact) <= ulp(exact)


@pytest.mark.parametrize("name", REAL_UNARY + REAL_BINARY)
def test_all_constant(name):
    """Folded where the op is exact; left to the engine's ``Math`` where it is not."""
    c = case(name)
    points = list(product(VALUES, repeat=c.arity))
    out = Bool if c.op.out == "B" else Real
    f = fn([], Vec(len(points), out), lambda: [c.call(*map(literal, p)) for p in points])
    got, expected = run(f), unsimplified(name, points)
    if name == "pow":
        got, expected = (drop_short(points, x) for x in (got, expected))
    same(name, points, got, expected)


@pytest.mark.parametrize("name", [name for name in OP_NAMES if case(name).op.ins in ("B", "BB")])
def test_bools(name):
    c = case(name)
    points = list(product((False, True), repeat=c.arity))
    expected = unsimplified(name, points)
    for varying in ([], [0], [1])[: 1 + c.arity]:
        given = columns(points)
        f = straight(Literals(c), points, varying)
        same(name, points, run(f, *[given[k] for k in varying]), expected)


class Literals:
    """A case whose op sees Python's Bools as symbolic constants."""

    def __init__(self, c):
        self.name, self.op, self.arity, self._call = c.name, c.op, c.arity, c.call

    def call(self, *args):
        return self._call(*(select(True, Bool, x, x) if isinstance(x, bool) else x for x in args))


@pytest.mark.parametrize("name", [name for name in OP_NAMES if "I" in case(name).op.ins])
def test_indices(name):
    c = case(name)
    points = case(name).points
    expected = unsimplified(name, points)
    for varying in ([], [0], [1]):
        given = columns(points)
        same(name, points, run(straight(c, points, varying), *[given[k] for k in varying]), expected)


def test_inverses():
    """Two negations undo each other."""
    f = fn([Vec(len(VALUES), Real)], Vec(len(VALUES), Real), lambda v: [neg(neg(x)) for x in v])
    same("neg neg", VALUES, run(f, VALUES), VALUES)
    f = fn([Bool], Bool, lambda p: not_(not_(p)))
    assert [run(f, p) for p in (False, True)] == [False, True]


def test_choices():
    for p in (True, False):

        def body(x, y, p=p):
            choices = [(x, y), (x, 1.5), (-0.0, y)]
            return [*(select(p, Real, a, b) for a, b in choices), select(x < y, Real, x, x)]

        f = interp(fn([Real, Real], Vec(4, Real), body))
        for x, y in product(VALUES, repeat=2):
            expected = [x, x, -0.0, x] if p else [y, 1.5, y, x]
            assert list(map(bits, f(x, y))) == list(map(bits, expected))


def test_chains():
    """Rewrites of rewrites: each step is exact, so are several."""

    def steps(x, zero, half, one, two, four):
        return [
            *(x * one * -one, -(x * -one), (x / two) / four, (x - zero) * one, (-zero - x) / -one),
            *((x + -zero) * two / half, -x * -one - zero),
        ]

    n, constants = len(VALUES), (0.0, 0.5, 1.0, 2.0, 4.0)
    t = Vec(n, Vec(7, Real))
    f = fn([Vec(n, Real)], t, lambda v: vec(n, Vec(7, Real), lambda i: steps(v[i], *constants)))
    g = fn([Vec(n, Real), *[Real] * 5], t, lambda v, *c: vec(n, Vec(7, Real), lambda i: steps(v[i], *c)))
    for x, got, expected in zip(VALUES, run(f, VALUES), run(g, VALUES, *constants), strict=True):
        same(f"chain of {x}, ", range(7), got, expected)
