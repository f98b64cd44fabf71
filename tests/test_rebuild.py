"""What Python's own loops have written out is compiled as loops, and gives the same."""

from __future__ import annotations

import operator
import struct
from functools import reduce

import pytest

import rose_core as rose
from rose_core import Dual, Real, RunError, Vec, compile, cos, exp, fn, grad, inspect, load, opaque, sin
from rose_core.standalone import to_file
from rose_core.tracing.functions import Function
from tests.random_programs import flat
from tests.test_serialize import straight
from tests.test_unroll import wave


def rosenbrock(n: int) -> Function:
    def body(x):
        return reduce(
            operator.add,
            [100 * (x[i + 1] - x[i] * x[i]) ** 2 + (1 - x[i]) ** 2 for i in range(n - 1)],
        )

    return fn([Vec(n, Real)], Real, body)


def logistic_map(n: int) -> Function:
    def body(x):
        s = x[0]
        for _ in range(n):
            s = x[1] * s * (1 - s)
        return s

    return fn([Vec(n, Real)], Real, body)


def circles(n: int) -> Function:
    """Functions that differ in a number and in an element."""

    def body(x):
        total = 0.0
        for k in range(n):
            distance = fn([Real], Real, lambda y, k=k: sin(y * x[k] + 0.1 * k) * cos(y) + exp(-y * y * k))
            total = total + distance(0.5 * x[k] + 0.3)
        return total

    return fn([Vec(n, Real)], Real, body)


def choices(n: int) -> Function:
    def body(x):
        s = 0.0
        for k in range(n):
            s = s + rose.cond(x[k] > 0.1, Real, lambda k=k: sin(x[k]) * x[k], lambda k=k: 0.5 * x[k])
        return s

    return fn([Vec(n, Real)], Real, body)


PROGRAMS = [rosenbrock, logistic_map, circles, choices]


@pytest.mark.parametrize("program", PROGRAMS)
def test_modules_do_not_grow_with_iterations(program) -> None:
    for derive in (lambda f: f, grad):
        few, many = inspect(derive(program(60))).size, inspect(derive(program(240))).size
        data = struct.calcsize("d") * 4 * (240 - 60)
        assert many < few + data


def listed(n: int, start: float | None) -> Function:
    """Terms in a list, which is added up then."""

    def body(x):
        terms = [sin(0.5 + x[k] * x[k]) * x[k] for k in range(n)]
        return reduce(operator.add, terms) if start is None else sum(terms, start)

    return fn([Vec(n, Real)], Real, body)


@pytest.mark.parametrize("start", [None, 0.0, 0.5])
def test_lists_are_added_up_in_the_loop_that_makes_them(start) -> None:
    few, many = (inspect(grad(listed(n, start))).size for n in (100, 400))
    assert many <= few + 8
    f, x = listed(100, start), wave(100)
    assert repr(compile(f)(x)) == repr(straight(f, x))


def recurrent(n: int) -> Function:
    """A weight is read for the first time after the first of the states has been made."""

    def body(x):
        h = g = 0.0
        for k in range(6, n):
            h, g = rose.tanh(h * x[0] + x[1] * g + x[k]), rose.tanh(x[2] * h + x[3] * g - x[k])
        return h * g

    return fn([Vec(n, Real)], Real, body)


def test_a_state_may_be_made_before_what_it_is_multiplied_by() -> None:
    few, many = (inspect(recurrent(n)).size for n in (300, 900))
    assert many <= few + 8
    f, x = recurrent(300), wave(300)
    assert repr(compile(f)(x)) == repr(straight(f, x))
    assert flat(compile(grad(f))(x)) == pytest.approx(flat(straight(grad(f), x)), rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("n", [2, 3, 17, 60])
def test_values_are_the_same(program, n: int) -> None:
    f, x = program(n), wave(n)
    assert repr(compile(f)(x)) == repr(straight(f, x))
    assert flat(compile(grad(f))(x)) == pytest.approx(flat(straight(grad(f), x)), rel=1e-11, abs=1e-13)


def test_what_runs_python_runs_in_its_order() -> None:
    heard = []
    told = opaque([Real], Real, lambda x: heard.append(x) or 2 * x)
    told.jvp = fn([Dual], Dual, lambda d: {"re": told(d.re), "du": 2.0 * d.du})
    other = opaque([Real], Real, lambda x: heard.append(-x) or x)
    n = 40

    def body(x):
        s = 0.0
        for k in range(n):
            s = s + told(x[k]) * other(x[0] + k)
        return s

    f = fn([Vec(n, Real)], Real, body)
    x = [0.5 + k for k in range(n)]
    found = compile(f)(x)
    assert heard == [y for k in range(n) for y in (x[k], -(x[0] + k))]
    assert found == straight(f, x)


def test_errors_say_what_they_said() -> None:
    def body(x):
        s = 0.0
        for k in range(40):
            s = s + rose.while_loop(Real, x[k], lambda y: y < 1, lambda y: y * y, limit=9)
        return s

    f = fn([Vec(40, Real)], Real, body)
    with pytest.raises(RunError, match="while_loop: ") as found:
        compile(f)([0.5] * 40)
    with pytest.raises(RunError) as expected:
        straight(f, [0.5] * 40)
    assert str(found.value) == str(expected.value)


def test_files(tmp_path) -> None:
    f, file = grad(rosenbrock(200)), tmp_path / "rosenbrock.wasm"
    file.write_bytes(to_file(f.func, "gradient"))
    assert len(file.read_bytes()) < len(to_file(grad(rosenbrock(60)).func, "gradient")) + 100
    x = wave(200)
    assert load(file)(x) == pytest.approx(straight(f, x), rel=1e-11)
