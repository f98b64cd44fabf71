"""Taylor series: of every operation and construct those that nested derivatives give."""

from __future__ import annotations

import builtins
import math
from math import factorial

import pytest
from engines import same
from op_cases import REAL_OPS, case, mp
from test_ops_higher import POINTS

from rose_core import (
    Bool,
    Dual,
    Real,
    Size,
    Vec,
    cond,
    exp,
    fn,
    fori,
    grad,
    hessian,
    ieq,
    imin,
    index,
    jet,
    jvp,
    opaque,
    root,
    scan,
    select,
    sin,
    sum,
    vec,
    while_loop,
)
from rose_core.derivatives.expand import DerivativeError, Expansion
from rose_core.derivatives.jet import Jet

V3 = Vec(3, Real)


def nested(f, x: float, order: int) -> list[float]:
    """The coefficients of a function of one Real, by derivatives of derivatives."""
    found = []
    for k in range(order + 1):
        found.append(same(f, x) / factorial(k))
        f = grad(f)
    return found


def assert_is_nested(f, x: float, order: int = 4) -> None:
    series = same(jet(f, order), [x, 1.0, *[0.0] * (order - 1)])
    assert series == pytest.approx(nested(f, x, order), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("name", REAL_OPS)
def test_every_operation(name: str) -> None:
    """On a curve through points of its domain, against the exact series along that curve."""
    c, order = case(name), 5
    for point in [*c.random_points(2, "jet"), *POINTS.get(name, [])]:

        def curve(t, point=point):
            return [x + (0.75 - 0.5 * k) * t + (0.125 * k - 0.25) * t * t for k, x in enumerate(point)]

        f = fn([Real], Real, lambda t, curve=curve: c.call(*curve(t)))
        exact = list(map(float, mp.taylor(lambda t, curve=curve: c.exact(*curve(t)), 0, order)))
        found = same(jet(f, order), [0.0, 1.0, *[0.0] * (order - 1)])
        assert found == pytest.approx(exact, rel=1e-11, abs=1e-12 * max(map(abs, exact))), point


def test_powers_at_zero() -> None:
    """A whole power has a series at 0, which no division by 0 disturbs."""
    cube = fn([Real], Real, lambda x: x**3)
    assert same(jet(cube, 4), [0.0, 1.0, 0.0, 0.0, 0.0]) == [0.0, 0.0, 0.0, 1.0, 0.0]


def test_a_polynomial_goes_through() -> None:
    """Not only a direction: all coefficients of the argument count."""
    f = fn([Real, Real], Real, lambda x, y: x * y)
    assert same(jet(f, 3), [1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]) == [5.0, 16.0, 34.0, 60.0]


def test_control_flow() -> None:
    def f(t):
        x = vec(3, Real, lambda i: select(i == 1, 0.7 - 2 * t, 0.3 + t * t))

        def side(i, s):
            return cond(s > x[i], Real, lambda: s * sin(x[i]), lambda: exp(s * x[i]) / 2)

        s = fori(3, Real, 0.5, side)
        trips = while_loop(
            {"a": Real, "n": Real},
            {"a": s, "n": 0.0},
            lambda u: u.n < 4,
            lambda u: {"a": u.a * s + x[0], "n": u.n + 1},
        )
        last, kept = scan(3, Real, x[1], lambda s, i: (s * x[i], s + x[2]))
        updated = select(s > 0.1, V3, kept.set(1, s), x)
        product = fn([V3], Real, lambda y: y[0] * y[1] ** 2 * y[2])
        return trips.a + sum(3, lambda i: updated[i] * grad(product)(x)[i]) + last

    assert_is_nested(fn([Real], Real, f), 0.25)


def test_choices_of_vectors_and_states_that_begin_to_vary() -> None:
    def f(t):
        v = select(t > 0, V3, vec(3, Real, lambda i: t * t), [1.0, 2.0, 3.0])
        w = cond(t > 1, V3, lambda: v, lambda: v.set(0, 2.0))
        s = fori(
            3, {"a": Real, "b": Real}, {"a": 1.0, "b": 0.0}, lambda i, s: {"a": s.b + w[i], "b": s.a * t}
        )
        return s.a * s.b

    assert_is_nested(fn([Real], Real, f), 0.25)
    assert_is_nested(fn([Real], Real, f), -0.25)


def test_reverse_mode_inside_and_outside() -> None:
    """The series of a gradient, and the gradient of a series."""
    f = fn([V3], Real, lambda x: sum(3, lambda i: sin(x[i] * x[0])))
    line = fn([Real], Real, lambda t: grad(f)([t, t * t, 1.0 - t])[0])
    assert_is_nested(line, 0.5)
    outside = fn([Real], Real, lambda a: jet(fn([Real], Real, lambda x: sin(a * x)), 3)([a, 1, 0, 0])[3])
    # -cos(a²) a³ / 6
    exact = math.sin(0.16) * 0.4**4 / 3 - math.cos(0.16) * 0.4**2 / 2
    assert same(grad(outside), 0.4) == pytest.approx(exact, rel=1e-13)
    tangent = jvp(outside)
    assert same(tangent, {"re": 0.4, "du": 2.0}).du == pytest.approx(2 * exact, rel=1e-13)
    of_series = fn([Real], Real, lambda x: jet(fn([Real], Real, exp), 2)([x * x, x, 1.0])[2])
    assert_is_nested(of_series, 0.5)
    curvature = fn([Real], Real, lambda t: hessian(f)([t, 1.0, 2.0 * t])[2][0])
    assert_is_nested(curvature, 0.5, 3)


@pytest.mark.parametrize("checkpoint", ["none", 2])
def test_of_second_derivatives_of_loops(checkpoint: str | int) -> None:
    """What is summed there is as long as the loop runs, which nobody knows before."""

    @fn
    def f(x: Real) -> Real:
        return while_loop(Real, x, lambda s: s < 10, lambda s: s + s * s * 0.3, checkpoint=checkpoint)

    assert_is_nested(grad(grad(f)), 0.9, 2)


def test_custom_derivatives() -> None:
    """A rule of first order is enough for all."""
    f, g = opaque([Real], Real, math.sin), opaque([Real], Real, math.cos)
    f.jvp = fn([Dual], Dual, lambda d: {"re": f(d.re), "du": d.du * g(d.re)})
    g.jvp = fn([Dual], Dual, lambda d: {"re": g(d.re), "du": -(d.du * f(d.re))})
    start = [0.5, 1.0, *[0.0] * 5]
    for h, k in (
        (lambda x: f(x * x), lambda x: sin(x * x)),
        (lambda x: f(2.0) * f(x), lambda x: math.sin(2.0) * sin(x)),
    ):
        expected = same(jet(fn([Real], Real, k), 6), start)
        assert same(jet(fn([Real], Real, h), 6), start) == pytest.approx(expected, rel=1e-14)

    scaled = opaque([V3, Bool, Real], V3, lambda v, p, a: [a * x if p else x for x in v])

    def of_duals(v, p, a):
        re = [x.re for x in v]
        return vec(
            3,
            Dual,
            lambda i: {"re": scaled(re, p, a.re)[i], "du": v[i].du * a.re + a.du * v[i].re},
        )

    scaled.jvp = fn([Vec(3, Dual), Bool, Dual], Vec(3, Dual), of_duals)
    f = fn([Real], Real, lambda t: scaled([t, t * t, 1.0], True, t)[1])
    assert same(jet(f, 4), [0.5, 1.0, 0.0, 0.0, 0.0]) == [0.125, 0.75, 1.5, 1.0, 0.0]


def test_functionals() -> None:
    """The series of a cube root, of the implicit function theorem alone."""
    f = fn([Real], Real, lambda a: root(lambda x: x * x * x - a, 1.0))
    exact = list(map(float, mp.taylor(mp.cbrt, 2, 4)))
    assert same(jet(f, 4), [2.0, 1.0, 0.0, 0.0, 0.0]) == pytest.approx(exact, rel=1e-11)


def test_any_types_and_sizes() -> None:
    n = Size("n")
    f = fn([Vec(n, Real)], Real, lambda v: sum(n, lambda i: v[i] ** 3))
    assert same(jet(f, 2).at(n=2), [[1.0, 2.0], [1.0, 0.0], [0.0, 0.0]]) == [9.0, 3.0, 3.0]
    Point = {"x": Real, "k": 5}
    g = fn(
        [Point, Bool], {"y": V3, "p": Bool}, lambda p, q: {"y": [p.x, p.x * p.x, 2.0], "p": q & (p.k == 2)}
    )
    x = [{"x": 3.0, "k": 2}, {"x": 1.0, "k": 0}]
    assert same(jet(g, 1), x, [True, False]) == [
        {"y": [3.0, 9.0, 2.0], "p": True},
        {"y": [1.0, 6.0, 0.0], "p": True},
    ]
    assert same(jet(g, 0), x[:1], [True]) == [{"y": [3.0, 9.0, 2.0], "p": True}]


def test_work_grows_with_the_square_of_the_order() -> None:
    """And not exponentially, as that of nested derivatives does."""
    f = fn([Real], Real, lambda x: sin(exp(sin(x) * x)) / (1 + x * x))

    def operations(order: int) -> int:
        root = Expansion(jet(f, order).func).root
        return len(root.code) + builtins.sum(len(g.code) for g in root.callees)

    assert operations(40) < 6 * operations(20) < 36 * operations(10)
    assert operations(20) < 7000


def test_what_varies_in_a_loop_is_known_before_its_series_is_made(monkeypatch) -> None:
    """From one leaf of the state to the next one it takes as many iterations as there are leaves."""
    n = 20
    made: list[str] = []
    run = Jet.run
    monkeypatch.setattr(Jet, "run", lambda self: made.append(self.func.name) or run(self))
    V = Vec(n, Real)

    def iteration(_, s):
        return {f"s{k}": s[f"s{k}"] + 0.5 * s[f"s{k - 1}"] if k else s.s0 for k in range(n)}

    def f(x):
        start = {f"s{k}": 0.0 if k else x for k in range(n)}
        end = fori(n, dict.fromkeys(start, Real), start, iteration)
        return [end[f"s{k}"] for k in range(n)]

    Expansion(jet(fn([Real], V, f), 2).func)
    assert made == ["jet_f", "jet_body"]


def test_mistakes() -> None:
    f = fn([Real], Real, lambda x: x)
    for order in (-1, 1.5, True, 1000):
        with pytest.raises(ValueError, match="jet: expected an order from 0 to 999, got"):
            jet(f, order)
    with pytest.raises(TypeError, match="jet: expected a function made with fn"):
        jet(math.sin, 2)
    with pytest.raises(ValueError, match="expected 3 elements, got 2"):
        same(jet(f, 2), [1.0, 2.0])
    with pytest.raises(DerivativeError, match="the opaque function sin has no derivative"):
        Expansion(jet(opaque([Real], Real, math.sin), 2).func)


def test_an_index_made_of_a_number_has_its_type() -> None:
    n = 6
    v6 = Vec(n, Real)
    f = fn([v6, Real], Real, lambda v, x: v[imin(n, index(n, x), 2)] * x)

    def along(v, x):
        series = vec(3, v6, lambda k: select(ieq(3, k, 0), v6, v, [0] * n))
        return jet(f, 2)(series, [x, 1, 0])

    g = fn([v6, Real], Vec(3, Real), along)
    assert same(g, [1.0, 2, 3, 4, 5, 6], 1.0) == [2.0, 2.0, 0.0]
