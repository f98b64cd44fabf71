"""Where arrays lie: of long ones no two in a row begin in the same line of a cache, and none overlap."""

from __future__ import annotations

from itertools import pairwise

import pytest

from rose_core import Real, Vec, compile, fn, interp, struct, vec
from rose_core.derivatives.expand import Expansion
from rose_core.wasm.layout import placed, size_of
from rose_core.wasm.program import Program

LINES = 64
"""Lines of a way of a first cache, of 64 bytes each."""


@pytest.mark.parametrize("n", [256, 512, 1024, 500])
def test_long_arrays_begin_in_lines_of_their_own(n: int) -> None:
    V = Vec(n, Real)
    f = fn([V, Real, V, V], struct(a=V, b=Real, c=V), lambda a, x, b, c: {"a": a, "b": x * b[0], "c": c})
    program = Program(Expansion(f.func).root)
    slots = [*program.args, *program.results]
    for slot, following in pairwise(slots):
        assert slot.address + size_of(slot.leaf) <= following.address
    long = [slot.address for slot in slots if size_of(slot.leaf) > 8]
    assert all(address % 64 == 0 for address in long)
    assert len({address // 64 % LINES for address in long}) == len(long) == 5


def test_short_values_come_one_after_another() -> None:
    V = Vec(3, Real)
    f = fn([V, Real, V], V, lambda a, x, b: vec(3, Real, lambda k: a[k] + x * b[k]))
    program = Program(Expansion(f.func).root)
    a, x, b = program.args
    assert (x.address - a.address, b.address - x.address) == (24, 8)
    assert compile(f)([1, 2, 3], 2, [4, 5, 6]) == interp(f)([1, 2, 3], 2, [4, 5, 6]) == [9, 12, 15]


def test_places_of_one_size() -> None:
    for size in (2048, 4096, 1 << 15, 1 << 20):
        free, places = 1000, []
        for _ in range(16):
            at, free = placed(free, size)
            places.append(at)
        assert len({place // 64 % LINES for place in places}) > 8
