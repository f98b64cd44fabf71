"""Along many directions from one place: what is of the place alone is computed once."""

from __future__ import annotations

import pytest
from engines import same

from rose_core import (
    Dual,
    Real,
    Vec,
    compile,
    cond,
    cos,
    fn,
    fori,
    grad,
    hessian,
    hvp,
    interp,
    jacobian,
    jvp,
    linearize,
    odeint,
    opaque,
    root,
    sin,
    sparse_jacobian,
    sqrt,
    sum,
    vec,
    while_loop,
)
from rose_core.derivatives.expand import Expansion
from rose_core.language.ir import CALL, LOOP
from rose_core.language.queries import callees_first

V3 = Vec(3, Real)


def inside(f) -> list[str]:
    """What is called in the loops of a function, and the loops with a state there."""
    root = Expansion(f.func).root
    runs = [ins for v, ins in enumerate(root.code) if root.home[v] and ins[0] in (CALL, LOOP)]
    return [root.callees[ins[1 if ins[0] == CALL else 2]].name for ins in runs]


def system(p):
    return root(lambda x: [4 * x[i] + p[i] * sin(x[i - 1]) - p[i - 2] for i in range(3)], [0.0, 0.0, 0.0])


def test_a_root_of_many_parameters_is_found_once():
    f = fn([V3], V3, system)
    columns = jacobian(f, mode="forward")
    assert not {"newton", "eliminated"} & {*inside(columns)}
    p = [0.3, 0.5, -0.2]
    for row, expected in zip(same(columns, p), same(jacobian(f, mode="reverse"), p), strict=True):
        assert row == pytest.approx(expected, rel=1e-13)


def test_second_derivatives_of_a_root():
    """By the inverse matrix, and not by the steps of the elimination."""
    f = fn([V3], Real, lambda p: sum(3, lambda i: system(p)[i] * sin(p[i])))
    p, h = [0.3, 0.5, -0.2], 1e-5
    assert not {"body", "eliminated", "jvp_eliminated"} & {*inside(hessian(f))}
    for k, row in enumerate(same(hessian(f), p)):
        there, back = ([x + s * h * (i == k) for i, x in enumerate(p)] for s in (1, -1))
        slopes = [(a - b) / (2 * h) for a, b in zip(same(grad(f), there), same(grad(f), back), strict=True)]
        assert row == pytest.approx(slopes, rel=1e-7, abs=1e-9)
        assert same(hvp(f), p, [float(i == k) for i in range(3)]) == pytest.approx(row, rel=1e-13)


def test_the_second_derivatives_of_a_root_need_one_elimination():
    f = fn([V3], Real, lambda p: sum(3, lambda i: system(p)[i] * sin(p[i])))
    root = Expansion(hessian(f).func).root
    calls = [root.callees[ins[1]].name for ins in root.code if ins[0] == CALL]
    assert calls.count("eliminated") == calls.count("newton") == 1


def orbit(p):
    """Loops with and without state, choices and calls, of which some lead to no derivative."""
    turned = fori(20, V3, p, lambda i, x: vec(3, Real, lambda k: cos(x[k]) - 0.1 * sum(3, lambda j: x[j])))
    other = cond(p[0] > 0.1, V3, lambda: turned, lambda: p)
    end = while_loop(Real, p[1], lambda x: x < 10, lambda x: x * 2 + 1)
    return vec(3, Real, lambda i: turned[i] * p[i] + other[i] + end * sum(3, lambda j: p[j] * turned[j]))


@fn
def of_place(p: V3, q: V3) -> V3:
    """The same, of which nothing varies, in a function that does."""
    x = orbit(p)
    total = sum(3, lambda i: x[i] * x[i])
    return vec(3, Real, lambda i: q[i] * q[i] * x[i] + total * sum(3, lambda j: x[j] * sin(q[j])))


@fn
def of_both(p: V3) -> V3:
    x = orbit(p)
    return vec(3, Real, lambda i: of_place(x, p)[i] + p[i] * of_place(p, x)[2 - i])


@pytest.mark.parametrize("f", [fn([V3], V3, orbit), of_both])
def test_in_either_mode(f):
    p = [0.3, 0.5, -0.2]
    rows = same(jacobian(f, mode="reverse"), p)
    for row, expected in zip(same(jacobian(f, mode="forward"), p), rows, strict=True):
        assert row == pytest.approx(expected, rel=1e-12)


def test_by_one_of_two():
    p, q = [0.3, 0.5, -0.2], [0.1, 0.7, 0.4]
    rows = same(jacobian(of_place, 1, mode="reverse"), p, q)
    columns = jacobian(of_place, 1, mode="forward")
    for row, expected in zip(same(columns, p, q), rows, strict=True):
        assert row == pytest.approx(expected, rel=1e-12)
    assert inside(columns) == []


def test_directions_in_loops_in_each_other():
    """Each of them keeps what it has of its own."""

    @fn
    def f(p: V3, q: V3) -> Real:
        x = root(lambda x: [x[k] * (2 + p[k] * p[k]) - q[k] for k in range(3)], p)
        return sum(3, lambda i: x[i] * p[i] * q[i])

    mixed = jacobian(jacobian(f, 0, mode="forward"), 1, mode="forward")
    p, q = [0.3, 0.5, -0.2], [0.1, 0.7, 0.4]
    expected = same(jacobian(jacobian(f, 1, mode="reverse"), 0, mode="reverse"), p, q)
    for i, row in enumerate(same(mixed, p, q)):
        assert row == pytest.approx([expected[j][i] for j in range(3)], rel=1e-12, abs=1e-14)


def test_what_is_opaque_is_called_as_often_as_the_program_says():
    calls = []
    seen = opaque([Real], Real, lambda x: calls.append(x) or x)
    f = fn([V3, V3], V3, lambda p, q: vec(3, Real, lambda i: seen(p[0]) * q[i]))
    for run in (interp, compile):
        calls.clear()
        run(jacobian(f, 1, mode="forward"))([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
        assert len(calls) == 12


def test_where_there_is_no_direction():
    """A root that there is none of is not looked for in a loop without iterations."""
    f = fn([Real, Vec(0, Real)], Real, lambda a, q: root(lambda x: x * x + a, 1.0) + sum(0, lambda i: q[i]))
    along = linearize(f)
    none = fn(
        [Real, Vec(0, Real)], Vec(0, Real), lambda a, q: vec(0, Real, lambda i: along(a, q).push(1.0, q))
    )
    assert same(none, 1.0, []) == []


# -- directions that are none ------------------------------------------------------------------------------


def steep(p, q):
    """It has no derivative by ``p`` at 0, and all by ``q``."""
    return sqrt(p) * q * q + q


@pytest.mark.parametrize(
    "f",
    [
        steep,
        lambda p, q: fori(3, Real, 0.0, lambda i, s: s + steep(p, q)) / 3,
        lambda p, q: cond(q > 0, Real, lambda: steep(p, q), lambda: p),
        lambda p, q: root(lambda x: x - steep(p, q), 0.0),
        lambda p, q: odeint(lambda y, t: sqrt(p) * y + q, 0.0, [0.0, 1.0])[1],
    ],
    ids=["plainly", "in a loop", "in a choice", "in a root", "in an equation"],
)
def test_what_does_not_vary_may_have_an_infinite_slope(f):
    f = fn([Real, Real], Real, f)
    p, q = 0.0, 3.0
    assert same(grad(f, 1), p, q) == pytest.approx(1)
    assert same(jacobian(f, 1, mode="forward"), p, q) == pytest.approx(1)
    assert same(hvp(f, 1), p, q, 1.0) == same(hessian(f, 1), p, q) == pytest.approx(0, abs=1e-12)
    assert same(sparse_jacobian(f, 1).values, p, q) == [pytest.approx(1)]
    assert same(fn([Real, Real], Real, lambda p, q: linearize(f)(p, q).push(0, 2)), p, q) == pytest.approx(2)

    @fn
    def around(p: Real, q: Real) -> Real:
        return jvp(fn([Real], Real, lambda x: f(p, x)))({"re": q, "du": 1.0}).du

    assert same(around, p, q) == pytest.approx(1)
    assert same(grad(around, 1), p, q) == pytest.approx(0, abs=1e-12)


def test_what_does_not_vary_may_have_no_derivative():
    seen = opaque([Real], Real, lambda x: 2 * x)
    f = fn([Real, Real], Real, lambda p, q: seen(p) * q * q)
    assert same(hessian(f, 1), 3.0, 5.0) == 12
    assert same(jacobian(grad(f, 1), 1, mode="forward"), 3.0, 5.0) == 12


def test_a_rule_without_a_direction():
    """What an author's own derivative does with a tangent of 0 is no part of it."""
    f = fn([Real, Real], Real, steep)
    f.jvp = fn(
        [Dual, Dual],
        Dual,
        lambda p, q: {
            "re": steep(p.re, q.re),
            "du": p.du * (q.re * q.re / (2 * sqrt(p.re))) + q.du * (2 * q.re * sqrt(p.re) + 1),
        },
    )
    assert same(jacobian(f, 1, mode="forward"), 0.0, 3.0) == 1
    assert same(hessian(f, 1), 0.0, 3.0) == 0
    assert same(jacobian(f, 0, mode="forward"), 4.0, 3.0) == 2.25


@pytest.mark.parametrize("n", [2, 3, 4, 12])
def test_directions_that_are_written_out(n):
    """Derivatives of their own for a few of them; of many there is one for all."""

    def body(*xs):
        total = 0.0
        for k, x in enumerate(xs):
            total = total + sin(x * xs[k - 1]) * (k + 1)
        for _ in range(10):
            total = sin(total + xs[0])
        return total

    f = fn([Real] * n, Real, body)

    def along(xs, i):
        return jvp(f)(*({"re": x, "du": float(i == k)} for k, x in enumerate(xs))).du

    rows = fn([Real] * n, Vec(n, Real), lambda *xs: [along(xs, i) for i in range(n)])
    x = [0.1 * (k + 2) for k in range(n)]
    assert same(rows, *x) == pytest.approx([same(grad(f, k), *x) for k in range(n)], rel=1e-13)
    made = {g for g in callees_first(Expansion(rows.func).root) if g.name == "jvp_f"}
    assert len(made) <= 6


def test_functions_that_call_each_other_twice_stay_short():
    """What is in line in a loop over directions grows with a chain of calls, and not by its powers."""

    def chain(height):
        f = fn([V3, V3], Real, lambda p, q: sum(3, lambda i: of_place(p, q)[i]))
        for _ in range(height):
            g = f
            f = fn([V3, V3], Real, lambda p, q, g=g: g(p, q) * g(p, vec(3, Real, lambda i: sin(q[i]))))
        return callees_first(Expansion(jacobian(f, 1, mode="forward").func).root)

    sizes = [len([ins for g in chain(height) for ins in g.code]) for height in (4, 8, 12)]
    assert sizes[2] - sizes[1] <= 1.5 * (sizes[1] - sizes[0]) + 200, sizes


def test_many_directions_that_are_written_out_are_by_what_they_are_by():
    """A slope that is infinite has no part in the other ones, and makes no NaN of them."""

    def body(*xs):
        return sum(6, lambda i: vec(6, Real, list(xs))[i]) + sqrt(xs[0]) * xs[1] + sqrt(xs[2]) * xs[3]

    f = fn([Real] * 6, Real, body)

    def along(xs, i):
        return jvp(f)(*({"re": x, "du": float(i == k)} for k, x in enumerate(xs))).du

    rows = fn([Real] * 6, Vec(6, Real), lambda *xs: [along(xs, i) for i in range(6)])
    x = [0.0, 2.0, 0.0, 3.0, 4.0, 5.0]
    infinite = float("inf")
    assert same(rows, *x) == [same(grad(f, k), *x) for k in range(6)] == [infinite, 1, infinite, 1, 1, 1]
