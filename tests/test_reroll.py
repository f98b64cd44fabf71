"""Loops that were unrolled while recording are found again, and only where they are loops."""

import math
import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from engines import same
from recordings import Writer, recording

from rose_core import Real, Vec, fn, iadd, imod, sin
from rose_core import sum as total_of
from rose_core.derivatives.expand import Expansion
from rose_core.host import instantiate
from rose_core.language import types
from rose_core.language.interp import call
from rose_core.language.ir import FOR, INDEX, LOOP, Func
from rose_core.language.ops import code
from rose_core.recording import copies, reroll
from rose_core.recording.body import MOST_NUMBERS
from rose_core.recording.rebuild import rebuilt
from rose_core.recording.rows import Rows
from rose_core.recording.share import Entry
from rose_core.recording.totals import Columns, totals
from rose_core.recording.typed import Typed
from rose_core.wasm.program import Program

REAL, SIZE, VEC = range(3)
ADD, SELECT = map(code, ("add", "select"))
N = 400
TYPES = ["real", N, ["vec", N, 0]]
V = [math.sin(3 * k) for k in range(N)]


def build(body: Callable[[Writer, int], int]) -> tuple[Func, Func]:
    """The function of a body, which gets the vector, and its gradient."""
    f = Writer("f", [VEC], REAL, [REAL, SIZE, VEC])
    result = body(f, f.row("param", 0))
    g = Writer("g", [VEC], VEC, [REAL])
    pull = g.rows_of("pull", g.call(0, g.row("param", 0), op="vjp"), g.literal(1, 0))
    programs = [([f], [[result]]), ([f, g], [[result], [g.row("get", pull)]])]
    first, second = (Expansion(recording(TYPES, fs, rs).root).root for fs, rs in programs)
    return first, second


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reroll, "FEWEST_ROWS", 200)
    monkeypatch.setattr(reroll, "FEWEST_ROWS_OF_STEPS", 200)


def loops(f: Func) -> int:
    return sum(ins[0] in (FOR, LOOP) for ins in f.code)


def straight(body: Callable[[Writer, int], int], monkeypatch: pytest.MonkeyPatch) -> tuple[Func, Func]:
    with monkeypatch.context() as patch:
        patch.setattr(reroll, "FEWEST_ROWS", 1 << 40)
        return build(body)


def read(f: Writer, v: int, k: int) -> int:
    return f.row("index", v, f.literal(k, 1))


def rosenbrock(f: Writer, v: int) -> int:
    total = f.literal(0, 0)
    for k in range(N - 1):
        a = f.row("sub", read(f, v, k + 1), f.row("mul", read(f, v, k), read(f, v, k)))
        b = f.row("sub", f.literal(1, 0), read(f, v, k))
        term = f.row("add", f.row("mul", f.literal(100, 0), f.row("mul", a, a)), f.row("mul", b, b))
        total = f.row("add", total, term)
    return total


def from_the_first(f: Writer, v: int) -> int:
    """A sum that starts with its first term; all elements are read ahead."""
    elements = [read(f, v, k) for k in range(N)]
    terms = []
    for k in range(N):
        x = elements[(7 * k) % N]
        terms.append(f.row("sin", f.row("mul", x, f.row("mul", x, f.literal(0.5 + k, 0)))))
    total = terms[0]
    for term in terms[1:]:
        total = f.row("sub", total, f.row("mul", term, f.row("mul", term, f.row("mul", term, term))))
    return total


def chosen(f: Writer, v: int) -> int:
    total = f.literal(-0.0, 0)
    for k in range(N):
        x = read(f, v, k)
        p = f.row("lt", x, f.literal(0.25 * (k % 5), 0))
        y = f.rows_of("select", p, f.row("mul", x, f.row("mul", x, x)), f.literal(k, 0))
        total = f.row("add", f.row("neg", f.row("sqrt", f.row("add", y, f.literal(9, 0)))), total)
    return total


def terms_of(f: Writer, v: int, n: int = N) -> list[int]:
    terms = []
    for k in range(n):
        difference = f.row("sub", read(f, v, k), read(f, v, (7 * k + 3) % N))
        terms.append(f.row("mul", difference, f.row("sin", difference)))
    return terms


def added(f: Writer, terms: list[int], total: int | None = None) -> int:
    for term in terms:
        total = term if total is None else f.row("add", total, term)
    assert total is not None
    return total


def collected(f: Writer, v: int) -> int:
    """Terms are collected first, and then added up."""
    return added(f, terms_of(f, v))


def collected_from(f: Writer, v: int) -> int:
    """The same from a number that is there, each term first."""
    terms = terms_of(f, v)
    total = f.literal(0.5, 0)
    for term in terms:
        total = f.row("add", term, total)
    return total


def one_after_another(f: Writer, v: int) -> int:
    """The terms of two loops are added up in one sum, and the first ones once more."""
    first = terms_of(f, v, 200)
    second = [
        f.row("sqrt", f.row("add", f.row("mul", x, x), f.literal(1 + k, 0))) for k, x in enumerate(first)
    ]
    return f.row("mul", added(f, first + second), added(f, first, f.literal(2, 0)))


def started_late(f: Writer, v: int) -> int:
    """The sum starts from a number that is not there when the loop begins."""
    terms = terms_of(f, v)
    return added(f, terms, f.row("cos", f.row("mul", terms[3], read(f, v, 5))))


def used_on_the_way(f: Writer, v: int) -> int:
    """A sum of some of the terms is used, and so is a term."""
    terms = terms_of(f, v)
    some = added(f, terms[:300])
    return f.row("mul", added(f, terms[300:], some), f.row("add", some, terms[7]))


def shared_with_the_next(f: Writer, v: int) -> int:
    """Each copy has from the one before what that has read, which can be read again."""
    total, x = f.literal(0.5, 0), read(f, v, 0)
    for k in range(1, N):
        y = read(f, v, k)
        difference = f.row("sub", y, f.row("mul", x, x))
        total = f.row("add", total, f.row("mul", difference, f.row("sin", difference)))
        total = f.row("sub", total, f.row("mul", x, y))
        x = y
    return total


def shared_and_used_after(f: Writer, v: int) -> int:
    """The same from two copies before; and the last of these elements are used after all."""
    total, x, y = f.literal(0.5, 0), read(f, v, 1), read(f, v, 2)
    for k in range(3, N):
        z = read(f, v, k)
        total = f.row("add", total, f.row("mul", f.row("sin", f.row("sub", z, x)), f.row("mul", y, z)))
        x, y = y, z
    return f.row("add", f.row("mul", total, x), f.row("cos", y))


def two_sums(f: Writer, v: int) -> int:
    total, product = f.literal(1, 0), f.literal(2, 0)
    for k in range(N):
        x = read(f, v, k)
        total = f.row("add", total, f.row("mul", x, f.row("exp", x)))
        product = f.row("sub", product, f.row("mul", x, f.row("cos", x)))
    return f.row("mul", total, product)


def twice_in_an_iteration(f: Writer, v: int) -> int:
    """Each copy adds to one sum twice, between which it takes from the other one."""
    total, rest = f.literal(1, 0), read(f, v, 3)
    for k in range(N):
        x = read(f, v, k)
        total = f.row("add", f.row("sin", f.row("mul", x, f.literal(k, 0))), total)
        rest = f.row("sub", f.row("sub", rest, x), f.row("mul", x, x))
        total = f.row("sub", total, f.row("mul", x, f.literal(0.5, 0)))
    return f.row("mul", total, rest)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (rosenbrock, 1),
        (twice_in_an_iteration, 1),
        (from_the_first, 2),
        (chosen, 1),
        (two_sums, 1),
        (collected, 1),
        (collected_from, 1),
        (one_after_another, 2),
        (started_late, 2),
        (used_on_the_way, 2),
        (shared_with_the_next, 1),
        (shared_and_used_after, 1),
    ],
)
def test_loops_give_the_same_bits(body, expected, monkeypatch) -> None:
    f, g = build(body)
    flat, flat_gradient = straight(body, monkeypatch)
    assert loops(f) == expected
    assert loops(flat) == 0
    assert all(ins[0] != LOOP for ins in f.code)
    assert len(f.code) < len(flat.code) / 3
    assert call(f, [V]) == call(flat, [V]) == instantiate(Program(f))([V])
    found, wanted = (list(instantiate(Program(x))([V])[0]) for x in (g, flat_gradient))
    assert found == pytest.approx(wanted, rel=1e-13, abs=1e-13 * max(map(abs, wanted)))


def recurrence(f: Writer, v: int) -> int:
    """Every step needs the one before."""
    x = f.literal(0.5, 0)
    for k in range(N):
        x = f.row("add", f.row("sin", f.row("mul", x, f.literal(1.5, 0))), read(f, v, k))
    return x


def partial_sums(f: Writer, v: int) -> int:
    """The sum so far is used on the way."""
    total = other = f.literal(0, 0)
    for k in range(N):
        total = f.row("add", total, f.row("mul", read(f, v, k), read(f, v, k)))
        other = f.row("add", other, f.row("sqrt", total))
    return other


def wave(f: Writer, v: int) -> int:
    """Every step needs the two before; both of the last are used, and what led to them."""
    x, before = read(f, v, 1), read(f, v, 2)
    force = x
    for k in range(N):
        force = f.row("mul", f.row("sin", x), f.literal(0.01 + 1e-4 * k, 0))
        x, before = f.row("sub", f.row("sub", f.row("add", x, x), before), force), x
    return f.row("mul", f.row("sub", x, before), force)


def path(f: Writer, v: int) -> int:
    """All steps are compared with elements, and the differences added up; one step is used besides."""
    x, y = f.literal(1, 0), f.literal(0, 0)
    steps = []
    for k in range(N):
        x = f.row("sub", x, f.row("mul", f.literal(0.1, 0), y))
        y = f.row("add", y, f.row("mul", f.literal(0.1, 0), x))
        steps.append(f.row("mul", f.row("sub", x, read(f, v, k)), y))
    return f.row("add", added(f, steps), steps[17])


def fibonacci(f: Writer, v: int) -> int:
    """Both operands are the same row, one step and two steps before."""
    x, y = read(f, v, 1), read(f, v, 2)
    for k in range(N):
        x, y = y, f.row("mul", f.row("sub", f.row("add", x, y), read(f, v, k)), f.literal(0.75, 0))
    return f.row("sub", x, y)


def pure_fibonacci(f: Writer, v: int) -> int:
    x, y = read(f, v, 1), f.row("mul", read(f, v, 2), read(f, v, 3))
    for _ in range(N):
        x, y = y, f.row("add", x, y)
    for _ in range(N):
        x, y = y, f.row("sub", y, x)
    return f.row("mul", x, y)


def largest(f: Writer, v: int) -> int:
    """A choice by a comparison that is part of the state."""
    x = read(f, v, 0)
    p = f.row("lt", x, f.literal(0, 0))
    for k in range(1, N):
        y = f.rows_of("select", p, x, f.row("mul", read(f, v, k), f.literal(1.25, 0)))
        p = f.row("lt", y, x)
        x = f.row("add", f.row("mul", x, f.literal(0.5, 0)), y)
    return x


def cells(f: Writer, v: int) -> int:
    """A row of cells, all computed alike, of which the first and the last have no other neighbour."""
    row = before = [read(f, v, k) for k in range(6)]
    for _ in range(N // 4):
        after = row[:1]
        for left, here, right, old in zip(row, row[1:], row[2:], before[1:], strict=False):
            bent = f.row("sub", f.row("add", left, right), f.row("add", here, here))
            after.append(
                f.row(
                    "sub", f.row("add", f.row("mul", bent, f.literal(0.2, 0)), f.row("add", here, here)), old
                )
            )
        row, before = [*after, row[-1]], row
    return f.row("mul", row[2], row[3])


def within_a_sum(f: Writer, v: int) -> int:
    """Of what adds to a sum in each copy, the next copies need what it is in between, too."""
    total = other = read(f, v, 0)
    for k in range(1, N):
        total = f.row("add", total, f.row("mul", read(f, v, k), f.literal(0.25 + k, 0)))
        other = f.row("sub", f.row("cos", total), other)
        total = f.row("add", total, f.row("sin", read(f, v, k)))
    return f.row("mul", total, other)


def sums_so_far(f: Writer, v: int) -> int:
    """All that a sum has been on the way is used, and one of what it was in the middle of a copy."""
    total, used = read(f, v, 0), []
    for k in range(1, N):
        half = f.row("add", total, f.row("mul", read(f, v, k), f.literal(0.25 * k, 0)))
        total = f.row("add", half, f.row("mul", read(f, v, k), f.literal(1 / k, 0)))
        used.append(total)
    return added(f, [f.row("mul", x, f.row("sin", x)) for x in [half, *used]])


@pytest.mark.parametrize(
    "body", [recurrence, partial_sums, wave, path, largest, cells, fibonacci, within_a_sum]
)
def test_steps_are_a_loop_with_a_state(body, monkeypatch) -> None:
    f, g = build(body)
    flat, flat_gradient = straight(body, monkeypatch)
    assert [ins[0] for ins in f.code if ins[0] in (FOR, LOOP)] == [LOOP]
    assert len(f.code) < 60
    assert call(f, [V]) == call(flat, [V]) == instantiate(Program(f))([V])
    found, wanted = (list(instantiate(Program(x))([V])[0]) for x in (g, flat_gradient))
    assert found == pytest.approx(wanted, rel=1e-12, abs=1e-13 * max(map(abs, wanted[1:])), nan_ok=True)


def power(f: Writer, v: int) -> int:
    x = result = read(f, v, 1)
    for _ in range(N):
        result = f.row("mul", result, x)
    return result


def prefix(f: Writer, v: int) -> int:
    """Sums so far, of which all are used."""
    total = read(f, v, 0)
    sums = []
    for k in range(1, N):
        total = f.row("add", total, read(f, v, k))
        sums.append(total)
    return f.row("max", added(f, sums[::50]), sums[-1])


@pytest.mark.parametrize("body", [power, prefix, pure_fibonacci])
def test_short_steps_are_a_loop_where_they_are_many(body, monkeypatch) -> None:
    flat, flat_gradient = straight(body, monkeypatch)
    assert loops(build(body)[0]) == 0
    monkeypatch.setattr(reroll, "FEWEST_ROWS_OF_ONE", 200)
    f, g = build(body)
    assert loops(f) > 0
    assert len(f.code) < 60
    assert call(f, [V]) == call(flat, [V]) == instantiate(Program(f))([V])
    found, wanted = (list(instantiate(Program(x))([V])[0]) for x in (g, flat_gradient))
    assert found == pytest.approx(wanted, rel=1e-12, abs=1e-13 * max(map(abs, wanted[1:])), nan_ok=True)


def by_a_choice(f: Writer, x: int, y: int) -> int:
    return f.rows_of("select", f.row("lt", x, y), x, y)


def by_another_choice(f: Writer, x: int, y: int) -> int:
    """The other side first, and by a comparison with something else."""
    p = f.row("gt", f.row("sin", y), f.row("sin", x))
    return f.rows_of("select", f.row("not", p), y, x)


def by_max(f: Writer, x: int, y: int) -> int:
    return f.row("max", y, x)


def shrinking(f: Writer, x: int, y: int) -> int:
    """A choice of which both sides depend on those before."""
    return f.rows_of("select", f.row("lt", x, y), x, f.row("mul", x, f.literal(0.5, 0)))


def added_at_last(f: Writer, x: int, y: int) -> int:
    return f.row("add", f.row("abs", x), y)


@pytest.mark.parametrize(
    ("choose", "found"),
    [(by_a_choice, 4), (by_another_choice, 4), (by_max, 4), (shrinking, 0), (added_at_last, 0)],
)
def test_what_is_looked_for_among_few_is_in_a_loop(choose, found, monkeypatch) -> None:
    """Of such loops, reverse mode keeps nothing, and goes back into one iteration only."""

    def body(f: Writer, v: int) -> int:
        terms = []
        for part in range(4):
            elements = [read(f, v, 40 * part + (7 * k) % 40) for k in range(40)]
            x = elements[0]
            for y in elements[1:]:
                x = choose(f, x, y)
            terms.append(f.row("mul", x, x))
        return added(f, terms)

    monkeypatch.setattr(reroll, "FEWEST_ROWS_OF_STEPS", 1 << 40)
    monkeypatch.setattr(reroll, "FEWEST_ROWS_OF_ONE", 1 << 40)
    f, gradient = build(body)
    assert loops(f) == found
    flat, flat_gradient = straight(body, monkeypatch)
    assert call(f, [V]) == call(flat, [V]) == instantiate(Program(f))([V])
    assert call(gradient, [V]) == call(flat_gradient, [V])
    assert list(instantiate(Program(gradient))([V])[0]) == call(flat_gradient, [V])[0]
    if found:
        assert len(Program(gradient).bytes) < len(Program(flat_gradient).bytes) / 3


@pytest.mark.parametrize(
    "used", [range(1, N), range(N - 3), range(1, N, 3), [k for k in range(N) if k % 7 > 3], [3, 5]]
)
def test_copies_of_which_nothing_is_used_are_no_iterations(used, monkeypatch) -> None:
    """Their derivative is none, and would make that of the others no number."""

    def body(f: Writer, v: int) -> int:
        roots = []
        for k in range(N):
            x = read(f, v, k)
            square = f.row("mul", x, x)
            roots.append(f.row("sqrt", f.row("mul", square, f.literal(float(k in used), 0))))
        return added(f, [f.row("mul", roots[k], roots[k]) for k in used])

    f, g = build(body)
    flat, flat_gradient = straight(body, monkeypatch)
    assert (loops(f) > 0) == (len(used) > 2)
    assert call(f, [V]) == call(flat, [V]) == instantiate(Program(f))([V])
    found, wanted = (list(instantiate(Program(x))([V])[0]) for x in (g, flat_gradient))
    rest = [k for k in range(N) if k not in used]
    assert [found[k] for k in rest] == [0.0] * len(rest)
    kept = [k for k in used if V[k]]
    assert [found[k] for k in kept] == pytest.approx([wanted[k] for k in kept], rel=1e-13)


@pytest.mark.parametrize("sizes", [(100, 150), (150, 100), (120, 120)])
@pytest.mark.parametrize("is_matrix", [False, True])
def test_a_run_ends_where_another_vector_is_read(sizes, is_matrix) -> None:
    a, b = sizes
    types = ["real", a, ["vec", a, 0], b, ["vec", b, 0], 2, ["vec", 2, 2], ["vec", 2, 4]]
    params = [6, 7] if is_matrix else [2, 4]
    f = Writer("f", params, 0, [0, 1, 3, 5])
    total = f.literal(0, 0)
    vectors = [f.row("param", k) for k in range(2)]
    for v, size, index in zip(vectors, sizes, (1, 2), strict=True):
        for k in range(size):
            row = f.row("index", v, f.literal(k % 2, 3)) if is_matrix else v
            total = f.row(
                "add", total, f.row("mul", f.row("index", row, f.literal(k, index)), f.literal(2, 0))
            )
    args = [V[:a], [x + 1 for x in V[:b]]]
    expected = 2 * sum(args[0]) + 2 * sum(args[1])
    if is_matrix:
        args = [[x, x] for x in args]
    program = Program(recording(types, [f], [[total]]).root)
    assert instantiate(program)(args) == [pytest.approx(expected)]
    assert program.end < 64 * (a + b)  # there is no table of vectors


@pytest.mark.parametrize("steps", [False, True])
def test_functions_that_differ_in_the_literal_of_one_copy(steps) -> None:
    """They become one, of that literal."""

    def weighted(odd: int) -> tuple[Writer, list[int]]:
        f = Writer("f", [VEC], REAL, [REAL, SIZE])
        v, total = f.row("param", 0), f.literal(1, 0)
        for k in range(N):
            x = f.row("mul", f.row("index", v, f.literal(k, 1)), f.literal(3 if k == odd else 0.5, 0))
            total = f.row("add", f.row("mul", total, f.literal(0.5, 0)) if steps else total, x)
        return f, [total]

    last = Writer("last", [VEC], REAL, [REAL])
    total = last.literal(0, 0)
    v = last.row("param", 0)
    for k in range(3):
        total = last.row("add", last.row("mul", total, last.literal(10, 0)), last.row("get", last.call(k, v)))
    functions = [weighted(odd) for odd in (-1, 7, N - 2)]
    root = recording(TYPES, [*(f for f, _ in functions), last], [*(r for _, r in functions), [total]]).root

    def value(odd: int) -> float:
        total = 1.0
        for k in range(N):
            total = (0.5 * total if steps else total) + V[k] * (3 if k == odd else 0.5)
        return total

    expected = 100 * value(-1) + 10 * value(7) + value(N - 2)
    assert call(root, [V])[0] == pytest.approx(expected)
    assert instantiate(Program(root))([V])[0] == pytest.approx(expected)


def operand(f: Writer, own: list[int], known: list[int], scale: float, p: float) -> int:
    """One of a copy's own values, of those from before, or a literal, as ``p`` says."""
    if own and p < 0.7:
        return own[int(p / 0.7 * len(own))]
    return f.literal(p * scale, 0) if p < 0.9 else known[int(50 * p) % 5]


@pytest.mark.parametrize("seed", [*range(12), 291])
def test_random_copies(seed: int, monkeypatch) -> None:
    """Copies of random rows, some of them broken by a row that is different."""
    random.seed(seed)
    length, copies = random.randint(3, 40), random.randint(60, 200)
    kinds = [random.choice(["add", "sub", "mul", "sin", "read", "max"]) for _ in range(length)]
    picks = [[random.random() for _ in range(4)] for _ in range(length)]
    broken = {random.randrange(copies): random.randrange(length) for _ in range(random.randint(0, 2))}
    ahead = random.random() < 0.5

    def body(f: Writer, v: int) -> int:
        known = [read(f, v, k) for k in range(5)]
        total = f.literal(0, 0)
        for copy in range(copies):
            own: list[int] = []
            for row, (kind, pick) in enumerate(zip(kinds, picks, strict=True)):
                scale = (copy + 1) / copies
                x, y, z = (operand(f, own, known, scale, p) for p in pick[:3])
                if kind == "read":
                    own.append(read(f, v, (copy * (2 if ahead else 1) + row) % N))
                elif kind == "sin" or broken.get(copy) == row:
                    own.append(f.row("sin", x))
                else:
                    own.append(f.row(kind, y, z))
            total = f.row("add", total, f.row("mul", own[-1], f.literal(0.25, 0)))
            if copy % 50 == 3:
                known[copy % 5] = own[len(own) // 2]
        return f.row("add", total, known[3])

    f, g = build(body)
    flat, flat_gradient = straight(body, monkeypatch)
    assert call(f, [V]) == call(flat, [V]) == pytest.approx(instantiate(Program(f))([V]), rel=1e-14)
    found, wanted = (list(instantiate(Program(x))([V])[0]) for x in (g, flat_gradient))
    assert found == pytest.approx(wanted, rel=1e-12, abs=1e-13 * max(map(abs, wanted)))


@pytest.mark.parametrize("seed", range(16))
def test_random_steps(seed: int, monkeypatch) -> None:
    """Copies that need up to three before them; of some rows the last, one, or the sum of all is used."""
    random.seed(seed)
    length, copies = random.randint(3, 25), random.randint(70, 150)
    kinds = [random.choice(["add", "sub", "mul", "sin", "read", "min", "select"]) for _ in range(length)]
    picks = [[(random.random(), random.random()) for _ in range(3)] for _ in range(length)]
    far = random.choice([0, 1, 1, 2, 3])
    ends = [(random.choice(["last", "one", "sum", "sum"]), random.randrange(length)) for _ in range(4)]
    one = random.choice([0, 1, copies - 2, copies - 1, random.randrange(copies)])

    def body(f: Writer, v: int) -> int:
        known = [read(f, v, k) for k in range(5)]
        rows: list[list[int]] = []

        def pick(own: list[int], copy: int, p: float, q: float) -> int:
            if own and p < 0.5:
                return own[int(q * len(own))]
            if p < 0.75 and far:
                back = 1 + int(abs(4 * (p - 0.5) * far))
                return rows[-back][int(q * length)] if back <= len(rows) else known[back % 5]
            return f.literal(q * (copy + 1) / copies, 0) if p < 0.9 else known[int(5 * q)]

        for copy in range(copies):
            own: list[int] = []
            for row, (kind, of) in enumerate(zip(kinds, picks, strict=True)):
                x, y, z = (pick(own, copy, p, q) for p, q in of)
                if kind == "read":
                    own.append(read(f, v, (copy + row) % N))
                elif kind == "sin":
                    own.append(f.row("sin", x))
                elif kind == "select":
                    p = f.row("lt", x, y)
                    own.append(f.rows_of("select", p, f.row("mul", y, f.literal(0.5, 0)), z))
                else:
                    own.append(f.row("mul", f.row(kind, x, y), f.literal(0.5, 0)))
            rows.append(own)
        total = f.literal(1, 0)
        for end, row in ends:
            column = [own[row] for own in rows]
            x = added(f, column) if end == "sum" else column[-1 if end == "last" else one]
            total = f.row("add", f.row("mul", total, f.literal(0.5, 0)), f.row("cos", x))
        return total

    f, g = build(body)
    flat, flat_gradient = straight(body, monkeypatch)
    assert call(f, [V]) == call(flat, [V]) == pytest.approx(instantiate(Program(f))([V]), rel=1e-14)
    found, wanted = (list(instantiate(Program(x))([V])[0]) for x in (g, flat_gradient))
    assert found == pytest.approx(wanted, rel=1e-11, abs=1e-13 * max(map(abs, wanted)))


@pytest.fixture
def columns(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each column has that is looked at."""
    seen: list[int] = []
    of = copies.Copies.columns_of

    def counted(self, at: int, row: int, length: int, count: int) -> list[list[int]]:
        seen.append(count)
        return of(self, at, row, length, count)

    monkeypatch.setattr(copies.Copies, "columns_of", counted)
    return seen


def test_looking_for_loops_takes_time_in_proportion(columns) -> None:
    """A chain in which each row needs the one before looks like copies from every row on."""

    def work(n: int) -> int:
        columns.clear()

        def power(f: Writer, v: int) -> int:
            x = result = read(f, v, 1)
            for _ in range(n):
                result = f.row("mul", result, x)
            return result

        build(power)
        return sum(columns)

    assert work(16000) < 16000 * 40
    assert work(16000) < 6 * work(4000)


def test_halves_of_a_run_are_not_looked_at_as_the_whole_was(monkeypatch) -> None:
    """Cells in a ring: those at its ends have neighbours that the others do not have."""

    def ring(f: Writer, v: int) -> int:
        row = before = [read(f, v, k) for k in range(24)]
        for _ in range(12):
            after = []
            for k, x in enumerate(row):
                bent = f.row("sub", f.row("add", row[k - 1], row[(k + 1) % 24]), f.row("add", x, x))
                after.append(f.row("add", f.row("sub", x, before[k]), f.row("mul", bent, f.literal(0.1, 0))))
            row, before = after, row
        return added(f, row)

    entry = entry_of(ring)
    asked: list[tuple[object, ...]] = []
    for name, of in (("_cut", copies.Copies._cut), ("check", copies.Copies.check)):

        def noted(self, *given, name=name, of=of):
            asked.append((name, *given))
            return of(self, *given)

        monkeypatch.setattr(copies.Copies, name, noted)

    assert reroll.repeats(entry) == []
    assert len(asked) == len(set(asked)) > 2


def roots(f: Writer, v: int) -> int:
    """The sum of square roots, whose derivative at zero is infinite."""
    s = read(f, v, 0)
    for k in range(100):
        x = read(f, v, k)
        s = f.row("add", s, f.row("sqrt", f.row("mul", x, x)))
    return s


def test_what_is_added_up_is_needed_if_the_sum_is(monkeypatch) -> None:
    def column(f: Writer, v: int) -> int:
        return added(f, [f.row("sqrt", f.row("mul", x, x)) for x in (read(f, v, k) for k in range(100))])

    def unused(f: Writer, v: int) -> int:
        s = roots(f, v)
        f.row("mul", s, s)
        return read(f, v, 1)

    entries = [entry_of(body) for body in (roots, column, unused)]
    assert not reroll.repeats(entries[2])
    monkeypatch.setattr(Rows, "needed", lambda *_: pytest.fail("all rows are looked at"))
    for entry in entries[:2]:
        assert reroll.repeats(entry)


def test_a_run_is_checked_with_all_of_its_copies_first(monkeypatch) -> None:
    checked: list[tuple[int, ...]] = []
    entry, used = entry_of(roots), copies.Copies.used
    monkeypatch.setattr(copies.Copies, "used", lambda *given: checked.append(given[1:]) or used(*given))
    (loop,) = reroll.repeats(entry)
    assert loop.count == 100
    assert checked == [(loop.start, loop.length, loop.count)]


class Counted(list[int]):
    """A list that counts the items that are looked at."""

    seen = 0

    def __getitem__(self, k):
        found = super().__getitem__(k)
        self.seen += len(found) if isinstance(k, slice) else 1
        return found


def entry_of(body: Callable[[Writer, int], int]) -> Entry:
    f = Writer("f", [VEC], REAL, [REAL, SIZE, VEC])
    result = body(f, f.row("param", 0))
    (entry,) = recording(TYPES, [f], [[result]])._entries.values()
    return entry


def test_types_of_chains_are_found_out_once() -> None:
    """A choice has the type of the one before, and so has that."""

    def chain(f: Writer, v: int) -> int:
        x = read(f, v, 0)
        for k in range(1, N):
            x = f.rows_of("select", f.row("lt", read(f, v, k), f.literal(0, 0)), x, read(f, v, k))
        return x

    entry = replace(entry_of(chain), extra=Counted(entry_of(chain).extra))
    rows = Typed(entry)
    assert {rows.type_of(k) for k, op in enumerate(rows.ops) if op == SELECT} == {types.REAL}
    assert entry.extra.seen < 3 * N


def test_totals_are_looked_for_in_time_in_proportion() -> None:
    """Of a column the first two are added over and over."""

    def pairs(f: Writer, v: int) -> int:
        terms = [read(f, v, k) for k in range(N)]
        return added(f, N * terms[:2] + terms)

    rows = Rows(entry_of(pairs))
    adds = [k for k, op in enumerate(rows.ops) if op == ADD]
    column = Counted(x for x, op in enumerate(rows.ops) if op == INDEX)
    (found,) = totals(rows, adds[0], adds[-1] + 1, Columns([column]), lambda *_: True)
    assert (found.start, found.at) == (adds[-N], adds[-1])
    assert column.seen < 10 * N


def test_steps_of_which_each_gives_something_else(columns, monkeypatch) -> None:
    """Of every step another row is used, so that one step after the other turns out to be none of a loop."""

    def diagonal(n: int) -> Callable[[Writer, int], int]:
        def body(f: Writer, v: int) -> int:
            y, kept = read(f, v, 1), []
            for k in range(n):
                row = [f.row("cos", f.row("mul", y, f.literal(1 + i / 7, 0))) for i in range(n)]
                kept.append(row[k])
                y = f.row("sin", f.row("add", y, f.literal(k, 0)))
            return added(f, kept)

        return body

    def work(n: int) -> int:
        columns.clear()
        build(diagonal(n))
        return sum(columns)

    assert work(120) < 130 * 120**2
    f, g = build(diagonal(24))
    flat, flat_gradient = straight(diagonal(24), monkeypatch)
    assert call(f, [V]) == call(flat, [V])
    assert call(g, [V])[0] == pytest.approx(call(flat_gradient, [V])[0], rel=1e-12)


def test_sums_of_which_all_values_are_used_are_a_state(monkeypatch) -> None:
    f, g = build(sums_so_far)
    flat, flat_gradient = straight(sums_so_far, monkeypatch)
    assert LOOP in [ins[0] for ins in f.code]
    assert len(f.code) < 60
    assert call(f, [V]) == call(flat, [V]) == instantiate(Program(f))([V])
    found, wanted = (list(instantiate(Program(x))([V])[0]) for x in (g, flat_gradient))
    assert found == pytest.approx(wanted, rel=1e-12, abs=1e-13 * max(map(abs, wanted)))


@pytest.mark.parametrize("count", [3, MOST_NUMBERS, MOST_NUMBERS + 1])
def test_steps_get_the_elements_that_all_of_them_read_as_numbers(count, monkeypatch) -> None:
    def body(f: Writer, v: int) -> int:
        x = read(f, v, 1)
        for _ in range(60):
            y = f.row("cos", x)
            for i in range(count):
                y = f.row("add", y, f.row("mul", read(f, v, i), x))
            x = f.row("sin", y)
        return x

    f, g = build(body)
    (step,) = f.callees
    assert any(t == types.array(types.fin(N), types.REAL) for t in step.params) == (count > MOST_NUMBERS)
    flat, flat_gradient = straight(body, monkeypatch)
    assert call(f, [V]) == call(flat, [V]) == instantiate(Program(f))([V])
    found, wanted = (list(instantiate(Program(x))([V])[0]) for x in (g, flat_gradient))
    assert found == pytest.approx(wanted, rel=1e-11, abs=1e-12 * max(map(abs, wanted)))


STEPS = {
    "without numbers": lambda x, y: sin(x + y),
    "with numbers that are as the first index": lambda x, y: sin(x + y) * 3.0 - y,
}


@pytest.mark.parametrize("name", STEPS)
def test_an_index_is_a_number_in_the_first_step_only(name, monkeypatch) -> None:
    """The elements that the others read are not the same, for all that is known."""

    def body(v, *indices):
        x = 0.5
        for i in (3, *indices):
            x = STEPS[name](x, v[i])
        return x

    f = fn([Vec(9, Real), *[9] * 199], Real, body)
    args = [math.sin(3 * k) for k in range(9)], *(k % 9 for k in range(199))
    assert LOOP in [ins[0] for ins in rebuilt(f.func).code]
    found = same(f, *args)
    monkeypatch.setattr(reroll, "FEWEST_ROWS_OF_STEPS", 1 << 40)
    assert LOOP not in [ins[0] for ins in rebuilt(f.func).code]
    assert found == same(f, *args)


def long_copies(rows: int, steps: bool, op: str, neighbours: bool) -> Callable[[Writer, int], int]:
    """Ten copies of so many rows, each of an element of its own, or of the one before or the next, too."""

    def body(f: Writer, v: int) -> int:
        y, terms = read(f, v, 10), []
        for k in range(10):
            x = f.row("add", y, read(f, v, k)) if steps else read(f, v, k)
            if neighbours:
                x = f.row("add", x, read(f, v, k + 1))
            for i in range(rows // 2):
                x = f.row("mul", x, f.literal(1 + i / 7, 0))
                x = f.row(op, x) if op == "sin" else f.row(op, x, f.literal(0.5, 0))
            terms.append(x)
            y = x
        return y if steps else added(f, terms)

    return body


@pytest.mark.parametrize(
    ("rows", "steps", "op", "neighbours", "found"),
    [
        (24, False, "sub", False, 0),
        (40, False, "sub", False, 1),
        (40, False, "sub", True, 0),
        (60, False, "sub", True, 1),
        (6, False, "sin", False, 1),
        (6, False, "sin", True, 0),
        (60, True, "sin", False, 0),
        (200, True, "sin", False, 1),
    ],
)
def test_few_copies_are_a_loop_where_they_take_long(rows, steps, op, neighbours, found, monkeypatch) -> None:
    body = long_copies(rows, steps, op, neighbours)
    f, gradient = build(body)
    assert loops(f) == found
    flat, flat_gradient = straight(body, monkeypatch)
    assert call(f, [V]) == call(flat, [V])
    assert call(gradient, [V])[0] == pytest.approx(call(flat_gradient, [V])[0], rel=1e-12, abs=0)


def by_other_sizes(x, y, q):
    total = x[0]
    for k in range(60):
        total = total + x[imod(k + 3, q)] * sin(y[k])
    return total


def of_another_size_at_first(x, y, q):
    i, total = imod(7, q), x[0]
    for k in range(60):
        total = 0.5 * total + x[i] * sin(y[k])
        i = imod(9, iadd(N, i, 3))
    return total


def of_another_vector_at_first(x, y, q):
    total, before = x[0], y[0]
    for k in range(1, 60):
        total = total + sin(before * x[k]) - before
        before = x[k]
    return total


def the_other_way_round_at_first(x, y, q):
    a, total = x[5] * 0.75, y[q]
    total = total - a
    for _ in range(300):
        total = a - total
    return total


def sums_of_each_other(x, y, q):
    terms = [sin(x[k]) * x[k + 1] for k in range(33)]
    first = sum(terms)
    others = [sin(a * first) for a in terms]
    second, last = sum(others), y[q]
    for a, b in zip(terms, others, strict=True):
        last = last + a * b
    for b in others:
        last = last + b
    return first * second + last


difference = fn([Real, Real], Real, lambda x, y: sin(x) - y)
product = fn([Real, Real], Real, lambda x, y: sin(x) * y)


def of_another_function(x, y, q):
    total = x[0]
    for k in range(60):
        total = total + (difference if k == 40 else product)(x[k], y[k])
    return total


def of_another_number_of_iterations(x, y, q):
    total = x[0]
    for k in range(60):
        total = total + total_of(3 if k == 40 else 4, lambda i, k=k: sin(x[iadd(N, i, k)]) * y[k])
    return total


@pytest.mark.parametrize(
    "body",
    [
        of_another_function,
        of_another_number_of_iterations,
        sums_of_each_other,
        by_other_sizes,
        of_another_size_at_first,
        of_another_vector_at_first,
        the_other_way_round_at_first,
    ],
)
def test_copies_that_differ_in_more_than_numbers(body, monkeypatch) -> None:
    for name in "FEWEST_ROWS", "FEWEST_ROWS_OF_STEPS", "FEWEST_ROWS_OF_ONE":
        monkeypatch.setattr(reroll, name, 40)
    vector = Vec(N, Real)
    f = fn([vector, vector, N], Real, body)
    for q in 0, 5, N - 1:
        found = same(f, V, V[::-1], q)
        with monkeypatch.context() as patch:
            patch.setattr(reroll, "FEWEST_ROWS", 1 << 40)
            assert same(f, V, V[::-1], q) == found


def test_elements_of_what_copies_read_are_used_after_the_loop(monkeypatch) -> None:
    """Those of the first copies are of rows from before it."""

    def body(x, m):
        rows, y = [m[0], m[1]], x[0]
        for k in range(2, 60):
            rows.append(m[k])
            z = rows[k - 2][1]
            y = sin(y) * z + x[k]
        return y * z

    for name in "FEWEST_ROWS", "FEWEST_ROWS_OF_STEPS":
        monkeypatch.setattr(reroll, name, 40)
    f = fn([Vec(N, Real), Vec(60, Vec(2, Real))], Real, body)
    matrix = [[math.cos(k), math.sin(5 * k)] for k in range(60)]
    found = same(f, V, matrix)
    monkeypatch.setattr(reroll, "FEWEST_ROWS", 1 << 40)
    assert same(f, V, matrix) == found
