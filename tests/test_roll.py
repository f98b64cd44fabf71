"""Many calls of one function become a loop, whatever stands between them."""

import pytest
from recordings import Writer, recording

from rose_core.derivatives.expand import Expansion
from rose_core.host import instantiate
from rose_core.language.interp import call
from rose_core.language.ir import CALL, FOR, LOOP
from rose_core.recording.roll import FEWEST
from rose_core.wasm.program import Program

REAL, SIZE, VEC = range(3)
M = FEWEST + 2
"""Calls in a row."""
N = M + 8
TYPES = ["real", N, ["vec", N, 0]]
V = [0.5 + 0.25 * k for k in range(N)]


def near(i: int, r: float) -> tuple[Writer, list[int]]:
    """``v, x ↦ (v[i] - v[i + 1]) * r + x``."""
    f = Writer("near", [VEC, REAL], REAL, [REAL, SIZE])
    v, x = f.row("param", 0), f.row("param", 1)
    a, b = (f.row("index", v, f.literal(k, 1)) for k in (i, i + 1))
    return f, [f.row("add", f.row("mul", f.row("sub", a, b), f.literal(r, 0)), x)]


def expected(i: int, r: float, x: float) -> float:
    return (V[i] - V[i + 1]) * r + x


def made(functions, last: Writer, results: list[int]):
    r = recording(TYPES, [*(f for f, _ in functions), last], [*(r for _, r in functions), results])
    return r.root


def loops(f) -> int:
    return sum(ins[0] == FOR for ins in f.code)


def calls(f) -> int:
    return sum(ins[0] == CALL for ins in f.code)


def test_calls_with_other_literals() -> None:
    functions = [near(k, 0.5 * k) for k in range(M)]
    last = Writer("last", [VEC], REAL, [REAL])
    v, total = last.row("param", 0), last.literal(0, 0)
    for k in range(M):
        total = last.row("add", total, last.row("get", last.call(k, v, last.literal(k, 0))))
    f = made(functions, last, [total])
    assert (loops(f), calls(f)) == (1, 1)
    assert call(f, [V])[0] == pytest.approx(sum(expected(k, 0.5 * k, k) for k in range(M)))


def test_calls_that_need_each_other_are_steps() -> None:
    """Two chains of calls, each of which takes the result of the one before."""
    functions = [near(k, 0.5) for k in range(M)]
    last = Writer("last", [VEC], REAL, [REAL])
    v = last.row("param", 0)
    x, y = last.literal(1, 0), last.literal(2, 0)
    for k in range(M):
        x = last.row("get", last.call(k, v, x))
        y = last.row("get", last.call(k, v, y))
    f = made(functions, last, [last.row("mul", x, y)])
    assert [ins[0] for ins in f.code if ins[0] in (FOR, LOOP)] == [LOOP]
    a = sum(expected(k, 0.5, 0) for k in range(M))
    assert call(f, [V])[0] == pytest.approx((1 + a) * (2 + a))


def layers() -> tuple:
    """Two layers of calls, the second on results of the first; sums and loops in between."""
    functions = [near(k, 0.125 * k) for k in range(M)]
    last = Writer("last", [VEC], REAL, [REAL, SIZE])
    v = last.row("param", 0)
    results = []
    for k in range(M):
        x = last.row("get", last.call(k, v, last.row("index", v, last.literal(N - 1 - k, 1))))
        results.append(last.row("mul", x, x))
    total = last.row("accum", last.literal(1, 0))
    loop = last.row("for", 1)
    last.row("add_to", total, last.row("mul", last.row("index", v, loop), results[3]))
    last.rows_of("end")
    total = last.row("resolve", total)
    for k in range(M):
        total = last.row("add", total, last.row("get", last.call(M - 1 - k, v, results[k])))
    return functions, last, total


def value(v: list[float]) -> float:
    def g(k: int, x: float) -> float:
        return (v[k] - v[k + 1]) * (0.125 * k) + x

    results = [g(k, v[N - 1 - k]) ** 2 for k in range(M)]
    return 1 + sum(v) * results[3] + sum(g(M - 1 - k, results[k]) for k in range(M))


def test_layers_of_calls() -> None:
    functions, last, total = layers()
    f = made(functions, last, [total])
    assert (loops(f), calls(f)) == (3, 2)
    assert call(f, [V])[0] == pytest.approx(value(V))
    assert instantiate(Program(f))([V])[0] == pytest.approx(value(V))


def test_their_gradient() -> None:
    functions, last, total = layers()
    gradient = Writer("gradient", [VEC], VEC, [REAL])
    pull = gradient.rows_of(
        "pull", gradient.call(M, gradient.row("param", 0), op="vjp"), gradient.literal(1, 0)
    )
    r = recording(
        TYPES,
        [*(f for f, _ in functions), last, gradient],
        [*(r for _, r in functions), [total], [gradient.row("get", pull)]],
    )
    f = Expansion(r.root).root
    found = call(f, [V])[0]
    assert list(instantiate(Program(f))([V])[0]) == pytest.approx(found, rel=1e-15)
    for k in range(N):
        up, down = ([x + h * (j == k) for j, x in enumerate(V)] for h in (1e-5, -1e-5))
        assert found[k] == pytest.approx((value(up) - value(down)) / 2e-5, rel=1e-7, abs=1e-8)


def test_all_elements_of_a_vector_are_the_vector() -> None:
    last = Writer("last", [VEC], VEC, [REAL, SIZE, VEC])
    v = last.row("param", 0)
    elements = [last.row("index", v, last.literal(k, 1)) for k in range(N)]
    f = made([], last, [last.rows_of("vec", 2, *elements)])
    assert f.results == [0]
    g = Writer("last", [VEC], VEC, [REAL, SIZE, VEC])
    v = g.row("param", 0)
    elements = [g.row("index", v, g.literal(N - 1 - k, 1)) for k in range(N)]
    assert call(made([], g, [g.rows_of("vec", 2, *elements)]), [V])[0] == V[::-1]
