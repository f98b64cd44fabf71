"""Random nests of loops: interpreter = WebAssembly, to the bit, of the functions and of two derivatives."""

from __future__ import annotations

import pytest
from random_nests import RandomNest
from random_programs import flat

from rose_core import compile, interp


def same(f, args) -> bool:
    """Whether what is compiled gives what the interpreter does; a NaN is one, whatever its bits."""
    found, expected = flat(compile(f)(*args)), flat(interp(f)(*args))
    pairs = zip(found, expected, strict=True)
    return all(x == y or (x != x and y != y) for x, y in pairs)


@pytest.mark.parametrize("seed", range(120))
def test_values_and_gradients(seed) -> None:
    nest = RandomNest(seed)
    assert same(nest.value, nest.args)
    assert same(nest.grad, nest.args)


@pytest.mark.parametrize("seed", range(120, 150))
def test_second_derivatives(seed) -> None:
    nest = RandomNest(seed)
    assert same(nest.twice, nest.args)
