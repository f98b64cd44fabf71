"""Derivatives by authors that are short stand in place of calls, and are the authors' all the same."""

from __future__ import annotations

import pytest
from test_growth import functions

from rose_core import Dual, Real, Vec, compile, cond, exp, fn, fori, interp, lt, opaque, sin, sum, vjp
from rose_core.derivatives import tape
from rose_core.derivatives.expand import Expansion
from rose_core.language.ir import CALL

N = 5
V = Vec(N, Real)
X = [0.5, -1.25, 2.0, 0.25, 1.5]


@fn
def square(x: Real) -> Real:
    return x * x


@fn
def three_halves(x: Dual) -> Dual:
    """One and a half of the derivative, so that it shows whose it is."""
    return {"re": square(x.re), "du": 3.0 * x.re * x.du}


square.jvp = three_halves


@fn
def long(x: Real) -> Real:
    return sin(x)


@fn
def in_many_steps(x: Dual) -> Dual:
    y = x.re
    for _ in range(20):
        y = sin(y) + 0.5
    return {"re": sin(x.re), "du": y * x.du}


long.jvp = in_many_steps

BODIES = {
    "straight": lambda x: square(x[0]) * x[1] + square(square(x[2]) - x[0]),
    "loop": lambda x: sum(N, lambda i: square(x[i]) * square(x[0] + x[i])),
    "nest": lambda x: sum(N, lambda i: square(sum(N, lambda j: square(x[i] - x[j])))),
    "trips": lambda x: fori(4, Real, x[1], lambda i, s: square(s) * 0.5 + x[2]),
    "choice": lambda x: cond(
        lt(x[0], x[1]), Real, lambda: square(x[0]), lambda: exp(square(x[1]) * 0.1) * square(x[2])
    ),
    "long": lambda x: long(x[0] * x[1]) * square(x[2]) + long(x[3]),
    "twice": lambda x: vjp(fn([V], Real, lambda x: square(x[0]) * square(x[1])))(x).grad(1)[0] * x[2],
}


def gradient(f):
    return fn([V], V, lambda x: vjp(f)(x).grad(1))


def weighted(g):
    return fn([V], Real, lambda x: sum(N, lambda i: g(x)[i] * x[i]))


def calls(f) -> int:
    """How many calls there are of functions of numbers."""
    found = functions(Expansion(f.func).root)
    return len([ins for g in found for ins in g.code if ins[0] == CALL])


@pytest.mark.parametrize("name", BODIES)
def test_in_line_and_called(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def results() -> list[list[float]]:
        f = fn([V], Real, BODIES[name])
        g = gradient(f)
        programs = g, gradient(weighted(g))
        for program in programs:
            assert compile(program)(X) == interp(program)(X)
        return [compile(program)(X) for program in programs]

    short = results()
    monkeypatch.setattr(tape, "_SHORT", 0)
    for x, y in zip(short, results(), strict=True):
        assert x == pytest.approx(y, rel=1e-14)


@pytest.mark.parametrize(("name", "at_most"), [("straight", 3), ("loop", 2), ("nest", 2)])
def test_hardly_anything_is_called(name: str, at_most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the author's function itself, whose derivative may be asked for once more."""
    g = gradient(fn([V], Real, BODIES[name]))
    assert calls(g) <= at_most
    monkeypatch.setattr(tape, "_SHORT", 0)
    assert calls(g) > at_most


def test_whose_derivative_it_is() -> None:
    assert compile(gradient(fn([V], Real, lambda x: square(x[1]))))(X) == [0, 3 * X[1], 0, 0, 0]


def test_what_the_page_runs_is_called_as_often() -> None:
    seen = []

    def page(x):
        seen.append(x)
        return x

    told = opaque([Real], Real, page)
    told.jvp = fn([Dual], Dual, lambda x: {"re": told(x.re), "du": 2.0 * x.du})
    g = gradient(fn([V], Real, lambda x: told(x[0]) * told(x[1])))
    assert compile(g)(X) == [2 * X[1], 2 * X[0], 0, 0, 0]
    assert seen == X[:2]
