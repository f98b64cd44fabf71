"""Calls of functions that are one operation are that operation, once derivatives are made."""

from __future__ import annotations

import math

import pytest
from test_growth import functions

from rose_core import (
    Bool,
    Dual,
    Real,
    Vec,
    atan2,
    compile,
    cond,
    cos,
    fn,
    fori,
    interp,
    lt,
    select,
    sin,
    vec,
    vjp,
)
from rose_core.derivatives.expand import Expansion, expansion
from rose_core.derivatives.known import Known
from rose_core.language.ir import CALL
from rose_core.optimise.unroll import unrolled
from rose_core.wasm.program import Program

N = 8
V = Vec(N, Real)
X = [0.3 * k - 1.0 for k in range(N)]


@fn
def my_sin(x: Real) -> Real:
    return sin(x)


my_sin.jvp = fn([Dual], Dual, lambda x: {"re": my_sin(x.re), "du": 2.0 * x.du * cos(x.re)})


@fn
def angle(x: Real, y: Real) -> Real:
    return atan2(y, x)


angle.jvp = fn([Dual, Dual], Dual, lambda x, y: {"re": angle(x.re, y.re), "du": x.du - y.du})


@fn
def either(x: Real, p: Bool, y: Real) -> Real:
    return select(p, Real, y, x)


either.jvp = fn(
    [Dual, Bool, Dual],
    Dual,
    lambda x, p, y: {"re": either(x.re, p, y.re), "du": select(p, Real, 3.0, 5.0) * (x.du + y.du)},
)


def calls(f) -> list[str]:
    """Of a whole program, as it is lowered, what is called."""
    found = functions(unrolled(Expansion(f.func).root))
    return [g.callees[ins[1]].name for g in found for ins in g.code if ins[0] == CALL]


def gradient(f):
    return fn([V], V, lambda x: vjp(f)(x).grad(1))


BODIES = {
    "one": lambda x: my_sin(x[0]),
    "nested": lambda x: my_sin(my_sin(x[0]) * x[1]) + my_sin(x[2]),
    "of two": lambda x: angle(x[0], x[1]) * angle(x[1], x[0]),
    "of a Bool": lambda x: either(x[0], lt(x[1], x[2]), x[3]) + either(x[2], lt(x[0], 0.0), my_sin(x[1])),
    "branches": lambda x: cond(lt(x[0], x[1]), Real, lambda: my_sin(x[2]), lambda: sin(x[3])) * my_sin(x[0]),
    "trips": lambda x: fori(3, Real, x[0], lambda i, s: my_sin(s) + x[1]),
    "body": lambda x: fori(3, Real, x[0], lambda i, s: sin(s)) + my_sin(x[1]),
}


@pytest.mark.parametrize("name", BODIES)
def test_the_same_as_calls(name: str) -> None:
    f = fn([V], Real, BODIES[name])
    for program in (f, gradient(f), gradient(fn([V], Real, lambda x: gradient(f)(x)[0] * x[1]))):
        assert compile(program)(X) == interp(program)(X)


@pytest.mark.parametrize("name", ["one", "nested", "of two", "of a Bool"])
def test_nothing_is_called(name: str) -> None:
    f = fn([V], Real, BODIES[name])
    assert calls(f) == calls(gradient(f)) == []


def test_the_derivative_is_the_authors() -> None:
    g = gradient(fn([V], Real, lambda x: my_sin(x[0])))
    assert compile(g)(X)[0] == 2 * math.cos(X[0])


def test_a_loop_is_that_of_the_operation() -> None:
    mine, built_in = (
        fn([V], V, lambda x, g=g: vec(N, Real, lambda i: g(x[i]) * x[i])) for g in (my_sin, sin)
    )
    assert Program(Expansion(mine.func).root).bytes == Program(Expansion(built_in.func).root).bytes


def test_what_is_known_keeps_its_derivative() -> None:
    """What an earlier program has put in place of a call is no part of the next."""
    known = Known()
    f = fn([V], Real, BODIES["nested"])
    first, g = gradient(f), gradient(fn([V], Real, lambda x: gradient(f)(x)[0] * x[1]))
    fresh = Program(Expansion(g.func).root).bytes
    for program in (first, f, first):
        Program(expansion(program.func, known))
    assert Program(expansion(g.func, known)).bytes == fresh
