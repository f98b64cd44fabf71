"""Stencils: indices that follow the iterations by pieces, and loops that run in lanes between their ends."""

from __future__ import annotations

import math
import random

import lane_loops
import pytest
from engines import engines, same

from rose_core import Real, Vec, fn, iadd, imax, imin, imod, inspect, isub, jvp, real, vec, vjp
from rose_core import sum as total
from rose_core.optimise import pieces
from tests import random_stencils


@pytest.fixture
def written(monkeypatch):
    """Of loops that are written from then on, the iterations that run side by side, and how many there
    are.
    """
    return lane_loops.noted(monkeypatch, lambda writer: (*writer.ends, writer.block.size.size))


def numbers(n: int, seed: int) -> list[float]:
    draw = random.Random(seed)
    return [draw.uniform(-1, 1) for _ in range(n)]


def gradient(f, shape):
    return fn([shape, shape], Vec(2, shape), lambda x, y: list(vjp(f)(x, y).grad(1.0)))


def duals(x):
    """Numbers that go the way of themselves."""
    return {"re": x, "du": x} if isinstance(x, float) else [duals(v) for v in x]


def both_ways(f, x, y, shape, flat) -> None:
    """Compiled is interpreted, to the bit, and backward is forward."""
    value = same(f, x, y)
    grads = same(gradient(f, shape), x, y)
    slope = math.fsum(d * v for d, v in zip(flat(grads[0]) + flat(grads[1]), flat(x) + flat(y), strict=True))
    dual = same(jvp(f), duals(x), duals(y))
    assert math.isfinite(value)
    assert dual.re == value
    assert dual.du == pytest.approx(slope, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(80))
def test_lines(seed: int) -> None:
    f, n = random_stencils.line(seed)
    both_ways(f, numbers(n, seed), numbers(n, -1 - seed), Vec(n, Real), list)


@pytest.mark.parametrize("seed", range(40))
def test_grids(seed: int) -> None:
    f, n = random_stencils.grid(seed)
    x, y = ([numbers(n, k * (seed + 1) + i) for i in range(n)] for k in (101, -103))
    both_ways(f, x, y, Vec(n, Vec(n, Real)), lambda m: [v for row in m for v in row])


@pytest.mark.parametrize("program", [random_stencils.counted, random_stencils.moved])
@pytest.mark.parametrize("seed", range(30))
def test_by_an_index_that_is_given(program, seed: int) -> None:
    f, n = program(seed)
    V, *_, size = f.func.param_types
    g = fn([V, V, size], Vec(2, V), lambda x, y, k: list(vjp(f)(x, y, k).grad(1.0)[:2]))
    for compiled, interpreted in map(engines, (f, g)):
        for k in (0, 1, 4, 5):
            args = numbers(n, seed), numbers(n, -1 - seed), k
            assert repr(compiled(*args)) == repr(interpreted(*args))


@pytest.mark.parametrize("n", [6, 7, 30])
@pytest.mark.parametrize("wrapped", [False, True], ids=["clamped", "wrapped"])
def test_between_its_ends_a_stencil_runs_in_lanes(n: int, wrapped: bool, written) -> None:
    V = Vec(n, Real)

    def before(i):
        return imod(n, iadd(2 * n, i, n - 1)) if wrapped else isub(n, imax(n, i, 1), 1)

    def after(i):
        return imod(n, iadd(2 * n, i, 1)) if wrapped else imin(n, iadd(n + 1, i, 1), n - 1)

    step = fn([V], V, lambda u: vec(n, Real, lambda i: u[i] + 0.2 * (u[before(i)] - 2 * u[i] + u[after(i)])))
    u = [10.0 ** (k * 5 % 17) for k in range(n)]
    x = same(step, u)
    assert x[0] == u[0] + 0.2 * (u[n - 1 if wrapped else 0] - 2 * u[0] + u[1])
    assert written == [(1, n - 1, n)]
    del written[:]
    same(fn([V, V], V, lambda u, d: vjp(step)(u).grad(d)), u, [(-1.0) ** k / u[k] for k in range(n)])
    assert (1, n - 1, n) in written


@pytest.mark.parametrize("n", [6, 7, 30])
def test_rows_that_may_be_the_same_are_told_apart_while_it_runs(n: int, written) -> None:
    """At the edges of a grid, the row before or after one is that row itself."""
    M = Vec(n, Vec(n, Real))

    def before(i):
        return isub(n, imax(n, i, 1), 1)

    def after(i):
        return imin(n, iadd(n + 1, i, 1), n - 1)

    def step(u):
        def around(i, j):
            return u[before(i)][j] + u[after(i)][j] + u[i][before(j)] + u[i][after(j)] - 4 * u[i][j]

        return vec(n, Vec(n, Real), lambda i: vec(n, Real, lambda j: u[i][j] + 0.2 * around(i, j) * u[i][j]))

    f = fn([M], M, step)
    back = fn([M, M], M, lambda u, d: vjp(f)(u).grad(d))
    u, d = ([[10.0 ** ((i * 7 + j * k) % 17) for j in range(n)] for i in range(n)] for k in (5, 3))
    same(back, u, d)
    assert (1, n - 1, n) in written
    assert inspect(back).wat.count("i32.ne") == 3  # of the row, and those before and after it


def test_iterations_as_numbers(written) -> None:
    n = 11

    def term(h, i):
        return (h * real(i) - 1) * (real(imin(n, i, 8)) + h) / (h + real(i))

    same(fn([Real], Real, lambda h: total(n, lambda i: term(h, i))), 0.3)
    assert written == [(0, 9, n)]


def test_what_goes_backward_round_an_edge_is_left_alone(written) -> None:
    n = 24
    V = Vec(n, Real)
    f = fn([V], V, lambda u: vec(n, Real, lambda i: u[i] * real(imod(5, isub(n, n - 1, i))) - u[i] * u[i]))
    same(f, numbers(n, 1))
    assert written == []


def test_too_many_ends_are_left_alone(written) -> None:
    """Half of the iterations would run by themselves."""
    n = 24
    V = Vec(n, Real)
    f = fn([V], V, lambda u: vec(n, Real, lambda i: u[imod(n, iadd(2 * n, i, n // 2))] * u[i] - u[i]))
    same(f, numbers(n, 1))
    assert written == []


@pytest.mark.parametrize(
    ("n", "operations", "runs"), [(9, 90, False), (10, 90, True), (9, 60, True), (30, 200, False)]
)
def test_long_iterations_run_alone_where_many_run_beside_each_other(n, operations, runs, written) -> None:
    """Two ends of a long stencil are written out if all others are four times as many."""
    V = Vec(n, Real)

    def element(u, i):
        y = u[imin(n, iadd(n + 1, i, 1), n - 1)] - u[isub(n, imax(n, i, 1), 1)]
        draw = random.Random(1)  # so that it is no loop
        for k in range(operations):
            y = (y * (0.01 * k + u[i]) + 0.5) if draw.random() < 0.5 else (0.01 * k - y) * u[i] + 0.25
        return y

    f = fn([V], V, lambda u: vec(n, Real, lambda i: element(u, i)))
    same(f, numbers(n, 2))
    assert written == ([(1, n - 1, n)] if runs else [])


def test_indices_made_of_each_other_are_looked_at_once(monkeypatch) -> None:
    n, found = 64, []
    piece = pieces._piece
    monkeypatch.setattr(pieces, "_piece", lambda *args: found.append(args) or piece(*args))

    def clamped(u, i):
        for k in range(12):
            i = imin(n, i, imax(n, i, k))
        return u[i] + 1.0

    same(fn([Vec(n, Real)], Vec(n, Real), lambda u: vec(n, Real, lambda i: clamped(u, i))), numbers(n, 1))
    assert 0 < len(found) < 100
