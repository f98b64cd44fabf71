"""The paper's listings, in Python, under wasmtime."""

from __future__ import annotations

import math

import pytest

from rose_core import (
    Dual,
    Real,
    Vec,
    compile,
    cos,
    fn,
    interp,
    jvp,
    mul,
    neg,
    opaque,
    pow,
    select,
    sin,
    sqrt,
    struct,
    sum,
    vjp,
)

LN2 = math.log(2)


def test_listing_1() -> None:
    """Linear regression on the first data set of Anscombe's quartet, to the fixed point."""
    x = [[10], [8], [13], [9], [11], [14], [6], [4], [12], [7], [5]]
    y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]
    n, m, eta = len(y), len(x[0]), 1e-4
    Beta = struct(b0=Real, b=Vec(m, Real))

    @fn
    def least_squares(x: Vec(n, Vec(m, Real)), y: Vec(n, Real), b0: Real, b: Vec(m, Real)) -> Real:
        def squared_error(i):
            y_hat = b0 + sum(m, lambda j: x[i][j] * b[j])
            return (y[i] - y_hat) ** 2

        return sum(n, squared_error)

    @fn
    def loss(beta: Beta) -> Real:
        return least_squares(x, y, beta.b0, beta.b)

    @fn
    def gradient(beta: Beta) -> Beta:
        return vjp(loss)(beta).grad(1)

    run = compile(gradient)
    b0, b = 0.0, [0.0]
    while True:
        d = run({"b0": b0, "b": b})
        next_b0, next_b = b0 - eta * d.b0, [bi - eta * di for bi, di in zip(b, d.b, strict=True)]
        if (next_b0, next_b) == (b0, b):
            break
        b0, b = next_b0, next_b
    assert b0 == pytest.approx(3.0000909, abs=1e-6)
    assert b == pytest.approx([0.5000909], abs=1e-6)


def power():
    """Listing 3."""
    log = opaque([Real], Real, math.log)
    log.jvp = fn([Dual], Dual, lambda x: {"re": log(x.re), "du": x.du / x.re})
    power = opaque([Real, Real], Real, math.pow)

    @fn
    def rule(x: Dual, y: Dual) -> Dual:
        z = power(x.re, y.re)
        dw = x.du * (y.re / x.re) + y.du * log(x.re)
        return {"re": z, "du": dw * z}

    power.jvp = rule
    return power


@pytest.mark.parametrize("pow", [power(), pow], ids=["opaque", "built in"])
def test_listing_2(pow) -> None:
    R2 = Vec(2, Real)
    R22 = Vec(2, R2)
    f = fn([R2], Real, lambda v: pow(v[0], v[1]))
    g = fn([R2], R2, lambda v: vjp(f)(v).grad(1))

    @fn
    def h(v: R2) -> R22:
        _, grad = vjp(g)(v)
        return [grad([1, 0]), grad([0, 1])]

    @fn
    def everything(x: Real, y: Real) -> struct(z=Real, g=R2, h=R22):
        v = [x, y]
        return {"z": f(v), "g": g(v), "h": h(v)}

    for run in (compile(everything), interp(everything)):
        result = run(2, 3)
        assert result.z == 8
        assert result.g == pytest.approx([12, 8 * LN2], rel=1e-14)
        assert result.h[0] == pytest.approx([12, 4 + 12 * LN2], rel=1e-14)
        assert result.h[1] == pytest.approx([4 + 12 * LN2, 8 * LN2**2], rel=1e-14)


def test_listing_4() -> None:
    """Custom derivatives that depend on each other."""
    my_sin, my_cos = opaque([Real], Real, math.sin), opaque([Real], Real, math.cos)
    my_sin.jvp = fn([Dual], Dual, lambda x: {"re": my_sin(x.re), "du": mul(x.du, my_cos(x.re))})
    my_cos.jvp = fn([Dual], Dual, lambda x: {"re": my_cos(x.re), "du": mul(x.du, neg(my_sin(x.re)))})

    def grad(f):
        return fn([Real], Real, lambda x: vjp(f)(x).grad(1))

    f, expected = my_sin, [math.sin, math.cos, lambda x: -math.sin(x), lambda x: -math.cos(x)]
    for function in expected:
        assert compile(f)(1.25) == interp(f)(1.25) == pytest.approx(function(1.25), rel=1e-15)
        f = grad(f)


def test_listing_5() -> None:
    """A function for print debugging: its effect happens once, in the forward pass."""
    printed = []
    show = opaque([Real], Real, lambda x: printed.append(x) or x)

    @fn
    def rule(z: Dual) -> Dual:
        show(z.re)
        return z

    show.jvp = rule
    f = fn([Real], Real, lambda x: show(x * x) * 3)
    g = fn([Real], Real, lambda x: vjp(f)(x).grad(1))
    assert compile(g)(5) == 30
    assert interp(g)(5) == 30
    assert printed == [25, 25]


def test_listing_6() -> None:
    """A square root whose derivative is clamped."""
    root = fn([Real], Real, lambda x: sqrt(x))

    @fn
    def rule(x: Dual) -> Dual:
        y = root(x.re)
        return {"re": y, "du": x.du * (0.5 / select(y < 1e-5, Real, 1e-5, y))}

    root.jvp = rule
    g = fn([Real], Real, lambda x: vjp(root)(x).grad(1))
    for run in (compile(g), interp(g)):
        assert run(0) == pytest.approx(50000)
        assert run(4) == 0.25
    assert interp(jvp(root))({"re": 0, "du": 2}).du == pytest.approx(100000)


def derivative(f):
    return fn([Real], Real, lambda x: vjp(f)(x).grad(1))


def test_the_builtins_are_differentiable_to_any_order() -> None:
    f = fn([Real], Real, lambda x: sin(x) * cos(x))
    for expected in (
        math.sin(2.6) / 2,
        math.cos(2.6),
        -2 * math.sin(2.6),
        -4 * math.cos(2.6),
        8 * math.sin(2.6),
    ):
        assert compile(f)(1.3) == pytest.approx(expected, rel=1e-13)
        f = derivative(f)
