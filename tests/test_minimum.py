"""Minima: all methods find the same, and the derivative is that of the place itself."""

from __future__ import annotations

import math

import pytest
from differences import assert_derivatives, gradient
from engines import same, same_outcome

from rose_core import (
    Real,
    Vec,
    compile,
    cos,
    exp,
    fixed_point,
    fn,
    grad,
    iadd,
    index,
    minimize,
    odeint,
    quad,
    root,
    sin,
    sum,
    vjp,
)

V2 = Vec(2, Real)
METHODS = ["lbfgs", "newton", "adam"]


def square(x):
    return x * x


def rosenbrock(v):
    return lambda x: square(v[0] - x[0]) + v[1] * square(x[1] - x[0] * x[0])


@pytest.mark.parametrize("method", METHODS)
def test_rosenbrock(method):
    """The minimum is at (a, a²), whatever b."""
    f = fn([V2], V2, lambda v: minimize(rosenbrock(v), [-1.2, 1.0], method=method))
    rel = 1e-5 if method == "adam" else 1e-7
    assert same(f, [1.0, 100.0]) == pytest.approx([1, 1], rel=rel)
    jacobian = fn([V2], Vec(2, V2), lambda v: [vjp(f)(v).grad(c) for c in ([1.0, 0.0], [0.0, 1.0])])
    for row, expected in zip(same(jacobian, [1.0, 100.0]), ([1, 0], [2, 0]), strict=True):
        assert row == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_of_one_variable(method):
    def body(v):
        return minimize(lambda x: exp(x - v[0]) - v[1] * x, 0.0, method=method, tolerance=1e-13)

    f = fn([V2], Real, body)
    assert same(f, [0.5, 2.0]) == pytest.approx(0.5 + math.log(2), rel=1e-12)
    assert assert_derivatives(f, [0.5, 2.0]) == pytest.approx([1, 0.5], rel=1e-11)


def test_the_height_of_a_minimum():
    """The derivative of the smallest value is that of the function alone."""

    @fn
    def f(v: V2) -> Real:
        height = lambda x: square(square(x) - v[0]) + v[1] * x  # noqa: E731
        return height(minimize(height, 1.0, tolerance=1e-12))

    assert_derivatives(f, [1.0, 0.3])


def test_many_variables():
    n = 16

    @fn
    def f(a: Real) -> Vec(n, Real):
        def height(x):
            def term(i):
                here, next = x[index(n, i)], x[iadd(n, i, 1)]
                return square(a - here) + 100 * square(next - here * here)

            return sum(n - 1, term)

        return minimize(height, [-1.2] * n, tolerance=1e-9)

    assert same(f, 1.0) == pytest.approx([1.0] * n, rel=1e-6)


def test_as_a_root_of_the_gradient():
    """Second derivatives of minima and of the roots of their gradients agree."""

    def height(v):
        return fn([V2], Real, lambda x: exp(x[0] - v[0]) + square(x[1] - cos(x[0] * v[1])) - x[0])

    def low(v):
        return minimize(height(v), [0.0, 0.0], tolerance=1e-13)

    def flat(v):
        return root(lambda x: vjp(height(v))(x).grad(1), [0.3, 0.8])

    f, g = (fn([V2], Real, lambda v, find=find: find(v)[0] * find(v)[1]) for find in (low, flat))
    v = [0.3, 0.8]
    assert same(f, v) == pytest.approx(same(g, v), rel=1e-12)
    assert assert_derivatives(f, v) == pytest.approx(assert_derivatives(g, v), rel=1e-10)


STEEP = "a point that is not flat, though no step from it leads lower"


@pytest.mark.parametrize("method", METHODS)
def test_no_minimum(method):
    body = lambda a: minimize(lambda x: a * x + square(x) * 0.0, 0.0, method=method, limit=50)  # noqa: E731
    stays = method == "newton"  # whose step, on a line, has no end
    why = f", but {STEEP}" if stays else " in 50 steps"
    where = f"(test_minimum.py, line {body.__code__.co_firstlineno})"
    f = fn([Real], Real, body)
    assert same_outcome(f, 1.0) == f"minimize: no minimum was found{why} {where}"
    assert same_outcome(f, 0.0) == 0


@pytest.mark.parametrize("method", ["lbfgs", "newton"])
def test_a_function_without_bound(method):
    """It goes down until its value is infinite, which is no minimum."""
    body = lambda a: minimize(lambda x: a * square(x), 1.0, method=method)  # noqa: E731
    f = fn([Real], Real, body)
    why = "no minimum was found, but a point where the function is not finite"
    assert f"minimize: {why}" in same_outcome(f, -1.0)
    assert same_outcome(f, 1.0) == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("method", ["lbfgs", "newton"])
def test_a_kink_is_no_minimum(method):
    """It is told long before all steps have been made."""
    f = fn([Real], Real, lambda a: minimize(lambda x: abs(x) + a * x, 1.0, method=method))
    assert f"minimize: no minimum was found, but {STEEP}" in same_outcome(f, 0.5)


@pytest.mark.parametrize("method", ["lbfgs", "newton"])
def test_an_arm_that_reaches_for_a_goal(method):
    """Rounding in the terms is more than a small sum says, and more than the last steps lower it by; and
    on the way there are places where the second derivatives lead up."""
    joints = 8
    angles = Vec(joints, Real)

    def miss(q, q0, goal):
        """How far an arm's hand is from a goal, and how far its joints are from where they were."""
        heading, x, y = 0.0, 0.0, 0.0
        for i in range(joints):
            heading = heading + q[i]
            x, y = x + 25 * cos(heading), y + 25 * sin(heading)
        moves = sum(joints, lambda i: square(q[i] - q0[i]))
        return square(x - goal[0]) + square(y - goal[1]) + 2 * moves

    def found(q0, goal):
        return minimize(lambda q: miss(q, q0, goal), q0, method=method)

    reach = compile(fn([angles, V2], angles, found))
    slopes = compile(grad(fn([angles, angles, V2], Real, miss)))
    q0 = [0.3, -0.2, 0.5, 0.1, -0.4, 0.2, 0.6, -0.1]
    for iteration in range(30):
        goal = [110 * math.cos(0.2 * iteration), 110 * math.sin(0.2 * iteration)]
        assert max(map(abs, slopes(reach(q0, goal), q0, goal))) <= 1e-8


def test_a_minimum_that_is_a_valley():
    body = lambda a: minimize(lambda x: square(x[0] + x[1] - a), [0.0, 0.0])[0]  # noqa: E731
    where = f"(test_minimum.py, line {body.__code__.co_firstlineno})"
    f = fn([Real], Real, body)
    assert same_outcome(f, 3.0) == pytest.approx(1.5)
    message = f"minimize: the second derivative is singular, so the result has none {where}"
    assert same_outcome(gradient(f), 3.0) == message


def test_what_minimize_refuses():
    with pytest.raises(ValueError, match="expected one of lbfgs, newton, adam as the method, got 'sgd'"):
        fn([Real], Real, lambda a: minimize(lambda x: x, a, method="sgd"))
    with pytest.raises(TypeError, match=r"minimize: expected a function \(Real\) -> Real"):
        fn([Real], Real, lambda a: minimize(fn([V2], Real, lambda x: x[0]), a))
    with pytest.raises(TypeError, match="expected Real, got a symbolic"):
        fn([Real], V2, lambda a: minimize(lambda x: x, [a, a]))


SOLVERS = {
    "minimize": lambda a, **options: minimize(lambda x: x * x - a, 0.0, **options),
    "root": lambda a, **options: root(lambda x: x * x - a, 1.0, **options),
    "fixed_point": lambda a, **options: fixed_point(lambda x: x / 2 + a, 1.0, **options),
    "quad": lambda a, **options: quad(lambda x: x * a, 0.0, 1.0, **options),
    "odeint": lambda a, **options: odeint(lambda y, t: y * a, 1.0, [0.0, 1.0], **options)[1],
}


@pytest.mark.parametrize("name", SOLVERS)
def test_options_of_solvers(name):
    for limit in (-1, 2.5, True, "many"):
        with pytest.raises(ValueError, match=f"{name}: expected a whole number as the limit, got"):
            fn([Real], Real, lambda a, limit=limit: SOLVERS[name](a, limit=limit))
    for option in ("rtol", "atol") if name == "odeint" else ("tolerance",):
        for x in ("a", None, [1.0]):
            with pytest.raises(TypeError, match=f"{name}: expected a number as the {option}, got"):
                fn([Real], Real, lambda a, option=option, x=x: SOLVERS[name](a, **{option: x}))


def test_what_else_solvers_refuse():
    for message, body in (
        ("expected a number as the rate", lambda a: minimize(lambda x: x, a, method="adam", rate="q")),
        ("odeint: expected a result of Reals", lambda a: odeint(lambda y, t: y, True, [0.0, 1.0])),
        ("odeint: expected Reals to start from", lambda a: odeint(lambda y, t: y, {}, [0.0, 1.0])),
    ):
        with pytest.raises(TypeError, match=message):
            fn([Real], Real, body)
    with pytest.raises(ValueError, match="as the method, got"):
        fn([Real], Real, lambda a: minimize(lambda x: x, a, method=["newton"]))


def test_a_vector_as_a_parameter():
    V3 = Vec(3, Real)
    f = fn(
        [V3],
        Real,
        lambda v: minimize(lambda x: sum(3, lambda i: square(square(x) - v[i])), 1.0, tolerance=1e-13),
    )
    v = [1.0, 2.0, 4.0]
    assert same(f, v) == pytest.approx(math.sqrt(7 / 3), rel=1e-12)
    expected = [1 / 6 / math.sqrt(7 / 3)] * 3
    assert assert_derivatives(f, v) == pytest.approx(expected, rel=1e-11)
