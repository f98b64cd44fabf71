"""Every op's derivative, forward and in reverse, against the exact formula, and at edges against a table."""

from __future__ import annotations

import math
from math import inf, nan

import pytest
from op_cases import NORMAL, OP_NAMES, REAL_OPS, bits, case, mp, relative, rounded, table
from op_programs import columns, gradient, in_loop, run, straight
from random_programs import duals, tangents

import rose_core as rose
from rose_core import Real, floor, fn, jvp, select

TOLERANCE = 1e-14
"""Relative; and ``Case.derivative_error``. What is below the smallest normal number may come out as 0."""


def with_tangent(xs):
    return duals(xs, [1.0] * len(xs))


def partials_in_loop(c, points):
    """For each direction, the op's partial derivatives at the points, as lists."""
    args, ones = columns(points), [1.0] * len(points)
    pulled = run(gradient(in_loop(c, points)), *args, ones)
    for k in range(c.arity):
        yield "forward", k, tangents(run(jvp(in_loop(c, points, [k])), with_tangent(args[k])))
        yield "reverse", k, pulled[f"x{k}"]
        yield "reverse, alone", k, run(gradient(in_loop(c, points, [k])), args[k], ones)["x0"]


def partials_written_out(c, points):
    """The same of straight code, where the other operands are literals."""
    args, ones = columns(points), [1.0] * len(points)
    pulled = run(gradient(straight(c, points)), *args, ones)
    for k in range(c.arity):
        f = straight(c, points, [k])
        yield "forward", k, tangents(run(jvp(f), with_tangent(args[k])))
        yield "reverse", k, pulled[f"x{k}"]
        yield "reverse, alone", k, run(gradient(f), args[k], ones)["x0"]


def check(c, points, partials):
    exact = [[d(*map(mp.mpf, p)) for p in points] for d in c.partials]
    for direction, k, got in partials(c, points):
        for p, g, e in zip(points, got, exact[k], strict=True):
            if e is None:
                continue
            e = rounded(e)
            if abs(e) < NORMAL and abs(g) <= NORMAL:
                continue
            allowed = TOLERANCE + c.derivative_error(*p)
            assert relative(g, e) <= allowed, f"{direction}: ∂{c.name}/∂x{k} at {p} is {g}, expected {e}"


@pytest.mark.parametrize("name", REAL_OPS)
def test_derivative(name):
    c = case(name)
    points = [p for p in c.points if all(map(math.isfinite, p)) and c.smooth(*p)]
    check(c, points, partials_in_loop)
    check(c, points[:: len(points) // 50 + 1], partials_written_out)


@pytest.mark.parametrize("name", [name for name in OP_NAMES if name not in REAL_OPS])
def test_no_tangent(name):
    """A comparison has no derivative, and passes none back."""
    c = case(name)
    if "R" not in c.op.ins:
        return
    points = [(1.0, 2.0), (2.0, 2.0), (inf, nan)]
    args = columns(points)
    expected = [c.value(*p) for p in points]
    for f in (in_loop(c, points), straight(c, points)):
        assert run(jvp(f), *map(with_tangent, args)) == expected
        assert run(gradient(f), *args, [True] * 3) == {"x0": [0.0] * 3, "x1": [0.0] * 3}


# -- edges ----------------------------------------------------------------------------------------------

EDGES = """
          0     -0    inf   -inf    nan      1     -1      2     -2
neg      -1     -1     -1     -1     -1     -1     -1     -1     -1
abs       1     -1      1     -1      1      1     -1      1     -1
sign      0      0      0      0      0      0      0      0      0
side      0      0      0      0      0      0      0      0      0
ceil      0      0      0      0      0      0      0      0      0
floor     0      0      0      0      0      0      0      0      0
trunc     0      0      0      0      0      0      0      0      0
sqrt    inf   -inf      0    nan    nan    0.5    nan      *    nan
sin       1      1    nan    nan    nan      *      *      *      *
cos       0      0    nan    nan    nan      *      *      *      *
tan       1      1    nan    nan    nan      *      *      *      *
asin      1      1    nan    nan    nan    inf    inf    nan    nan
acos     -1     -1    nan    nan    nan   -inf   -inf    nan    nan
atan      1      1      0      0    nan    0.5    0.5    0.2    0.2
sinh      1      1    inf    inf    nan      *      *      *      *
cosh      0      0    inf   -inf    nan      *      *      *      *
tanh      1      1      0      0    nan      *      *      *      *
exp       1      1    inf      0    nan      *      *      *      *
expm1     1      1    inf      0    nan      *      *      *      *
log     inf   -inf      0      0    nan      1     -1    0.5   -0.5
log1p     1      1      0      0    nan    0.5    inf      *     -1
log2    inf   -inf      0      0    nan      *      *      *      *
log10   inf   -inf      0      0    nan      *      *      *      *
cbrt    inf    inf      0      0    nan      *      *      *      *
"""
"""Derivatives where an op has an edge (or ends); a star where there is nothing to say: the formula holds.

A step's derivative is zero even at NaN, for it is not computed at all. That of ``abs`` and of ``sqrt`` at
zeros goes by the sign bit. Beyond their domain the logarithms have the derivatives of log|x|, though no
value. The sign of a zero is left open.
"""

BINARY_EDGES = """
mul     0    inf     inf      0
mul     nan  0       0      nan
div     1    0       inf   -inf
div     1   -0      -inf   -inf
div     0    0       inf    nan
div     1    inf     0        0
div     inf  1       1     -inf
div     inf  inf     0      nan
div     nan  1       1      nan
min     1    1       0.5    0.5
min     0   -0       0.5    0.5
min    -0    0       0.5    0.5
min    -inf -inf     0.5    0.5
min    -inf  1       1        0
min     inf  1       0        1
max     1    1       0.5    0.5
max     0   -0       0.5    0.5
max    -0    0       0.5    0.5
max     inf  inf     0.5    0.5
max     inf  1       1        0
max    -inf  1       0        1
min     nan  1       0.5    0.5
max     1    nan     0.5    0.5
pow     0    0       0     -inf
pow    -0    0       0     -inf
pow     0    0.5     inf      0
pow     0    1       1        0
pow    -0    1       1        0
pow     0    2       0        0
pow     0    3       0        0
pow     0   -1      -inf   -inf
pow    -2    0       0      nan
pow    -2    1       1      nan
pow    -2    3      12      nan
pow    -2   -1      -0.25   nan
pow    -2    0.5     nan    nan
pow     1    0       0        0
pow     nan  0       *      nan
pow     nan  1       1      nan
pow     inf  0       0      inf
pow     inf  0.5     0      inf
pow     inf  1       1      inf
pow     inf  2       inf    inf
pow     inf -1       0        0
pow    -inf  3       inf    nan
pow     2    inf     inf    inf
pow     2   -inf     nan      0
pow     0.5  inf     nan      0
pow     1    inf     nan    nan
pow     2    nan     nan    nan
atan2   0    0       nan    nan
atan2   0    1       1        0
atan2  -0    1       1        0
atan2   0   -1      -1        0
atan2   1    0       0       -1
atan2  -1    0       0        1
atan2   inf  1       0      nan
atan2   1    inf     nan      0
atan2   nan  1       nan    nan
hypot   0    0       0        0
hypot  -0    0       0        0
hypot   0    1       0        1
hypot   0   -1       0       -1
hypot   1    0       1        0
hypot   inf  1       nan      0
hypot   inf  inf     nan    nan
hypot   nan  1       nan    nan
"""
"""An op, its operands, and its derivatives by the first and by the second.

Of equals, ``min`` and ``max`` take the mean, and at NaN too. A norm is 0 at the origin, where it has a
kink, but an angle has no derivative there. Where an infinity meets a zero in a rule, it is NaN; a star
is where that depends on whether the other operand is a literal.
"""


@pytest.mark.parametrize("name", [name for name in REAL_OPS if case(name).arity == 1])
def test_edges_of_unary(name):
    points = [(x,) for x in (0.0, -0.0, inf, -inf, nan, 1.0, -1.0, 2.0, -2.0)]
    check_edges(name, points, [[table(EDGES)[name][bits(x)] for (x,) in points]])


@pytest.mark.parametrize("name", "add sub mul div min max pow atan2 hypot".split())
def test_edges_of_binary(name):
    rows = [
        list(map(number, row)) for op, *row in map(str.split, BINARY_EDGES.strip().splitlines()) if op == name
    ]
    if name in ("add", "sub"):  # linear: the same everywhere
        rows = [
            [x, y, 1.0, 1.0 if name == "add" else -1.0] for x in (0.0, inf, nan) for y in (-0.0, -inf, nan)
        ]
    x, y, *expected = zip(*rows, strict=True)
    check_edges(name, list(zip(x, y, strict=True)), expected)


def number(text):
    return None if text == "*" else float(text)


def check_edges(name, points, expected):
    c = case(name)
    for partials in (partials_in_loop, partials_written_out):
        for direction, k, got in partials(c, points):
            for p, g, e in zip(points, got, expected[k], strict=True):
                if e is not None:
                    what = f"{direction}: ∂{name}/∂x{k} at {p} is {g}, expected {e}"
                    assert relative(g, e) <= TOLERANCE, what


# -- structural zeros -----------------------------------------------------------------------------------

NOT_VARYING = {
    "factor": (lambda x: floor(x) * inf, 0.5),
    "divisor": (lambda x: 1.0 / rose.trunc(x), 0.5),
    "exponent": (lambda x: rose.pow(-2.0, floor(x)), 3.5),
    "base": (lambda x: rose.pow(rose.ceil(x), 0.5), -0.5),
    "logarithm": (lambda x: rose.log(floor(x)), 0.5),
    "root": (lambda x: rose.sqrt(rose.ceil(x)), -0.5),
    "norm": (lambda x: rose.hypot(rose.trunc(x), inf), 0.5),
    "angle": (lambda x: rose.atan2(rose.sign(x), nan), 0.5),
    "maximum": (lambda x: rose.max(floor(x), nan), 0.5),
    "comparison": (lambda x: select(x < 1, Real, inf, nan), 0.5),
}
"""Where nothing varies no derivative is made, though the rule's would be infinite or NaN."""


@pytest.mark.parametrize("name", NOT_VARYING)
def test_structural_zero(name):
    body, x = NOT_VARYING[name]
    f = fn([Real], Real, body)
    assert run(jvp(f), {"re": x, "du": 1.0})["du"] == 0
    assert run(gradient(f), x, 1.0) == {"x0": 0}


def test_one_operand_varies():
    """The other's derivative, infinite or NaN, is not made and does not get in."""
    for body, x, expected in [
        (lambda x: rose.pow(x, 3.0), -2.0, 12.0),
        (lambda x: rose.pow(x, 3.0 + floor(x * 0)), -2.0, 12.0),
        (lambda x: rose.pow(x, 0.0), 0.0, 0.0),
        (lambda x: rose.pow(0.0, x), 2.0, 0.0),
        (lambda x: x + nan, 1.0, 1.0),
        (lambda x: x / inf, 1.0, 0.0),
        (lambda x: rose.min(x, 0.0), -inf, 1.0),
        (lambda x: select(x < 1, Real, x, rose.log(floor(x))), 0.0, 1.0),
    ]:
        f = fn([Real], Real, body)
        assert run(jvp(f), {"re": x, "du": 1.0})["du"] == expected
        assert run(gradient(f), x, 1.0) == {"x0": expected}
