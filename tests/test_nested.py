"""Functions of functions in one another, and with all else: what each is to the others must hold together."""

from __future__ import annotations

import math
from itertools import product

import pytest
from differences import assert_derivatives, gradient
from engines import same

from rose_core import (
    Bool,
    Dual,
    Real,
    Size,
    Vec,
    checkpoint,
    cond,
    exp,
    expr,
    fn,
    fori,
    functional,
    grad,
    hessian,
    jacobian,
    jet,
    jvp,
    minimize,
    odeint,
    opaque,
    quad,
    real,
    root,
    sin,
    struct,
    sum,
    tanh,
    vec,
    vjp,
    while_loop,
)

V2 = Vec(2, Real)


def test_an_integral_of_roots():
    f = fn([V2], Real, lambda v: quad(lambda x: root(lambda y: y * y - x * v[0], 1.0), v[1], 2.0))
    exact = lambda a, b: math.sqrt(a) * 2 / 3 * (2**1.5 - b**1.5)  # noqa: E731
    assert same(f, [2.0, 1.0]) == pytest.approx(exact(2, 1), rel=1e-13)
    expected = [exact(2, 1) / 4, -math.sqrt(2)]
    assert assert_derivatives(f, [2.0, 1.0]) == pytest.approx(expected, rel=1e-12)


def test_a_minimum_of_integrals():
    """The best constant for a line under a weight is the mean under that."""

    def body(v):
        distance = lambda x: quad(lambda t: (t * v[0] - x) ** 2.0 * exp(v[1] * t), 0.0, 1.0)  # noqa: E731
        return minimize(distance, 0.0, tolerance=1e-11)

    f = fn([V2], Real, body)
    assert same(f, [2.0, 1.0]) == pytest.approx(2 / (math.e - 1), rel=1e-10)
    assert assert_derivatives(f, [2.0, 1.0])[0] == pytest.approx(1 / (math.e - 1), rel=1e-9)


def test_a_root_of_solutions():
    """The rate at which v₀ grows to v₁, by shooting."""
    f = fn([V2], Real, lambda v: root(lambda a: odeint(lambda y, t: a * y, v[0], [0.0, 1.0])[1] - v[1], 0.5))
    assert same(f, [1.0, 3.0]) == pytest.approx(math.log(3), rel=1e-8)
    assert assert_derivatives(f, [1.0, 3.0], rel=1e-4) == pytest.approx([-1, 1 / 3], rel=1e-7)


def test_with_everything_else():
    """Of any size, with opaque functions, structs and choices inside, checkpoints and operators outside."""
    n = Size("n")

    @fn
    def norm(v: Vec(n, Real)) -> Real:
        return root(lambda x: x * x - sum(n, lambda i: v[i] * v[i]), 1.0)

    f = fn([V2], Real, lambda v: norm(v))
    assert assert_derivatives(f, [3.0, 4.0]) == pytest.approx([0.6, 0.8])
    assert same(gradient(checkpoint(f)), [3.0, 4.0]) == pytest.approx([0.6, 0.8])
    h = same(fn([V2], Vec(2, V2), lambda v: hessian(f)(v)), [3.0, 4.0])
    assert flat(h) == pytest.approx([16 / 125, -12 / 125, -12 / 125, 9 / 125])

    square = opaque([Real], Real, lambda x: x * x)
    square.jvp = fn([Dual], Dual, lambda d: {"re": square(d.re), "du": d.du * (d.re * 2.0)})
    g = fn([V2], Real, lambda v: root(lambda x: square(x) - v[0] * v[1], 1.0))
    assert assert_derivatives(g, [2.0, 2.0]) == pytest.approx([0.5, 0.5])

    T = struct({"a": Real, "p": Bool, "k": 3})

    @fn
    def chosen(s: T, y: V2) -> Real:
        steps = lambda: vec(3, Real, lambda i: real(i) * s.a)[s.k]  # noqa: E731
        return root(lambda x: cond(s.p, Real, lambda: x * x - s.a * y[0], lambda: x - steps()), 1.0)

    by_y = fn([T, V2], V2, lambda s, y: vjp(chosen)(s, y).grad(1)[1])
    s = {"a": 4.0, "p": True, "k": 2}
    assert same(chosen, s, [1.0, 5.0]) == pytest.approx(2)
    assert same(by_y, s, [1.0, 5.0]) == pytest.approx([1, 0])
    assert same(chosen, {**s, "p": False}, [1.0, 5.0]) == 8

    cubic = expr("x**3 - a*x")
    r = fn([Real], Real, lambda a: root(lambda x: cubic(x, a), 3.0))
    assert same(gradient(r), 4.0) == pytest.approx(0.25)


def flat(rows):
    return [x for row in rows for x in row]


# -- loops below several derivatives ----------------------------------------------------------------------


def by_fori(a, x):
    return fori(3, Real, 0.0, lambda _, s: s + sin(s * a * x + 1))


def by_while(a, x):
    T = {"s": Real, "n": Real}
    step = lambda s: {"s": s.s + sin(s.s * a * x + 1), "n": s.n + 1}  # noqa: E731
    return while_loop(T, {"s": 0.0, "n": 0.0}, lambda s: s.n < 3, step).s


def unrolled(a, x):
    s = 0.0
    for _ in range(3):
        s = s + sin(s * a * x + 1)
    return s


def forward(f):
    """The derivative of a function of a Real, by forward mode, as a function of a Real."""
    return functional([f], [Real], Real, lambda f, x: vjp(f)(x).grad(1.0), lambda y, f, x: second(f, x))


def second(f, x):
    return jvp(fn([Real], Real, lambda x: vjp(f)(x).grad(1.0)))(x).du


def reverse(f):
    return fn([Real], Real, lambda x: vjp(f)(x).grad(1.0))


@pytest.mark.parametrize("loop", [by_fori, by_while])
@pytest.mark.parametrize("modes", list(product("fr", repeat=3)), ids="".join)
def test_three_derivatives_in_any_order(loop, modes):
    """Reverse mode keeps tapes; the tangents of a tape, and its cotangents, are as long as it is."""

    def derived(body):
        f = fn([Real], Real, lambda x: body(x, x))
        for mode in modes:
            f = forward(f) if mode == "f" else reverse(f)
        return f

    assert same(derived(loop), 0.7) == pytest.approx(same(derived(unrolled), 0.7), rel=1e-12)
    forwards = same(jvp(derived(loop)), {"re": 0.7, "du": 1.0})
    assert forwards.du == pytest.approx(same(jvp(derived(unrolled)), {"re": 0.7, "du": 1.0}).du, rel=1e-11)


@pytest.mark.parametrize("loop", [by_fori, by_while])
def test_a_rule_that_differentiates_a_gradient(loop):
    """There the tangents of a tape are values of the program, which reverse mode has to iteration around."""

    def body(a):
        f = fn([Real], Real, lambda x: loop(a, x))
        return forward(f)(a)

    f, g = (
        fn([Real], Real, body),
        fn([Real], Real, lambda a: vjp(fn([Real, Real], Real, unrolled))(a, a).grad(1.0)[1]),
    )
    for derive in (lambda f: f, reverse, lambda f: reverse(reverse(f))):
        assert same(derive(f), 0.7) == pytest.approx(same(derive(g), 0.7), rel=1e-11)


@pytest.mark.parametrize("by", [sin, lambda p: p], ids=["of an operation", "of an argument"])
def test_a_gradient_of_a_minimum_twice_in_reverse(by):
    """The rule of `minimize` asks forward functions for more tape after these were differentiated."""

    def place(p, q):
        near = tanh(p)
        return minimize(lambda t: (t - near) ** 2 * (1 + 0.2 * t * t) + 0.1 * t * tanh(q), 0.1)

    inner = grad(fn([Real, Real], Real, place), 1)
    f = fn([Vec(2, Real)], Real, lambda v: inner(by(v[0]), v[1]))
    reverse = same(jacobian(grad(f), mode="reverse"), [0.3, -0.4])
    forward = same(hessian(f), [0.3, -0.4])
    for row, other in zip(reverse, forward, strict=True):
        assert row == pytest.approx(other, rel=1e-7, abs=1e-9)
    jets = same(jet(f, 2), [[0.3, -0.4], [1.0, 0.0], [0.0, 0.0]])
    assert 2 * jets[2] == pytest.approx(forward[0][0], rel=1e-7, abs=1e-9)
