"""Passes that are left out must make no difference but the last bits of a derivative."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest


def assert_unchanged(seeds: Iterable[int], outcomes: Callable, begin: Callable, **tolerance) -> None:
    """The value and gradient that ``outcomes`` gives of each seed stay once ``begin`` has left passes out.

    Values are the same to the bit, gradients within a tolerance as `pytest.approx` takes it.
    """
    found = {seed: outcomes(seed) for seed in seeds}
    begin()
    for seed, (value, gradient) in found.items():
        plain_value, plain_gradient = outcomes(seed)
        assert repr(value) == repr(plain_value)
        assert gradient == pytest.approx(plain_gradient, **tolerance)
