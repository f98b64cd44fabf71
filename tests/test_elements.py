"""Vectors that are added to accumulators: the elements are, and the sums are the same bits."""

from __future__ import annotations

import pytest

from rose_core import Real, Vec, fn, fori, grad, imod
from rose_core import sum as total
from rose_core.language.ir import ADD_TO, VEC, Func, callees_first
from tests.test_unroll import root, same, wave

N, K = 30, 20
V = Vec(N, Real)


def vectors(f) -> int:
    """How many vectors of what is computed are added in what is lowered."""

    def count(g: Func) -> int:
        added = [g.code[ins[2]] for ins in g.code if ins[0] == ADD_TO and ins[2] >= 0]
        return sum(ins[0] == VEC and any(x >= 0 for x in ins[1:]) for ins in added)

    return sum(map(count, callees_first(root(f))))


def rows(used: int):
    """A function of rows of points, which uses so many coordinates of each row."""
    rows = Vec(K, Vec(3, Vec(4, Real)))

    def f(rows, w):
        def squared(i):
            def term(j, k):
                row = rows[j][k]
                return w[imod(N, i + j)] * sum((row[c] for c in range(used)), start=0.0) * w[i]

            parts = [total(K, lambda j, k=k: term(j, k)) for k in range(3)]
            return sum(p * p for p in parts)

        return total(N, squared)

    return fn([rows, V], Real, f)


@pytest.mark.parametrize("used", [1, 2, 3, 4])
def test_rows(used: int) -> None:
    """Of each, all coordinates or some."""
    f = grad(rows(used), [0, 1])
    points = [[wave(4, phase=j + k) for k in range(3)] for j in range(K)]
    same(f, points, wave(N))
    assert vectors(f) == 0


def test_state() -> None:
    """What a turn gives to the numbers of a matrix in its state."""
    S = Vec(2, Vec(2, Real))

    def turn(i, s, v):
        (a, b), (c, d) = s
        k = a / (a + v[i])
        return [[(1 - k) * a, b + d], [k * c - b, 0.9 * d]]

    f = fn([V, S], Real, lambda v, s: fori(N, S, s, lambda i, s: turn(i, s, v))[0][0])
    g = grad(f, [0, 1])
    same(g, [1 + x * x for x in wave(N)], [[1.0, 0.2], [0.3, 0.4]])
    assert vectors(g) == 0
