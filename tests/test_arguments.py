"""Arguments by name and by default, and functions that decorators have made."""

from functools import wraps

import pytest

from rose_core import (
    Real,
    Size,
    Vec,
    checkpoint,
    compile,
    fn,
    grad,
    hvp,
    interp,
    jet,
    jvp,
    load,
    sum,
    value_and_grad,
    vjp,
    vmap,
)
from rose_core.standalone import to_file

n = Size("n")


@fn
def scaled(x: Real, by: Real = 3, more: Real = 0.5) -> Real:
    return x * x * by + more


@fn
def weighed(v: Vec(n, Real), by: Real = 2.0) -> Real:
    return sum(v) * by


def test_calls_of_compiled_functions() -> None:
    for f in (compile(scaled), interp(scaled), load(to_file(scaled.func, "scaled"))):
        assert f(2.0, more=1, by=5) == f(by=5, x=2.0, more=1) == f(2.0, 5, 1) == 21.0
    for f in (compile(scaled), interp(scaled)):
        assert f(2.0) == f(x=2) == 12.5
        assert f(2.0, more=0) == f(2.0, 3, 0) == 12.0


def test_calls_in_functions() -> None:
    def body(x):
        duals = {"re": x, "du": 1.0}, {"re": 3, "du": 0.0}, {"re": 0, "du": 0.0}
        pulled = vjp(scaled)(x, more=0).grad(1)
        pushed = jvp(scaled)(by=duals[1], x=duals[0], more=duals[2]).du
        return scaled(x) + weighed([x, x]) + weighed(by=x, v=[x]) + pulled[0] + pushed

    assert compile(fn([Real], Real, body))(2.0) == 12.5 + 8 + 4 + 12 + 12


def test_calls_of_derivatives() -> None:
    assert compile(grad(scaled))(2.0) == compile(grad(checkpoint(scaled)))(x=2.0, by=3) == 12.0
    assert compile(grad(scaled, 1))(2.0, more=1) == 4.0
    assert compile(value_and_grad(scaled))(2.0, by=1) == {"value": 4.5, "grad": 4.0}
    assert compile(hvp(scaled))(2.0, direction=10.0) == 60.0
    assert compile(jet(scaled, 1))(x=[2, 1], by=[3, 0], more=[0, 0]) == [12.0, 12.0]
    assert compile(vmap(scaled, [0, None, None]).at(batch=2))([1, 2]) == [3.5, 12.5]
    assert compile(weighed.at(n=2))([1, 2]) == compile(weighed.at(n=2))(by=2, v=[1, 2]) == 6.0
    assert compile(grad(weighed).at(n=2))([1, 2]) == [2.0, 2.0]


WRONG = {
    "an unknown name": (lambda: compile(scaled)(2, bye=3), "scaled has no parameter bye; its.* x, by, more"),
    "no names": (lambda: compile(fn([Real], Real, abs))(x=3), "abs has no parameter x; its.* no names"),
    "twice": (lambda: compile(scaled)(2, x=3), "scaled got two arguments for x"),
    "none": (lambda: compile(scaled)(), "scaled got no argument for x"),
    "none by name": (lambda: compile(scaled)(by=3), "scaled got no argument for x"),
    "too many": (lambda: compile(scaled)(1, 2, 3, 4), "scaled takes 3 arguments, got 4"),
    "the type of a default": (
        lambda: compile(fn([Real, Real], Real, lambda x, y=None: x))(1), "argument 2 of f: expected Real"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_arguments(name: str) -> None:
    action, message = WRONG[name]
    with pytest.raises(TypeError, match=message):
        action()


def doubled(f):
    @wraps(f)
    def wrapper(*args, **options):
        return 2 * f(*args, **options)

    return wrapper


def test_decorated_functions() -> None:
    @fn
    @doubled
    @doubled
    def f(x: Real, by: Real = 3) -> Real:
        return x * by

    assert compile(f)(5.0) == interp(f)(by=3, x=5.0) == 60.0
    assert compile(fn([Real], Real, doubled(lambda x: x + 1)))(x=3) == 8.0
