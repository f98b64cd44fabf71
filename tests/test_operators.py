"""Operators: gradients, Hessians and Jacobians as functions of functions."""

from __future__ import annotations

import math

import pytest
from differences import differences
from engines import same

from rose_core import (
    Bool,
    Dual,
    Real,
    Size,
    Vec,
    checkpoint,
    compile,
    cond,
    exp,
    expr,
    fn,
    fori,
    functional,
    grad,
    hessian,
    hvp,
    iadd,
    ieq,
    index,
    interp,
    jacobian,
    jet,
    jvp,
    linearize,
    real,
    select,
    sin,
    struct,
    sum,
    value_and_grad,
    vec,
    vjp,
    zero,
)
from rose_core.derivatives.expand import Expansion
from rose_core.language.text import show
from rose_core.wasm.program import Program

V4 = Vec(4, Real)
Point = {"x": Real, "y": Real}
In = {"v": Vec(2, Real), "n": 3, "w": Real}
Out = {"p": Vec(2, Real), "q": Bool}
AT = [0.3, -0.2, 1.1, 0.7]


@fn
def rosenbrock(x: V4) -> Real:
    def term(i):
        a, b = x[index(4, i)], x[iadd(4, i, 1)]
        return 100 * (b - a * a) ** 2 + (1 - a) ** 2

    return sum(3, term)


@fn
def mixed(a: Real, s: In) -> Out:
    return {"p": [a * s.v[0] * s.w, s.v[1] / a], "q": a > s.w}


S = {"v": [3.0, 4.0], "n": 1, "w": 5.0}


def test_grad() -> None:
    found = same(grad(rosenbrock), AT)
    assert found == pytest.approx(differences(rosenbrock, AT), rel=1e-8)
    assert same(value_and_grad(rosenbrock), AT) == {"value": same(rosenbrock, AT), "grad": found}


def test_arguments_by_number() -> None:
    @fn
    def f(n: 5, a: Real, p: Point, k: Bool) -> Real:
        return a * a * p.x + p.y

    args = (2, 3.0, {"x": 5.0, "y": 7.0}, True)
    assert same(grad(f, 1), *args) == 30.0
    assert same(grad(f, 2), *args) == {"x": 9.0, "y": 1.0}
    both = same(grad(f, (2, 1)), *args)
    assert both == {"2": {"x": 9.0, "y": 1.0}, "1": 30.0} and both[1] == 30.0
    assert same(value_and_grad(f, [1]), *args) == {"value": 52.0, "grad": {"1": 30.0}}
    direction = {"1": 1.0, "2": {"x": 10.0, "y": 100.0}}
    assert same(hvp(f, (1, 2)), *args, direction) == {"1": 70.0, "2": {"x": 6.0, "y": 0.0}}
    h = same(hessian(f, (1, 2)), *args)
    assert h[1] == {"1": 10.0, "2": {"x": 6.0, "y": 0.0}}
    assert h[2] == {"x": {"1": 6.0, "2": {"x": 0.0, "y": 0.0}}, "y": {"1": 0.0, "2": {"x": 0.0, "y": 0.0}}}

    @fn
    def inside(a: Real, p: Point) -> Point:
        g = grad(f, (1, 2))(0, a, p, False)
        return {"x": g[1], "y": g["2"].x}

    assert same(inside, 3.0, args[2]) == {"x": 30.0, "y": 9.0}


@pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
def test_jacobians_of_structs(mode: str) -> None:
    """What is not Real is as it was, in the argument's place and in the result's."""
    both = same(jacobian(mixed, (0, 1), mode=mode), 2.0, S)
    p, q = both["p"]
    assert p == {"0": 15.0, "1": {"v": [10.0, 0.0], "n": 1, "w": 6.0}}
    assert q == {"0": -1.0, "1": {"v": [0.0, 0.5], "n": 1, "w": 0.0}}
    assert both["q"] is False
    assert same(jacobian(mixed, 1, mode=mode), 2.0, S) == {"p": [p["1"], q["1"]], "q": False}


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobians_of_matrices(mode: str) -> None:
    @fn
    def f(m: Vec(2, Vec(3, Real))) -> Vec(3, Point):
        return vec(3, Point, lambda j: {"x": m[0][j] * m[1][0], "y": sin(m[1][j])})

    m = [[1.0, 2.0, 3.0], [0.5, 0.25, 0.125]]
    found = same(jacobian(f, mode=mode), m)
    for j in range(3):
        x = [[0.5 * (i == j) for i in range(3)], [m[0][j], 0.0, 0.0]]
        y = [[0.0] * 3, [math.cos(m[1][j]) * (i == j) for i in range(3)]]
        assert found[j] == {"x": x, "y": y}


def test_hessians() -> None:
    found = same(hessian(rosenbrock), AT)
    assert found == [list(row) for row in zip(*found, strict=True)]
    for i in range(4):
        row = fn([V4], Real, lambda x, i=i: grad(rosenbrock)(x)[i])
        assert found[i] == pytest.approx(differences(row, AT), rel=1e-7, abs=1e-7)
    d = [1.0, -2.0, 3.0, 0.5]
    assert same(hvp(rosenbrock), AT, d) == pytest.approx(
        [math.fsum(a * b for a, b in zip(row, d, strict=True)) for row in found], rel=1e-13
    )
    of_vector = same(
        hessian(fn([Vec(2, Real)], Vec(2, Real), lambda v: [v[0] * v[1], v[1] ** 3])), [2.0, 3.0]
    )
    assert of_vector == [[[0.0, 1.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 18.0]]]


def test_the_code_does_not_grow_with_the_size() -> None:
    n = Size("n")

    @fn
    def f(x: Vec(n, Real)) -> Real:
        return sum(n, lambda i: sin(x[i]) * x[0])

    def length(make, size: int) -> int:
        return len(Program(Expansion(make(f).at(n=size).func).root).bytes)

    for make in (grad, hessian, lambda f: jacobian(grad(f), mode="reverse")):
        assert length(make, 4000) - length(make, 400) < 100
    assert len(same(hessian(f).at(n=3), [0.1, 0.2, 0.3])) == 3
    assert same(hvp(f).at(n=3), [0.1, 0.2, 0.3], [1.0, 0.0, 0.0])[2] == math.cos(0.3)

    @fn
    def inside(x: Vec(3, Real)) -> Vec(3, Real):
        return hvp(f)(x, [1.0, 0.0, 0.0])

    assert same(inside, [0.1, 0.2, 0.3])[2] == math.cos(0.3)


def test_linearize() -> None:
    @fn
    def f(x: V4) -> Vec(3, Real):
        y, push = linearize(rosenbrock)(x)
        return [y, push([1, 0, 0, 0]), push([0, 1.0, 2.0, 0])]

    y, a, b = same(f, AT)
    g = same(grad(rosenbrock), AT)
    assert y == same(rosenbrock, AT)
    assert a == pytest.approx(g[0], rel=1e-15) and b == pytest.approx(g[1] + 2 * g[2], rel=1e-14)

    @fn
    def columns(a: Real, p: Point) -> Vec(3, Point):
        swap = fn([Real, Point], Point, lambda a, p: {"x": a * p.y, "y": a * p.x})
        y, push = linearize(swap)(a, p)
        return [y, push(1, {"x": 0, "y": 0}), push(0, {"x": a, "y": 0})]

    expected = [{"x": 6.0, "y": 4.0}, {"x": 3.0, "y": 2.0}, {"x": 0.0, "y": 4.0}]
    assert same(columns, 2.0, {"x": 2.0, "y": 3.0}) == expected


def test_operators_nest_and_close_over_values() -> None:
    @fn
    def f(a: Real) -> Real:
        cube = fn([Real], Real, lambda x: x * x * x * a)
        return grad(grad(cube))(a)  # 6 a²

    assert same(grad(f), 2.0) == 24.0
    assert same(grad(grad(grad(f))), 2.0) == 0.0
    assert same(jvp(grad(f)), {"re": 2.0, "du": 3.0}) == {"re": 24.0, "du": 36.0}

    @fn
    def along(x: V4) -> Real:
        newton = hvp(rosenbrock)(x, grad(rosenbrock)(x))
        return sum(4, lambda i: newton[i] * newton[i])

    assert same(grad(along), AT) == pytest.approx(differences(along, AT), rel=1e-6)


def test_operators_on_control_flow() -> None:
    @fn
    def f(x: V4) -> Real:
        s = fori(4, Real, 0.5, lambda i, s: cond(s > x[i], Real, lambda: s * x[i], lambda: exp(s * x[i])))
        return s * s

    h = same(hessian(f), AT)
    for i in range(4):
        row = fn([V4], Real, lambda x, i=i: grad(f)(x)[i])
        assert h[i] == pytest.approx(differences(row, AT), rel=1e-6, abs=1e-8)
    reverse = same(jacobian(jacobian(f, mode="forward"), mode="reverse"), AT)
    for a, b in zip(h, reverse, strict=True):
        assert a == pytest.approx(b, rel=1e-13, abs=1e-15)


def test_a_pass_is_only_for_what_is_asked_for() -> None:
    """A gradient by one of two arguments computes nothing for the other."""

    @fn
    def f(a: Real, b: Vec(100, Real)) -> Real:
        return a * sum(100, lambda i: sin(b[i]))

    root = Expansion(grad(f).func).root
    callees = [root]
    for g in callees:
        callees += [h for h in g.callees if h not in callees]
    assert not any(str(t) == "&[100]Real" for g in callees for t in g.types)


def test_mistakes() -> None:
    with pytest.raises(TypeError, match=r"grad: mixed gives a \{p: .*\}, expected a Real; use jacobian"):
        grad(mixed)
    with pytest.raises(TypeError, match="grad: expected a function made with fn"):
        grad(lambda x: x)
    with pytest.raises(IndexError, match="hessian: rosenbrock has no argument 2, only 0"):
        hessian(rosenbrock, 2)
    with pytest.raises(IndexError, match="grad: expr has no argument 2, only 0 to 1"):
        grad(expr("x * y"), [0, 2])
    with pytest.raises(IndexError, match="grad: expr has no argument 0, it takes none"):
        grad(expr("3"))
    with pytest.raises(IndexError, match="hvp: rosenbrock has no argument 1, only 0"):
        hvp(rosenbrock, 1)
    with pytest.raises(TypeError, match="expected an argument number, or several, got list"):
        grad(rosenbrock, [])
    with pytest.raises(TypeError, match="jacobian: argument 0 of f: expected a type with Reals in it"):
        jacobian(fn([3], Real, lambda i: 1.0))
    with pytest.raises(TypeError, match="jacobian: the result of f: expected a type with Reals in it"):
        jacobian(fn([Real], Bool, lambda x: x > 0))
    with pytest.raises(ValueError, match='expected "auto", "forward" or "reverse" as mode'):
        jacobian(rosenbrock, mode="sparse")
    with pytest.raises(TypeError, match="the push of rosenbrock takes 1 direction, got 2"):
        fn([V4], Real, lambda x: linearize(rosenbrock)(x).push(x, x))
    with pytest.raises(ValueError, match="direction 1 of rosenbrock: expected 4 elements, got 3"):
        fn([V4], Real, lambda x: linearize(rosenbrock)(x).push([1, 2, 3]))
    fine = fn([V4], V4, lambda x: vjp(rosenbrock)(x).grad(1))
    assert compile(fine)(AT) == interp(grad(rosenbrock))(AT)


def test_in_the_rule_of_a_functional_what_is_used_from_around_varies() -> None:
    """A minimum by its own rule, through the gradient of the function that it is given."""

    def minimum(f, x0):
        def rule(x, f, x0):
            change = jvp(grad(f))({"re": x, "du": zero()}).du
            return -(change / hessian(f)(x))

        find = functional([f], [Real], Real, lambda f, x0: x0 - grad(f)(x0) / hessian(f)(x0), rule)
        return find(x0)

    @fn
    def least(a: Real) -> Real:
        return minimum(fn([Real], Real, lambda x: (x - a * a) ** 2), 3.0)

    assert same(least, 2.0) == 4.0
    assert same(grad(least), 2.0) == 4.0
    assert same(grad(grad(least)), 2.0) == 2.0


def test_tangents_from_numbers():
    """A call of a forward derivative in which no tangent is one takes and gives Reals in their place."""
    square = fn([Real], Real, lambda x: x * x)
    chosen = fn([Real], Real, lambda x: jvp(square)({"re": x, "du": select(x > 0, Real, 1, 0)}).du)
    assert [same(chosen, x) for x in (3.0, -3.0)] == [6.0, 0.0]
    assert same(grad(chosen), 3.0) == 2.0
    varying = fn([Real], Real, lambda x: jvp(square)({"re": x, "du": x * x}).du)
    assert same(varying, 3.0) == 54.0
    assert same(grad(varying), 3.0) == 54.0

    product = fn([Vec(2, Real), Real], Real, lambda v, x: v[0] * v[1] * x)
    dual = struct(re=Real, du=Real)

    def along(x, i):
        duals = vec(2, dual, lambda j: {"re": x + real(j), "du": select(ieq(2, i, j), 1.0, 0.0)})
        return jvp(product)(duals, {"re": x, "du": 0}).du

    f = fn([Real, 2], Real, along)
    assert [same(f, 3.0, i) for i in (0, 1)] == [12.0, 9.0]
    listed = fn(
        [Real], Real, lambda x: jvp(product)([{"re": x, "du": 1}, {"re": x, "du": x}], {"re": 1, "du": x}).du
    )
    assert same(listed, 3.0) == 3 + 9 + 27

    def inside(x):
        scaled = fn([Real], Real, lambda y: x * y * y)
        return jvp(scaled)({"re": 2.0, "du": x}).du

    assert same(fn([Real], Real, inside), 3.0) == 36.0
    assert same(grad(fn([Real], Real, inside)), 3.0) == 24.0
    with pytest.raises(TypeError, match="expected Tan, got a symbolic Real"):
        fn([Dual, Real], Dual, lambda x, y: jvp(product)([x, {"re": y, "du": y}], {"re": 1, "du": 0}))
    with pytest.raises(TypeError, match=r"jvp_f\.du: expected Real, got bool"):
        fn([Real], Real, lambda x: jvp(square)({"re": x, "du": True}).du)


def test_names_of_parameters() -> None:
    """Those of a function's derivatives are its own, with directions after them."""

    @fn
    def f(direction: Real, width: Real) -> Real:
        return direction * direction * width

    names = ["direction", "width"]
    for of in (grad, value_and_grad, jacobian, hessian, checkpoint, lambda f: jet(f, 2)):
        assert of(f).func.param_names == names
        assert show(of(f).func).partition("(")[2].startswith("direction: ")
    assert hvp(f).func.param_names == [*names, "direction_"]
    assert grad(fn([Real], Real, lambda *x: x[0])).func.param_names == []
    assert same(hvp(f), 2.0, 3.0, 1.0) == 6


def test_what_nobody_uses_of_a_gradient_is_not_computed():
    """By one of two arguments, where `grad` gives both: the program is that of a function of one."""
    inner = fn([Real, V4], Real, lambda x, y: sin(x) * sum(4, lambda i: y[i] * y[i] * x))

    def body(x, y):
        return inner(x, y) * inner(2 * x, y)

    both = fn([Real, V4], Real, body)
    by_first = fn([Real, V4], Real, lambda x, y: vjp(both)(x, y).grad(1)[0])
    alone = fn([Real, V4], Real, lambda x, y: vjp(fn([Real], Real, lambda x: body(x, y)))(x).grad(1))
    size, least = (len(Program(Expansion(f.func).root).bytes) for f in (by_first, alone))
    assert size == least
    assert same(by_first, 0.3, AT) == same(alone, 0.3, AT)


def test_of_vectors_without_elements():
    """There is nothing to differentiate by, which is no mistake: a list of points may become empty."""
    n = Size("n")
    f = fn([Vec(n, Real)], Real, lambda v: sum(n, lambda i: v[i] * v[i]) + 1)
    assert same(value_and_grad(f).at(n=0), []) == {"value": 1, "grad": []}
    assert same(hessian(f).at(n=0), []) == same(hvp(f).at(n=0), [], []) == []
    nothing = fn([Vec(0, Real)], Vec(2, Real), lambda v: [1.0, 2.0])
    assert same(jacobian(nothing), []) == [[], []]
