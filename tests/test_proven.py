"""Indices are not checked in the sides of choices whose conditions say that they are right."""

from __future__ import annotations

import pytest
from engines import same, same_outcome

from rose_core import Real, Vec, and_, cond, fn, fori, grad, imin, not_, or_, real, vec
from rose_core import sum as total
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
    "the constant first": lambda x, i: cond(i >= 4, Real, lambda: x[i - 4], lambda: 1.0),
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


def test_one_side_for_several_choices() -> None:
    """A function that several choices call knows of each what that asks."""

    def of(x, i, p, k):
        return cond(p, Real, lambda: x[i + k], lambda: 0.25)

    f = fn([V], Real, lambda x: total(N, lambda i: of(x, i, i < N - 1, 1) * of(x, i, i < N, 1)))
    assert checks(f) == 1
    assert "out of range" in str(same_outcome(f, X))
