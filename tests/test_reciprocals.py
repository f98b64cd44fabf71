"""No tangent is divided by anything; the derivative of 1 ÷ x is made of its value alone."""

from __future__ import annotations

import math

import pytest
from test_growth import functions

from rose_core import Real, Vec, acos, asin, atan, cbrt, compile, fn, fori, grad, jvp, log, log1p, sqrt, sum
from rose_core.derivatives.expand import Expansion
from rose_core.language.demand import Demand
from rose_core.language.ops import code

N = 3
V = Vec(N, Real)
X = [0.75, 1.5, -2.25]
ALONG = [1.0, -2.0, 0.5]

BODIES = {
    "straight": lambda x: 1 / (x[0] + 1 / (x[1] + 1 / x[2])),
    "loop": lambda x: sum(N, lambda i: 1 / (x[0] + 1 / x[i])),
    "turns": lambda x: fori(4, Real, x[0], lambda i, y: 1 / (x[1] + y * x[2])),
}


def quotients(f):
    """The quotients that are no reciprocals."""
    found = functions(Expansion(f.func).root)
    return [ins for g in found for ins in g.code if ins[0] == code("div") and ins[1] >= 0]


def reciprocals(f):
    """The numbers over something that are needed."""
    found = [(g, Demand(g).uses) for g in functions(Expansion(f.func).root)]
    return [
        ins
        for g, uses in found
        for v, ins in enumerate(g.code)
        if ins[0] == code("div") and uses[v] and ins[1] < 0
    ]


@pytest.mark.parametrize("op", [sqrt, cbrt, log, log1p, asin, acos, atan], ids=lambda op: op.__name__)
def test_no_cotangent_is_divided(op):
    f = fn([Real], Real, lambda x: x * op(0.5 * x))
    assert not quotients(fn([Real], Real, lambda x: grad(f)(x)))
    h = 1e-6
    slope = (compile(f)(0.5 + h) - compile(f)(0.5 - h)) / (2 * h)
    assert compile(grad(f))(0.5) == pytest.approx(slope, rel=1e-7)


def unit(x):
    r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    return 2.0 * (x[0] / r) * (x[1] / r) - x[2] / r


def test_one_reciprocal_for_all():
    """The length that numbers are divided by is divided by once, for its own derivative, too."""
    f = fn([V], Real, unit)
    gradient = fn([V], V, lambda x: grad(f)(x))
    assert len(quotients(gradient)) == 3  # those of the value
    assert len(reciprocals(gradient)) == 1
    r = math.hypot(*X)
    p, q, s = (x / r for x in X)
    ct = [2 * q, 2 * p, -1.0]
    along = math.fsum(a * b for a, b in zip(ct, (p, q, s), strict=True))
    expected = [(a - b * along) / r for a, b in zip(ct, (p, q, s), strict=True)]
    assert compile(gradient)(X) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("name", BODIES)
def test_gradient(name):
    f = fn([V], Real, BODIES[name])
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
