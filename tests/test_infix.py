"""Expressions as text: what they mean, and what is said of those that mean nothing."""

from __future__ import annotations

import math
import operator
import random

import pytest

from rose_core import ExpressionError, Real, compile, expr, fn, interp, jvp, vjp
from rose_core.language.ops import by_name
from rose_core.tracing.infix import FUNCTIONS


def value(text, *args, names=None):
    f = expr(text, names)
    found = interp(f)(*args)
    assert repr(compile(f)(*args)) == repr(found)
    return found


def test_the_example():
    f = expr("x**y + sin(x)")
    assert f.func.param_names == ["x", "y"]
    assert compile(f)(2, 3) == 8 + math.sin(2)
    both = fn([Real, Real], Real, lambda x, y: vjp(f)(x, y).grad(1)[0] * vjp(f)(x, y).grad(1)[1])
    assert compile(both)(2, 3) == pytest.approx((12 + math.cos(2)) * 8 * math.log(2))
    assert compile(jvp(f))({"re": 2, "du": 1}, {"re": 3, "du": 0}).du == pytest.approx(12 + math.cos(2))


def test_names():
    assert expr("b*a + c*b + sin(d) - pi").func.param_names == ["b", "a", "c", "d"]
    assert expr("sin*x", ["sin", "x"]).func.param_names == ["sin", "x"]
    assert value("b - a", 1, 10, names=["a", "b"]) == 9
    assert value("x", 1, 10, names=["unused", "x"]) == 10
    assert value("e*x", 5, 2, names=["x", "e"]) == 10
    assert value("α0 + größe", 1, 2) == 3
    assert value("x", 7, names="x") == 7
    assert value("\u00b5 * \u03bc", 3, names="\u00b5") == 9  # of the two signs µ Python makes one
    assert value("2 * pi - tau + e") == math.e


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function(name):
    args = [0.3, 0.6][: len(by_name[name].ins)]
    text = f"{name}({', '.join('xy'[: len(args)])})"
    assert value(text, *args) == by_name[name].evaluate(*args)


def test_as_python_reads_it():
    """Random expressions against Python itself, which computes with the same rules."""
    rng = random.Random(5)
    binary = {"+": 0, "-": 0, "*": 0, "/": 0, "//": 0, "%": 0, "**": 0}

    def random_text(depth):
        if depth == 0:
            return rng.choice(["x", "y", "z", "2", "0.5", "3e-1"])
        kind = rng.randrange(10)
        a, b = random_text(depth - 1), random_text(rng.randrange(depth))
        if kind < 6:
            op = rng.choice(list(binary))
            if op == "**":
                return f"abs({a})**{rng.choice(['2', '-1', '0.5'])}"
            return f"({a}) {op} ({b})" if kind < 3 else f"{a} {op} {b}"
        if kind == 6:
            return f"-{a}"
        if kind == 7:
            return f"max({a}, {b}, x)"
        c = random_text(rng.randrange(depth))
        test = rng.choice([f"{a} < {b} <= {c}", f"not {a} > {b}", f"{a} == {b} or {b} != {c} and x >= y"])
        return f"({a} if {test} else {b})"

    compared = 0
    for _ in range(300):
        text = random_text(rng.randrange(1, 5))
        args = [round(rng.uniform(0.5, 3), 3) for _ in range(3)]
        try:
            expected = eval(text, {"abs": abs, "max": max}, dict(zip("xyz", args, strict=True)))
        except (ZeroDivisionError, OverflowError):
            continue
        if abs(expected) < 1e12:
            compared += 1
            got = interp(expr(text, ["x", "y", "z"]))(*args)
            # x % y is one rounding away from Python's, and a comparison or // may amplify that
            close = got == pytest.approx(expected, rel=1e-9, abs=1e-9)
            assert close or "%" in text or "//" in text, (text, args)
    assert compared > 200


def test_only_the_side_that_is_taken():
    f = expr("sqrt(x) if x > 0 else 0")
    slope = fn([Real], Real, lambda x: vjp(f)(x).grad(1))
    assert [compile(slope)(x) for x in (4.0, 0.0, -1.0)] == [0.25, 0, 0]
    assert value("1 if 1 < 2 and True else x", 3) == 1
    assert value("x if not 1 < 2 else 4", 3) == 4


def test_long_and_deep_ones():
    n = 400
    assert value("+".join(["x"] * n), 0.5) == n / 2
    assert value("-" * n + "x", 0.5) == 0.5
    assert value("(" * 80 + "x" + ")" * 80, 0.5) == 0.5


def test_longer_than_the_stack():
    """Which is to be told, and not to end the process."""
    with pytest.raises(ExpressionError, match="nested too deeply"):
        expr("x" + "+x" * 200_000)


def test_space_and_lines():
    assert value("  x +  1 ", 1) == 2
    assert value("(x +\n  1)", 1) == 2
    assert value("\n  x # the first\n", 1) == 1
    for end in ("\n", "\r\n", "\r", "\n\n"):
        assert value(f"x{end}  + 1{end}", 1) == 2


@pytest.mark.parametrize(
    ("text", "sentence", "line", "column"),
    [
        ("x + foo(x)", "there is no function foo", "x + foo(x)", 4),
        ("x +", "invalid syntax", "x +", 3),
        *(
            (text, r"there is no operator here; the product is \*", text, column)
            for text, column in [
                ("2x", 1), ("1 + 2.5e3x", 9), ("x x", 2), ("sin(x)cos(x)", 6), ("sin(2 x)", 6), ("3pi", 1)
            ]
        ),
        ("sin x", "invalid syntax", "sin x", 4),
        ("x else x", "invalid syntax", "x else x", 2),
        ("1.2.3", "invalid syntax", "1.2.3", 3),
        ("2(x + 1)", r"this is no function; the product is \*", "2(x + 1)", 0),
        ("x(x + 1)", r"there is no function x; the product is \*", "x(x + 1)", 0),
        ("", "there is no expression", "", 0),
        ("  ", "there is no expression", "  ", 2),
        ("x ^ 2", r"there is no such operator on numbers; the power is \*\*", "x ^ 2", 2),
        ("ä + sqrt(x^2 + y^2)", r"there is no such operator", "ä + sqrt(x^2 + y^2)", 10),
        ("(( x ) ) @ 2", r"there is no such operator on numbers", "(( x ) ) @ 2", 9),
        ("1 + ((x) # ^\n\n  ) | 2", r"there is no such operator", "  ) | 2", 4),
        ("1 + 'a'", "expected a number, got 'a'", "1 + 'a'", 4),
        ("1 + 2j", "expected a number, got 2j", "1 + 2j", 4),
        ("x + True", "expected a number, got True", "x + True", 4),
        ("1 + (x < 2)", "expected a number, got a condition", "1 + (x < 2)", 5),
        ("1 + (not x)", "expected a number, got a condition", "1 + (not x)", 5),
        ("1 if x else 2", "expected a condition such as x < y", "1 if x else 2", 5),
        ("1 if x in y else 2", "there is no such comparison of numbers", "1 if x in y else 2", 5),
        ("sin(x, y)", "sin takes 1 argument, got 2", "sin(x, y)", 0),
        ("2*atan2(x)", "atan2 takes 2 arguments, got 1", "2*atan2(x)", 2),
        ("max()", "max takes 2 arguments, got 0", "max()", 0),
        ("sin(*x)", "sin takes numbers, one after the other", "sin(*x)", 4),
        ("sin(x=y)", "sin takes numbers, one after the other", "sin(x=y)", 6),
        ("x.real", "this has no meaning in an expression of numbers", "x.real", 0),
        ("x[0]", "this has no meaning", "x[0]", 0),
        ("(lambda: x)()", "this is no function", "(lambda: x)()", 1),
        ("__import__('os').system('true')", "this is no function", "__import__('os').system('true')", 0),
        ("__import__('os')", "there is no function __import__", "__import__('os')", 0),
        ("[y for y in x]", "this has no meaning", "[y for y in x]", 0),
        ("(y := x)", "this has no meaning", "(y := x)", 1),
        ("ä + b.c", "this has no meaning", "ä + b.c", 4),
        ("   x + f(x)", "there is no function f", "   x + f(x)", 7),
        ("x +\n  foo(x)", "there is no function foo", "  foo(x)", 2),
        ("x\n  y", "there is no operator here", "  y", 2),
        ("(x +\n  foo(x))", "there is no function foo", "  foo(x))", 2),
        ("1" + "0" * 400, "this number is too large", "1" + "0" * 400, 0),
    ],
)  # fmt: skip
def test_what_it_refuses(text, sentence, line, column):
    with pytest.raises(ExpressionError, match=sentence) as caught:
        expr(text)
    first, shown, caret = str(caught.value).split("\n")
    assert first.startswith("expr: ")
    assert (shown, caret) == ("  " + line, "  " + " " * column + "^")


def test_what_it_refuses_of_names():
    with pytest.raises(
        ExpressionError, match="y is not among the names of the parameters: x\n  x \\+ y\n      \\^"
    ):
        expr("x + y", ["x"])
    with pytest.raises(ExpressionError, match="none at all"):
        expr("x", [])
    with pytest.raises(ValueError, match="there are two parameters x"):
        expr("x", ["x", "x"])
    with pytest.raises(TypeError, match="expected names of parameters, got str '1'"):
        expr("x", ["1"])
    with pytest.raises(TypeError, match="expected a text, got"):
        expr(operator.add)


def test_depths_beyond_any_sense():
    for text in ("(" * 5000 + "x" + ")" * 5000, "-" * 100_000 + "x"):
        with pytest.raises(ExpressionError):
            expr(text)
