"""Second derivatives of random programs: nested, sparse and of Taylor series, they are the same."""

from __future__ import annotations

from random import Random

import pytest
import random_choices
import random_nearest
import random_states
import random_triangles
import random_updates
from engines import same
from test_sparse import check_hessian

from rose_core import Real, fn, grad, jet
from rose_core.language.types import Array

KINDS = {
    "choices": random_choices,
    "nearest": random_nearest,
    "states": random_states,
    "triangles": random_triangles,
    "updates": random_updates,
}
SEEDS = range(8)


def value(draw: Random, t):
    return [value(draw, t.elem) for _ in range(t.size)] if isinstance(t, Array) else draw.uniform(-1, 1)


def along(x, d, t):
    """The point from ``x`` on in a direction."""
    return [along(a, b, t) for a, b in zip(x, d, strict=True)] if isinstance(x, list) else x + t * d


@pytest.fixture(params=[(kind, seed) for kind in KINDS for seed in SEEDS], ids=lambda p: f"{p[0]}-{p[1]}")
def program(request):
    """A function, and a source of arguments for it."""
    kind, seed = request.param
    return KINDS[kind].program(seed), Random(seed)


def test_a_sparse_hessian_has_all_that_may_not_be_zero(program) -> None:
    f, draw = program
    check_hessian(f, *(value(draw, t) for t in f.func.param_types))


def test_a_series_has_the_derivatives_along_a_line(program) -> None:
    f, draw = program
    types = f.func.param_types
    x, d = ([value(draw, t) for t in types] for _ in range(2))
    still = draw.randrange(len(types))
    d[still] = along(d[still], d[still], -1.0)
    series = same(jet(f, 2), *([a, b, along(b, b, -1.0)] for a, b in zip(x, d, strict=True)))
    line = fn([Real], Real, lambda t: f(*(along(a, b, t) for a, b in zip(x, d, strict=True))))
    expected = [same(line, 0.0), same(grad(line), 0.0), same(grad(grad(line)), 0.0) / 2]
    assert series == pytest.approx(expected, rel=1e-9, abs=1e-9)
