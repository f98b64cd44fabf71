"""Derivatives in derivatives: perturbations are not confused, and all orders of modes agree."""

from __future__ import annotations

import math
from itertools import product

import pytest
from both_ways import both_ways  # noqa: F401 - a fixture for every test
from differences import differences
from engines import same

from rose_core import (
    Dual,
    Function,
    Real,
    Vec,
    checkpoint,
    cond,
    cos,
    exp,
    fn,
    fori,
    grad,
    hvp,
    iadd,
    index,
    jacobian,
    jet,
    jvp,
    opaque,
    root,
    scan,
    select,
    sin,
    sqrt,
    sum,
    tanh,
    vec,
    while_loop,
)

V3 = Vec(3, Real)


def by_forward(f: Function) -> Function:
    """The derivative of a function of one Real, in forward mode."""
    return jacobian(f, mode="forward")


def by_reverse(f: Function) -> Function:
    """And in reverse mode."""
    return jacobian(f, mode="reverse")


MODES = {"forward": by_forward, "reverse": by_reverse}
PAIRS = list(product(MODES, repeat=2))


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_perturbations_are_not_confused(outer: str, inner: str) -> None:
    """d/dx (x · d/dy (x + y)) at 1 is 1; a tangent without the name of its variable would make it 2."""
    outer_of, inner_of = MODES[outer], MODES[inner]

    def f(x):
        return x * inner_of(fn([Real], Real, lambda y: x + y))(1.0)

    assert same(outer_of(fn([Real], Real, f)), 1.0) == 1.0

    def g(x):  # d/dx (x · d/dy (x y)) = 2 x
        return x * inner_of(fn([Real], Real, lambda y: x * y))(2.0)

    assert same(outer_of(fn([Real], Real, g)), 3.0) == 6.0


@pytest.mark.parametrize("modes", list(product(MODES, repeat=3)))
def test_three_variables(modes: tuple[str, str, str]) -> None:
    """d/dx d/dy d/dz of x y² z³ · x, each inside the last, at points that depend on the others."""
    a, b, c = (MODES[mode] for mode in modes)

    def f(x):
        def g(y):
            return y * c(fn([Real], Real, lambda z: x * y * y * z**3))(x)  # y · 3 x³ y²

        return x * b(fn([Real], Real, g))(x * x)  # x · 9 x³ y², y = x²

    assert same(a(fn([Real], Real, f)), 2.0) == 9 * 8 * 2.0**7


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_a_curried_derivative_applied_twice(outer: str, inner: str) -> None:
    """Manzyuk and others: D(s) is the derivative of functions shifted by s; D(s) of D(s) shifts twice.

    ``s(u) f = x ↦ f(x + u)``, so ``d/du s(u)`` at 0 is the derivative: of what it gives itself the second,
    where an engine that names perturbations when the operator is made, and not when it is applied, has 0.
    """
    outer_of, inner_of = MODES[outer], MODES[inner]

    def derivative(of):
        """``d/du (x ↦ f(x + u))`` at u = 0, as a function from functions to functions."""
        return lambda f: lambda x: of(fn([Real], Real, lambda u: f(x + u)))(0.0)

    first, second = derivative(inner_of), derivative(outer_of)
    twice = fn([Real], Real, lambda x: second(first(exp))(x))
    assert same(twice, 1.0) == pytest.approx(math.e, rel=1e-15)
    same_operator = fn([Real], Real, lambda x: first(first(lambda x: x * x * x))(x))
    assert same(same_operator, 2.0) == 12.0
    assert same(outer_of(fn([Real], Real, lambda x: first(first(sin))(x))), 0.5) == pytest.approx(
        -math.cos(0.5)
    )


# -- all orders of modes, of every construct --------------------------------------------------------------


def custom() -> Function:
    f, g = opaque([Real, Real], Real, lambda x, y: math.sin(x) * y), opaque([Real], Real, math.cos)
    sine = opaque([Real], Real, math.sin)
    sine.jvp = fn([Dual], Dual, lambda x: {"re": sine(x.re), "du": x.du * g(x.re)})
    g.jvp = fn([Dual], Dual, lambda x: {"re": g(x.re), "du": -(x.du * sine(x.re))})

    def rule(x, y):
        return {"re": f(x.re, y.re), "du": x.du * (g(x.re) * y.re) + y.du * sine(x.re)}

    f.jvp = fn([Dual, Dual], Dual, rule)
    return f


def constant_rule() -> Function:
    f = fn([Real, Real], Real, lambda x, y: x * y)
    f.jvp = fn([Dual, Dual], Dual, lambda x, y: {"re": x.re * y.re, "du": x.du * y.re + y.du * x.re})
    return f


STATE = {"a": Real, "b": V3, "i": 5}

square = fn([Real, Real], Real, lambda x, y: x * x * y + sin(x * y))

CONSTRUCTS = {
    "cond": lambda x: cond(
        x[0] < x[1], Real, lambda: x[0] * x[1] * sin(x[2]), lambda: exp(x[0] * x[1]) * x[2]
    ),
    "other side": lambda x: cond(x[0] > x[1], Real, lambda: x[0], lambda: exp(x[0] * x[1]) * x[2]),
    "select": lambda x: select(x[0] < x[1], x[0] * x[1] * x[1], x[2]) * x[2],
    "while": lambda x: (
        while_loop(
            {"s": Real, "t": Real},
            {"s": x[0], "t": 0.5},
            lambda u: u.t < 3,
            lambda u: {"s": u.s * cos(u.t * x[1]) + x[2], "t": u.t + 0.5 + x[0] * x[0]},
        ).s
    ),
    "fori": lambda x: fori(5, Real, x[0], lambda i, s: sin(s * x[1]) + x[2] * s),
    "fori of fewer iterations": lambda x: fori(
        index(5, select(x[0] < 0.5, 3.0, 4.0)), Real, x[0], lambda i, s: s * x[1] + tanh(s)
    ),
    "scan": lambda x: sum(4, lambda i: scan(4, Real, x[0], lambda s, i: (s * x[1], s * s + x[2]))[1][i]),
    "set": lambda x: x.set(1, x[0] * x[2]).set(0, x[1] * x[1])[0] * x.set(1, x[0] * x[2])[1],
    "set in a loop": lambda x: fori(
        2, V3, x, lambda i, v: v.set(iadd(3, i, 1), v[index(3, i)] * v[iadd(3, i, 1)] + x[0])
    )[2],
    "state of structs": lambda x: (
        fori(
            5,
            STATE,
            {"a": x[0], "b": x, "i": 0},
            lambda i, s: {"a": s.a * s.b[1] + real_of(s), "b": s.b.set(2, s.a * s.b[0]), "i": i},
        ).a
    ),
    "sum": lambda x: sum(3, lambda i: x[i] * sum(3, lambda j: sin(x[i] * x[j]))),
    "vec": lambda x: vec(3, Real, lambda i: x[i] * x[0])[1] * vec(3, V3, lambda i: [x[i]] * 3)[2][0],
    "calls": lambda x: square(square(x[0], x[1]), square(x[1], x[2])),
    "closures": lambda x: fn([Real], Real, lambda y: fn([Real], Real, lambda z: y * z * x[0])(y) * x[1])(
        x[2]
    ),
    "opaque": lambda x: custom_f(x[0] * x[1], custom_f(x[1], x[2])),
    "custom": lambda x: custom_g(custom_g(x[0], x[1]), x[2]) * x[0],
    "checkpoint": lambda x: checkpoint(square)(x[0], checkpoint(square)(x[1], x[2])),
    "checkpointed loop": lambda x: fori(5, Real, x[0], lambda i, s: sin(s * x[1]) + x[2] * s, checkpoint=2),
    "root": lambda x: root(lambda y: y * y * y + x[0] * x[0] * y - x[1], 1.0) * x[2],
    "loops in choices in loops": lambda x: fori(
        3,
        Real,
        x[0],
        lambda i, s: cond(
            s > x[i],
            Real,
            lambda: fori(2, Real, s, lambda j, t: t * x[index(3, j)] + s),
            lambda: sqrt(1 + s * s) * x[i],
        ),
    ),
    # backward, an inner loop adds to the cotangent of a state that the outer one carries
    "states read in inner loops": lambda x: fori(
        3, V3, x, lambda i, v: v.set(0, fori(2, Real, 0.5, lambda j, t: t + sin(v[index(3, j)] * t)))
    )[0],
    "arrays read in inner loops": lambda x: fori(
        3, V3, x, lambda i, v: [fori(2, Real, 1, lambda j, t: t * 0.5 + v[0] * v[1]), v[2], v[1]]
    )[0],
    "states read in loops that end": lambda x: while_loop(
        {"v": V3, "k": Real},
        {"v": x, "k": 0},
        lambda s: s.k < 2.5,
        lambda s: {
            "v": s.v.set(1, while_loop(Real, 0.5, lambda t: t < 2, lambda t: t + 1 + 0.1 * s.v[0] * s.v[1])),
            "k": s.k + 1,
        },
    ).v[1],
    "derivatives inside": lambda x: grad(square)(x[0], x[1]) * hvp(square)(x[0], x[2], x[1]),
}

custom_f, custom_g = custom(), constant_rule()


def real_of(s):
    return s.b[0] * s.b[2]


X = [0.4, 0.7, -0.3]


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_orders_of_modes_agree(name: str) -> None:
    f = fn([V3], Real, CONSTRUCTS[name])
    first = {mode: same(jacobian(f, mode=mode), X) for mode in MODES}
    assert first["reverse"] == pytest.approx(first["forward"], rel=1e-13, abs=1e-15)
    assert first["reverse"] == pytest.approx(differences(f, X), rel=1e-7, abs=1e-9)
    second = {pair: same(jacobian(jacobian(f, mode=pair[1]), mode=pair[0]), X) for pair in PAIRS}
    expected = second["forward", "reverse"]
    for pair in PAIRS:
        for row, other in zip(second[pair], expected, strict=True):
            assert row == pytest.approx(other, rel=1e-12, abs=1e-14), pair
    for k, row in enumerate(expected):
        partial = fn([V3], Real, lambda x, k=k: grad(f)(x)[k])
        assert row == pytest.approx(differences(partial, X), rel=1e-6, abs=1e-8)
    d = [0.5, -1.0, 0.25]
    along = fn([V3], Real, lambda x: sum(3, lambda i: hvp(f)(x, d)[i] * x[i]))
    third = [same(jacobian(along, mode=mode), X) for mode in MODES]
    assert third[0] == pytest.approx(third[1], rel=1e-11, abs=1e-13)


def test_what_is_taken_as_it_is() -> None:
    """As by ``stop_gradient``: of x times (x y) without its derivatives, and in a vector."""
    still = fn([Real], Real, lambda x: x)
    still.jvp = fn([Dual], Dual, lambda x: {"re": still(x.re), "du": 0})
    f = fn([Real, Real], Real, lambda x, y: x * still(x * y) + y)
    assert same(grad(f, [0, 1]), 3.0, 2.0) == {"0": 6, "1": 1}
    assert same(jvp(f), {"re": 3.0, "du": 1.0}, {"re": 2.0, "du": 0.0}) == {"re": 20, "du": 6}
    assert same(jet(f, 2), [3.0, 1.0, 0.0], [2.0, 0.0, 0.0]) == [20, 6, 0]
    square = fn([Real], Real, lambda x: x * still(x))
    for outer, inner in product(MODES, repeat=2):
        assert same(jacobian(jacobian(square, mode=inner), mode=outer), 3.0) == 0
    rows = fn([Vec(2, Real)], Vec(2, Real), lambda v: v)
    rows.jvp = fn([Vec(2, Dual)], Vec(2, Dual), lambda v: [{"re": x.re, "du": 0} for x in v])
    g = fn([Vec(2, Real)], Real, lambda v: v[0] * rows(v)[1])
    assert same(grad(g), [3.0, 5.0]) == [5, 0]
