"""Loops that read what one with a state keeps become part of it: the same bits, and the same derivatives."""

from __future__ import annotations

import pytest
from differences import assert_derivatives
from engines import same

from rose_core import Real, Vec, exp, fn, inspect, scan, struct, sum, vec
from rose_core.derivatives import expand

T = 24
"""Steps, more than are written out."""

V = Vec(T, Real)
X = [0.3 * (-1) ** k + 0.02 * k for k in range(T)]


def course(x, a=0.5):
    """What a state is after each step."""
    return scan(T, Real, 0.1, lambda s, i: (lambda y: [y, y])(a * s + x[i]))


PROGRAMS = {
    "a sum": lambda x, end, y: sum(T, lambda i: (y[i] - x[i]) ** 2),
    "a sum of more": lambda x, end, y: sum(T, lambda i: y[i] * x[3]) + x[0],
    "what is computed before it": lambda x, end, y: sum(T, lambda i: y[i] * (x[3] * x[4] + 1.0)),
    "the end of the state besides": lambda x, end, y: sum(T, lambda i: y[i] * y[i]) + end,
    "the end alone": lambda x, end, y: end * x[0],
    "two sums": lambda x, end, y: sum(T, lambda i: y[i] * x[i]) * sum(T, lambda i: y[i]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_becomes_part(name: str, monkeypatch) -> None:
    f = fn([V], Real, lambda x: PROGRAMS[name](x, *course(x)))
    value = same(f, X)
    assert count(f) == 0
    assert_derivatives(f, X)
    monkeypatch.setattr(expand, "joined", lambda f: f)
    assert repr(same(f, X)) == repr(value)


def test_arrays_that_are_made_of_it() -> None:
    def body(x):
        _, y = course(x)
        z = vec(T, Real, lambda i: y[i] * 2.0 - x[i])
        return sum(T, lambda i: z[i] * z[T - 1])

    f = fn([V], Real, body)
    same(f, X)
    assert count(f) == 1
    assert_derivatives(f, X)


def count(f) -> int:
    """How many loops without a state there are."""
    return str(inspect(f).ir).count("[for ")


STAYS = {
    "what reads another step": lambda x, end, y: sum(T, lambda i: y[T - 1] * y[i]),
    "what needs the end": lambda x, end, y: sum(T, lambda i: y[i] * end),
    "what takes long": lambda x, end, y: sum(T, lambda i: exp(y[i]) + exp(-y[i])),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_does_not(name: str) -> None:
    f = fn([V], Real, lambda x: STAYS[name](x, *course(x)))
    same(f, X)
    assert count(f) == 1
    assert_derivatives(f, X)


def test_what_is_read_elsewhere_is_still_kept() -> None:
    def body(x):
        end, y = course(x)
        return {"far": sum(T, lambda i: (y[i] - x[i]) ** 2), "course": y, "end": end}

    f = fn([V], struct({"far": Real, "course": V, "end": Real}), body)
    found = same(f, X)
    s, course_, far = 0.1, [], 0.0
    for x in X:
        s = 0.5 * s + x
        course_.append(s)
        far += (s - x) ** 2
    assert [*found.course] == course_
    assert (found.far, found.end) == (far, s)
    assert count(f) == 0


def test_states_of_several_numbers_and_rows() -> None:
    """Of a state that is a vector, and of steps in a loop around."""
    P = Vec(2, Real)

    def one(c, x):
        def step(s, i):
            new = [0.9 * s[0] + 0.1 * s[1], 0.8 * s[1] - 0.2 * s[0] * x[i] * c]
            return [new, new]

        _, y = scan(T, P, [1.0, 0.5], step)
        return sum(T, lambda i: (y[i][0] - x[i]) ** 2 + y[i][1] * c)

    f = fn([V], Real, lambda x: sum(4, lambda k: one(x[k], x)))
    same(f, X)
    assert count(f) == 1
    assert_derivatives(f, X)


def test_other_numbers_of_steps() -> None:
    """Where there are fewer steps than there are indices, what follows reads zeros."""
    W = Vec(T, Real)

    def body(x, n):
        _, y = scan(n, Real, 0.1, lambda s, i: (lambda y: [y, y])(0.5 * s + x[i]))
        return sum(T, lambda i: (y[i] - x[i]) ** 2)

    f = fn([W, T], Real, body)
    for n in (0, 3, T - 1):
        same(f, X, n)
