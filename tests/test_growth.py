"""Cost grows with the program and with nothing else: sizes are counted, not timed."""

from __future__ import annotations

from itertools import pairwise

import pytest

from rose_core import Dual, Real, Vec, compile, fn, interp, jvp, opaque, sin, vjp
from rose_core import sum as rose_sum
from rose_core.expand import Expansion
from rose_core.ir import Func
from rose_core.program import Program


def functions(root: Func) -> list[Func]:
    found, todo = [], [root]
    while todo:
        f = todo.pop()
        if f not in found:
            found.append(f)
            todo += f.callees
    return found


def tower(height: int, step):
    """Functions of which each calls the one before it twice."""
    f = fn([Real], Real, step)
    for _ in range(height):
        f = (lambda g: fn([Real], Real, lambda x: g(x) + g(x * 0.5)))(f)
    return f


def grad(f):
    return fn([Real], Real, lambda x: vjp(f)(x).grad(1))


def measure(f) -> tuple[int, int]:
    """Instructions of a program, and bytes of its module."""
    root = Expansion(f.func).root
    return sum(len(g.code) for g in functions(root)), len(Program(root).bytes)


@pytest.mark.parametrize(
    "derive", [lambda f: f, jvp, grad, lambda f: grad(grad(f))], ids=["f", "jvp", "grad", "grad²"]
)
def test_calls_stay_calls(derive) -> None:
    """Twenty functions, the last of which runs the first 2^20 times, in linear size."""
    sizes = [measure(derive(tower(height, sin))) for height in (5, 10, 15, 20)]
    for k in (0, 1):
        steps = [b[k] - a[k] for a, b in pairwise(sizes)]
        assert max(steps) - min(steps) <= 0.05 * max(steps), sizes


def products(height: int):
    """As `tower`, but the derivative of each call takes values of its own: 2^height in all."""
    f = fn([Real], Real, sin)
    for _ in range(height):
        f = (lambda g: fn([Real], Real, lambda x: sin(g(x) * g(x * 0.5) + x)))(f)
    return f


def test_tapes_stay_short() -> None:
    """Code grows in proportion to the height, though the work doubles with every step."""
    sizes = [measure(grad(products(height)))[0] for height in (20, 40, 60)]
    assert sizes[2] - sizes[1] <= 1.3 * (sizes[1] - sizes[0]), sizes


def test_tapes_of_tapes_stay_short() -> None:
    """Of a second derivative no faster than with the square, or a little more."""
    sizes = [measure(grad(grad(products(height))))[0] for height in (8, 16, 24)]
    assert sizes[2] - sizes[1] <= 3 * (sizes[1] - sizes[0]), sizes


def test_what_is_run_again_for_want_of_a_tape() -> None:
    f = products(12)
    forward, reverse = compile(jvp(f)), compile(grad(f))
    for x in (0.3, -1.2, 2.5):
        assert reverse(x) == pytest.approx(forward({"re": x, "du": 1})["du"], rel=1e-12)


def test_what_has_effects_is_run_once() -> None:
    calls = []
    noisy = opaque([Real], Real, lambda x: (calls.append(x), x)[1])
    noisy.jvp = fn([Dual], Dual, lambda x: {"re": noisy(x.re), "du": x.du})
    f = fn([Real], Real, noisy)
    for _ in range(8):
        f = (lambda g: fn([Real], Real, lambda x: sin(g(x) * g(x))))(f)
    compile(grad(f))(0.5)
    assert len(calls) == 2**8


def test_a_shared_call_graph_runs() -> None:
    f = fn([Real], Real, lambda x: x)
    for _ in range(20):
        f = (lambda g: fn([Real], Real, lambda x: g(x) + g(x)))(f)
    assert compile(jvp(f))({"re": 2, "du": 3}) == {"re": 2.0**21, "du": 3 * 2.0**20}


def test_a_deep_chain_of_calls() -> None:
    f = fn([Real], Real, lambda x: x * 1.5)
    for _ in range(2000):
        f = (lambda g: fn([Real], Real, lambda x: g(x) + 1))(f)
    assert interp(f)(2) == 2003
    assert compile(grad(f))(2) == 1.5


def unrolled(n: int):
    def body(x):
        total = 0.0
        for i in range(n - 1):
            a, b = x[i + 1] - x[i] * x[i], 1 - x[i]
            total = total + (100 * (a * a) + b * b)
        return total

    return fn([Vec(n, Real)], Real, body)


def rolled(n: int):
    def term(x, i):
        a = x[i] - x[i] * x[i]
        return 100 * (a * a) + sin(a)

    return fn([Vec(n, Real)], Real, lambda x: rose_sum(n, lambda i: term(x, i)))


def gradient(f, n: int):
    return fn([Vec(n, Real)], Vec(n, Real), lambda x: vjp(f)(x).grad(1))


def test_straight_code_stays_linear() -> None:
    small, large = (measure(gradient(unrolled(n), n)) for n in (200, 800))
    assert large[0] <= 4.1 * small[0]
    assert large[1] <= 4.3 * small[1]  # addresses get longer


def test_loops_stay_loops() -> None:
    small, large = (measure(gradient(rolled(n), n)) for n in (10, 10_000))
    assert large[0] == small[0]
    assert large[1] <= small[1] + 40


def test_gradients_need_few_local_variables() -> None:
    """The backward part of each term is computed next to its forward part."""
    root = Expansion(gradient(unrolled(1000), 1000).func).root
    from rose_core.lower import Body
    from rose_core.ops import OPS

    body = Body(root, 0, 0, {}, [b"\xa0"] * len(OPS), {}, {}, ([0], [8000]))
    assert sum(count for count, _ in body.runs) <= 16


def test_large_programs_run() -> None:
    n = 3000
    f = gradient(unrolled(n), n)
    x = [((i * 37) % 100) / 50 - 1 for i in range(n)]
    expected = [0.0] * n
    for i in range(n - 1):
        a = x[i + 1] - x[i] * x[i]
        expected[i] += -400 * a * x[i] - 2 * (1 - x[i])
        expected[i + 1] += 200 * a
    assert compile(f)(x) == pytest.approx(expected, rel=1e-12, abs=1e-9)
