"""The random programs that are compared with JAX where it is (test_jax.py), compared with themselves.

However a derivative is taken, it is the same: forward and in reverse, along a direction, for a batch, and
the second ones in two orders of modes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import twin_rose
from random_programs import flat
from twin_programs import TwinProgram, result_of

SEEDS = [*range(40), 57, 2541, 3013]
"""With three of programs that could not be compiled once."""


def products(rows: Any, y: list[float]) -> list[float]:
    """A matrix, or one row, times a vector."""
    numbers = flat(rows)
    n = len(y)
    return [sum(a * b for a, b in zip(numbers[k : k + n], y, strict=True)) for k in range(0, len(numbers), n)]


def columns(rows: Any, n: int) -> list[float]:
    numbers = flat(rows)
    return [x for k in range(n) for x in numbers[k::n]]


def pairs(program: TwinProgram) -> Iterator[tuple[str, Any, Any]]:
    """What must be the same, with what it is."""
    run = twin_rose.results(program)
    n = program.length
    x, y, c = program.argument(), program.argument(), program.cotangent()
    found = {name: call(x, y, c) for name, call in run.items()}
    forward = found["forward"]
    yield "the two modes", forward, found["reverse"]
    yield "along a direction", found["jvp"], products(forward, y)
    yield "pulled back", found["vjp"], products(columns(forward, n), flat(c))
    yield "a batch", found["vmap"], [found["vjp"], run["vjp"](y, x, c)]
    if not program.result:
        yield "second derivatives", found["hessian"], found["reverse over reverse"]
        yield "their symmetry", found["hessian"], columns(found["hessian"], n)
        yield "second ones along a direction", found["hvp"], products(found["hessian"], y)


@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_agree(seed: int) -> None:
    for what, one, other in pairs(TwinProgram(seed, result_of(seed))):
        assert flat(one) == pytest.approx(flat(other), rel=1e-8, abs=1e-9), what
