"""The cotangent of an old element that is that of the new one stays where it is: no zero is put there."""

from __future__ import annotations

import re

import pytest
from differences import differences, directional, gradient
from engines import same

from rose_core import Real, Vec, fn, fori, imod, inspect, select, sin, struct, sum, vec
from rose_core.derivatives import settled

N = 3
V = Vec(N, Real)
M = Vec(2, V)
X = [0.7, -0.4, 1.1]

PASSING = {
    "sum": lambda e, x, w: e + x,
    "difference": lambda e, x, w: e - x,
    "difference from": lambda e, x, w: x - e,
    "opposite": lambda e, x, w: -e,
    "double": lambda e, x, w: 2 * e,
    "by a parameter": lambda e, x, w: w * e + x,
    "by itself over a parameter": lambda e, x, w: x * x + e / w,
    "quotient": lambda e, x, w: x - e / 4,
    "by another element": lambda e, x, w: e * x,
    "over a function": lambda e, x, w: w + e / (2 + sin(x)),
    "several": lambda e, x, w: 0.5 * (x - (e / w - 1)) - sin(x),
}
"""What becomes of an element; w stays the same."""

OTHERS = {
    "square": lambda e, x, w: e * e,
    "twice": lambda e, x, w: e + e,
    "in two terms": lambda e, x, w: e + x * e,
    "divisor": lambda e, x, w: w / (e + 3),
    "function": lambda e, x, w: sin(e) + x,
    "choice": lambda e, x, w: select(x > 0.5, Real, e, x),
    "replaced": lambda e, x, w: sin(x),
}


def of_a_vector(body):
    def iteration(t, s, w):
        i, j = imod(N, t), imod(N, t + 1)
        return s.set(i, body(s[i], s[j], w))

    def f(x):
        w = 1.5 + x[0] * x[0]
        s = fori(2 * N, V, x, lambda t, s: iteration(t, s, w))
        return sum(N, lambda k: (2 - s[k]) * s[k])

    return fn([V], Real, f)


def of_a_matrix(body):
    def iteration(t, s, w):
        i, j = imod(N, t), imod(N, t + 1)
        return s.at[1, i].set(body(s[1][i], s[0][j], w)).at[imod(2, t), j].add(0.1 * s[1][j])

    def f(x):
        w = 1.5 + x[0] * x[0]
        start = [vec(N, Real, lambda k: sin(x[k])), x]
        s = fori(2 * N, M, start, lambda t, s: iteration(t, s, w))
        return sum(N, lambda k: (2 - s[1][k]) * s[1][k] + s[0][k] * x[k])

    return fn([V], Real, f)


def of_rows(body):
    """All elements of a row, one after the other, each by that of another row, or the same."""

    def iteration(t, s, w):
        i, j = imod(2, t), imod(2, t // 2)
        for k in range(N):
            s = s.at[i, k].set(body(s[i][k], s[j][k], w))
        return s

    def f(x):
        w = 1.5 + x[0] * x[0]
        start = [vec(N, Real, lambda k: sin(x[k])), x]
        s = fori(4, M, start, lambda t, s: iteration(t, s, w))
        return sum(N, lambda k: sin(s[1][k]) + sin(s[0][k]) * x[k])

    return fn([V], Real, f)


def is_derivative(slope, f) -> None:
    """``slope`` is found by differences as well, and by forward mode."""
    assert slope == pytest.approx(differences(f, X), rel=1e-7, abs=1e-8)
    for k in range(N):
        assert slope[k] == pytest.approx(directional(f, X, [float(j == k) for j in range(N)]), rel=1e-12)


def zeros_put(f) -> int:
    """In how many places of a program a zero is put into an array."""
    return len(re.findall(r"set\(\w+, \w+, 0\.0\)", inspect(f).ir))


@pytest.mark.parametrize("of", [of_a_vector, of_a_matrix, of_rows])
@pytest.mark.parametrize("name", [*PASSING, *OTHERS])
def test_what_becomes_of_an_element(name, of, monkeypatch) -> None:
    f = of((PASSING | OTHERS)[name])
    g = gradient(f)
    is_derivative(same(g, X), f)
    with monkeypatch.context() as without:
        without.setattr(settled, "filled", lambda f: f)
        assert bool(zeros_put(gradient(of((PASSING | OTHERS)[name])))) == (name in OTHERS)
    for k in range(N):  # the derivative of the derivative
        slope = fn([V], Real, lambda x, k=k: g(x)[k])
        is_derivative(same(gradient(slope), X), slope)


def test_a_new_element_that_is_used_otherwise_too() -> None:
    def iteration(t, s):
        i = imod(N, t)
        new = s.x[i] + s.y
        return {"x": s.x.set(i, new), "y": 0.5 * new}

    def f(x):
        s = fori(2 * N, struct(x=V, y=Real), {"x": x, "y": x[1]}, iteration)
        return sum(N, lambda k: s.x[k] * s.x[k]) + s.y

    f = fn([V], Real, f)
    is_derivative(same(gradient(f), X), f)


def test_an_old_element_that_is_used_otherwise_too() -> None:
    def f(x):
        s = x.set(1, x[1] + x[0])
        return s[1] * s[1] * x[1] + s.set(1, 3 * s[1])[1] * s[1]

    f = fn([V], Real, f)
    is_derivative(same(gradient(f), X), f)
