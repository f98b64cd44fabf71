"""Random programs that change vectors and matrices in loops: compiled = interpreted, backward = forward."""

from __future__ import annotations

import math
from random import Random

import pytest
from engines import same
from random_programs import flat
from random_updates import M, N, V, program

from rose_core import Real, fn, jvp, struct, vjp
from rose_core.derivatives import linearize_control, transpose_control, updates


def duals(x, dx):
    if isinstance(x, float):
        return {"re": x, "du": dx}
    return [duals(a, b) for a, b in zip(x, dx, strict=True)]


class Point:
    """A point, and a direction."""

    def __init__(self, seed: int, depth: int = 0) -> None:
        draw = Random(seed)

        def row():
            return [draw.uniform(-1, 1) for _ in range(N)]

        def matrices(depth):
            return [matrices(depth - 1) if depth else row() for _ in range(2 if depth else N)]

        self.m, self.dm = (matrices(depth) for _ in range(2))
        self.v, self.dv = row(), row()

    def along(self, gradient) -> float:
        """The directional derivative that a gradient says."""
        pairs = zip(flat([gradient["m"], gradient["v"]]), flat([self.dm, self.dv]), strict=True)
        return math.fsum(a * b for a, b in pairs)


def gradient_of(f, m=M):
    return fn(
        [m, V], struct({"m": m, "v": V}), lambda m, v: dict(zip("mv", vjp(f)(m, v).grad(1), strict=True))
    )


@pytest.mark.parametrize("seed", range(100))
def test_values_and_gradients(seed) -> None:
    check_values_and_gradients(seed, 0)


@pytest.mark.parametrize("seed", range(200, 240))
def test_matrices_in_arrays(seed) -> None:
    check_values_and_gradients(seed, 1 + seed % 2)


def check_values_and_gradients(seed: int, depth: int) -> None:
    f, at = program(seed, depth), Point(seed, depth)
    value = same(f, at.m, at.v)
    gradient = same(gradient_of(f, f.func.param_types[0]), at.m, at.v)
    dual = same(jvp(f), duals(at.m, at.dm), duals(at.v, at.dv))
    assert dual.re == value
    assert at.along(gradient) == pytest.approx(dual.du, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(100, 120))
def test_second_derivatives(seed) -> None:
    """Of the gradient, along a direction: forward of backward, and backward of backward."""
    f, at = program(seed), Point(seed)
    gradient = gradient_of(f)

    def slope(m, v):
        g = gradient(m, v)
        total = 0.0
        for i in range(N):
            total += g.v[i] * at.dv[i]
            for j in range(N):
                total += g.m[i][j] * at.dm[i][j]
        return total

    twice = same(gradient_of(fn([M, V], Real, slope)), at.m, at.v)
    dual = same(jvp(gradient), duals(at.m, at.dm), duals(at.v, at.dv))
    forward = at.along({"m": [[x.du for x in row] for row in dual.m], "v": [x.du for x in dual.v]})
    assert at.along(twice) == pytest.approx(forward, rel=1e-8, abs=1e-8)


@pytest.fixture
def taking_along(monkeypatch):
    """Arrays go along with backward loops however little is read of them; how many have done so."""
    taken = []

    def back(*args):
        found = plain(*args)
        taken.extend(found[1])
        return found

    plain = transpose_control._back
    monkeypatch.setattr(transpose_control, "_back", back)
    monkeypatch.setattr(transpose_control, "is_worth_it", lambda site, k: True)
    monkeypatch.setattr(updates, "_FEW", 0)
    return taken


@pytest.mark.parametrize("seeds", [range(k, k + 20) for k in range(400, 480, 20)], ids=str)
def test_updates_that_are_taken_back(seeds, taking_along) -> None:
    for seed in seeds:
        check_values_and_gradients(seed, seed % 3)
    assert len(taking_along) > len(seeds)


@pytest.mark.parametrize("seeds", [range(k, k + 10) for k in (500, 510)], ids=str)
def test_second_derivatives_where_updates_are_taken_back(seeds, taking_along) -> None:
    for seed in seeds:
        test_second_derivatives(seed)
    assert len(taking_along) > len(seeds)


@pytest.mark.parametrize("seed", range(300, 320))
def test_loops_in_sides_that_have_tapes(seed, monkeypatch) -> None:
    """As those of many iterations have."""
    monkeypatch.setattr(linearize_control, "_MOST_IN_SIDE", 1)
    check_values_and_gradients(seed, 0)
    test_second_derivatives(seed)
