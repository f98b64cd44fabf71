"""Random programs that compute the same terms in many loops give what Python's own numbers and loops do."""

from __future__ import annotations

import math
from random import Random

import pytest
from engines import same
from random_repeats import Repeats

from rose_core import Real, fn, grad, jvp, value_and_grad

Directions = list[list[float]]


@pytest.mark.parametrize("seed", range(60))
def test_values_and_derivatives(seed: int) -> None:
    """First derivatives, and second ones in forward or reverse over reverse mode, along two directions."""
    program, draw = Repeats(seed), Random(seed)
    f, (*point, m) = program.function(), program.args
    one, other = ([[draw.uniform(-1, 1) for _ in x] for x in point] for _ in range(2))
    expected, has_kink = program.plain(one, other)
    found = same(value_and_grad(f, [0, 1]), *point, m)
    assert math.isclose(found.value, expected.value, rel_tol=1e-13, abs_tol=1e-15)
    if has_kink:
        return

    def slope(x, y, m):
        return along(grad(f, [0, 1])(x, y, m), one)

    gradient = fn(f.func.param_types, Real, slope)
    if seed % 2:
        rows = [[{"re": a, "du": 0.0} for a in row] for row in m]
        duals = [dual(x, d) for x, d in zip(point, other, strict=True)]
        second = same(jvp(gradient), *duals, rows).du
        first = same(jvp(f), *(dual(x, d) for x, d in zip(point, one, strict=True)), rows).du
    else:
        second = along(same(grad(gradient, [0, 1]), *point, m), other)
        first = along(found.grad, one)
    scale = 1.0 + abs(expected.value) + sum(abs(g * d) for g, d in pairs(found.grad, one))
    assert abs(first - expected.a) < 1e-11 * scale
    assert abs(second - expected.ab) < 1e-9 * (scale + abs(second))


def pairs(gradients, directions: Directions):
    """Each number of the gradients with that of the directions."""
    return [(gradients[str(k)][i], d) for k, of in enumerate(directions) for i, d in enumerate(of)]


def along(gradients, directions: Directions):
    total = 0.0
    for g, d in pairs(gradients, directions):
        total = total + g * d
    return total


def dual(x: list[float], d: list[float]):
    return [{"re": a, "du": b} for a, b in zip(x, d, strict=True)]
