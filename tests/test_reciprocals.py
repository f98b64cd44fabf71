"""The derivatives of 1 ÷ x, of x √x, and of a root that is inverted, have no quotients of their own."""

from __future__ import annotations

import math

import pytest
from test_growth import functions

from rose_core import Real, Vec, compile, fn, fori, grad, hessian, jvp, select, sin, sqrt, sum
from rose_core.derivatives.expand import Expansion
from rose_core.language.ops import code

N = 3
V = Vec(N, Real)
X = [0.75, 1.5, -2.25]
ALONG = [1.0, -2.0, 0.5]

BODIES = {
    "straight": lambda x: 1 / (x[0] + 1 / (x[1] + 1 / x[2])),
    "loop": lambda x: sum(N, lambda i: 1 / (x[0] + 1 / x[i])),
    "trips": lambda x: fori(4, Real, x[0], lambda i, y: 1 / (x[1] + y * x[2])),
}

OF_ROOTS = {
    "times root": lambda x: (x[0] * x[0]) * sqrt(x[0] * x[0]) + sin(x[1]) * sqrt(sin(x[1])),
    "inverted root": lambda x: sum(N, lambda i: (1 / sqrt(x[i] * x[i] + x[0])) ** 3),
    "root in iterations": lambda x: fori(4, Real, x[0], lambda i, y: (y + 1) * sqrt(y + 1) * x[1]),
}
"""Forward mode has quotients of the roots, which nobody needs where they are multiplied by their squares."""


def quotients(f):
    """The quotients that are no reciprocals."""
    found = functions(Expansion(f.func).root)
    return [ins for g in found for ins in g.code if ins[0] == code("div") and ins[1] >= 0]


@pytest.mark.parametrize("name", [*BODIES, *OF_ROOTS])
def test_gradient(name):
    f = fn([V], Real, (BODIES | OF_ROOTS)[name])
    assert not quotients(fn([V], V, lambda x: grad(f)(x)))
    found = compile(grad(f))(X)
    h = 1e-6
    for k in range(N):
        up, down = ([*X[:k], X[k] + s, *X[k + 1 :]] for s in (h, -h))
        assert found[k] == pytest.approx((compile(f)(up) - compile(f)(down)) / (2 * h), rel=1e-7)


@pytest.mark.parametrize("name", BODIES)
def test_forward(name):
    f = fn([V], Real, BODIES[name])
    duals = fn([V], Real, lambda x: jvp(f)([{"re": x[k], "du": ALONG[k]} for k in range(N)]).du)
    assert not quotients(duals)
    slopes = compile(grad(f))(X)
    expected = math.fsum(p * q for p, q in zip(slopes, ALONG, strict=True))
    assert compile(duals)(X) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("x", "slope"), [(1e-200, -math.inf), (1e200, 0.0), (math.inf, 0.0), (0.0, -math.inf), (-0.5, -4.0)]
)
def test_at_ends(x, slope):
    assert compile(grad(fn([Real], Real, lambda x: 1 / x)))(x) == slope
    weighted = fn([Real, Real], Real, lambda x, w: w * (1 / x))
    assert compile(fn([Real, Real], Real, lambda x, w: grad(weighted)(x, w)))(x, 1.0) == slope


def test_a_divisor_without_a_finite_reciprocal():
    """What is divided by it and not chosen has no part in a gradient: 0 times infinity is no number."""
    f = fn([Real, Real], Real, lambda x, y: select(y > 1e-300, Real, x / y, x))
    slope = fn([Real, Real], Vec(2, Real), lambda x, y: list(grad(f, [0, 1])(x, y)))
    assert compile(slope)(1e-310, 1e-310) == [1.0, 0.0]


def test_times_root_at_zero():
    """Its derivative is there, though that of the root is none that is a number."""
    f = fn([Real], Real, lambda x: x * sqrt(x))
    assert compile(grad(f))(0.0) == 0.0
    assert compile(fn([Real], Real, lambda x: jvp(f)({"re": x, "du": 1.0}).du))(0.0) == 0.0
    assert compile(hessian(f))(0.0) == math.inf
    assert compile(hessian(f))(4.0) == 0.375
