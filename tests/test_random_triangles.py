"""Random loops over parts of arrays: over ranges = over all, compiled = interpreted, backward = forward."""

from __future__ import annotations

import pytest
from engines import same
from random_triangles import program
from test_random_updates import Point, duals, gradient_of
from unchanged import assert_unchanged

from rose_core import jvp
from rose_core.derivatives import expand


@pytest.fixture
def plain(monkeypatch):
    """Makes programs from then on whose loops run as they are written."""

    def begin():
        for name in ("guarded", "bounded", "outside"):
            monkeypatch.setattr(expand, name, lambda f: f)

    return begin


@pytest.mark.parametrize("seeds", [range(k, k + 5) for k in range(0, 100, 5)], ids=str)
def test_values_and_gradients(seeds, plain) -> None:
    assert_unchanged(seeds, outcomes, plain, rel=1e-11, abs=1e-13)


def outcomes(seed):
    f, at = program(seed), Point(seed)
    value = same(f, at.m, at.v)
    gradient = same(gradient_of(f), at.m, at.v)
    dual = same(jvp(f), duals(at.m, at.dm), duals(at.v, at.dv))
    assert dual.re == value
    assert at.along(gradient) == pytest.approx(dual.du, rel=1e-9, abs=1e-9)
    return value, [x for row in gradient["m"] for x in row] + list(gradient["v"])
