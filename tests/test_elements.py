"""Vectors that are added to accumulators: the elements are, and the sums are the same bits."""

from __future__ import annotations

import pytest
from differences import differences

from rose_core import Real, Vec, compile, cos, fn, fori, grad, iadd, imod, imul, sin, vec
from rose_core import sum as total
from rose_core.language.ir import ADD_TO, REF_INDEX, VEC, Func
from rose_core.language.queries import callees_first
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
    """What an iteration gives to the numbers of a matrix in its state."""
    S = Vec(2, Vec(2, Real))

    def iteration(i, s, v):
        (a, b), (c, d) = s
        k = a / (a + v[i])
        return [[(1 - k) * a, b + d], [k * c - b, 0.9 * d]]

    f = fn([V, S], Real, lambda v, s: fori(N, S, s, lambda i, s: iteration(i, s, v))[0][0])
    g = grad(f, [0, 1])
    same(g, [1 + x * x for x in wave(N)], [[1.0, 0.2], [0.3, 0.4]])
    assert vectors(g) == 0


def product(x, i, j, d: int):
    return total(d, lambda k: x[i][k] * x[j][k])


def distance(x, i, j, d: int):
    return total(d, lambda k: (x[i][k] - x[j][k]) * (x[i][k] - x[j][k]))


def in_memory(f: Func) -> int:
    """How many elements in memory are added to in loops that no other loop is in."""
    around = {block.parent for block in f.blocks}
    added = [ins[1] for v, ins in enumerate(f.code) if ins[0] == ADD_TO and f.home[v] not in around]
    return sum(f.code[r][0] == REF_INDEX for r in added)


@pytest.mark.parametrize("d", [2, 3, 7])
@pytest.mark.parametrize("of", [product, distance], ids=lambda of: of.__name__)
def test_what_a_short_row_gets_of_all_others_is_in_variables(of, d: int) -> None:
    """Though it is one of those that others get something of it."""
    n = 9
    shape = Vec(n, Vec(d, Real))

    def energy(x):
        return total(n, lambda i: total(n, lambda j: sin(of(x, i, j, d))))

    def of_numbers(y):
        rows = vec(n, Vec(d, Real), lambda i: [y[iadd(n * d, imul(n * d, i, d), k)] for k in range(d)])
        return energy(rows)

    x = [wave(d, phase=i) for i in range(n)]
    flat = fn([Vec(n * d, Real)], Real, of_numbers)
    g = grad(fn([shape], Real, energy))
    assert in_memory(same(g, x)) == d
    assert vectors(g) == 0
    found = [slope for row in compile(g)(x) for slope in row]
    assert found == pytest.approx(differences(flat, [c for row in x for c in row]), rel=1e-7, abs=1e-8)


def test_what_a_short_row_gets_of_pairs_of_others_is_in_variables() -> None:
    n, d = 4, 2
    shape = Vec(n, Vec(d, Real))

    def term(x, i, j, k):
        return cos(total(d, lambda c: x[i][c] * x[j][c] * x[k][c]))

    f = fn(
        [shape], Real, lambda x: total(n, lambda i: total(n, lambda j: total(n, lambda k: term(x, i, j, k))))
    )
    g = grad(f)
    assert in_memory(same(g, [wave(d, phase=i) for i in range(n)])) == d
