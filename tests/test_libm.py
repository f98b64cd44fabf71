"""Functions of `rose_core.libm`: at most one unit in the last place from the correctly rounded value."""

from __future__ import annotations

import math
import random
from decimal import Decimal, localcontext

import pytest
from libm_points import pairs, points, powers
from op_cases import bits, case, ulps
from op_programs import columns, in_loop

import rose_core as rose
from rose_core import libm
from rose_core.derivatives.expand import Expansion
from rose_core.language import reals
from rose_core.language.ops import OPS, TOGETHER
from rose_core.wasm.context import Codes, Context
from rose_core.wasm.lower import Body
from rose_core.wasm.program import Program

UNARY, BINARY = ([op for op in OPS if callable(op.wasm) and len(op.ins) == n] for n in (1, 2))


def operands(op, count):
    """Of an op with two of them."""
    return powers(count) if op.name == "pow" else pairs(count)


@pytest.mark.parametrize("op", UNARY, ids=str)
def test_accuracy(op):
    """As WebAssembly; the function in Python has the same bits."""
    c = case(op.name)
    at = [(x,) for x in points(op.name, 1500)]
    got = rose.compile(in_loop(c, at))(*columns(at))
    assert [bits(op.evaluate(*x)) for x in at] == [bits(y) for y in got]
    for x, y in zip(at, got, strict=True):
        assert ulps(y, c.value(*x)) <= 1, f"{c.name}{x} is {y}"


@pytest.mark.parametrize("op", UNARY + BINARY, ids=str)
def test_in_lanes(op):
    """Two numbers at a time, which may take different branches, have the same bits as one."""
    at = [(x,) for x in points(op.name, 150)] if op in UNARY else operands(op, 300)
    others = random.Random(op.name).sample(at, len(at))
    mixed = [x for both in zip(at, others, strict=True) for x in both]
    f = in_loop(case(op.name), mixed)
    assert f"{op.name}_in_lanes".encode() in Program(Expansion(f.func).root).bytes
    got = rose.compile(f)(*columns(mixed))
    assert [bits(op.evaluate(*x)) for x in mixed] == [bits(y) for y in got]


@pytest.mark.parametrize("both", TOGETHER, ids=lambda f: f.__name__)
def test_two_at_once(both):
    """Of the same operand they are computed together, with the same bits."""
    first, second = (OPS[code] for code in TOGETHER[both])
    one, other = getattr(rose, first.name), getattr(rose, second.name)
    at = points(first.name, 300)
    V, T = rose.Vec(len(at), rose.Real), rose.Vec(2, rose.Real)
    f = rose.fn([V], rose.Vec(len(at), T), lambda x: rose.vec(len(at), T, lambda i: [other(x[i]), one(x[i])]))
    for x, (y, z) in zip(at, rose.compile(f)(at), strict=True):
        assert [bits(y), bits(z)] == [bits(second.evaluate(x)), bits(first.evaluate(x))]
        assert list(map(bits, both(x))) == [bits(z), bits(y)]


@pytest.mark.parametrize("both", TOGETHER, ids=lambda f: f.__name__)
def test_two_at_once_in_lanes(both):
    first, second = (OPS[code] for code in TOGETHER[both])
    one, other = getattr(rose, first.name), getattr(rose, second.name)
    at = points(first.name, 300)
    V = rose.Vec(len(at), rose.Real)
    f = rose.fn([V], V, lambda x: rose.vec(len(at), rose.Real, lambda i: other(x[i]) / one(x[i])))
    module = Program(Expansion(f.func).root).bytes
    assert f"{both.__name__}_in_lanes".encode() in module
    assert f"{first.name}_in_lanes".encode() not in module
    expected = [reals.div(second.evaluate(x), first.evaluate(x)) for x in at]
    assert list(map(bits, rose.compile(f)(at))) == list(map(bits, expected))


def test_derivatives_take_two_at_once():
    """One call gives what the function needs, and its derivative."""
    f = rose.fn([rose.Real], rose.Real, lambda x: rose.sin(x) * rose.sin(x))
    root = Expansion(rose.value_and_grad(f).func).root
    codes = TOGETHER[libm.sincos]
    together, single = b"<both>", b"<one>"
    suffixes = [single if code in codes else b"" for code in range(len(OPS))]
    context = Context(Codes(suffixes, dict.fromkeys(codes, together)))
    body = Body(root, context, 0, {}, entry=([0], [8, 16]))
    assert body.functions[0].code.count(together) == 1
    assert single not in body.functions[0].code


@pytest.mark.parametrize("op", BINARY, ids=str)
def test_accuracy_of_two_operands(op):
    c = case(op.name)
    at = operands(op, 3000)
    got = rose.compile(in_loop(c, at))(*columns(at))
    assert [bits(op.evaluate(*x)) for x in at] == [bits(y) for y in got]
    for x, y in zip(at, got, strict=True):
        assert ulps(y, c.value(*x)) <= 1, f"{c.name}{x} is {y}"


@pytest.mark.parametrize("x", [0.7124017826906214, 0.7430959014477659])
def test_where_tanh_would_go_on_as_a_polynomial(x):
    with localcontext(prec=40):
        growth = (2 * Decimal(x)).exp()
        error = Decimal(libm.tanh(x)) - (growth - 1) / (growth + 1)
    assert abs(error) < math.ulp(0.6)
