"""Powers with a short exponent are products, and so are their derivatives."""

from __future__ import annotations

from math import inf, isnan, nan, ulp

import pytest
from op_cases import case

from rose_core import Real, Vec, compile, fn, grad, hessian, inspect, interp, jet, jvp, sin, vec
from rose_core import sum as total
from rose_core.language.powers import MOST_WHOLE, is_short
from rose_core.language.reals import pow as power

SHORT = [k / 2 for k in range(-2 * MOST_WHOLE, 2 * MOST_WHOLE + 1) if is_short(k / 2)]
NUMBERS = [0.0, 1.0, 0.3, 1.7, 5.5, 1e-3, 1234.5, inf]
N = 20
V = Vec(N, Real)


def test_which() -> None:
    assert {2.0, 4.0, 16.0, -1.0, -16.0, 0.5, -0.5, 4.5, -4.5} <= {*SHORT}
    assert not any(map(is_short, [0.0, -0.0, 1.0, 17.0, -17.0, 5.5, 0.25, 2.2, inf, -inf, nan]))


@pytest.mark.parametrize("exponent", SHORT)
def test_value(exponent: float) -> None:
    """As many roundings as the exponent says; zeros, infinities and what is not defined are the same."""
    for x in (*NUMBERS, *(-x for x in NUMBERS), nan):
        found, exact = power(x, exponent), case("pow").value(x, exponent)
        if exact in (0.0, inf, -inf) or isnan(exact):
            assert repr(found) == repr(exact), x
        else:
            assert abs(found - exact) <= (abs(exponent) + 1) * ulp(exact), x


@pytest.mark.parametrize("exponent", SHORT)
def test_compiled(exponent: float) -> None:
    """In a loop, which runs in lanes, and by itself; nor is a power left in a gradient, if that is short."""
    f = fn([V], V, lambda x: vec(N, Real, lambda i: x[i] ** exponent))
    one = fn([Real], Real, lambda x: x**exponent)
    x = [*NUMBERS, *(-x for x in NUMBERS), nan, 0.7, 2.0, -3.0]
    expected = [repr(power(a, exponent)) for a in x]
    for run in (compile, interp):
        assert [*map(repr, run(f)(x))] == expected
        assert [repr(run(one)(a)) for a in x] == expected
    gradient = inspect(grad(fn([V], Real, lambda x: total(N, lambda i: sin(x[i] ** exponent))))).wat
    assert ("pow" in gradient) == (exponent - 1 not in [0.0, 1.0, *SHORT])
    assert "f64x2" in gradient or "pow" in gradient


@pytest.mark.parametrize("exponent", SHORT)
def test_derivatives(exponent: float) -> None:
    """In both modes, of the first and second order; at 0 they are those of the power."""
    f = fn([Real], Real, lambda x: x**exponent)
    along = fn([Real], Real, lambda x: jvp(f)({"re": x, "du": 1.0}).du)
    series = jet(f, 2)
    for x in (0.4, 1.0, 2.5):
        first, second = exponent * x ** (exponent - 1), exponent * (exponent - 1) * x ** (exponent - 2)
        for found in (compile(grad(f))(x), compile(along)(x), compile(series)([x, 1.0, 0.0])[1]):
            assert found == pytest.approx(first, rel=1e-13)
        assert compile(hessian(f))(x) == pytest.approx(second, rel=1e-13)
    at_zero = exponent * power(0.0, exponent - 1) if exponent != 1 else 1.0
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
