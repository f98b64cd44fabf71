"""Every op's value, against an exact definition: by the interpreter, as WebAssembly and on plain numbers."""

from __future__ import annotations

from itertools import product
from math import isnan, nan

import pytest
from op_cases import CASES, CONVERSIONS, OP_NAMES, SIZE, bits, case, ulps
from op_programs import columns, in_loop, run, straight

from rose_core import Bool, Real, Vec, fn, idiv, imod, select, sign
from rose_core.language.ops import OPS


def test_every_op_has_a_case():
    assert {op.name for op in OPS} == set(CASES) | CONVERSIONS


def off(got, expected):
    """How far off a result is; for anything but a Real, 0 or infinite."""
    if isinstance(expected, float):
        return ulps(got, expected)
    return 0.0 if got is expected or (type(got) is type(expected) and got == expected) else float("inf")


@pytest.mark.parametrize("name", OP_NAMES)
def test_value(name):
    """In a loop, written out and on plain numbers: near the exact value, and all the same bits."""
    c = case(name)
    expected = [c.value(*p) for p in c.points]
    got = run(in_loop(c, c.points), *columns(c.points))
    for p, g, e in zip(c.points, got, expected, strict=True):
        assert off(g, e) <= c.ulps, f"{name}{p} is {g}, expected {e}"
    some = c.points[:: len(c.points) // 60 + 1]
    written_out = run(straight(c, some), *columns(some))
    at = dict(zip(map(key, c.points), got, strict=True))
    assert [bits(x) for x in written_out] == [bits(at[key(p)]) for p in some]
    if name != "select" and "I" not in c.op.ins:
        assert [bits(c.call(*p)) for p in c.points] == [bits(x) for x in got]


def key(point):
    return tuple(map(bits, point))


def test_sign():
    """As by the interpreter of rose 0.4.10, and unlike Math.sign at zeros."""
    f = fn([Real], Real, sign)
    assert [run(f, x) for x in (0.0, -0.0, 5e-324, -5e-324)] == [1.0, -1.0, 1.0, -1.0]
    assert isnan(run(f, nan)) and isnan(run(f, -nan))


@pytest.mark.parametrize("size", range(1, SIZE + 2))
def test_imod_of_every_size(size):
    f = fn([20], size, lambda i: imod(size, i))
    assert [run(f, i) for i in range(20)] == [i - size * (i // size) for i in range(20)]


@pytest.mark.parametrize("by", [*range(1, SIZE + 2), 2**31 - 1])
def test_idiv_by_every_number(by):
    f = fn([20], 20, lambda i: idiv(20, i, by))
    assert [run(f, i) for i in range(20)] == [i // by for i in range(20)]


def test_select_of_every_type():
    choices = [(Real, 1.5, -2.5), (Bool, True, False), (4, 3, 0), (Vec(2, Real), [1.0, 2.0], [3.0, 4.0])]
    pair = {"a": Real, "b": Vec(2, Bool)}
    choices.append((pair, {"a": 1.0, "b": [True, False]}, {"a": 2.0, "b": [False, False]}))
    for t, x, y in choices:
        f = fn([Bool, t, t], t, lambda p, x, y, t=t: select(p, t, x, y))
        assert run(f, True, x, y) == x
        assert run(f, False, x, y) == y


def test_bools_that_a_program_makes():
    def body(x, y):
        below, equal, above = x < y, x == y, x > y
        return [below & equal, below | equal, below ^ (x <= y), ~above, below == above, below != above]

    f = fn([Real, Real], Vec(6, Bool), body)
    for x, y in product((0.0, -0.0, 1.0, float("nan")), repeat=2):
        below, equal, above = x < y, x == y, x > y
        expected = [False, below or equal, equal, not above, below == above, below != above]
        assert run(f, x, y) == expected
