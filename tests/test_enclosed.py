"""Bodies of loops and sides of choices are written where they are run, if they are small and only there."""

from __future__ import annotations

import re

import pytest
from engines import same

from rose_core import (
    Bool,
    Dual,
    Real,
    Vec,
    compile,
    cond,
    cos,
    exp,
    fn,
    fori,
    grad,
    inspect,
    opaque,
    real,
    scan,
    sin,
    sum,
    vec,
    vjp,
    while_loop,
)
from rose_core.errors import RunError
from rose_core.wasm.enclosed import _DEEPEST, _LARGEST

N = 40
"""Iterations, more than are written out."""

V = Vec(N, Real)
X = [0.1 * k - 1.5 for k in range(N)]


def calls(f) -> int:
    """How many calls of bodies, sides and tests there are."""
    return len(re.findall(r"call \$(?:body|test|then|otherwise)", inspect(f).wat))


def test_body_of_a_loop() -> None:
    f = fn([V], Real, lambda x: fori(N, Real, 0.0, lambda i, s: s * 0.5 + x[i]))
    assert calls(f) == 0
    same(f, X)


def test_large_bodies_are_called() -> None:
    def step(i, s):
        for k in range(_LARGEST // 2):
            s = sin(s) * (1.0 + 0.1 * k)
        return s

    f = fn([Real], Real, lambda x: fori(N, Real, x, step))
    assert calls(f) == 1
    same(f, 0.3)


@pytest.mark.parametrize(("operations", "times", "called"), [(2, 2, 0), (2, 4, 0), (2, 5, 5), (30, 2, 2)])
def test_what_several_loops_have(operations: int, times: int, called: int) -> None:
    """It is called if that is long, or many have it."""

    def step(i, s):
        for k in range(operations):
            s = s * 0.5 + exp(s * 0.01 * k) / (2.0 + k) + real(i)
        return s

    def body(x):
        for _ in range(times):
            x = fori(N, Real, x, step)
        return x

    f = fn([Real], Real, lambda x: fori(N, Real, x, lambda i, s: body(s)))
    assert calls(f) == called
    same(f, 0.3)


def test_loops_in_loops() -> None:
    def nested(depth, s):
        if not depth:
            return sin(s) + 0.1
        return fori(N, Real, s, lambda i, s: nested(depth - 1, s) + real(i) * 0.01)

    f = fn([Real], Real, lambda x: nested(2, x))
    assert calls(f) == 0
    same(f, 0.2)


def test_short_sides_of_many_choices() -> None:
    """Which are one function, as they differ in nothing."""

    def clipped(x, c):
        return cond(x > c, Real, lambda: sin(x) * x - cos(c * x) + c / (x + 3.0), lambda: 0.5 * x)

    f = fn([V], Real, lambda x: clipped(clipped(x[0], 0.1) + x[1], 0.2) * clipped(x[2], 0.3))
    assert "call $otherwise" not in inspect(f).wat
    for x in (X, [-x for x in X]):
        same(f, x)
        same(grad(f), x)


def test_what_is_called_too_stays_a_function() -> None:
    half = fn([Real], Real, lambda x: 0.5 * x)
    half.jvp = fn([Dual], Dual, lambda d: {"re": half(d.re), "du": 3.0 * d.du})
    f = fn([V], Real, lambda x: half(x[0]) + cond(x[1] > 0.0, Real, lambda: half(x[1]), lambda: 0.5 * x[2]))
    same(f, X)
    same(grad(f), X)


def test_deep_nests_end_somewhere() -> None:
    def nested(depth, s):
        return cond(s > 0.0, Real, lambda: nested(depth - 1, s - 0.3) * s, lambda: s) if depth else s

    f = fn([Real], Real, lambda x: nested(2 * _DEEPEST + 3, x))
    assert 0 < calls(f) < 2 * _DEEPEST
    for x in (-1.0, 0.1, 1.0, 2.5, 20.0):
        same(f, x)


def test_sides_of_a_choice() -> None:
    def chosen(v, p):
        w = cond(p, V, lambda: vec(N, Real, lambda i: v[i] * 2.0), lambda: v)
        return cond(w[0] > 0.0, Real, lambda: sum(N, lambda i: w[i] * w[i]), lambda: w[1])

    f = fn([V, Bool], Real, chosen)
    assert calls(f) == 0
    for p in (True, False):
        same(f, X, p)
        same(f, [-x for x in X], p)


def test_state_of_arrays_that_take_turns() -> None:
    def smooth(v):
        def iteration(i, s):
            return vec(N, Real, lambda j: s[j] * 0.5 + s[N - 1] * 0.25 + v[i])

        return fori(N, V, v, iteration)

    f = fn([V], V, smooth)
    assert calls(f) == 0
    same(f, X)


def test_scalars_that_change_places() -> None:
    f = fn(
        [Real, Real],
        Vec(2, Real),
        lambda x, y: fori(N + 1, Vec(2, Real), [x, y], lambda i, s: [s[1], s[0] + s[1] * 0.1]),
    )
    same(f, 1.0, 2.0)
    g = fn(
        [Real, Real],
        Real,
        lambda x, y: (
            fori(N + 1, {"a": Real, "b": Real}, {"a": x, "b": y}, lambda i, s: {"a": s.b, "b": s.a}).a
        ),
    )
    same(g, 1.0, 2.0)


def test_what_is_kept_of_the_iterations() -> None:
    f = fn([V], V, lambda v: scan(N, Real, 0.0, lambda s, i: (s * 0.9 + v[i], s * s))[1])
    same(f, X)
    g = fn([V], V, lambda v: vjp(fn([V], Real, lambda v: sum(N, lambda i: f(v)[i])))(v).grad(1.0))
    same(g, X)


def test_test_of_a_loop() -> None:
    f = fn([Real], Real, lambda x: while_loop(Real, x, lambda s: s * s > 0.5, lambda s: s * 0.75, limit=90))
    assert calls(f) == 0
    for x in (0.0, 3.0, 1e6):
        same(f, x)
    with pytest.raises(RunError, match="90"):
        compile(f)(1e300)


def test_the_host_is_called_as_often() -> None:
    seen = []
    told = opaque([Real], Real, lambda x: seen.append(x) or x + 1.0)
    f = fn([Real], Real, lambda x: fori(N, Real, x, lambda i, s: told(s) * 0.5))
    same(f, 1.0)
    assert seen == 3 * seen[:N]  # `same` runs it three times
