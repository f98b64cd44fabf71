"""Powers with a short exponent are products, and so are their derivatives; not in a precise program."""

from __future__ import annotations

from math import inf, isnan, nan, ulp

import pytest
from op_cases import case, ulps

from rose_core import Real, Vec, compile, fn, grad, hessian, inspect, interp, jet, jvp, libm, sin, vec
from rose_core import sum as total
from rose_core.cli import main
from rose_core.optimise.powers import MOST_WHOLE, is_short
from rose_core.standalone import load

SHORT = [k / 2 for k in range(-2 * MOST_WHOLE, 2 * MOST_WHOLE + 1) if is_short(k / 2)]
NUMBERS = [0.0, 1.0, 0.3, 1.7, 5.5, 1e-3, 1234.5, inf]
X = [*NUMBERS, *(-x for x in NUMBERS), nan, 0.7, 2.0, -3.0]
N = len(X)
V = Vec(N, Real)


def test_which() -> None:
    assert {2.0, 4.0, 16.0, -1.0, -16.0, 0.5, -0.5, 4.5, -4.5} <= {*SHORT}
    assert not any(map(is_short, [0.0, -0.0, 1.0, 17.0, -17.0, 5.5, 0.25, 2.2, inf, -inf, nan]))


def in_loop(exponent: float):
    return fn([V], V, lambda x: vec(N, Real, lambda i: x[i] ** exponent))


def alone(exponent: float):
    return fn([Real], Real, lambda x: x**exponent)


@pytest.mark.parametrize("exponent", SHORT)
def test_value(exponent: float) -> None:
    """As many roundings as the exponent says; zeros, infinities and what is not defined are the same.

    In a loop, which runs in lanes, and alone, compiled and interpreted."""
    expected = [case("pow").value(x, exponent) for x in X]
    found = compile(in_loop(exponent))(X)
    for x, power, exact in zip(X, found, expected, strict=True):
        if exact in (0.0, inf, -inf) or isnan(exact):
            assert repr(power) == repr(exact), x
        else:
            assert abs(power - exact) <= (abs(exponent) + 1) * ulp(exact), x
    assert repr(interp(in_loop(exponent))(X)) == repr(found)
    for run in (compile, interp):
        assert repr([run(alone(exponent))(x) for x in X]) == repr(found)


@pytest.mark.parametrize("exponent", SHORT)
def test_gradient(exponent: float) -> None:
    """No power is left in a gradient, if that is short; it runs in lanes."""
    gradient = inspect(grad(fn([V], Real, lambda x: total(N, lambda i: sin(x[i] ** exponent))))).wat
    assert ("pow" in gradient) == (exponent - 1 not in [0.0, 1.0, *SHORT])
    assert "f64x2" in gradient


@pytest.mark.parametrize("exponent", [*SHORT, 17.0, 1 / 3])
def test_precise(exponent: float) -> None:
    """Then all of them are a unit in the last place from the exact value at most."""
    f = in_loop(exponent)
    found = compile(f, precise=True)(X)
    assert repr(interp(f, precise=True)(X)) == repr(found)
    for x, power in zip(X, found, strict=True):
        assert ulps(power, case("pow").value(x, exponent)) <= 1, x


def test_what_is_precise_already() -> None:
    """Programs without other powers are the same ones."""
    for exponent in (2.0, 3.0, 0.5, 1.5, -1.0, -0.5, 17.0, 0.3):
        assert inspect(alone(exponent), precise=True) == inspect(alone(exponent)), exponent
    assert inspect(alone(8.0), precise=True) != inspect(alone(8.0))


def test_exponents_of_a_call() -> None:
    """They are as near to the exact value as any."""
    f = fn([V, Real], V, lambda x, exponent: vec(N, Real, lambda i: x[i] ** exponent))
    compiled, interpreted = compile(f), interp(f)
    for exponent in SHORT:
        found = compiled(X, exponent)
        assert repr(found) == repr(interpreted(X, exponent)) == repr([libm.pow(x, exponent) for x in X])


def test_called_functions() -> None:
    """Those are as precise as the one that calls them, and by default as fast."""
    power = fn([Real], Real, lambda x: x**8)
    f = fn([V], Real, lambda x: total(N, lambda i: power(x[i]) * power(x[i] + 1)))
    assert "pow" not in inspect(f).wat
    assert "pow" in inspect(f, precise=True).wat
    assert interp(f, precise=True)(X[1:7] * 3 + X[1:3]) == compile(f, precise=True)(X[1:7] * 3 + X[1:3])


def test_command(tmp_path) -> None:
    model = tmp_path / "model.py"
    model.write_text("from rose_core import *\n@fn\ndef f(x: Real) -> Real:\n    return x**13\n")
    found = []
    for option in ([], ["--precise"]):
        assert main(["compile", f"{model}:f", *option, "-o", str(tmp_path)]) == 0
        found.append(load(tmp_path / "f.wasm")(1.7))
    f = alone(13.0)
    assert found == [compile(f)(1.7), compile(f, precise=True)(1.7)]
    assert found[0] != found[1]


@pytest.mark.parametrize("exponent", SHORT)
def test_derivatives(exponent: float) -> None:
    """In both modes, of the first and second order; at 0 they are those of the power."""
    f = alone(exponent)
    along = fn([Real], Real, lambda x: jvp(f)({"re": x, "du": 1.0}).du)
    series = jet(f, 2)
    for x in (0.4, 1.0, 2.5):
        first, second = exponent * x ** (exponent - 1), exponent * (exponent - 1) * x ** (exponent - 2)
        for found in (compile(grad(f))(x), compile(along)(x), compile(series)([x, 1.0, 0.0])[1]):
            assert found == pytest.approx(first, rel=1e-13)
        assert compile(hessian(f))(x) == pytest.approx(second, rel=1e-13)
    at_zero = exponent * libm.pow(0.0, exponent - 1)
    assert compile(grad(f))(0.0) == compile(along)(0.0) == at_zero


def test_functions_that_differ_in_exponents() -> None:
    """They are not one function, of which the exponent were a parameter; for long ones they may be."""

    def waves(*exponents: float):
        def one(q):
            return fn(
                [V], Real, lambda x: sum((sin(x[i] + q) ** q * (x[i] + 1.5) for i in range(N)), start=0.0)
            )

        functions = [one(q) for q in exponents]
        return fn([V], Real, lambda x: sum((f(x) for f in functions), start=0.0))

    assert "pow" not in inspect(waves(4.0, 6.0, -1.5)).wat
    assert "pow" in inspect(waves(4.0, 2.2, 2.3)).wat
