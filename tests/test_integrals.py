"""Integrals and solutions of differential equations: their values, and the derivatives of the exact ones."""

from __future__ import annotations

import math

import pytest
from differences import assert_derivatives, differences, gradient
from engines import same, same_outcome

from rose_core import (
    Bool,
    Real,
    Vec,
    cond,
    cos,
    exp,
    fn,
    fori,
    jvp,
    log,
    max,
    odeint,
    quad,
    root,
    select,
    sin,
    sqrt,
    struct,
    sum,
    vec,
    vjp,
)
from rose_core.language.types import Array

V2, V3 = Vec(2, Real), Vec(3, Real)


# -- integrals --------------------------------------------------------------------------------------------


def test_an_integral():
    """The error function, by both bounds and by a parameter."""
    f = fn([V3], Real, lambda v: quad(lambda x: exp(-v[2] * x * x), v[0], v[1]))
    v = [0.2, 1.3, 0.7]
    k = math.sqrt(0.7)
    value = math.sqrt(math.pi) / 2 / k * (math.erf(k * 1.3) - math.erf(k * 0.2))
    assert same(f, v) == pytest.approx(value, rel=1e-14)
    first = assert_derivatives(f, v)
    low, high = math.exp(-0.7 * 0.04), math.exp(-0.7 * 1.69)
    by_parameter = (1.3 * high - 0.2 * low - value) / (2 * 0.7)
    assert first == pytest.approx([-low, high, by_parameter], rel=1e-12)


@pytest.mark.parametrize(
    ("body", "a", "b", "value", "error"),
    [
        (lambda x: 1.0, 2.0, 2.0, 0.0, 0.0),
        (lambda x: x, 3.0, 1.0, -4.0, 1e-14),
        (lambda x: sin(100 * x), 0.0, 10.0, (1 - math.cos(1000)) / 100, 1e-12),
        (lambda x: sqrt(x), 0.0, 1.0, 2 / 3, 1e-10),
        (lambda x: log(x), 0.0, 1.0, -1.0, 1e-9),
        (lambda x: 1 / sqrt(x), 0.0, 1.0, 2.0, 1e-8),
        (lambda x: abs(x - 0.3), 0.0, 1.0, 0.29, 1e-9),
        (lambda x: select(x < 0.3, 1.0, 0.0), 0.0, 1.0, 0.3, 1e-9),
        (lambda x: 1 / (1e-4 + x * x), -1.0, 1.0, 200 * math.atan(100), 1e-8),
    ],
)
def test_where_the_interval_has_to_be_taken_apart(body, a, b, value, error):
    f = fn([Real, Real], Real, lambda a, b: quad(body, a, b))
    assert same(f, a, b) == pytest.approx(value, abs=error)
    assert same(f, b, a) == pytest.approx(-value, abs=error)


@pytest.mark.parametrize(
    ("body", "a", "b", "value"),
    [
        (lambda x: exp(-x * x), -math.inf, math.inf, math.sqrt(math.pi)),
        (lambda x: exp(-x), 0.0, math.inf, 1.0),
        (lambda x: exp(x), 1.0, -math.inf, -math.e),
        (lambda x: exp(x), -math.inf, 1.0, math.e),
        (lambda x: 1 / (1 + x * x), math.inf, -math.inf, -math.pi),
        (lambda x: 1 / (x * sqrt(x)), math.inf, 4.0, -1.0),
        (lambda x: x**3 / (exp(x) - 1), 0.0, math.inf, math.pi**4 / 15),
        (lambda x: exp(-x), math.inf, math.inf, 0.0),
    ],
)
def test_unbounded_intervals(body, a, b, value):
    assert same(fn([], Real, lambda: quad(body, a, b))) == pytest.approx(value, rel=1e-8)


def test_derivatives_over_an_unbounded_interval():
    """By the bound that is finite, and by a parameter."""
    f = fn([V2], Real, lambda v: quad(lambda x: exp(-v[0] * x), v[1], math.inf))
    a, low = 0.7, 0.3
    end = math.exp(-a * low)
    assert same(f, [a, low]) == pytest.approx(end / a, rel=1e-10)
    expected = [-end * (low / a + 1 / a**2), -end]
    assert assert_derivatives(f, [a, low]) == pytest.approx(expected, rel=1e-9)
    moments = fn([Real], V3, lambda x: [exp(-x), x * exp(-x), x * x * exp(-x)])
    assert same(fn([], V3, lambda: quad(moments, 0.0, math.inf))) == pytest.approx([1, 1, 2], rel=1e-10)


def test_what_goes_wrong_on_unbounded_intervals():
    body = lambda: quad(lambda x: 1 / x, 1.0, math.inf)  # noqa: E731
    where = f"(test_integrals.py, line {body.__code__.co_firstlineno})"
    text = f"quad: the integral does not converge, or not in 10000 parts of the interval {where}"
    assert same_outcome(fn([], Real, body)) == text


@pytest.mark.parametrize("unit", [1e-300, 1e-220, 1e220, 1e295])
def test_very_large_and_small_integrals(unit):
    f = fn([Real], Real, lambda unit: quad(lambda x: unit * exp(20 * x), 0.0, 1.0))
    assert same(f, unit) == pytest.approx(unit * math.expm1(20) / 20, rel=1e-14, abs=0.0)


def test_bounds_that_are_numbers_where_there_is_no_value():
    f = fn([V2], Real, lambda v: quad(lambda x: v[0] / sqrt(x), 0.0, v[1]))
    assert assert_derivatives(f, [2.0, 2.25]) == pytest.approx([3, 4 / 3], rel=1e-8)


@pytest.mark.parametrize("c", [0.3, -7.0, 20.0])
def test_infinite_values_far_from_0(c):
    """Near there, numbers are less close together than near 0."""
    around = fn([Real], Real, lambda c: quad(lambda x: 1 / sqrt(abs(x - c)), c - 1.0, c + 2.0))
    assert same(around, c) == pytest.approx(2 + 2 * math.sqrt(2), rel=1e-6)
    above = fn([Real], Real, lambda c: quad(lambda x: 1 / sqrt(x - c), c, c + 4.0))
    assert same(above, c) == pytest.approx(4, rel=1e-6)


def test_the_area_of_a_disc():
    """Its boundary is vertical where the integral ends: so the derivative has no value there."""
    half = fn([Real], Real, lambda r: 2 * quad(lambda x: sqrt(r * r - x * x), -r, r))
    height = lambda r, x: quad(lambda y: 1.0, 0.0, sqrt(r * r - x * x))  # noqa: E731
    rows = fn([Real], Real, lambda r: 4 * quad(lambda x: height(r, x), 0.0, r))
    for f in (half, rows):
        assert same(f, 1.5) == pytest.approx(math.pi * 2.25, rel=1e-8)
        assert same(gradient(f), 1.5) == pytest.approx(3 * math.pi, rel=1e-7)
        slope = same(jvp(f), {"re": 1.5, "du": 1.0}).du
        assert slope == pytest.approx(3 * math.pi, rel=1e-7)


def test_the_derivative_is_taken_apart_by_itself():
    """f has no feature at x = v₁; its derivative has a narrow peak there, where v₀ is 0."""

    def body(v):
        return quad(lambda x: 1.0 + v[0] / (1e-6 + (x - v[1]) ** 2), 0.0, 1.0)

    f = fn([V2], Real, body)
    v = [0.0, 0.4]
    peak = 1e3 * (math.atan(0.6e3) + math.atan(0.4e3))
    assert same(f, v) == pytest.approx(1)
    assert same(gradient(f), v) == pytest.approx([peak, 0.0], rel=1e-8, abs=1e-6)
    assert same(jvp(f), [{"re": 0.0, "du": 1.0}, {"re": 0.4, "du": 0.0}]).du == pytest.approx(peak, rel=1e-8)


def test_integrals_of_vectors_and_structs():
    T = struct({"a": V2, "b": Real})

    @fn
    def f(v: V3) -> Real:
        def integrand(x):
            return {"a": vec(2, Real, lambda i: sin(v[0] * x) * v[2]), "b": exp(v[1] * x)}

        total = quad(fn([Real], T, integrand), v[0], v[2])
        return total.a[0] * total.b + total.a[1]

    v = [0.4, 0.3, 1.9]
    sine = (math.cos(0.16) - math.cos(0.76)) / 0.4 * 1.9
    exponential = (math.exp(0.57) - math.exp(0.12)) / 0.3
    assert same(f, v) == pytest.approx(sine * exponential + sine, rel=1e-13)
    assert_derivatives(f, v)


def test_of_elements_of_a_vector():
    """Rules know the elements that are used, be they of rows, and not the vectors that these are of."""
    n = 40
    V, M = Vec(n, Real), Vec(n, V3)

    @fn
    def f(v: V, m: M) -> Real:
        return sum(n, lambda i: quad(lambda x: exp(-x * v[i]) * v[0] + m[i][2] * m[1][0], 0.0, 1.0))

    v, m = [0.5 + 0.1 * k for k in range(n)], [[0.1 * k, 0.2, 0.01 * k] for k in range(n)]
    parts = [(1 - math.exp(-x)) / x for x in v]
    assert same(f, v, m) == pytest.approx(0.5 * math.fsum(parts) + 0.1 * math.fsum(row[2] for row in m))
    G = struct({"v": V, "m": M})
    found = same(fn([V, M], G, lambda v, m: dict(zip("vm", vjp(f)(v, m).grad(1), strict=True))), v, m)
    slopes = [0.5 * ((1 + x) * math.exp(-x) - 1) / (x * x) for x in v]
    assert found.v == pytest.approx([slopes[0] + math.fsum(parts), *slopes[1:]], rel=1e-12)
    assert found.m[1] == pytest.approx([math.fsum(row[2] for row in m), 0, 0.1], rel=1e-12)
    rule = next(g for g in f.func.callees if g.jvp)
    assert not any(isinstance(t, Array) for t in rule.params)


def test_integrals_of_integrals_and_to_roots():
    """The area of an ellipse in the first quadrant; an integral up to where its integrand is zero."""

    @fn
    def area(v: V2) -> Real:
        def width(y):
            return v[0] * sqrt(1 - y * y / (v[1] * v[1]) + 1e-6)

        return quad(
            lambda y: quad(lambda x: 1.0 + 0.0 * x * y, 0.0, width(y), tolerance=1e-9), 0.0, 0.9 * v[1]
        )

    k = (0.9 * math.sqrt(1 - 0.81) + math.asin(0.9)) / 2
    assert same(area, [3.0, 2.0]) == pytest.approx(6 * k, rel=1e-5)
    assert same(gradient(area), [3.0, 2.0]) == pytest.approx([2 * k, 3 * k], rel=1e-5)

    @fn
    def to_root(v: V2) -> Real:
        end = root(lambda x: v[0] - v[1] * x * x, 1.0)
        return quad(lambda x: v[0] - v[1] * x * x, 0.0, end)

    exact = lambda a, b: 2 / 3 * a * math.sqrt(a / b)  # noqa: E731
    assert same(to_root, [2.0, 3.0]) == pytest.approx(exact(2, 3), rel=1e-13)
    expected = [1.5 * exact(2, 3) / 2, -0.5 * exact(2, 3) / 3]
    assert assert_derivatives(to_root, [2.0, 3.0]) == pytest.approx(expected, rel=1e-12)


def test_integrals_in_loops_and_choices():
    @fn
    def f(v: V3) -> Real:
        return sum(
            3, lambda i: cond(v[i] > 0, Real, lambda: quad(lambda x: x * v[i], 0.0, v[0]), lambda: 0.0)
        )

    v = [2.0, -1.0, 3.0]
    assert same(f, v) == pytest.approx(2 * 2 + 2 * 3)
    assert assert_derivatives(f, v) == pytest.approx([6 + 6, 0.0, 2.0])


def test_jumps_at_a_place_that_varies():
    """What DERIVATIVES.md says of them: their part is missing, and integrals of each side have it."""
    slope = lambda body: gradient(fn([Real], Real, body))  # noqa: E731
    for step in (
        lambda x, a: select(x < a, Real, 1.0, 0.0),
        lambda x, a: cond(x < a, Real, lambda: 1.0, lambda: 0.0),
    ):
        f = fn([Real], Real, lambda a, step=step: quad(lambda x: step(x, a), 0.0, 1.0))
        assert same(f, 0.3) == pytest.approx(0.3, rel=1e-8)
        assert same(gradient(f), 0.3) == 0
    sides = slope(lambda a: quad(lambda x: 2 * a, 0.0, a) + quad(lambda x: a * a, a, 1.0))
    assert same(sides, 0.3) == pytest.approx(4 * 0.3 + 2 * 0.3 * 0.7 - 0.09, rel=1e-14)
    kink = slope(lambda a: quad(lambda x: max(x - a, 0.0), 0.0, 1.0))
    assert same(kink, 0.3) == pytest.approx(-0.7, rel=1e-8)
    assert same(gradient(kink), 0.3) == 0
    still = slope(lambda a: quad(lambda x: select(x < 0.5, Real, a, a * a * x), 0.0, 1.0))
    assert same(still, 0.3) == pytest.approx(0.5 + 2 * 0.3 * 3 / 8, rel=1e-12)


def test_what_goes_wrong_with_integrals():
    body = lambda a: quad(lambda x: 1 / x, 0.0, a)  # noqa: E731
    where = f"(test_integrals.py, line {body.__code__.co_firstlineno})"
    text = "quad: the integral does not converge, or not in {} parts of the interval " + where
    f = fn([Real], Real, body)
    assert same_outcome(f, 1.0) == text.format(10_000)
    body = lambda a: quad(lambda x: sqrt(x), a, 1.0, limit=100)  # noqa: E731
    where = f"(test_integrals.py, line {body.__code__.co_firstlineno})"
    text = "quad: the integral does not converge, or not in {} parts of the interval " + where
    f = fn([Real], Real, body)
    assert same_outcome(f, -1.0) == text.format(100)
    assert same_outcome(f, 0.25) == pytest.approx(2 / 3 * (1 - 0.125))
    with pytest.raises(TypeError, match="quad: expected a result of Reals, got the type Bool"):
        fn([Real], Real, lambda a: quad(fn([Real], Bool, lambda x: x > a), 0.0, 1.0))


# -- differential equations -------------------------------------------------------------------------------


def test_decay():
    """y' = -k y, at several times, two of them equal."""
    times = [0.0, 0.5, 1.0, 1.0, 2.0]
    f = fn([V2], Vec(5, Real), lambda v: odeint(lambda y, t: -v[1] * y, v[0], times))
    assert same(f, [2.0, 0.7]) == pytest.approx([2 * math.exp(-0.7 * t) for t in times], rel=1e-8)
    pull = fn([V2, Vec(5, Real)], V2, lambda v, c: vjp(f)(v).grad(c))
    for k, t in enumerate(times):
        got = same(pull, [2.0, 0.7], [float(k == j) for j in range(5)])
        assert got == pytest.approx([math.exp(-0.7 * t), -2 * t * math.exp(-0.7 * t)], rel=1e-7, abs=1e-12)


def test_by_all_that_there_is():
    """By the start, a parameter, and the times at which it starts and ends; forwards and back in time."""
    f = fn([V3], Real, lambda v: odeint(lambda y, t: v[0] * y * cos(t), 2.0, [v[1], v[2]])[1])
    exact = lambda v: 2 * math.exp(v[0] * (math.sin(v[2]) - math.sin(v[1])))  # noqa: E731
    for v in ([0.5, 0.3, 3.0], [0.5, 3.0, 0.3]):
        y = exact(v)
        expected = [
            y * (math.sin(v[2]) - math.sin(v[1])),
            -y * v[0] * math.cos(v[1]),
            y * v[0] * math.cos(v[2]),
        ]
        assert same(f, v) == pytest.approx(y, rel=1e-8)
        assert assert_derivatives(f, v, rel=1e-5) == pytest.approx(expected, rel=1e-7)


def test_a_pendulum_with_a_struct_for_a_state():
    T = struct({"angle": Real, "speed": Real})

    @fn
    def f(v: V3) -> Real:
        def slope(s, t):
            return {"angle": s.speed, "speed": -v[0] * sin(s.angle) - v[1] * s.speed}

        ends = odeint(fn([T, Real], T, slope), {"angle": v[2], "speed": 0.0}, [0.0, 5.0, 10.0])
        return ends[2].angle + ends[1].speed

    assert_derivatives(f, [1.0, 0.1, 1.2], rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("checkpoint", ["none", 1, 7, "revolve"])
def test_checkpoints(checkpoint):
    """A chain of springs; every way to keep less gives the same derivative."""

    def body(v):
        def slope(y, t):
            right = lambda i: y[(i + 1) % 3]  # noqa: E731
            return [v[0] * (right(i) - y[i]) + sin(t) * v[1] * y[i] for i in range(3)]

        end = odeint(slope, [1.0, 0.0, v[2]], [0.0, 4.0], checkpoint=checkpoint)[1]
        return end[0] * end[1] + end[2]

    f = fn([V3], Real, body)
    got = same(gradient(f), [0.7, 0.4, 0.2])
    assert got == pytest.approx(differences(f, [0.7, 0.4, 0.2], 1e-3), rel=1e-6)


def test_against_the_unrolled_method():
    """With many steps of the classical method the derivatives of both tend to the same."""

    def unrolled(v):
        h = 1 / 200

        def step(_, y):
            slope = lambda y: v[0] * y * (1 - y)  # noqa: E731
            a = slope(y)
            b = slope(y + h / 2 * a)
            c = slope(y + h / 2 * b)
            d = slope(y + h * c)
            return y + h / 6 * (a + 2 * b + 2 * c + d)

        return fori(200, Real, v[1], step)

    f = fn([V2], Real, lambda v: odeint(lambda y, t: v[0] * y * (1 - y), v[1], [0.0, 1.0])[1])
    g = fn([V2], Real, unrolled)
    v = [1.7, 0.2]
    assert same(f, v) == pytest.approx(same(g, v), rel=1e-8)
    assert same(gradient(f), v) == pytest.approx(same(gradient(g), v), rel=1e-8)
    weighted = lambda f: fn([V2], Real, lambda v: gradient(f)(v)[0] + 2 * gradient(f)(v)[1])  # noqa: E731
    expected = same(gradient(weighted(g)), v)
    assert same(gradient(weighted(f)), v) == pytest.approx(expected, rel=1e-6)


def test_what_goes_wrong_with_equations():
    body = lambda a: odeint(lambda y, t: y * y, a, [0.0, 2.0], limit=1000)[1]  # noqa: E731
    where = f"(test_integrals.py, line {body.__code__.co_firstlineno})"
    f = fn([Real], Real, body)
    assert same_outcome(f, 1.0) == f"odeint: more than 1000 steps from one time to the next {where}"
    assert same_outcome(f, 0.25) == pytest.approx(0.5)
    until = lambda end: odeint(lambda y, t: -y, 1.0, [0.0, end])[1]  # noqa: E731
    where = f"(test_integrals.py, line {until.__code__.co_firstlineno})"
    for f in (fn([Real], Real, until), gradient(fn([Real], Real, until))):
        for end in (math.nan, math.inf, -math.inf):
            assert same_outcome(f, end) == f"odeint: one of the times is not a finite number {where}"
        assert abs(same_outcome(f, 1.0)) == pytest.approx(math.exp(-1))
    with pytest.raises(TypeError, match="odeint: expected a vector of Reals as the times, got"):
        fn([Real], Real, lambda a: odeint(lambda y, t: y, a, 1.0)[0])
    with pytest.raises(TypeError, match=r"odeint: expected a function \(Real, Real\) -> Real"):
        fn([Real], Real, lambda a: odeint(fn([Real], Real, lambda y: y), a, [0.0, 1.0])[0])


@pytest.mark.parametrize("side", [lambda y: y, lambda y: sin(y)])
def test_the_third_derivative_in_an_equation(side):
    """A loop that adds up in accumulators, of which some are tangents, and others are not."""
    end = fn(
        [Real], Real, lambda w: odeint(lambda y, t: vec(2, Real, lambda i: side(y))[1], w, [0.0, 0.4])[1]
    )
    second = fn([Real], Real, lambda w: vjp(fn([Real], Real, lambda w: vjp(end)(w).grad(1)))(w).grad(1))
    f = fn([Vec(1, Real)], Real, lambda v: root(lambda x: x - second(v[0]) * x - v[0], 0.1))
    assert same(gradient(f), [0.5]) == pytest.approx(differences(f, [0.5]), rel=1e-7)
