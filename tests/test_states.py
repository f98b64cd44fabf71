"""Vectors of a state that change places: compiled = interpreted, backward = forward, no copies."""

from __future__ import annotations

import math
from random import Random

import pytest
from engines import same
from random_programs import duals, flat
from random_states import program

from rose_core import Real, Vec, fn, fori, grad, imod, inspect, jvp, sin, struct, sum, vec

N = 60
V = Vec(N, Real)


def in_trips(f, *words: str) -> int:
    """How many of these instructions are in loops."""
    around: list[str] = []
    found = 0
    for line in inspect(f).wat.splitlines():
        word = line.split(maxsplit=1)[0]
        if word in ("block", "loop", "if"):
            around.append(word)
        elif word == "end":
            around.pop()
        found += word in words and "loop" in around
    return found


def gradient_of(f):
    """By all arguments."""
    return grad(f, range(len(f.func.param_types)))


@pytest.mark.parametrize("seed", range(150))
def test_random_ones(seed: int) -> None:
    f, draw = program(seed), Random(seed)

    def some():
        return [
            draw.uniform(-1, 1) if t is Real else [draw.uniform(-1, 1) for _ in range(t.index.size)]
            for t in f.func.param_types
        ]

    args, along = some(), some()
    value = same(f, *args)
    dual = same(jvp(f), *map(duals, args, along))
    assert dual.re == value
    gradient = same(gradient_of(f), *args)
    slope = math.fsum(a * b for a, b in zip(flat(gradient), flat(along), strict=True))
    assert slope == pytest.approx(dual.du, rel=1e-9, abs=1e-9)


def next_of(s):
    return vec(N, Real, lambda k: 1.1 * s.a[k] - s.b[imod(N, k)])


TRIPS = {
    "two, one of them changed": ("ab", lambda i, s: {"a": s.b, "b": s.a.set(i, s.b[i] * s.a[i])}),
    "the last": ("ab", lambda i, s: {"a": next_of(s), "b": s.a}),
    "the last two": ("abc", lambda i, s: {"a": next_of(s), "b": s.a, "c": s.b}),
    "three around": ("abc", lambda i, s: {"a": s.c, "b": s.a, "c": s.b.set(i, s.a[i] * 2.0)}),
    "two pairs": ("abcd", lambda i, s: {"a": s.b, "b": s.a, "c": s.d, "d": s.c.at[i].add(s.a[i])}),
    "one stays": ("abc", lambda i, s: {"a": s.a.set(i, s.b[i]), "b": s.c, "c": s.b}),
}
"""Names of the state, and an iteration of a loop in which vectors change places."""


@pytest.mark.parametrize("name", TRIPS)
def test_they_are_not_copied(name: str) -> None:
    names, iteration = TRIPS[name]
    state = struct(dict.fromkeys(names, V))

    @fn
    def f(x: V, y: V) -> Real:
        s = fori(N, state, {name: (x, y)[k % 2] for k, name in enumerate(names)}, iteration)
        return sum(N, lambda i: sum_of([sin(s[name][i] + k) for k, name in enumerate(names)]))

    assert in_trips(f, "memory.copy") == 0
    if name != "the last two":  # of which the value keeps both for the way back
        assert in_trips(gradient_of(f), "memory.copy") == 0
    args = [[math.sin(k * j) for k in range(N)] for j in (1, 2)]
    same(f, *args)
    same(gradient_of(f), *args)


def sum_of(terms):
    total = terms[0]
    for term in terms[1:]:
        total += term
    return total
