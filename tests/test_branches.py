"""Both sides of a minimum or maximum are set by one branch: the same numbers, to the bit."""

from __future__ import annotations

import math
from random import Random

import pytest
from engines import same

from rose_core import Real, Vec, cond, fn, fori, grad, inspect, max, min, sqrt, sum
from rose_core.wasm import expressions

N = 6
V = Vec(N, Real)


def step(draw: Random, x, a, b):
    """One or two numbers, of two others."""
    kinds = [
        lambda: [draw.choice([max, min])(a, b)],
        lambda: [min(a, b), max(a, b)],
        lambda: [draw.choice([1.0, 0.5]) * max(b, a) - min(a, 1.0)],
        lambda: [a * b],
        lambda: [sqrt(max(0.0, a))],
        lambda: [fori(3, Real, a, lambda i, s: max(s, x[i] * b))],
        lambda: [cond(a > b, Real, lambda: max(a, 0.5) * b, lambda: min(b, 0.5))],
    ]
    return draw.choice(kinds)()


def random_program(seed: int):
    """A number made of many least and largest ones, of which many are equal."""
    draw = Random(seed)

    def body(x):
        found = [x[k] for k in range(N)]
        for _ in range(draw.randrange(2, 12)):
            a, b = draw.sample(found, 2)
            found += step(draw, x, a, b if draw.random() < 0.8 else 0.0)
        return sum([(k + 1.0) * y for k, y in enumerate(found[N:])])

    return grad(fn([V], Real, body))


def numbers(seed: int) -> list[list[float]]:
    """Arguments: many that are equal, and some that are no ordinary numbers."""
    draw = Random(seed)
    sets = [[-1.0, -0.5, 0.0, 0.5, 1.0], [-1.0, 0.0, -0.0, 0.5, math.inf, math.nan]]
    return [[draw.choice(of) for _ in range(N)] for of in sets]


@pytest.mark.parametrize("seeds", [range(k, k + 5) for k in range(0, 40, 5)], ids=str)
def test_random_programs(seeds, monkeypatch) -> None:
    for seed in seeds:
        found = [same(random_program(seed), x) for x in numbers(seed)]
        with monkeypatch.context() as m:
            m.setattr(expressions, "branches_of", lambda *_: {})
            assert repr(found) == repr([same(random_program(seed), x) for x in numbers(seed)])


def test_no_choice_is_left() -> None:
    f = grad(fn([V], Real, lambda x: max(x[0] * x[1], x[2]) ** 2 + max(x[3], 0.0) * min(x[4], x[5])))
    wat = inspect(f).wat
    assert "select" not in wat
    assert wat.count("else") == 6
    assert same(f, [1.0, 2.0, 2.0, 4.0, 0.5, 1.0]) == [4.0, 2.0, 2.0, 0.5, 4.0, 0.0]


@pytest.mark.parametrize(("n", "are_branches"), [(30, True), (200, False)])
def test_a_chain(n, are_branches) -> None:
    """The code of one stands before that of the next; where there are many, they stay choices."""

    def chain(x):
        draw, y = Random(n), x[0]
        for k in range(n):
            other = x[draw.randrange(N)] * (1 + 0.01 * k)
            y = draw.choice([max, min])(y + 0.1 if draw.random() < 0.5 else y * other, other)
        return y * y

    f = grad(fn([V], Real, chain))
    assert ("else" in inspect(f).wat) == are_branches
    same(f, [0.3 * k for k in range(N)])
