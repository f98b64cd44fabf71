"""Gradients that add to elements which may be the same: compiled as interpreted, to the bit."""

from __future__ import annotations

import pytest
from engines import same
from random_places import RandomPlaces


@pytest.mark.parametrize("seed", [*range(60), 249, 540])
def test_gradients(seed: int) -> None:
    found = RandomPlaces(seed)
    same(found.grad, *found.args)
