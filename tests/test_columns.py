"""Loops along columns of matrices, in lanes: the same bits, whatever else is added to the same elements."""

from __future__ import annotations

import random

import pytest
from engines import same
from test_lanes import written  # noqa: F401

from rose_core import (
    Real,
    Vec,
    fn,
    fori,
    grad,
    iadd,
    imin,
    inspect,
    log,
    max,
    select,
    sqrt,
    struct,
    value_and_grad,
    vec,
)
from rose_core import sum as total

N = 7


def matrix(n: int, m: int, seed: int = 0) -> list[list[float]]:
    draw = random.Random(seed)
    return [[draw.uniform(-2, 2) for _ in range(m)] for _ in range(n)]


def pairs(n: int, term):
    """The sum of a term over all pairs of indices below ``n``."""
    return total(n, lambda i: total(n, lambda j: term(i, j)))


LOSSES = {
    "symmetric": lambda a, x, i, j: 0.5 * (a[i][j] + a[j][i]) * x[i] * x[j],
    "antisymmetric": lambda a, x, i, j: log(1 + (a[i][j] - a[j][i]) ** 2) * x[j],
    "column and element": lambda a, x, i, j: log(2 + (a[j][i] * x[j]) ** 2) * a[j][3] * (x[i] - a[j][i]) ** 4,
    "row and column": lambda a, x, i, j: max(a[i][j], a[j][i]) * (x[i] - a[j][i] * x[j]),
}


@pytest.mark.parametrize("n", [9, 12])
@pytest.mark.parametrize("term", LOSSES.values(), ids=LOSSES)
def test_gradients_along_columns(term, n: int, written) -> None:  # noqa: F811
    M, V = Vec(n, Vec(n, Real)), Vec(n, Real)
    f = fn([M, V], Real, lambda a, x: pairs(n, lambda i, j: term(a, x, i, j)))
    same(grad(f, [0, 1]), matrix(n, n), matrix(1, n)[0])
    assert n in written


def test_two_indices_from_outside(written) -> None:  # noqa: F811
    T, M = Vec(19, Vec(6, Vec(7, Real))), Vec(6, Vec(7, Real))

    def term(t, b, i, j, k):
        x, y = t[i][j][k], b[j][k]
        return (x * y + x + y) * (x - y) * (x * x - 0.5 * y)

    def made(t, b):
        return vec(
            6, Vec(7, Real), lambda j: vec(7, Real, lambda k: total(19, lambda i: term(t, b, i, j, k)))
        )

    tensor = [matrix(6, 7, seed) for seed in range(19)]
    same(fn([T, M], M, made), tensor, matrix(6, 7))
    assert 19 in written


@pytest.mark.parametrize("effort", [0, 4])
def test_what_is_added_in_other_iterations(effort: int, written) -> None:  # noqa: F811
    """A column meets the next row's elements in the iteration before; that is worth lanes if much is
    computed."""
    M = Vec(N, Vec(N, Real))

    def term(a, i, j):
        x, y = a[j][i], a[i][imin(N, iadd(N + 1, j, 1), N - 1)]
        for _ in range(effort):
            x, y = x / (2 + y * y), sqrt(2 + x * y)
        return x * y * y

    f = fn([M], Real, lambda a: pairs(N, lambda i, j: term(a, i, j)))
    same(grad(f), matrix(N, N))
    assert written == ([N] if effort else [])


def test_bodies_that_pull_each_other(written) -> None:  # noqa: F811
    """The cotangents of all are added to in each iteration, by their places, and that of one by the
    iteration."""
    n = 4
    P = Vec(n, Vec(3, Real))
    State = struct(x=P, v=P)

    def pull(x, m, i, j, c):
        d = total(3, lambda k: (x[j][k] - x[i][k]) ** 2) + 0.1
        return m[j] * (x[j][c] - x[i][c]) / (d * sqrt(d))

    def step(s, m):
        def speed(i, c):
            return s.v[i][c] + 0.1 * total(n, lambda j: pull(s.x, m, i, j, c))

        v = vec(n, Vec(3, Real), lambda i: vec(3, Real, lambda c: speed(i, c)))
        return {
            "x": vec(n, Vec(3, Real), lambda i: vec(3, Real, lambda c: s.x[i][c] + 0.1 * v[i][c])),
            "v": v,
        }

    def loss(x, v, m):
        s = fori(3, State, {"x": x, "v": v}, lambda _, s: step(s, m))
        return total(n, lambda i: total(3, lambda c: s.x[i][c] ** 2))

    f = fn([P, P, Vec(n, Real)], Real, loss)
    same(grad(f, [0, 1, 2]), matrix(n, 3), matrix(n, 3, 1), [1.0, 2.0, 0.5, 0.1])
    assert written.count(n) >= 2


@pytest.mark.parametrize("seed", range(120))
def test_random_elements(seed: int) -> None:
    """Elements of a matrix at the iterations of two loops, and beside them, in any order."""
    draw = random.Random(seed)
    n = draw.choice([4, 5, 8])
    M, V = Vec(n, Vec(n, Real)), Vec(n, Real)
    kinds = draw.sample(range(9), draw.choice([2, 3, 3, 4]))
    weights = [draw.uniform(0.5, 2) for _ in kinds]
    constant = draw.randrange(n)

    def element(a, kind: int, i, j):
        near = imin(n, iadd(n + 1, j, 1), n - 1)
        at = [
            (i, j),
            (j, i),
            (j, constant),
            (constant, j),
            (i, constant),
            (j, j),
            (i, i),
            (near, i),
            (i, near),
        ]
        return a[at[kind][0]][at[kind][1]]

    def term(a, x, i, j):
        out = x[j]
        for kind, weight in zip(kinds, weights, strict=True):
            y = element(a, kind, i, j)
            out = out * (weight + y) + select(y < 0, x[i], weight * y)
            if seed % 2:
                out = sqrt(1 + out * out) / (2 + y * y) + weight / (3 + x[i] * y)
        return out

    f = fn([M, V], Real, lambda a, x: pairs(n, lambda i, j: term(a, x, i, j)))
    same(grad(f, [0, 1]), matrix(n, n, seed), matrix(1, n, seed)[0])


def test_elements_that_an_iteration_adds_to_several_times_are_read_and_written_once(written) -> None:  # noqa: F811
    """A bilinear form of coordinates: three products of each coordinate."""
    n = 12
    P, B, M = Vec(n, Vec(3, Real)), Vec(3, Vec(3, Real)), Vec(n, Vec(n, Real))

    def form(z, b, i, j):
        return total(3, lambda k: total(3, lambda m: z[i][k] * b[k][m] * z[j][m]))

    f = fn([P, B, M], Real, lambda z, b, a: pairs(n, lambda i, j: (form(z, b, i, j) - a[i][j]) ** 2))
    gradient = value_and_grad(f, [0, 1, 2])
    same(gradient, matrix(n, 3), matrix(3, 3, 1), matrix(n, n, 2))
    assert written == [n]
    # of each coordinate, of what is given, and of the loop's own sums at its end
    assert inspect(gradient).wat.count("v128.store64_lane") <= 2 * 3 + 2
