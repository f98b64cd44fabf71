"""Functions that differ only in literals are one function."""

import math

import pytest
from recordings import Writer, recording

from rose_core.derivatives.expand import Expansion
from rose_core.language.interp import call
from rose_core.wasm.program import _callers_first

REAL, SIZE, VEC = 0, 1, 2
TYPES = ["real", 6, ["vec", 6, 0]]


def pick(i: int, j: int, r: float, op: str = "mul") -> tuple[Writer, list[int]]:
    """``v ↦ v[i] * v[j] + r``."""
    f = Writer("pick", [VEC], REAL, [REAL, SIZE])
    v = f.row("param", 0)
    a, b = (f.row("index", v, f.literal(k, 1)) for k in (i, j))
    return f, [f.row("add", f.row(op, a, b), f.literal(r, 0))]


def total(callees: int) -> tuple[Writer, list[int]]:
    """The sum of the first functions, at one vector."""
    f = Writer("total", [VEC], REAL, [REAL])
    v = f.row("param", 0)
    x = f.literal(0, 0)
    for k in range(callees):
        x = f.row("add", x, f.row("get", f.call(k, v)))
    return f, [x]


def run(*functions: tuple[Writer, list[int]]):
    made = recording(TYPES, [f for f, _ in functions], [r for _, r in functions])
    root = made.root
    return call(root, [[2.0, 3.0, 5.0, 7.0, 11.0, 13.0]])[0], _callers_first(root)


def test_literals_and_elements_become_parameters() -> None:
    value, functions = run(pick(0, 1, 0.5), pick(2, 3, 0.25), pick(4, 4, 100), total(3))
    assert value == 6.5 + 35.25 + 221
    assert len(functions) == 2
    shared = functions[-1]
    assert len(shared.params) == 1 + 3  # the vector, which is not read any more, and what differs


def test_what_is_the_same_everywhere_stays_a_literal() -> None:
    value, functions = run(pick(0, 1, 0.5), pick(0, 2, 0.5), total(2))
    assert value == 6.5 + 10.5
    assert len(functions[-1].params) == 1 + 1


def test_equal_functions_are_one() -> None:
    value, functions = run(pick(0, 1, 0.5), pick(0, 1, 0.5), total(2))
    assert value == 13
    assert len(functions) == 2
    assert len(functions[-1].params) == 1


def test_other_operations_stay_apart() -> None:
    value, functions = run(pick(0, 1, 0.5), pick(0, 1, 0.5, "sub"), total(2))
    assert value == 6.5 - 0.5
    assert len(functions) == 3


@pytest.mark.parametrize(("x", "y", "differ"), [(0.0, -0.0, True), (math.nan, -math.nan, False)])
def test_literals_are_compared_to_the_bit(x: float, y: float, differ: bool) -> None:
    def angle(x: float) -> tuple[Writer, list[int]]:
        f = Writer("angle", [VEC], REAL, [REAL])
        return f, [f.row("atan2", f.literal(x, 0), f.literal(-1, 0))]

    value, functions = run(angle(x), angle(y), total(2))
    assert value == math.pi - math.pi if differ else math.isnan(value)
    assert len(functions[-1].params) == 1 + differ


def test_callers_of_shared_functions_are_shared() -> None:
    def around(k: int, factor: float) -> tuple[Writer, list[int]]:
        f = Writer("around", [VEC], REAL, [REAL])
        v = f.row("param", 0)
        return f, [f.row("mul", f.row("get", f.call(k, v)), f.literal(factor, 0))]

    last = Writer("last", [VEC], REAL, [REAL])
    v = last.row("param", 0)
    x = last.row("add", last.row("get", last.call(2, v)), last.row("get", last.call(3, v)))
    value, functions = run(pick(0, 1, 0.5), pick(2, 3, 0.25), around(0, 2), around(1, 3), (last, [x]))
    assert value == 13 + 35.25 * 3
    assert [f.name for f in functions] == ["last", "around", "pick"]


def test_a_derivative_is_of_one_function() -> None:
    last = Writer("last", [VEC], VEC, [REAL])
    v = last.row("param", 0)
    pulled = [
        last.row("get", last.rows_of("pull", last.call(k, v, op="vjp"), last.literal(1, 0))) for k in (0, 1)
    ]
    last.entry["ret"] = VEC
    f, g = pick(0, 1, 0.5), pick(2, 2, 1.5)
    made = recording(TYPES, [f[0], g[0], last], [f[1], g[1], [pulled[1]]])
    root = Expansion(made.root).root
    assert call(root, [[2.0, 3.0, 5.0, 7.0, 11.0, 13.0]])[0] == [0, 0, 10, 0, 0, 0]


def test_an_index_into_something_made_inside_stays_a_literal() -> None:
    def inside(i: int, x: float) -> tuple[Writer, list[int]]:
        f = Writer("inside", [VEC], REAL, [REAL, SIZE, VEC])
        v = f.row("param", 0)
        element = f.row("index", v, f.literal(0, 1))
        made = f.rows_of("vec", 2, *[element] * 5, f.literal(x, 0))
        return f, [f.row("index", made, f.literal(i, 1))]

    value, functions = run(inside(0, 4), inside(5, 4), inside(5, 8), total(3))
    assert value == 2 + 4 + 8
    assert len(functions) == 3
