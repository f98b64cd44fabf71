"""Random programs that compute the same terms in many loops give what Python's own numbers and loops do."""

from __future__ import annotations

import math
from random import Random

import pytest
from engines import same
from random_repeats import Repeats

from rose_core import value_and_grad

STEP = 1e-6
"""Of differences, in the arguments."""


@pytest.mark.parametrize("seed", range(60))
def test_values_and_gradients(seed: int) -> None:
    program = Repeats(seed)
    x, y, m = program.args
    expected = program.plain(x, y, m)
    found = same(value_and_grad(program.function(), [0, 1]), x, y, m)
    assert math.isclose(found.value, expected, rel_tol=1e-13, abs_tol=1e-15)
    draw = Random(seed)
    dx, dy = ([draw.uniform(-1, 1) for _ in x] for _ in range(2))

    def slope(step: float) -> float:
        after, before = (program.plain(moved(x, dx, h), moved(y, dy, h), m) for h in (step, -step))
        return (after - before) / (2 * step)

    along = sum(a * b for a, b in zip([*found.grad["0"], *found.grad["1"]], [*dx, *dy], strict=True))
    wide, narrow = slope(STEP), slope(STEP / 2)
    scale = max(1.0, abs(along), abs(expected))
    if abs(wide - narrow) < 1e-5 * scale:  # no choice goes another way in between
        assert abs(along - wide) < 1e-4 * scale


def moved(x: list[float], by: list[float], h: float) -> list[float]:
    return [a + h * b for a, b in zip(x, by, strict=True)]
