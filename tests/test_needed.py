"""Loops that are found again do no harm where nobody needs what may fail, or has an infinite derivative."""

from collections.abc import Callable
from random import Random

import pytest

from rose_core import Real, Vec, compile, cond, cos, fn, grad, index, sin, sqrt, struct
from rose_core.language.ir import FOR, LOOP
from rose_core.recording.rebuild import rebuilt
from rose_core.tracing.functions import Function
from tests.test_serialize import straight

N = 400
W = [0.5 + 0.01 * k for k in range(N)]


def loops(f: Function) -> int:
    return sum(ins[0] in (FOR, LOOP) for ins in rebuilt(f.func).code)


def values(odd: list[int]) -> list[float]:
    """Indices, but for these."""
    return [1000.0 if k in odd else float(k) for k in range(N)]


def added(rows, odd: list[int]):
    """The sum of all second results, and of the first results but of these rows."""
    total = 0.0
    for _, y in rows:
        total = total + y
    for k, (x, _) in enumerate(rows):
        if k not in odd:
            total = total + x
    return total


@pytest.mark.parametrize(("odd", "count"), [([], 2), ([N // 3], 6), ([0, N - 1], 6), (list(range(N)), 2)])
def test_a_loop_has_no_iterations_that_fail_in_vain(odd: list[int], count: int) -> None:
    """Of some copies one of two results is used, and the other is not defined; or of all of them."""

    @fn
    def f(v: Vec(N, Real), w: Vec(N, Real)) -> Real:
        rows = [(w[index(N, v[k])] * 2, sin(v[k]) * cos(v[k])) for k in range(N)]
        return added(rows, odd)

    assert 1 <= loops(f) <= count
    assert compile(f)(values(odd), W) == straight(f, values(odd), W)


@fn
def complex_root(x: Real) -> struct(re=Real, im=Real):
    return {"re": sqrt(x), "im": sin(x) + cos(x)}


def parts(x):
    root = complex_root(x)
    return root.re, root.im


@pytest.mark.parametrize("parts", [lambda x: (sqrt(x) * 2, sin(x) + cos(x)), parts])
@pytest.mark.parametrize("odd", [[N // 3], [N - 1], [0, 7]])
def test_an_infinite_derivative_of_what_is_not_used_is_none(odd: list[int], parts: Callable) -> None:
    @fn
    def f(v: Vec(N, Real)) -> Real:
        rows = [parts(v[k]) for k in range(N)]
        return added(rows, odd)

    point = [0.0 if k in odd else w for k, w in enumerate(W)]
    assert 1 <= loops(f) <= 8
    assert list(compile(grad(f))(point)) == pytest.approx(straight(grad(f), point), rel=1e-14)


@pytest.mark.parametrize("is_used", [False, True])
def test_steps_of_which_the_last_makes_an_index_in_vain(is_used: bool) -> None:
    @fn
    def f(v: Vec(N, Real), w: Vec(N, Real)) -> Real:
        s, i = v[0], index(N, v[1])
        for k in range(N):
            s = sin(s * w[i]) + w[k]
            i = index(N, v[k])
        return s * w[i] if is_used else s

    assert loops(f) == 1
    odd = [] if is_used else [N - 1]
    assert compile(f)(values(odd), W) == straight(f, values(odd), W)


def test_a_row_of_calls_has_those_that_are_needed() -> None:
    @fn
    def picked(x: Real, w: Vec(N, Real)) -> Real:
        return cond(x > 5, Real, lambda: w[index(N, x)] * 2, lambda: w[index(N, x + 1)])

    odd = [20, 31]

    @fn
    def f(v: Vec(N, Real), w: Vec(N, Real)) -> Real:
        random = Random(0)
        total = 0.0
        for k in range(80):
            x = picked(v[k], w)
            for _ in range(random.randrange(4)):
                total = random.choice([sin, cos])(total)
            total = total * 0.5 if k in odd else total + x
        return total

    assert loops(f) == 1
    assert compile(f)(values(odd), W) == straight(f, values(odd), W)
