"""Indices are not checked in the sides of choices whose conditions say that they are right."""

from __future__ import annotations

from random import Random
from unittest.mock import patch

import pytest
from engines import outcome, same, same_outcome

from rose_core import Real, Vec, and_, cond, fn, fori, grad, ileq, imin, interp, not_, or_, real, sin, vec
from rose_core import sum as total
from rose_core.derivatives import expand
from rose_core.language.ir import Func
from rose_core.language.ops import by_name
from rose_core.recording.rebuild import expanded

N = 12
V = Vec(N, Real)
X = [((7 * k) % 11 - 5) / 4 for k in range(N)]

BOUND = by_name["bound"].code


def checks(f) -> int:
    """How many indices a program checks."""
    waiting, seen = [expanded(f.func)], set[Func]()
    while waiting:
        g = waiting.pop()
        if g not in seen:
            seen.add(g)
            waiting += g.callees
    return sum(ins[0] == BOUND for g in seen for ins in g.code)


def otherwise(p, inside, outside=lambda: 0.5):
    return cond(p, Real, outside, inside)


PROVEN = {
    "less": lambda x, i: otherwise(i < 2, lambda: x[i - 2]),
    "at most": lambda x, i: cond(i <= N - 3, Real, lambda: x[i + 2], lambda: x[i]),
    "more": lambda x, i: otherwise(i > N - 4, lambda: x[i + 3]),
    "at least": lambda x, i: cond(i >= 4, Real, lambda: x[i - 4], lambda: 1.0),
    "the constant first": lambda x, i: cond(ileq(N, 4, i), Real, lambda: x[i - 4], lambda: 1.0),
    "equal": lambda x, i: cond(i == 5, Real, lambda: x[i + 6] * x[i - 5], lambda: x[i]),
    "not the first": lambda x, i: otherwise(i == 0, lambda: x[i - 1]),
    "not the last": lambda x, i: cond(not_(i == N - 1), Real, lambda: x[i + 1], lambda: 0.0),
    "as a number": lambda x, i: otherwise(real(i) < 1.5, lambda: x[i - 2]),
    "at most a number": lambda x, i: cond(real(i) <= N - 2.5, Real, lambda: x[i + 2], lambda: 1.0),
    "above a number": lambda x, i: cond(real(i) > 2, Real, lambda: x[i - 3], lambda: 1.0),
    "more than another": lambda x, i: cond(i + 3 < N, Real, lambda: x[i + 3], lambda: x[i]),
    "either": lambda x, i: otherwise(or_(i < 1, i >= N - 1), lambda: x[i - 1] * x[i + 1]),
    "both": lambda x, i: cond(and_(i > 0, i < N - 1), Real, lambda: x[i - 1] * x[i + 1], lambda: x[i]),
    "in each other": lambda x, i: otherwise(i < 1, lambda: otherwise(i > N - 2, lambda: x[i - 1] * x[i + 1])),
    "of two loops": lambda x, i: total(
        3, lambda k: cond(imin(9, i, 8) <= k, Real, lambda: x[k + 9], lambda: x[i])
    ),
    "in a loop": lambda x, i: cond(
        i < 3,
        Real,
        lambda: total(4, lambda k: x[i + k + 5]),
        lambda: fori(2, Real, 0.0, lambda _, s: s + x[i - 3]),
    ),
}


@pytest.mark.parametrize("name", PROVEN)
def test_proven(name: str) -> None:
    f = fn([V], Real, lambda x: total(N, lambda i: PROVEN[name](x, i)))
    made = [f, grad(f), fn([V], V, lambda x: vec(N, Real, lambda i: PROVEN[name](x, i)))]
    assert [checks(g) for g in made] == [0, 0, 0]
    for g in made:
        same(g, X)


NEEDED = {
    "one more": lambda x, i: otherwise(i < 1, lambda: x[i - 2]),
    "the other side": lambda x, i: cond(i < 2, Real, lambda: x[i - 2], lambda: x[i]),
    "one of both": lambda x, i: otherwise(and_(i < 1, i < 5), lambda: x[i - 1 - 1]),
    "one of either": lambda x, i: cond(or_(i > 3, i > 5), Real, lambda: x[i - 5], lambda: 1.0),
    "a number": lambda x, i: otherwise(x[i] > 2.0, lambda: x[i - 2]),
    "no number": lambda x, i: otherwise(real(i) < float("nan"), lambda: x[i - 1]),
    "infinite": lambda x, i: otherwise(real(i) < -float("inf"), lambda: x[i - 1]),
    "not another one": lambda x, i: otherwise(i == 3, lambda: x[i - 1]),
}


@pytest.mark.parametrize("name", NEEDED)
def test_needed(name: str) -> None:
    """What may be wrong is checked, and told."""
    f = fn([V], Real, lambda x: total(N, lambda i: NEEDED[name](x, i)))
    assert checks(f) == 1
    assert "out of range" in str(same_outcome(f, X))


def below(i, term):
    """Without iterations for the first index."""
    return total(N, lambda k: cond(k < i, Real, lambda: term(k), lambda: 0.0))


def ninth(x):
    return x * x * x * x * x * x * x * x * x


MISSING = {
    "a product": lambda x, m, c, i: below(i, lambda k: x[k] * (x[i - 1] * c)),
    "a factor": lambda x, m, c, i: below(i, lambda k: ninth(x[k]) * x[i - 1]),
    "a factor of others": lambda x, m, c, i: below(i, lambda k: ninth(m[k][0]) * x[i - 1]),
    "an element of a row": lambda x, m, c, i: below(i, lambda k: ninth(x[k]) * m[i - 1][2]),
    "a sum": lambda x, m, c, i: total(
        N,
        lambda k: cond(k + 4 < i, Real, lambda: x[k] * total(5, lambda j: c * x[i - 1 - j]), lambda: 0.0),
    ),
    "a choice": lambda x, m, c, i: below(
        i, lambda k: x[k] * cond(c > 0, Real, lambda: sin(x[i - 1]), lambda: sin(c))
    ),
}


@pytest.mark.parametrize("name", MISSING)
def test_elements_are_not_read_before_a_loop_without_iterations(name: str) -> None:
    """They may not be there."""
    f = fn([V, Vec(N, V), Real], Real, lambda x, m, c: total(N, lambda i: MISSING[name](x, m, c, i)))
    for g in (f, grad(f)):
        assert checks(g) == 0
        same(g, X, [X] * N, 0.5)


def test_one_side_for_several_choices() -> None:
    """A function that several choices call knows of each what that asks."""

    def of(x, i, p, k):
        return cond(p, Real, lambda: x[i + k], lambda: 0.25)

    f = fn([V], Real, lambda x: total(N, lambda i: of(x, i, i < N - 1, 1) * of(x, i, i < N, 1)))
    assert checks(f) == 1
    assert "out of range" in str(same_outcome(f, X))


FEW = 5
"""As many indices, each of which is tried."""


class Told:
    """A function that reads an element, or does not, by what its two indices are."""

    def __init__(self, seed: int) -> None:
        self.draw = draw = Random(seed)
        self.is_simple = draw.random() < 0.5
        self.by = [draw.randrange(-3, 4) for _ in range(2)]
        self.function = fn([Vec(FEW, Real), FEW, FEW], Real, self.body)

    def body(self, x, i, j):
        draw, (by, other) = self.draw, self.by
        sides = [lambda: x[i + by] if self.is_simple else x[i + by] + 2.0 * x[j + other], lambda: -1.0]
        draw.shuffle(sides)
        return cond(self.condition(i, j, 0 if self.is_simple else 2), Real, *sides)

    def condition(self, i, j, depth: int):
        draw = self.draw
        if depth and draw.random() < 0.6:
            p = self.condition(i, j, depth - 1)
            return not_(p) if draw.random() < 0.3 else draw.choice([and_, or_])(p, self.condition(i, j, 1))
        if not self.is_simple and draw.random() < 0.3:
            i, j = j, i
        one, limit = i + draw.randrange(-2, 3), draw.randrange(FEW)
        kinds = ["whole", "number", "between"]
        kind = draw.choice(kinds if self.is_simple else [*kinds, "index", "index as number"])
        if kind in ("number", "between", "index as number"):
            one = real(one)
        if kind == "index":
            other = j + draw.randrange(-2, 3)
        elif kind == "index as number":
            other = real(j + draw.randrange(-2, 3))
        else:
            other = limit - 0.5 if kind == "between" else limit
        a, b = draw.sample([one, other], 2) if kind != "whole" else (one, other)
        return draw.choice([lambda: a < b, lambda: a <= b, lambda: a > b, lambda: a >= b, lambda: a == b])()

    def outcomes(self) -> list[object]:
        """For all indices, the number or the error."""
        run, x = interp(self.function), [0.5 + k for k in range(FEW)]
        return [outcome(run, x, i, j) for i in range(FEW) for j in range(FEW)]


def test_random_conditions() -> None:
    """What is not checked needs no check; and nothing is where one comparison with a constant says so."""
    removed = 0
    for seed in range(200):
        told = Told(seed)
        found, count = told.outcomes(), checks(told.function)
        with patch.object(expand, "proven", lambda f: f):
            plain = Told(seed)
            assert found == plain.outcomes(), seed
            removed += checks(plain.function) - count
        is_read = any(x != -1.0 for x in found)
        if told.is_simple and is_read and not any(isinstance(x, str) for x in found):
            assert not count, seed
    assert removed > 40
