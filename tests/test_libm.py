"""Functions of `rose_core.libm`: at most one unit in the last place from the correctly rounded value."""

from __future__ import annotations

import pytest
from libm_points import pairs, points
from op_cases import bits, case, ulps
from op_programs import columns, in_loop

import rose_core as rose
from rose_core.ops import OPS

UNARY = [op for op in OPS if callable(op.wasm) and len(op.ins) == 1]


@pytest.mark.parametrize("op", UNARY, ids=str)
def test_accuracy(op):
    """As WebAssembly; the function in Python has the same bits."""
    c = case(op.name)
    at = [(x,) for x in points(op.name, 1500)]
    got = rose.compile(in_loop(c, at))(*columns(at))
    assert [bits(op.evaluate(*x)) for x in at] == [bits(y) for y in got]
    for x, y in zip(at, got, strict=True):
        assert ulps(y, c.value(*x)) <= 1, f"{c.name}{x} is {y}"


def test_accuracy_of_hypot():
    c = case("hypot")
    at = pairs(3000)
    got = rose.compile(in_loop(c, at))(*columns(at))
    assert [bits(c.op.evaluate(*x)) for x in at] == [bits(y) for y in got]
    for x, y in zip(at, got, strict=True):
        assert ulps(y, c.value(*x)) <= 1, f"hypot{x} is {y}"
