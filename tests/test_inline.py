"""Short functions are in line, and functions of arrays that are called in one place; others are called."""

from __future__ import annotations

import math

import pytest
from test_growth import functions

from rose_core import Dual, Real, Vec, checkpoint, compile, fn, fori, grad, interp, opaque, sin, sum, vec, vjp
from rose_core.derivatives.expand import DerivativeError, Expansion
from rose_core.language.ir import LOOP
from rose_core.language.ops import code
from rose_core.language.queries import opcodes
from rose_core.optimise.inline import (
    LONGEST_CHAIN,
    LONGEST_IN_LOOP,
    MOST_ADDED,
    SHORT,
    SHORTEST,
    in_line,
    in_loops,
)

N = 4
V = Vec(N, Real)
X = [0.5, -1.0, 2.0, 0.25]


def names(f) -> set[str]:
    """Of all functions that are left when ``f`` has others in line."""
    return {g.name for g in functions(in_line(f.func))} - {f.func.name}


def waves(x, count: int):
    for _ in range(count):
        x = sin(x)
    return x


@fn
def norm(x: V) -> Real:
    return waves(x[0], SHORT) * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]


def part(x):
    """What `norm` computes, too."""
    return waves(x[0], SHORT) * x[0] + x[1] * x[1]


@fn
def wave(x: Real) -> Real:
    return waves(x, SHORT)


@fn
def half(x: Real) -> Real:
    return 0.5 * x


def check(f) -> None:
    """Value and gradient, compiled, interpreted, and by differences."""
    g = fn([V], V, lambda x: vjp(f)(x).grad(1))
    assert compile(f)(X) == interp(f)(X)
    assert compile(g)(X) == interp(g)(X)
    for k, slope in enumerate(compile(g)(X)):
        up, down = ([x + h * (j == k) for j, x in enumerate(X)] for h in (1e-5, -1e-5))
        assert slope == pytest.approx((interp(f)(up) - interp(f)(down)) / 2e-5, rel=1e-7, abs=1e-8)


def test_the_shortest() -> None:
    def often(x):
        for k in range(4 * MOST_ADDED):
            x = half(x) + 1.0 / (k + 1)
        return x

    assert len(half.func.code) <= SHORTEST
    f = fn([V], Real, lambda x: often(x[0]) * wave(x[1]))
    assert names(f) == {"wave"}
    check(f)


@pytest.mark.parametrize("calls", [2, MOST_ADDED])
def test_short_ones_unless_they_are_called_often(calls: int) -> None:
    short = fn([Real], Real, lambda x: waves(x, SHORT // 2))

    def often(x):
        for _ in range(calls):
            x = short(x) + 1.0
        return x

    f = fn([V], Real, lambda x: often(x[0]) + x[1])
    assert len(in_line(f.func).callees) == (calls > 2)
    check(f)


def test_called_once() -> None:
    f = fn([V], Real, lambda x: wave(norm(x)) + part(x))
    assert names(f) == {"wave"}
    check(f)


def test_called_once_but_nothing_is_shared() -> None:
    f = fn([V], Real, lambda x: wave(norm(x)) + x[0])
    assert names(f) == {"wave", "norm"}
    check(f)


def test_copies_are_kept_until_others_are_in_line() -> None:
    helper = fn([Real], Real, lambda x: waves(x, SHORT // 2))
    outer = fn([V], Real, lambda x: waves(helper(x[0]), SHORT) + x[1])

    def program(calls: int):
        def body(x):
            y = outer(x) * outer([2.0 * z for z in x])
            for _ in range(calls):
                y = helper(y)
            return y

        return in_line(fn([V], Real, body).func)

    first, second, third = program(0), program(2), program(MOST_ADDED)
    assert first.callees == second.callees != [outer.func]
    assert third.callees == [outer.func, helper.func]
    assert program(2).callees != [outer.func]


def test_copies_are_kept_where_more_in_line_would_share_nothing() -> None:
    lonely = fn([V], Real, lambda x: waves(x[0] * x[1], SHORT))
    outer = fn([V], Real, lambda x: waves(half(x[2]), SHORT) + lonely(x))

    def program():
        return in_line(fn([V], Real, lambda x: outer(x) * outer([2.0 * z for z in x])).func)

    (first,), (second,) = program().callees, program().callees
    assert first is second
    assert first.callees == [lonely.func]


def test_fifty_functions_of_which_one_may_be_edited() -> None:
    def some(k: int):
        @fn
        def one(x: V) -> Real:
            y = x[k % N]
            for j in range(SHORT):
                y = sin(y * (k + 1)) + x[j % N]
            return y

        return one

    def all_of_them(x):
        y = 0.0
        for k in range(50):
            y = y + some(k)(x)
        return y

    f = fn([V], Real, all_of_them)
    assert in_line(f.func) is f.func


def test_called_twice() -> None:
    f = fn([V], Real, lambda x: norm(x) * norm(vec(N, Real, lambda i: x[i] + 1.0)) + part(x))
    assert names(f) == {"norm"}
    check(f)


def test_called_and_differentiated() -> None:
    f = fn([V], Real, lambda x: norm(x) + vjp(norm)(x).grad(1)[0] + part(x))
    assert names(f) == {"norm"}
    check(f)


def test_in_what_is_differentiated() -> None:
    inner = fn([V], Real, lambda x: sin(norm(x)) + part(x))
    outer = fn([V], Real, lambda x: vjp(inner)(x).grad(1)[1])
    assert "norm" not in names(outer)
    check(outer)


def test_the_derivative_is_the_authors() -> None:
    odd = fn([V], Real, lambda x: x[0] * x[0])
    odd.jvp = fn([Vec(N, Dual)], Dual, lambda x: {"re": x[0].re, "du": 7.0 * x[0].du})
    f = fn([V], Real, lambda x: odd(x) * 2 + x[0] + x[1] * x[1])
    assert "" not in names(f)
    assert len(in_line(f.func).callees) == 1
    assert compile(fn([V], V, lambda x: vjp(f)(x).grad(1)))(X) == [15, -2, 0, 0]


def test_what_has_a_body_but_no_derivative() -> None:
    """As a page's `opaque` of a function that the compiler knows."""
    known = fn([Real], Real, sin)
    known.func.opaque = True
    f = fn([Real], Real, lambda x: known(x) * x)
    assert in_line(f.func).callees == [known.func]
    assert compile(f)(0.5) == 0.5 * math.sin(0.5)
    with pytest.raises(DerivativeError, match="no derivative"):
        compile(fn([Real], Real, lambda x: vjp(f)(x).grad(1)))


def test_what_is_run_again_or_the_hosts() -> None:
    again = checkpoint(norm)
    told = opaque([V], Real, lambda x: x[0])
    assert in_line(fn([V], Real, lambda x: again(x) * part(x)).func).callees
    assert in_line(fn([V], Real, lambda x: told(x) * part(x)).func).callees


def test_bodies_of_loops_stay_functions() -> None:
    f = fn([V], Real, lambda x: fori(3, Real, 1.0, lambda i, s: s * norm(x)) + part(x))
    check(f)


@pytest.mark.parametrize(("length", "stays"), [(LONGEST_IN_LOOP // 2 - 10, False), (LONGEST_IN_LOOP, True)])
def test_long_ones_are_called_in_loops(length: int, stays: bool) -> None:
    def trips(x, count: int):
        y = x[0]
        for _ in range(count):
            y = sin(y) + x[1]
        return y

    @fn
    def long(x: V) -> Real:
        return trips(x, length)

    def twice(x):
        return long(x) + trips(x, length // 4)

    f = fn([V], Real, lambda x: sum(N, lambda i: twice(vec(N, Real, lambda k: x[k] * x[i]))))
    assert ("long" in names(f)) is stays
    check(f)


def links(count: int, first=norm):
    """Functions that each call the one before, in one place."""
    f = first
    for _ in range(count):
        f = fn([V], Real, lambda x, g=f: waves(g(x) * 0.5 + x[1], SHORT))
    return f


@fn
def inner(x: Real) -> Real:
    return waves(x, 2 * SHORT)


@fn
def scaled(x: V, y: Real) -> Real:
    return inner((y - x[0]) * sin(x[1])) + waves(y, SHORT)


def test_called_in_one_place_in_a_loop() -> None:
    """What is the same in all iterations is computed before them, on the way back, too."""
    f = fn([V], Real, lambda x: sum(N, lambda i: scaled(x, x[i])))
    assert names(f) == {"inner", "scaled"}
    assert functions(in_loops(f.func)) == [in_loops(f.func)]
    check(f)
    (gradient,) = functions(Expansion(fn([V], V, lambda x: vjp(f)(x).grad(1)).func).root)
    outside = {ins[0] for ins, home in zip(gradient.code, gradient.home, strict=False) if home == 0}
    assert {code("sin"), code("cos")} <= outside


def test_called_in_two_places_in_loops() -> None:
    f = fn([V], Real, lambda x: sum(N, lambda i: scaled(x, x[i])) * sum(N, lambda i: scaled(x, 2 * x[i])))
    assert {g.name for g in functions(in_loops(f.func))} == {f.func.name, "inner", "scaled"}
    check(f)


def test_a_short_chain_stays() -> None:
    """So that one of its functions may be edited."""
    f = fn([Real], Real, lambda x: waves(x, SHORT))
    for _ in range(LONGEST_CHAIN - 1):
        f = fn([Real], Real, lambda x, g=f: g(x) * 0.5 + waves(x, SHORT))
    assert len(functions(in_line(f.func))) == LONGEST_CHAIN
    f = fn([Real], Real, lambda x, g=f: g(x) * 0.5 + waves(x, SHORT))
    assert len(functions(in_line(fn([Real], Real, f).func))) == 1


def test_a_long_chain_is_in_line() -> None:
    f = links(LONGEST_CHAIN + 1)
    assert names(f) == set()
    check(f)


def test_a_long_chain_in_a_loop_is_called() -> None:
    """Only from there on it is in line."""
    f = links(LONGEST_CHAIN + 1)
    g = fn([V], Real, lambda x: sum(N, lambda i: f(vec(N, Real, lambda k: x[k] * x[i]))))
    assert len(functions(in_line(g.func))) == 2
    check(g)


def test_a_rule_that_is_set_anew() -> None:
    """With something in line in the function itself, and nothing in its rules."""
    square = fn([Real], Real, lambda x: x * x)
    f = fn([Real], Real, lambda x: square(square(x) + 1.0))
    slope = grad(fn([Real], Real, lambda x: 2.0 * f(x)))
    for k in (10.0, 20.0, 10.0):
        f.jvp = fn([Dual], Dual, lambda x, k=k: {"re": f(x.re), "du": x.du * k})
        assert compile(slope)(3.0) == interp(slope)(3.0) == 2.0 * k


def test_a_rule_calls_what_the_program_calls() -> None:
    f = fn([Real], Real, lambda x: fori(40, Real, x, lambda i, y: half(y) + sin(y)))
    f.jvp = fn([Dual], Dual, lambda x: {"re": f(x.re), "du": 3 * x.du})
    g = fn([Real], Real, lambda x: f(x) + vjp(f)(x).grad(1))
    assert sum(LOOP in opcodes(h) for h in functions(Expansion(g.func).root)) == 1
    f.jvp = fn([Dual], Dual, lambda x: {"re": f(x.re), "du": 5 * x.du})
    assert compile(g)(0.5) == interp(f)(0.5) + 5


def test_a_chain_of_what_stays() -> None:
    f = norm
    for _ in range(2 * LONGEST_CHAIN):
        f = checkpoint(links(1, f))
    assert len([g for g in functions(in_line(f.func)) if g.remat]) == 2 * LONGEST_CHAIN
    check(f)
