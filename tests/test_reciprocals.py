"""Quotients' derivatives multiply by reciprocals; those of 1 ÷ x, x √x and 1 ÷ √x have none of their own."""

from __future__ import annotations

import math

import pytest
from test_growth import functions

from rose_core import Real, Vec, compile, fn, fori, grad, hessian, jvp, sin, sqrt, sum
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
    """What is divided, and by what."""
    return [ins[1:] for g in functions(Expansion(f.func).root) for ins in g.code if ins[0] == code("div")]


@pytest.mark.parametrize("name", [*BODIES, *OF_ROOTS])
def test_gradient(name):
    f = fn([V], Real, (BODIES | OF_ROOTS)[name])
    passes = 1 if name == "straight" else 2  # loops divide once more, on the way back
    assert len(quotients(fn([V], V, lambda x: grad(f)(x)))) <= passes * len(quotients(f))
    found = compile(grad(f))(X)
    h = 1e-6
    for k in range(N):
        up, down = ([*X[:k], X[k] + s, *X[k + 1 :]] for s in (h, -h))
        assert found[k] == pytest.approx((compile(f)(up) - compile(f)(down)) / (2 * h), rel=1e-7)


@pytest.mark.parametrize("name", BODIES)
def test_forward(name):
    f = fn([V], Real, BODIES[name])
    duals = fn([V], Real, lambda x: jvp(f)([{"re": x[k], "du": ALONG[k]} for k in range(N)]).du)
    assert len(quotients(duals)) == len(quotients(f))
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


SHARED = {
    "quotients": (lambda x: (x[0] / x[2]) * (x[1] / x[2]), 3),
    "quotients by numbers that do not vary": (lambda x: x[0] / 3 * x[1], 2),
}
"""Functions of a vector, and how many quotients their gradients have."""


@pytest.mark.parametrize("name", SHARED)
def test_cotangents_are_multiplied(name):
    """They are divided by literals alone, of which there are mostly no reciprocals."""
    body, count = SHARED[name]
    f = fn([V], Real, body)
    slopes = fn([V], V, lambda x: grad(f)(x))
    found = quotients(slopes)
    assert len(found) == count
    assert all(x < 0 or y < 0 for x, y in found[len(quotients(f)) :])
    h = 1e-6
    for k in range(N):
        up, down = ([*X[:k], X[k] + s, *X[k + 1 :]] for s in (h, -h))
        assert compile(slopes)(X)[k] == pytest.approx((compile(f)(up) - compile(f)(down)) / (2 * h), rel=1e-6)


def test_times_root_at_zero():
    """Its derivative is there, though that of the root is none that is a number."""
    f = fn([Real], Real, lambda x: x * sqrt(x))
    assert compile(grad(f))(0.0) == 0.0
    assert compile(fn([Real], Real, lambda x: jvp(f)({"re": x, "du": 1.0}).du))(0.0) == 0.0
    assert compile(hessian(f))(0.0) == math.inf
    assert compile(hessian(f))(4.0) == 0.375
