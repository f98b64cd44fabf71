"""What runs only where something holds need not be possible elsewhere."""

from __future__ import annotations

import math
import operator
from itertools import pairwise

import pytest

from rose_core import (
    Real,
    RunError,
    Size,
    Vec,
    and_,
    compile,
    cond,
    fn,
    fori,
    grad,
    iadd,
    imin,
    imod,
    index,
    interp,
    minimize,
    not_,
    root,
    select,
    sum,
    vec,
    while_loop,
)
from tests.differences import differences


@pytest.mark.parametrize("place", ["cond", "fori", "while_loop", "call"])
@pytest.mark.parametrize("by", [compile, interp])
def test_an_index_is_checked_where_it_is_used(place, by) -> None:
    """It is made before a choice, or a loop, which guards it."""
    R3 = Vec(3, Real)

    def f(i, v):
        k = i + 1
        last = i >= 2
        if place == "cond":
            return cond(last, Real, lambda: 0.0, lambda: v[k] - v[i])
        if place == "call":
            step = fn([3, R3], Real, lambda k, v: v[k])
            return cond(last, Real, lambda: 0.0, lambda: step(k, v) - v[i])
        if place == "fori":
            return fori(select(last, 0.0, 1.0), Real, 0.0, lambda _, s: s + v[k] - v[i])
        return while_loop(Real, 0.0, lambda s: and_(not_(last), s == 0), lambda s: s + v[k] - v[i])

    g = fn([3, R3], Real, f)
    assert [by(g)(i, [1.0, 3.0, 7.0]) for i in range(3)] == [2.0, 4.0, 0.0]
    assert by(grad(g, 1))(2, [1.0, 3.0, 7.0]) == [0.0, 0.0, 0.0]
    assert by(grad(g, 1))(1, [1.0, 3.0, 7.0]) == [0.0, -1.0, 1.0]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_guarded_neighbour_that_is_never_there(size) -> None:
    n = Size("n")

    def next_one(v, i):
        k = iadd(n, i, 1)
        return cond(i + 1 < n, Real, lambda: v[k] * v[i], lambda: 0.0)

    guarded = fn([Vec(n, Real)], Real, lambda v: sum(n, lambda i: next_one(v, i)))
    inner = fn([Vec(n, Real)], Real, lambda v: sum(int(n) - 1, lambda i: v[iadd(n, i, 1)] * v[iadd(n, i, 0)]))
    v = [2.0, 3.0, 5.0][:size]
    expected = math.fsum(a * b for a, b in pairwise(v))
    assert compile(guarded.at(n=size))(v) == compile(inner.at(n=size))(v) == expected


@pytest.mark.parametrize("size", range(4))
def test_sizes_at_which_nothing_is_left(size) -> None:
    """A loop without iterations asks for indices that are not there."""
    n = Size("n")
    turned = fn([Vec(n, Real)], Real, lambda v: sum(n, lambda i: v[imod(n, i + 1)] * v[i]))
    clamped = fn([Vec(n, Real)], Real, lambda v: sum(n, lambda i: v[imin(n, i + 1, n - 1)] * v[i]))
    first = fn([Vec(n, Real)], Real, lambda v: v[imod(n, 0)])
    v = [2.0, 3.0, 5.0][:size]
    for f, after in (turned, [*v[1:], *v[:1]]), (clamped, [*v[1:], *v[-1:]]):
        expected = math.fsum(map(operator.mul, v, after))
        assert compile(f.at(n=size))(v) == interp(f.at(n=size))(v) == expected
        slope = grad(f).at(n=size)
        assert compile(slope)(v) == interp(slope)(v) == pytest.approx(differences(f.at(n=size), v))
    if size:
        assert compile(first.at(n=size))(v) == 2.0
    else:
        with pytest.raises(IndexError, match="imod: 0 is out of range"):
            first.at(n=0)


@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("size", [0, 1, 3])
def test_indices_are_compared_with_any_number(size, shift) -> None:
    n = Size("n")
    numbers = [-(2**40), -5, -2, -1, 0, 1, 2, 3, 2**31 - 2, 2**31, 2**40]
    for compare in (operator.lt, operator.le, operator.eq, operator.ne, operator.ge, operator.gt):

        def body(v, compare=compare):
            def chosen(k):
                return lambda j: select(compare(j - shift if shift else j, k), Real, v[j], 0.0)

            return [sum(n, chosen(k)) for k in (*numbers, n)]

        f = fn([Vec(n, Real)], Vec(len(numbers) + 1, Real), body).at(n=size)
        v = [10.0**i for i in range(size)]
        found = [math.fsum(v[i] for i in range(size) if compare(i - shift, k)) for k in (*numbers, size)]
        assert list(compile(f)(v)) == list(interp(f)(v)) == found


def test_what_a_side_cannot_compute_does_not_hinder_the_other() -> None:
    """All numbers of the side are known when it is compiled, and there is no derivative."""
    f = fn(
        [Real],
        Real,
        lambda x: cond(x > 0, Real, lambda: minimize(lambda y: abs(y - 1), 1.0) * x, lambda: x * x),
    )
    slope = compile(grad(f))
    assert slope(-1.0) == -2.0
    singular = fn([Real], Real, lambda a: cond(a > 0, Real, lambda: root(lambda x: a, 0.0), lambda: a * a))
    assert compile(grad(singular))(-1.0) == interp(grad(singular))(-1.0) == -2.0
    for by in (compile, interp):
        with pytest.raises(RunError, match="root"):
            by(grad(singular))(1.0)


@pytest.mark.parametrize("what", ["call", "cond", "while", "root"])
def test_what_would_fail_stays_in_a_loop_without_iterations(what) -> None:
    """Though it is the same in every iteration, so that it could come before the loop."""
    inverse = fn([Real, Vec(3, Real)], Real, lambda x, v: v[index(3, x)])
    kinds = {
        "call": inverse,
        "cond": lambda x, v: cond(x > 0, Real, lambda: inverse(x, v), lambda: x),
        "while": lambda x, v: while_loop(Real, x, lambda s: s > 0, lambda s: s + 1, limit=9),
        "root": lambda x, v: root(lambda y: y * y + x, 1.0),
    }

    def total(size):
        def body(x, v):
            each = vec(size, Real, lambda i: kinds[what](x, v))
            return sum(size, lambda i: each[i])

        return fn([Real, Vec(3, Real)], Real, body)

    at = 7.5, [1.0, 2.0, 3.0]
    for f in (total(0), grad(total(0)), grad(grad(total(0)))):
        assert compile(f)(*at) == interp(f)(*at) == 0.0
    with pytest.raises(RunError):
        compile(total(1))(*at)
