"""Compiled functions that are called from several places at once."""

from __future__ import annotations

import gc
import sys
from concurrent.futures import ThreadPoolExecutor
from weakref import ref

import pytest
from engines import same

from rose_core import Bool, Real, Vec, compile, cond, fn, fori, opaque, scan, struct, sum, vec, while_loop
from rose_core.host import instantiate
from rose_core.wasm import program
from rose_core.wasm.program import Program

V3 = Vec(3, Real)


def test_calls_from_several_threads() -> None:
    f = compile(
        fn(
            [Vec(200, Real)],
            Vec(200, Real),
            lambda v: vec(200, Real, lambda i: v[i] * sum(200, lambda j: v[j])),
        )
    )
    rows = [[k + 0.5 * j for j in range(200)] for k in range(60)]
    expected = [f(row) for row in rows]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(f, rows)) == expected


def test_without_an_engine_the_author_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wasmtime", None)
    with pytest.raises(ImportError, match="pip install wasmtime"):
        compile(fn([Real], Real, lambda x: x))


def test_a_function_that_is_not_used_any_more_is_freed() -> None:
    """The engine's functions last as long as it does: those of Python must not keep it."""
    plus = opaque([Real, V3], V3, lambda x, v: [x + y for y in v])
    made = instantiate(Program(fn([Real, V3], V3, plus).func))
    assert made([1.0, [2.0, 3.0, 4.0]]) == [[3.0, 4.0, 5.0]]
    there = ref(made)
    del made
    gc.collect()
    assert there() is None


def test_opaque_functions_are_sides_and_iterations() -> None:
    """Without a function of the program around them."""
    both = struct({"a": V3, "x": Real})
    scaled = opaque([V3, Real], Real, lambda v, x: v[0] * x + 1)
    moved = opaque([V3, Real], Real, lambda v, x: v[1] - x)
    f = fn([V3, Real], Real, lambda v, x: cond(x > 0, Real, lambda: scaled(v, x), lambda: moved(v, x)))
    assert same(f, [1.0, 2.0, 3.0], 0.5) == 1.5
    assert same(f, [1.0, 2.0, 3.0], -0.5) == 2.5

    longer = opaque([V3, Real], both, lambda v, x: {"a": [y * x for y in v], "x": x + 1})
    other = opaque([V3, Real], both, lambda v, x: {"a": v, "x": x - 1})
    f = fn([V3, Real], both, lambda v, x: cond(x > 0, both, lambda: longer(v, x), lambda: other(v, x)))
    assert same(f, [1.0, 2.0, 3.0], 0.5) == {"a": [0.5, 1.0, 1.5], "x": 1.5}
    assert same(f, [1.0, 2.0, 3.0], -0.5) == {"a": [1.0, 2.0, 3.0], "x": -1.5}

    iteration = opaque([5, both], both, lambda i, s: {"a": [y + i for y in s["a"]], "x": s["x"] * 2})
    f = fn([both], both, lambda s: fori(5, both, s, iteration))
    assert same(f, {"a": [1.0, 2.0, 3.0], "x": 0.125}) == {"a": [11.0, 12.0, 13.0], "x": 4.0}

    goes, twice = opaque([Real], Bool, lambda x: x < 10), opaque([Real], Real, lambda x: x * 2)
    assert same(fn([Real], Real, lambda x: while_loop(Real, x, goes, twice, limit=20)), 0.3) == 19.2


def test_an_opaque_function_gives_nothing() -> None:
    """Vectors of no numbers, in both directions."""
    none = Vec(0, Real)
    f = opaque([none], Vec(3, none), lambda v: [v] * 3)
    assert compile(fn([none], Vec(3, none), f))([]) == [[], [], []]


def test_an_opaque_function_far_up_in_memory(monkeypatch) -> None:
    """Addresses of arguments and results have 32 bits, of which none is a sign."""
    interface = program._interface
    monkeypatch.setattr(program, "_interface", lambda root, first: interface(root, first + (1 << 31)))
    plus = opaque([Real, V3], V3, lambda x, v: [x + y for y in v])
    f = compile(fn([V3], V3, lambda v: plus(v[0], vec(3, Real, lambda i: 2 * v[i]))))
    assert f([1.0, 2.0, 3.0]) == [3.0, 5.0, 7.0]


@pytest.mark.parametrize("has_tape", [False, True])
def test_an_opaque_function_calls_who_has_called_it(has_tape: bool) -> None:
    """What was being computed is in memory, and still there when that call ends, with or without an error."""

    def again(x: float) -> float:
        if x == 1:
            with pytest.raises(ZeroDivisionError):
                compiled([-5.0, 0, 0])
        if x < 0:
            raise ZeroDivisionError
        return compiled([x - 1] * 3)[0] if x > 0 else x

    more = opaque([Real], Real, again)

    def f(v):
        w = vec(3, Real, lambda i: v[i] * 10)
        if has_tape:  # memory beyond what is known beforehand
            trips = while_loop(Real, 0.0, lambda s: s < v[0], lambda s: s + 1, limit=100)
            _, kept = scan(3, Real, trips, lambda s, i: (s, s * w[i]))
            w = vec(3, Real, lambda i: w[i] + 0 * kept[i])
        x = more(v[0])
        return vec(3, Real, lambda i: w[i] + x)

    compiled = compile(fn([V3], V3, f))
    assert compiled([2.0, 3.0, 4.0]) == [30.0, 40.0, 50.0]
    assert compiled([2.0, 3.0, 4.0]) == [30.0, 40.0, 50.0]
