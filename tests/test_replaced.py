"""Loops whose iterations replace the state or leave it, told by comparisons, flags of the state, or both."""

from __future__ import annotations

import random

import pytest

from rose_core import (
    Bool,
    Real,
    Vec,
    and_,
    checkpoint,
    compile,
    fn,
    fori,
    grad,
    iadd,
    imod,
    interp,
    jacobian,
    not_,
    or_,
    real,
    scan,
    select,
    sin,
    struct,
    sum,
    value_and_grad,
    vec,
)
from rose_core import cond as choice
from tests.differences import differences

N = 7
V = Vec(N, Real)
State = struct(x=Real, found=Bool, at=N)


def new(v, a, i):
    return {"x": v[i] * v[i], "found": v[i] > a, "at": i}


def by_fields(i, s, v, a):
    n = new(v, a, i)
    return {name: select(s.found, getattr(s, name), n[name]) for name in n}


SEARCHES = {
    "until it is found": lambda i, s, v, a: select(s.found, State, s, new(v, a, i)),
    "field by field": by_fields,
    "not yet": lambda i, s, v, a: select(not_(s.found), State, new(v, a, i), s),
    "by a choice": lambda i, s, v, a: choice(s.found, State, lambda: s, lambda: new(v, a, i)),
    "or negative": lambda i, s, v, a: select(or_(s.found, v[i] < 0), State, s, new(v, a, i)),
    "only where it is": lambda i, s, v, a: select(
        and_(not_(s.found), v[i] > a), State, {"x": v[i] * v[i], "found": True, "at": i}, s
    ),
    "the last": lambda i, s, v, a: select(v[i] > a, State, {"x": v[i] * v[i], "found": True, "at": i}, s),
    "the largest": lambda i, s, v, a: select(v[i] * v[i] > s.x, State, new(v, a, i), s),
}


def expected(name: str, v: list[float], a: float) -> tuple[float, int]:
    """The number that is found, and where; -1 if it is none of them."""
    x, found, at = 0.0, False, -1
    for i, e in enumerate(v):
        hit = e > a
        replaces = {
            "or negative": not (found or e < 0),
            "only where it is": not found and hit,
            "the last": hit,
            "the largest": e * e > x,
        }.get(name, not found)
        if replaces:
            x, found, at = e * e, hit, i
    return x, at


@pytest.mark.parametrize("name", SEARCHES)
def test_searches(name) -> None:
    iteration = SEARCHES[name]

    def body(v, a):
        return fori(N, State, {"x": 0, "found": False, "at": 0}, lambda i, s: iteration(i, s, v, a)).x

    f = fn([V, Real], Real, body)
    both = value_and_grad(f)
    second = grad(fn([V, Real], Real, lambda v, a: grad(f)(v, a)[3]))
    compiled, compiled_second = compile(both), compile(second)
    rng = random.Random(name)
    for _ in range(20):
        v, a = [rng.uniform(-1, 1) for _ in range(N)], rng.uniform(-0.5, 0.9)
        x, at = expected(name, v, a)
        slope = [2 * e if k == at else 0.0 for k, e in enumerate(v)]
        for result in (compiled(v, a), interp(both)(v, a)):
            assert (result.value, result.grad) == (x, slope)
        assert compiled_second(v, a) == [2.0 if k == 3 == at else 0.0 for k in range(N)]


def test_the_third_derivative_in_reverse() -> None:
    """A loop that goes back through a backward loop leaves or replaces its state, too, and adds to others."""

    def body(v):
        def iteration(s, i):
            return select(v[i] > 0.5, Real, 1.5, s), s * v[i] * v[i] * v[i]

        _, ys = scan(N, Real, v[0], iteration)
        return sum(N, lambda i: ys[i] * ys[i])

    def slope(f):
        return fn([V], Real, lambda v: sum(N, lambda i: grad(f)(v)[i] * real(iadd(N + 1, i, 1))))

    twice = slope(slope(fn([V], Real, body)))
    v = [0.9, -0.2, 0.7, 0.1, 0.3, 0.6, -0.4]
    assert compile(grad(twice))(v) == pytest.approx(compile(jacobian(twice, mode="forward"))(v))


def mixed(w, x):
    return sum(N, lambda i: w[i] * w[imod(N, i + 1)] * x)


@pytest.mark.parametrize(
    "inner",
    [
        lambda w, v, x: mixed(select(v[0] > 0, V, w, v), x),
        lambda w, v, x: choice(v[0] > 0, Real, lambda: mixed(w, x), lambda: w[0] * x),
        lambda w, v, x: checkpoint(fn([V, Real], Real, mixed))(w, x),
    ],
    ids=["of what is selected", "of a choice", "of a call"],
)
def test_what_replaces_the_state_is_a_derivative_that_depends_on_it(inner) -> None:
    """By an accumulator alone, which is chosen among several, or given to what adds to it."""
    g = fn([V, Real], Real, lambda v, x: inner(vec(N, Real, lambda i: sin(v[i])), v, x))

    def iteration(v, i, s):
        slope = grad(g, 0)(v, s + v[i])
        return select(v[i] > 0.2, Real, slope[1] * slope[2], s)

    f = fn([V], Real, lambda v: fori(N, Real, 0.5, lambda i, s: iteration(v, i, s)))
    v = [0.8, -0.7, 0.6, -0.5, 0.4, 0.1, 0.9]
    slope = compile(grad(f))(v)
    assert slope == interp(grad(f))(v)
    assert slope == pytest.approx(differences(f, v), rel=1e-7, abs=1e-9)
