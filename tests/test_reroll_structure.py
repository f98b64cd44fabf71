"""Copies that have loops, choices and calls in them are a loop, too, and compute the same."""

import math
from collections.abc import Callable

import pytest
from random_copies import (
    ANY,
    FOUR,
    KINDS,
    MATRIX,
    PARAMS,
    POINT,
    REAL,
    SHORT,
    SIZE,
    TYPES,
    VECTOR,
    N,
    Program,
)
from recordings import Writer, recording

from rose_core.derivatives.expand import Expansion
from rose_core.host import instantiate
from rose_core.language.check import check
from rose_core.language.interp import call
from rose_core.language.ir import COND, FOR, LOOP, Func
from rose_core.recording import reroll
from rose_core.wasm.program import Program as Wasm


def built(functions: list[Writer], results: list[int], rows: int = 100) -> tuple[Func, Func]:
    """The last of these functions, and its gradient; ``rows``: that are worth a loop."""
    g = Writer("g", PARAMS, len(TYPES), [REAL])
    last = g.call(len(functions) - 1, g.row("param", 0), g.row("param", 1), op="vjp")
    pull = g.rows_of("pull", last, g.literal(1, 0))
    gradient = [g.row("get", pull), g.row("get", pull, 1)]
    types = [*TYPES, ["struct", ["m", "v"], [MATRIX, VECTOR]]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reroll, "FEWEST_ROWS", rows)
        patch.setattr(reroll, "FEWEST_ROWS_OF_STEPS", rows)
        given = [[x] for x in results]
        programs = [(functions, given), ([*functions, g], [*given, gradient])]
        f, df = (Expansion(recording(types, *program).root).root for program in programs)
    return f, df


def same(functions: list[Writer], results: list[int]) -> Func:
    """The function with loops, which computes what it does without, and so does its gradient."""
    f, df = built(functions, results)
    flat, flat_df = built(functions, results, 1 << 40)
    check(f)
    assert call(f, POINT) == call(flat, POINT) == instantiate(Wasm(f))(POINT)
    found, wanted = ([*map(_flat, instantiate(Wasm(x))(POINT))] for x in (df, flat_df))
    for x, y in zip(found, wanted, strict=True):
        assert x == pytest.approx(y, rel=1e-11, abs=1e-12 * max(map(abs, y)))
    return f


def _flat(xs) -> list[float]:
    return [y for x in xs for y in (x if hasattr(x, "__len__") else [x])]


@pytest.mark.parametrize("seed", range(40))
def test_random_copies(seed: int) -> None:
    program = Program(seed)
    same(program.functions, program.results)


def read(f: Writer, k: int) -> int:
    return f.row("index", 0, f.literal(k, SIZE))


def inner_sum(f: Writer, term: Callable[[int], int]) -> int:
    total = f.row("accum", f.literal(0, REAL))
    f.row("add_to", total, term(f.row("for", FOUR)))
    f.rows_of("end")
    return f.row("resolve", total)


def neurons(f: Writer, add: Callable[[Writer, int], int]) -> int:
    """Each copy sums over a row of the matrix."""
    total = f.literal(0, REAL)
    for k in range(N):
        row = f.row("index", 1, f.literal(k, SIZE))
        y = inner_sum(f, lambda i, row=row, k=k: f.row("mul", f.row("index", row, i), read(f, k)))
        total = f.row("add", total, f.row("mul", y, f.literal(math.cos(k), REAL)))
    return total


def recurrent(f: Writer, add: Callable[[Writer, int], int]) -> int:
    """A vector is handed on from copy to copy."""
    h = f.rows_of("vec", SHORT, *(f.literal(0.1 * k, REAL) for k in range(4)))
    for k in range(N):
        i = f.row("for", FOUR)
        x = f.row("mul", f.row("index", h, i), f.literal(0.5 + 0.01 * k, REAL))
        h = f.row("get", f.rows_of("end", f.row("sin", f.row("add", x, read(f, k)))), 0)
    return f.row("index", h, f.literal(1, FOUR))


def choices(f: Writer, add: Callable[[Writer, int], int]) -> int:
    """A choice in each copy, whose sides differ in literals."""
    total = f.literal(0, REAL)
    for k in range(N):
        sides = []
        for op in ("sin", "exp"):
            side = Writer(op, [REAL], REAL, [REAL])
            x = side.row(op, side.row("mul", side.row("param", 0), side.literal(0.1 * k, REAL)))
            sides.append(f.refer(add(side, x)))
        x = read(f, k)
        p = f.row("lt", x, f.literal(0.3, REAL))
        total = f.row("add", total, f.row("get", f.rows_of("cond", *sides, 1, p, x, x)))
    return total


def chain(f: Writer, add: Callable[[Writer, int], int]) -> int:
    """Each call takes what the one before gives."""
    step = Writer("step", [REAL, REAL], REAL, [REAL])
    x = step.row("sin", step.row("mul", step.row("param", 0), step.row("param", 1)))
    number = add(step, x)
    x = f.literal(0.5, REAL)
    for k in range(N):
        x = f.row("get", f.call(number, x, f.row("add", read(f, k), f.literal(1.5, REAL))))
    return x


def called_and_used(f: Writer, add: Callable[[Writer, int], int]) -> int:
    """What a call gives is used in the same copy."""
    g = Writer("g", [REAL, REAL], REAL, [REAL])
    number = add(g, g.row("div", g.row("sin", g.row("param", 0)), g.row("exp", g.row("param", 1))))
    total = f.literal(0, REAL)
    for k in range(N):
        y = f.row("get", f.call(number, read(f, k), read(f, (7 * k) % N)))
        y = f.row("sub", y, f.literal(math.cos(k), REAL))
        total = f.row("add", total, f.row("mul", y, y))
    return total


def turning(f: Writer, add: Callable[[Writer, int], int], apart: int = 1) -> int:
    """A loop with a state in each copy, which reads an element of the state that a literal says."""
    total = f.literal(0, REAL)
    for k in range(N):
        body = Writer("body", [ANY, SHORT, REAL], SHORT, KINDS)
        _, h, x = (body.row("param", j) for j in range(3))
        first = body.row("index", h, body.literal(k % apart, FOUR))
        y = body.row("mul", body.row("sin", first), body.row("add", x, body.literal(0.1 * k, REAL)))
        number = f.refer(add(body, body.rows_of("set", h, body.literal(1, FOUR), y)))
        row = f.row("index", 1, f.literal(k, SIZE))
        turned = f.rows_of("loop", number, -1, 1, ANY, 0, 0, 0, f.literal(3, ANY), row, read(f, k))
        last = f.row("get", turned)
        total = f.row("add", total, f.row("index", last, f.literal(1, FOUR)))
    return total


def made(body: Callable[[Writer, Callable[[Writer, int], int]], int]) -> Func:
    functions: list[Writer] = []
    results: list[int] = []

    def add(f: Writer, result: int) -> int:
        functions.append(f)
        results.append(result)
        return len(functions) - 1

    f = Writer("f", PARAMS, REAL, KINDS)
    for k in range(2):
        f.row("param", k)
    add(f, body(f, add))
    return same(functions, results)


def loops(f: Func) -> int:
    return sum(ins[0] in (FOR, LOOP, COND) for g in [f, *f.callees] for ins in g.code)


@pytest.mark.parametrize("body", [neurons, recurrent, choices, chain, called_and_used, turning])
def test_copies_with_structure_are_a_loop(body: Callable) -> None:
    f = made(body)
    assert loops(f) <= 3
    assert len(f.code) < 40


def test_which_element_of_its_state_a_loop_reads_is_the_same_in_all_copies() -> None:
    assert loops(made(lambda f, add: turning(f, add, apart=4))) >= N


def tables(f: Writer, add: Callable[[Writer, int], int]) -> int:
    """Rows of numbers."""
    rows = [f.rows_of("vec", SHORT, *(f.literal(j * k, REAL) for j in range(4))) for k in range(5 * N)]
    total = f.literal(0, REAL)
    for k in range(5):
        row = f.row("index", f.rows_of("vec", MATRIX, *rows[k * N : (k + 1) * N]), f.literal(3, SIZE))
        total = f.row("add", total, f.row("index", row, f.literal(1, FOUR)))
    return total


def test_tables_stay_tables() -> None:
    assert loops(made(tables)) == 0
