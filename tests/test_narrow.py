"""Loops get rows in place of matrices of which they read no more."""

from __future__ import annotations

import math

import pytest
from engines import same

from rose_core import Real, Vec, fn, fori, imin, interp, jvp, real, sqrt, struct, sum, vec, vjp
from rose_core.derivatives.expand import Expansion
from rose_core.language.ir import LOOP
from rose_core.language.types import Array
from rose_core.wasm.program import Program

N = 20
M = Vec(N, Vec(N, Real))


def gradient(f):
    return fn([M], M, lambda a: vjp(f)(a).grad(1.0))


def gram(n: int) -> list[list[float]]:
    """A matrix that is positive definite."""
    return [[math.exp(-((i - j) ** 2) / 50) + (i == j) for j in range(n)] for i in range(n)]


@fn
def log_determinant(a: M) -> Real:
    """By Cholesky's factors, written as in a book."""

    def row(i, factor):
        def column(j, factor):
            rest = a[i][j] - fori(j, Real, 0.0, lambda k, s: s + factor[i][k] * factor[j][k])
            return factor.at[i][j].set(rest / factor[j][j])

        factor = fori(i, M, factor, column)
        rest = a[i][i] - fori(i, Real, 0.0, lambda k, s: s + factor[i][k] * factor[i][k])
        return factor.at[i][i].set(sqrt(rest))

    zeros = vec(N, Vec(N, Real), lambda i: vec(N, Real, lambda j: 0.0))
    factor = fori(N, M, zeros, row)
    return sum(N, lambda i: factor[i][i] * real(i) + factor[i][0])


def test_a_factorisation_keeps_rows() -> None:
    a = gram(N)
    same(log_determinant, a)
    slopes = same(gradient(log_determinant), a)
    for i, j in [(0, 0), (3, 1), (7, 7), (N - 1, 2)]:
        up, down = ([list(row) for row in a] for _ in range(2))
        up[i][j] += 1e-6
        down[i][j] -= 1e-6
        difference = (interp(log_determinant)(up) - interp(log_determinant)(down)) / 2e-6
        assert slopes[i][j] == pytest.approx(difference, rel=1e-6, abs=1e-8)
    # a record for every row and column, with rows in it, and no matrices
    assert Program(Expansion(gradient(log_determinant).func).root).end < 50 * N * N * 8


def inner_loops(f):
    root = Expansion(f.func).root
    todo, found = [root], []
    while todo:
        g = todo.pop()
        found += [g.callees[ins[2]] for ins in g.code if ins[0] == LOOP]
        todo += g.callees
    return found


def matrices(f) -> int:
    """How many matrices the bodies of loops take."""
    types = [t for g in inner_loops(f) for t in g.params]
    return len([t for t in types if isinstance(t, Array) and isinstance(t.elem, Array)])


READS = {
    "rows": (lambda a, i, j, k: a[i][k] * a[j][k], 0),
    "elements": (lambda a, i, j, k: a[i][j] + real(k) * a[i][i], 0),
    "columns": (lambda a, i, j, k: a[k][j], 1),
    "rows and columns": (lambda a, i, j, k: a[i][k] * a[k][j], 1),
    "rows of the iteration": (lambda a, i, j, k: a[k][k], 1),
    "a row by number": (lambda a, i, j, k: a[3][k] * a[i][k], 1),
}


@pytest.mark.parametrize("name", READS)
def test_reads(name) -> None:
    read, left = READS[name]

    @fn
    def f(a: M, i: N, j: N) -> Real:
        return fori(N, Real, 0.1, lambda k, s: s * 0.5 + read(a, i, j, k))

    assert matrices(f) == left
    a = gram(N)
    same(f, a, 2, 5)
    pulled = fn([M, N, N], M, lambda a, i, j: vjp(f)(a, i, j).grad(1.0)[0])
    pushed = fn([M, N, N], Real, lambda a, i, j: forth(f, a, i, j))
    slopes = same(pulled, a, 2, 5)
    total = math.fsum(x * (p + 2 * q) for p, row in enumerate(slopes) for q, x in enumerate(row))
    assert same(pushed, a, 2, 5) == pytest.approx(total, rel=1e-12)


def forth(f, a, i, j):
    duals = [[{"re": a[p][q], "du": float(p + 2 * q)} for q in range(N)] for p in range(N)]
    return jvp(f)(duals, i, j).du


def test_loops_in_loops() -> None:
    @fn
    def f(a: M, i: N) -> Real:
        return fori(N, Real, 0.0, lambda j, s: fori(N, Real, s, lambda k, t: t * 0.5 + a[i][k] * a[i][j]))

    assert matrices(f) == 0
    same(f, gram(N), 4)


def passed_on(a, i):
    """A matrix of which one row is read is another one in the next iteration."""
    state = struct({"s": Real, "y": M, "z": M})

    def step(k, t):
        half = vec(N, Vec(N, Real), lambda j: vec(N, Real, lambda m: t["y"][j][m] * 0.5))
        return {"s": t["s"] * 0.5 + t["z"][i][k], "y": half, "z": t["y"]}

    return fori(N, state, {"s": 0.0, "y": a, "z": a}, step)["s"]


def followed(a, i):
    """Each iteration reads another row: the last one says which."""
    state = struct({"s": Real, "t": N})
    return fori(N, state, {"s": 0.0, "t": i}, lambda k, t: {"s": t["s"] * 0.5 + a[t["t"]][k], "t": k})["s"]


def nearby(a, i):
    """Rows of indices that iterations compute."""
    return fori(N, Real, 0.0, lambda k, s: s * 0.5 + a[imin(N, i, k)][k] * a[i][k])


OTHER_ROWS = {
    passed_on: lambda a, i: [a[i], *([x * 0.5**k for x in a[i]] for k in range(N - 1))],
    followed: lambda a, i: [a[i], *a[: N - 1]],
    nearby: lambda a, i: [[x * y for x, y in zip(a[min(i, k)], a[i], strict=True)] for k in range(N)],
}
"""Programs whose iterations do not read the same rows, and what each reads instead."""


@pytest.mark.parametrize("body", OTHER_ROWS)
def test_rows_that_are_not_the_same_in_all_iterations(body) -> None:
    a = gram(N)
    found = same(fn([M, N], Real, body), a, 6)
    s = 0.0
    for k, row in enumerate(OTHER_ROWS[body](a, 6)):
        s = s * 0.5 + row[k]
    assert found == s
