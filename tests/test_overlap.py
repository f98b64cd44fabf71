"""Functions that compute much of the same become one; the others stay as they are."""

from __future__ import annotations

import math
import random

import pytest
from recordings import Writer, recording
from test_known import TYPES as PIECE_TYPES
from test_known import function, piece, softened

from rose_core.derivatives.expand import Expansion
from rose_core.host import instantiate
from rose_core.language.interp import call
from rose_core.language.ir import CALL, FOR, LOOP, Func
from rose_core.language.queries import callees_first
from rose_core.recording.overlap import FEWEST
from rose_core.recording.roll import FEWEST as FEWEST_CALLS
from rose_core.wasm.program import Program

REAL, SIZE, VEC, DUAL = 0, 1, 2, 4
TYPES = ["real", 6, ["vec", 6, 0], "tan", ["struct", ["du", "re"], [3, 0]]]
V = [0.5, -1.5, 2.0, 0.25, 3.0, -0.75]

Made = tuple[Writer, list[int]]


def power(f: Writer, x: int, n: int) -> int:
    y = x
    for _ in range(n):
        y = f.row("mul", y, x)
    return y


def term(k: int, same: int = 100, at: int = 1) -> Made:
    """``v ↦ sin(v[at]) ** same + exp(v[k]) ** (k + 1)``."""
    f = Writer(f"term {k}", [VEC], REAL, [REAL, SIZE])
    v = f.row("param", 0)
    x, y = (f.row(op, f.row("index", v, f.literal(i, 1))) for op, i in (("sin", at), ("exp", k)))
    return f, [f.row("add", power(f, x, same - 1), power(f, y, k))]


def expected(terms: int) -> float:
    """The sum of the first so many."""
    return sum(math.sin(V[1]) ** 100 + math.exp(V[k]) ** (k + 1) for k in range(terms))


def total(*callees: int) -> Made:
    """The sum of functions, at one vector."""
    f = Writer("total", [VEC], REAL, [REAL])
    v, x = f.row("param", 0), f.literal(0, 0)
    for k in callees:
        x = f.row("add", x, f.row("get", f.call(k, v)))
    return f, [x]


def gradient(callee: int) -> Made:
    f = Writer("gradient", [VEC], VEC, [REAL])
    pull = f.rows_of("pull", f.call(callee, f.row("param", 0), op="vjp"), f.literal(1, 0))
    return f, [f.row("get", pull, 0)]


def made(*functions: Made, whole: bool = True) -> Func:
    return recording(TYPES, [f for f, _ in functions], [r for _, r in functions], whole=whole).root


def calls(f: Func) -> int:
    return sum(ins[0] == CALL for g in callees_first(f) for ins in g.code)


def length(f: Func) -> int:
    return sum(len(g.code) for g in callees_first(f))


TERMS = [term(k) for k in range(6)]


def test_terms_that_overlap_are_one() -> None:
    whole = made(*TERMS, total(*range(6)))
    assert calls(whole) == 0
    assert length(whole) < 100 + 6 * 10
    assert call(whole, [V])[0] == pytest.approx(expected(6), rel=1e-14)
    assert call(whole, [V]) == call(made(*TERMS, total(*range(6)), whole=False), [V])


def test_their_derivative_is_that_of_one() -> None:
    functions = [*TERMS, total(*range(6)), gradient(6)]
    whole, apart = (made(*functions, whole=whole) for whole in (True, False))
    assert length(whole) < length(apart) / 3
    whole = Expansion(whole).root
    (found,) = call(whole, [V])
    assert found == pytest.approx(call(Expansion(apart).root, [V])[0], rel=1e-13)
    assert list(instantiate(Program(whole))([V])[0]) == found


def test_what_is_computed_once_is_that_however_deep() -> None:
    around = [total(0, 1), total(2, 3), total(4, 5), total(6, 7), total(8, 9)]
    whole = made(*TERMS, *around, gradient(10))
    assert calls(whole) == 0


def test_one_is_told_apart_from_what_was_written_like_it() -> None:
    terms = [*TERMS, *(term(k, at=2) for k in range(6))]
    sums = [
        total(*range(6)),
        total(*range(6, 12)),
        total(12, 13),
    ]  # the first two differ in their callees only
    root = Writer("both", [VEC], REAL, [REAL, SIZE])
    v = root.row("param", 0)
    gradients = [root.row("get", root.call(k, v)) for k in (15, 16)]
    parts = [root.row("index", g, root.literal(k, 1)) for g in gradients for k in range(6)]
    x = root.literal(0, 0)
    for part in parts:
        x = root.row("add", x, part)
    functions = [*terms, *sums, gradient(12), gradient(14), (root, [x])]
    whole, apart = (made(*functions, whole=whole) for whole in (True, False))
    assert calls(whole) < calls(apart)
    assert call(Expansion(whole).root, [V]) == pytest.approx(call(Expansion(apart).root, [V]), rel=1e-13)


def test_without_much_overlap_they_stay_functions() -> None:
    assert calls(made(*(term(k, at=k) for k in range(6)), total(*range(6)))) == 6


def test_short_programs_stay_as_they_are() -> None:
    functions = [term(k, FEWEST // 16) for k in range(6)]
    assert calls(made(*functions, total(*range(6)))) == 6


def test_literals_are_told_apart_to_the_bit() -> None:
    def angle(zero: float) -> Made:
        f = Writer("angle", [VEC], REAL, [REAL])
        f.row("param", 0)
        x = f.row("atan2", f.literal(zero, 0), f.literal(-1, 0))
        for _ in range(FEWEST):
            x = f.row("mul", x, f.literal(1, 0))
        return f, [x]

    functions = [angle(0.0), angle(-0.0), angle(0.0), angle(-0.0), total(0, 1, 2, 3)]
    assert call(made(*functions), [V]) == [0.0]


@pytest.mark.parametrize("own", [{"opaque": True}, {"remat": True}, {"jvp": 7}, {"fault": "none"}], ids=repr)
def test_what_an_author_wants_to_be_a_function_stays_one(own: dict[str, object]) -> None:
    double, rule = Writer("double", [REAL], REAL, [REAL]), Writer("rule", [DUAL], DUAL, [REAL])
    double.entry |= own
    x = double.row("param", 0)
    du, re = rule.row("param", 0), rule.row("param", 1)
    last, (at,) = total(*range(6))
    made_of = [
        *TERMS,
        (double, [double.row("add", x, x)]),
        (rule, [du, rule.row("add", re, re)]),
        (last, [last.row("get", last.call(6, at))]),
    ]
    root = made(*made_of)
    assert {g.name for g in callees_first(root)} - {"rule"} == {"double", "total"}
    assert call(root, [V])[0] == pytest.approx(2 * expected(6), rel=1e-14)


def test_calls_from_all_over_are_no_loop() -> None:
    """Their cotangents are known to be zero or not one by one."""
    terms = []
    for k in range(FEWEST_CALLS):
        f = Writer(f"term {k}", [VEC], REAL, [REAL, SIZE])
        v = f.row("param", 0)
        x, y = (f.row("index", v, f.literal(at, 1)) for at in (1, k % 6))
        y = f.row("get", f.call(0, power(f, y, k)))
        terms.append((f, [f.row("add", power(f, x, 99), y)]))
    double = Writer("double", [REAL], REAL, [REAL])
    double.entry["opaque"] = True
    x = double.row("param", 0)
    functions = [(double, [double.row("add", x, x)]), *terms, total(*range(1, FEWEST_CALLS + 1))]
    root = made(*functions)
    assert calls(root) == FEWEST_CALLS
    assert not any(ins[0] == FOR for ins in root.code)
    assert call(root, [V]) == call(made(*functions, whole=False), [V])


def test_functions_with_loops_stay() -> None:
    f = Writer("in a loop", [VEC], REAL, [REAL, SIZE])
    v, x = f.row("param", 0), f.row("accum", f.literal(0, 0))
    i = f.row("for", 1)
    f.row("add_to", x, f.row("index", v, i))
    f.rows_of("end")
    last, results = total(*range(7))
    functions = [*(term(k) for k in range(6)), (f, [f.row("resolve", x)]), (last, results)]
    root = made(*functions)
    assert [g.name for g in callees_first(root)] == ["in a loop", "total"]
    assert call(root, [V])[0] == pytest.approx(expected(6) + sum(V), rel=1e-14)


def test_what_is_unrolled_stays_a_loop() -> None:
    f = Writer("unrolled", [VEC], REAL, [REAL, SIZE])
    v = f.row("param", 0)
    y = f.literal(0, 0)
    for k in range(FEWEST):
        x = f.row("index", v, f.literal(k % 6, 1))
        y = f.row("add", y, f.row("mul", x, f.literal(k, 0)))
    functions = [*(term(k) for k in range(6)), (f, [y]), total(*range(6), 6)]
    root = made(*functions)
    kept = {g.name: g for g in callees_first(root)}
    assert kept.keys() == {"unrolled", "total"}
    assert any(ins[0] == FOR for ins in kept["unrolled"].code)


def test_where_something_is_looked_for_is_in_line_and_a_loop() -> None:
    f = Writer("the least", [VEC], REAL, [REAL, SIZE])
    v = f.row("param", 0)
    elements = [f.row("index", v, f.literal(k, 1)) for k in range(6)]
    y = elements[0]
    for k in range(FEWEST // 2):
        x = elements[k * k % 6]
        y = f.rows_of("select", f.row("lt", x, y), x, y)
    functions = [*(term(k) for k in range(6)), (f, [y]), total(*range(6), 6)]
    root = made(*functions)
    assert [g.name for g in callees_first(root) if g.name != "step"] == ["total"]
    assert sum(ins[0] == LOOP for ins in root.code) == 1
    assert call(root, [V]) == call(made(*functions, whole=False), [V])
    slopes = call(Expansion(made(*functions, gradient(7))).root, [V])[0]
    apart = call(Expansion(made(*functions, gradient(7), whole=False)).root, [V])[0]
    assert slopes == pytest.approx(apart, rel=1e-14, abs=0)


def test_a_tree_of_calls_is_not_written_out() -> None:
    """Of 2 ** 40 calls on other arguments, which would be looked at for ever."""

    def twice(k: int) -> Made:
        f = Writer(f"level {k}", [VEC, REAL], REAL, [REAL])
        v, x = f.row("param", 0), f.row("param", 1)
        results = [f.row("get", f.call(k - 1, v, f.row(op, x))) for op in ("sin", "cos")] if k else [x, x]
        return f, [f.row("mul", *results)]

    f = Writer("root", [VEC], REAL, [REAL, SIZE])
    v = f.row("param", 0)
    y = f.row("get", f.call(39, v, power(f, f.row("index", v, f.literal(0, 1)), FEWEST)))
    assert calls(made(*map(twice, range(40)), (f, [y]))) == 1 + 39 * 2


def overlapping(rng: random.Random) -> list[Made]:
    """The derivative of a sum of functions that begin alike, and call each other."""
    pieces = [[*piece(rng), *piece(rng), *piece(rng)] for _ in range(3)]
    functions = softened()
    for k in range(24):
        operations = [*rng.choice(pieces), *piece(rng)[: rng.randrange(6)]]
        functions.append(function(operations, rng, k if k > 20 else 0))
    f = Writer("total", [REAL], REAL, [REAL])
    x = f.row("param", 0)
    at = [f.row("sin", x), f.row("get", f.call(0, x))]
    y = f.literal(0.5, 0)
    for k in range(2, len(functions)):
        y = f.row("add", y, f.row("get", f.call(k, rng.choice(at))))
    functions.append((f, [y]))
    root = Writer("root", [REAL], REAL, [REAL])
    pull = root.rows_of(
        "pull", root.call(len(functions) - 1, root.row("param", 0), op="vjp"), root.literal(1, 0)
    )
    return [*functions, (root, [root.row("get", pull, 0)])]


@pytest.mark.parametrize("seed", range(20))
def test_random_functions(seed: int) -> None:
    functions = overlapping(random.Random(seed))
    writers, results = [f for f, _ in functions], [r for _, r in functions]

    def derivative(whole: bool) -> Func:
        return Expansion(recording(PIECE_TYPES, writers, results, whole=whole).root).root

    def value(whole: bool) -> Func:
        return recording(PIECE_TYPES, writers[:-1], results[:-1], whole=whole).root

    assert {g.name for g in callees_first(value(True))} == {"rule", "softened", "total"}
    for x in (0.3, -1.25):
        assert repr(call(value(True), [x])) == repr(call(value(False), [x]))
        whole = derivative(True)
        found = call(whole, [x])
        assert found == pytest.approx(call(derivative(False), [x]), rel=1e-9, abs=1e-12, nan_ok=True)
        assert repr(instantiate(Program(whole))([x])) == repr(found)
