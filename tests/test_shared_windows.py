"""Functions that read the same elements of windows into a vector are one, and what they repeat is a loop."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from recordings import Writer, recording

from rose_core.derivatives.expand import Expansion
from rose_core.derivatives.known import Known
from rose_core.host import instantiate
from rose_core.language.check import check
from rose_core.language.interp import call
from rose_core.language.ir import FOR, INDEX, Func
from rose_core.language.queries import callees_first
from rose_core.optimise.inline import SHORT
from rose_core.recording import share
from rose_core.recording.roll import FEWEST
from rose_core.wasm.program import Program

REAL, SIZE, VEC, PAIR, PAIR_SIZE, PAIRS = range(6)
N = 600
TYPES = ["real", N, ["vec", N, 0], ["vec", 2, 0], 2, ["vec", N, 3]]
V = [math.sin(3 * k) + 1.5 for k in range(N)]

Made = tuple[Writer, list[int]]
Read = Callable[[int], int]


def reading(name: str, start: int, body: Callable[[Writer, Read], int]) -> Made:
    """A function of a body, which gets what reads an element from ``start`` on."""
    f = Writer(name, [VEC], REAL, [REAL, SIZE])
    v = f.row("param", 0)
    return f, [body(f, lambda k: f.row("index", v, f.literal(start + k, 1)))]


def lengths(points: int) -> Callable[[Writer, Read], int]:
    """The sum of the lengths of a curve's edges."""

    def body(f: Writer, read: Read) -> int:
        x = f.literal(0, 0)
        for k in range(points - 1):
            a, b = (f.row("sub", read(2 * k + 2 + c), read(2 * k + c)) for c in range(2))
            x = f.row("add", x, f.row("sqrt", f.row("add", f.row("mul", a, a), f.row("mul", b, b))))
        return x

    return body


def length(start: int, points: int) -> float:
    at = [V[start + 2 * k : start + 2 * k + 2] for k in range(points)]
    return sum(math.dist(a, b) for a, b in pairwise(at))


def total(callees: range, weight: float = 1.0) -> Made:
    """The sum of functions, at one vector, in which some are weighted."""
    f = Writer("total", [VEC], REAL, [REAL])
    v, x = f.row("param", 0), f.literal(0, 0)
    for k in callees:
        x = f.row("add", x, f.row("get", f.call(k, v)))
    return f, [f.row("mul", x, f.literal(weight, 0))]


def gradient(callee: int) -> Made:
    f = Writer("gradient", [VEC], VEC, [REAL])
    pull = f.rows_of("pull", f.call(callee, f.row("param", 0), op="vjp"), f.literal(1, 0))
    return f, [f.row("get", pull, 0)]


def made(*functions: Made, known: Known | None = None) -> Func:
    return recording(TYPES, [f for f, _ in functions], [r for _, r in functions], known=known).root


def named(f: Func, name: str) -> list[Func]:
    return [g for g in callees_first(f) if g.name == name]


def run(f: Func) -> Any:
    """What both engines give, to the bit."""
    check(f)
    (found,) = call(f, [V])
    (compiled,) = instantiate(Program(f))([V])
    assert repr(compiled) == repr(found)
    return found


def both(functions: list[Made], monkeypatch: pytest.MonkeyPatch) -> tuple[list[float], list[float]]:
    """The gradient of the last function with windows, and with each element as a number."""
    first = run(Expansion(made(*functions, gradient(len(functions) - 1))).root)
    with monkeypatch.context() as patch:
        patch.setattr(share, "FEWEST_PICKED", 1 << 40)
        second = run(Expansion(made(*functions, gradient(len(functions) - 1))).root)
    return first, second


def curves(starts: list[int], points: int = 60) -> list[Made]:
    return [*(reading("curve", start, lengths(points)) for start in starts), total(range(len(starts)))]


STARTS = [0, 121, 250, 400]


def test_curves_are_one_function_with_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    functions = curves(STARTS)
    root = made(*functions)
    assert len(named(root, "curve")) == 1
    (curve,) = named(root, "curve")
    assert len(curve.params) == 1 + 1  # the vector, which is not read any more, and the window
    assert any(ins[0] == FOR for ins in curve.code)
    assert run(root) == pytest.approx(sum(length(start, 60) for start in STARTS), rel=1e-14)
    first, second = both(functions, monkeypatch)
    assert first == pytest.approx(second, rel=1e-12)


def test_their_code_is_a_part_of_what_it_is_with_each_element_as_a_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def long(f: Writer, read: Read) -> int:
        x = f.literal(0, 0)
        for k in range(40):
            y = read(k)
            for _ in range(15):
                y = f.row("add", f.row("mul", y, y), read(k))
            x = f.row("add", x, y)
        return x

    def size() -> int:
        functions = [*(reading("long", start, long) for start in STARTS), total(range(len(STARTS)))]
        return len(Program(Expansion(made(*functions, gradient(len(STARTS)))).root).bytes)

    with_windows = size()
    monkeypatch.setattr(share, "FEWEST_PICKED", 1 << 40)
    assert with_windows < 0.5 * size()


def test_gradients_are_those_of_differences() -> None:
    functions = curves(STARTS[:3], 20)
    root = made(*functions)
    g = run(Expansion(made(*functions, gradient(3))).root)
    for k in (0, 1, 40, 122, 140, 289, 300):
        up, down = (call(root, [[x + h * (j == k) for j, x in enumerate(V)]])[0] for h in (1e-6, -1e-6))
        assert g[k] == pytest.approx((up - down) / 2e-6, rel=1e-6, abs=1e-8)


def test_windows_that_overlap_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = both(curves([0, 2, 10, 12], 30), monkeypatch)
    assert first == pytest.approx(second, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("starts", [[0, 121], [*range(0, 8 * (FEWEST + 8), 8)]], ids=["few", "many"])
def test_callers_pass_windows_on(starts: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    functions = [reading("curve", start, lengths(25)) for start in starts]
    around = [total(range(k, k + 1), weight=k + 0.5) for k in range(len(starts))]
    functions += [*around, total(range(len(starts), 2 * len(starts)))]
    root = made(*functions)
    assert len(named(root, "curve")) == 1
    assert len(named(root, "total")) == 2
    expected = sum((k + 0.5) * length(start, 25) for k, start in enumerate(starts))
    assert run(root) == pytest.approx(expected, rel=1e-13)
    first, second = both(functions, monkeypatch)
    assert first == pytest.approx(second, rel=1e-12, abs=1e-14)


def test_rows_of_a_matrix_are_read_through_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    def curve(start: int) -> Made:
        f = Writer("curve", [PAIRS], REAL, [REAL, SIZE, PAIR_SIZE])
        v, x = f.row("param", 0), f.literal(0, 0)
        for k in range(40):
            row = f.row("index", v, f.literal(start + k, 1))
            a, b = (f.row("index", row, f.literal(c, 2)) for c in range(2))
            x = f.row("add", x, f.row("mul", a, f.row("sin", b)))
        return f, [x]

    last = Writer("total", [PAIRS], REAL, [REAL])
    v, x = last.row("param", 0), last.literal(0, 0)
    for k in range(3):
        x = last.row("add", x, last.row("get", last.call(k, v)))
    g = Writer("gradient", [PAIRS], PAIRS, [REAL])
    pull = g.rows_of("pull", g.call(3, g.row("param", 0), op="vjp"), g.literal(1, 0))
    functions = [*(curve(start) for start in (0, 50, 200)), (last, [x]), (g, [g.row("get", pull, 0)])]
    points = [[V[k], V[-k]] for k in range(N)]
    root = made(*functions)
    assert len(named(root, "curve")) == 1
    (found,) = call(Expansion(root).root, [points])
    inside = {start + k for start in (0, 50, 200) for k in range(40)}
    for k, (a, b) in enumerate(points):
        assert found[k] == pytest.approx([math.sin(b), a * math.cos(b)] if k in inside else [0, 0], rel=1e-14)


def test_in_line_elements_are_read_where_they_are() -> None:
    functions = [*(reading("short", start, squares) for start in (0, 150)), total(range(2))]
    assert any(g.name == "short" and len(g.code) < SHORT for g in callees_first(made(*functions)))
    root = Expansion(made(*functions)).root
    assert not named(root, "short")
    assert run(root) == pytest.approx(sum(x * x for s in (0, 150) for x in V[s : s + 100]), rel=1e-14)
    assert {ins[1] for ins in root.code if ins[0] == INDEX} == {0}  # the parameter


def squares(f: Writer, read: Read) -> int:
    x = f.literal(0, 0)
    for k in range(100):
        a = read(k)
        x = f.row("add", x, f.row("mul", a, a))
    return x


def params_of_shared(*functions: Made) -> int:
    """How many parameters the function has that the first and the second are; 0 if they are two."""
    found = named(made(*functions, total(range(len(functions)))), functions[0][0].entry["name"])
    return len(found[0].params) if len(found) == 1 else 0


def test_elements_that_are_not_all_as_far_on_are_numbers() -> None:
    def body(far: int) -> Callable[[Writer, Read], int]:
        def written(f: Writer, read: Read) -> int:
            x = read(far)
            for k in range(20):
                x = f.row("mul", f.row("sin", x), read(k))
            return x

        return written

    assert params_of_shared(*(reading("f", start, body(20)) for start in (0, 50))) == 1 + 1
    assert params_of_shared(*(reading("f", start, body(20 + start)) for start in (0, 50))) == 1 + 21
    assert params_of_shared(*(reading("f", start, body(200)) for start in (0, 50))) == 1 + 21


def test_a_vector_that_is_used_otherwise_is_no_window() -> None:
    def f(start: int) -> Made:
        f = Writer("f", [VEC], REAL, [REAL, SIZE])
        v = f.row("param", 0)
        i = f.row("for", 1)
        every = f.row("get", f.rows_of("end", f.row("sin", f.row("index", v, i))), 0)
        x = f.row("index", every, f.literal(3, 1))
        for k in range(20):
            x = f.row("mul", f.row("sin", x), f.row("index", v, f.literal(start + k, 1)))
        return f, [x]

    assert params_of_shared(f(0), f(50)) == 1 + 20


def test_a_function_stays_known_when_its_window_starts_elsewhere() -> None:
    known = Known()

    def compiled(last: int) -> Func:
        root = made(*curves([0, 130, last]), known=known)
        (curve,) = named(root, "curve")
        known.program(lambda: Expansion(root, known).root)
        return curve

    assert compiled(260) is compiled(300)


def test_functions_that_read_others_of_a_window_are_not_taken_for_known() -> None:
    known = Known()

    def compiled(first: int) -> Any:
        def body(f: Writer, read: Read) -> int:
            x = read(first)
            for k in range(20):
                x = f.row("sub", read(k), f.row("mul", x, f.literal(0.5, 0)))
            return x

        functions = [*(reading("f", start, body) for start in (0, 100)), total(range(2))]
        return run(known.program(lambda: Expansion(made(*functions, known=known), known).root))

    def expected(first: int, start: int) -> float:
        x = V[start + first]
        for k in range(20):
            x = V[start + k] - x * 0.5
        return x

    for first in (3, 7):
        assert compiled(first) == pytest.approx(expected(first, 0) + expected(first, 100), rel=1e-14)


@pytest.mark.parametrize("seed", range(12))
def test_random_windows(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of random steps, with other numbers in each function, as with each element as a number."""
    random = Random(seed)
    step, back, copies = random.randint(1, 3), random.randint(0, 2), random.randint(16, 40)
    ops = [random.choice(["add", "sub", "mul"]) for _ in range(random.randint(2, 30))]
    reads = [random.randint(0, back) for _ in ops]

    def body(numbers: Random) -> Callable[[Writer, Read], int]:
        def written(f: Writer, read: Read) -> int:
            x = f.literal(0, 0)
            for k in range(copies):
                y = f.row("mul", read(step * k), f.literal(numbers.choice([0.5, numbers.random()]), 0))
                for op, r in zip(ops, reads, strict=True):
                    y = f.row(op, f.row("sin", y), read(step * k + r))
                x = f.row("add", x, y)
            return x

        return written

    span = step * copies + back
    starts = random.sample(range(N - span), random.randint(2, 5))
    functions = [reading("f", start, body(random)) for start in starts]
    first, second = both([*functions, total(range(len(starts)))], monkeypatch)
    assert first == pytest.approx(second, rel=1e-11, abs=1e-13)
