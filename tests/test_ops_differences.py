"""Every op's forward derivative, of first and second order, against central differences."""

from __future__ import annotations

import random

import pytest
from op_cases import REAL_OPS, case
from op_programs import columns, in_loop, run
from random_programs import duals, flat, like, tangents

from rose_core import interp, jvp

STEP = 2e-4
TOLERANCE = 1e-9
"""Relative, but absolute below 1: the differences' own error, of rounding and of fourth order in the step."""


def difference(f, x, d):
    """The derivative of ``f`` at ``x`` along ``d``, from four values, up to an error of fourth order."""

    def at(h):
        return flat(f(like(x, [p + h * q for p, q in zip(flat(x), flat(d), strict=True)])))

    def central(h):
        return [(p - q) / (2 * h) for p, q in zip(at(h), at(-h), strict=True)]

    return [(4 * a - b) / 3 for a, b in zip(central(STEP), central(2 * STEP), strict=True)]


def assert_close(got, expected, what):
    for g, e in zip(got, expected, strict=True):
        assert abs(g - e) <= TOLERANCE * max(1.0, abs(e)), f"{what}: {g}, by differences {e}"


@pytest.mark.parametrize("name", REAL_OPS)
def test_differences(name):
    c = case(name)
    x = columns(c.random_points(10, "differences"))
    rng = random.Random(name)
    d, e = ([[rng.uniform(-1, 1) for _ in column] for column in x] for _ in range(2))
    zeros = [[0.0] * len(column) for column in x]
    f = in_loop(c, c.random_points(10))

    def value(x):
        return interp(f)(*x)

    def slope(x):
        return tangents(interp(jvp(f))(*map(duals, x, d)))

    first = tangents(run(jvp(f), *map(duals, x, d)))
    assert_close(first, difference(value, x, d), f"{name}, first order")
    second = run(jvp(jvp(f)), *map(duals, map(duals, x, d), map(duals, e, zeros)))
    assert_close(tangents(tangents(second)), difference(slope, x, e), f"{name}, second order")
