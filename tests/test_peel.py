"""The iterations at the ends of loops are written out where choices go another way than in between."""

from __future__ import annotations

from random import Random
from unittest.mock import patch

import changes
import pytest
from engines import same, same_outcome
from lane_loops import noted
from random_stencils import grid, line

from rose_core import Real, Vec, cond, fn, fori, grad, iadd, index, not_, opaque, or_, real, sin, vec
from rose_core import sum as total
from rose_core.language import interp as interpreter
from rose_core.language.check import check
from rose_core.language.flatten import flatten
from rose_core.language.parse import parse
from rose_core.optimise import unroll
from rose_core.optimise.peel import peeled

N = 20
V = Vec(N, Real)
M = Vec(N, V)


@pytest.fixture
def loops(monkeypatch):
    """Finds out for each function that is compiled from then on whether loops in it are peeled."""
    return changes.noted(monkeypatch, unroll, "peeled", check)


def edges(i):
    return or_(i < 1, i >= N - 1)


def inner(x, i):
    return cond(i >= N - 2, Real, lambda: x[i] * x[i], lambda: x[i - 1] * x[i + 2])


CELLS = {
    "before": lambda x, i: cond(i < 1, Real, lambda: 0.0, lambda: x[i - 1] * x[i]),
    "after": lambda x, i: cond(i + 1 < N, Real, lambda: x[i + 1] - x[i], lambda: x[0]),
    "as a number": lambda x, i: cond(real(i) > 0.5, Real, lambda: x[i - 1] * 3.0, lambda: 1.0),
    "equal": lambda x, i: cond(i == N - 1, Real, lambda: x[i], lambda: x[i + 1] * x[i]),
    "both": lambda x, i: cond(edges(i), Real, lambda: x[i], lambda: x[i - 1] + x[i + 1] - 2.0 * x[i]),
    "not": lambda x, i: cond(not_(edges(i)), Real, lambda: x[i - 1] * x[i + 1], lambda: -0.0),
    "in each other": lambda x, i: cond(i < 1, Real, lambda: 0.5, lambda: inner(x, i)),
    "several": lambda x, i: (
        cond(i < 1, Real, lambda: x[i], lambda: x[i - 1])
        * cond(i >= N - 1, Real, lambda: x[i] * x[1], lambda: x[i + 1])
    ),
}


def squares(cell):
    return fn([V], Real, lambda x: total(N, lambda i: cell(x, i) * cell(x, i)))


def squares_of_vector(cell):
    def f(x):
        y = vec(N, Real, lambda i: cell(x, i))
        return total(N, lambda i: y[i] * y[i] * y[N - 1])

    return fn([V], Real, f)


X = [((7 * k) % 11 - 5) / 4 for k in range(N)]


@pytest.mark.parametrize("program", [squares, squares_of_vector])
@pytest.mark.parametrize("name", CELLS)
def test_cells_at_the_ends(name: str, program, loops, monkeypatch) -> None:
    lanes = noted(monkeypatch, lambda _: 1)
    found = [same(f, X) for f in (program(CELLS[name]), grad(program(CELLS[name])))]
    assert any(loops) and lanes
    monkeypatch.setattr(unroll, "peeled", lambda f: f)
    assert repr(found) == repr([same(f, X) for f in (program(CELLS[name]), grad(program(CELLS[name])))])


def test_the_edges_of_a_grid(loops, monkeypatch) -> None:
    def cell(u, i, j):
        around = lambda: u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]  # noqa: E731
        return cond(or_(edges(i), edges(j)), Real, lambda: u[i][j], lambda: around() - 4.0 * u[i][j])

    def step(u):
        return vec(N, V, lambda i: vec(N, Real, lambda j: u[i][j] + 0.2 * cell(u, i, j)))

    f = fn([M], Real, lambda u: total(N, lambda i: total(N, lambda j: step(step(u))[i][j] * u[j][i])))
    u = [[X[(i * j) % N] for j in range(N)] for i in range(N)]
    lanes = noted(monkeypatch, lambda _: 1)
    found = same(grad(f), u)
    assert any(loops) and lanes
    monkeypatch.setattr(unroll, "peeled", lambda f: f)
    assert repr(found) == repr(same(grad(f), u))


def before(x, i, n):
    """A sum over as many cells as cell ``i`` has before it, or so many more."""

    def term(j):
        return x[j] * x[j] * x[i] * x[j] * x[0] - x[j] * x[1] * x[j]

    return fori(iadd(N, i, n), Real, 0.0, lambda j, s: s + term(j))


@pytest.mark.parametrize(
    "cell",
    [
        lambda x, i: cond(i < 1, Real, lambda: x[i], lambda: before(x, i, 0)),
        lambda x, i: cond(i < 1, Real, lambda: before(x, i, 3), lambda: x[i]),
        lambda x, i: cond(i < N - 1, Real, lambda: x[i], lambda: before(x, i, 0)),
    ],
    ids=["in between", "first", "last"],
)
def test_a_sum_on_a_side_is_no_longer_for_that(cell, loops, monkeypatch) -> None:
    counted = noted(monkeypatch, lambda writer: writer.block.count is not None)
    for f in (squares(cell), grad(squares(cell))):
        same(f, X)
    assert any(loops)
    assert any(counted)


def test_what_is_added_is_added_once(loops) -> None:
    """By a loop that makes a vector, too, of which an iteration runs in the place of those at its ends."""

    def both(x):
        s = fori(N, Real, 0.0, lambda i, s: s + CELLS["both"](x, i))
        return {"y": vec(N, Real, lambda i: CELLS["both"](x, i)), "s": s}

    f = fn([V], {"y": V, "s": Real}, both)
    g = fn([V], Real, lambda x: total(N, lambda i: f(x).y[i] * x[i]) + f(x).s * f(x).y[3])
    same(f, X)
    same(grad(g), X)
    assert any(loops)


def test_what_is_added_to_one_of_two_is_added_once() -> None:
    """As in reverse mode, where an element of one of two vectors is chosen."""
    source = f"""
        def before(x: Real): Real = x * 3.0
        def after(x: Real): Real = x * x
        def f(x: [{N}]Real): ([{N}]Real, ([{N}]Real, [{N}]Real)) =
          accum p from [for _: {N}, 0.0] in (accum q from [for _: {N}, 0.0] in (
            [for i: {N},
              let r = x[i] > 0.0 ? &p[i] : &q[i] in
              let _ = r += x[i] in
              if i < 1 then before(x[i]) else after(x[i])]))"""
    f = flatten(parse(source)["f"])
    made = peeled(f)
    assert made is not f
    assert interpreter.call(made, [X]) == interpreter.call(f, [X])


@pytest.mark.parametrize("way", ["the sides of a choice", "a call"])
def test_what_is_called_adds_to_parts_of_accumulators_once(way: str) -> None:
    """A part goes to a function that adds to it: iterations are not run in the place of others."""
    taken = "if i < 1 then first(r, x[i]) else second(r, x[i])"
    if way == "a call":
        taken = "let y = second(r, x[i]) in let z = if i < 1 then before(x[i]) else after(x[i]) in y + z"
    source = f"""
        def before(x: Real): Real = x * 3.0
        def after(x: Real): Real = x * x
        def first(r: &Real, x: Real): Real = let _ = r += x in x
        def second(r: &Real, x: Real): Real = let _ = r += x * 2.0 in x * x
        def f(x: [{N}]Real): ([{N}]Real, [{N}]Real) =
          accum p from [for _: {N}, 0.0] in ([for i: {N}, let r = &p[i] in {taken}])"""
    f = flatten(parse(source)["f"])
    assert interpreter.call(peeled(f), [X]) == interpreter.call(f, [X])


def test_what_is_added_after_a_loop_with_such_ends_is_added_once() -> None:
    """Loops in loops have their turn after these."""
    source = f"""
        def before(x: Real): Real = x * 3.0
        def after(x: Real): Real = x * x
        def f(x: [{N}]Real): ([{N}]Real, [{N}]Real) =
          accum p from [for _: {N}, 0.0] in (
            [for i: {N},
              let y = [for j: {N}, if j < 1 then before(x[i]) else after(x[j])] in
              let _ = &p[i] += y[i] in
              if i < 1 then before(y[3]) else after(y[i])])"""
    f = flatten(parse(source)["f"])
    made = peeled(f)
    assert made is not f
    assert interpreter.call(made, [X]) == interpreter.call(f, [X])


def test_rows_that_are_added_are_left() -> None:
    """In the place of another iteration, one could add a number that changes nothing, but no row of these."""
    source = f"""
        def before(x: Real): Real = x * 3.0
        def after(x: Real): Real = x * x
        def f(x: [{N}]Real, y: [{N}][2]Real): ([{N}][2]Real, [{N}]Real) =
          accum p from [for _: {N}, [for _: 2, 0.0]] in (
            [for i: {N}, let _ = &p[i] += y[i] in if i < 1 then before(x[i]) else after(x[i])])"""
    f = flatten(parse(source)["f"])
    assert peeled(f) is f


told = opaque([Real], Real, lambda x: x + 1.0)

LEFT = {
    "in the middle": lambda x, i: cond(i < N // 2, Real, lambda: x[i], lambda: x[i - 1]),
    "too many": lambda x, i: cond(i < 5, Real, lambda: x[i], lambda: x[i - 5]),
    "of numbers": lambda x, i: cond(x[i] < 0.0, Real, lambda: x[i], lambda: 2.0),
    "of numbers, too": lambda x, i: cond(or_(i < 1, x[i] < 0.0), Real, lambda: x[i], lambda: 2.0),
    "a host's function": lambda x, i: cond(i < 1, Real, lambda: x[i], lambda: told(x[i])),
}


@pytest.mark.parametrize("name", LEFT)
def test_others_are_left(name: str, loops) -> None:
    y = fn([V], V, lambda x: vec(N, Real, lambda i: LEFT[name](x, i)))
    same(y, X)
    assert not any(loops)


@pytest.mark.parametrize("at", [0, 1, 7, N - 1])
def test_errors_come_in_their_order(at: int, loops) -> None:
    """The first iteration that fails says so, as the others do where the first does not."""

    def cell(x, i):
        return cond(i < 1, Real, lambda: x[index(N, x[i])], lambda: x[index(N, 2.0 * x[i])] + x[i - 1])

    f = fn([V], V, lambda x: vec(N, Real, lambda i: cell(x, i)))
    x = [1.0] * N
    x[at] = 0.3
    told = same_outcome(f, x)
    assert isinstance(told, str) and ("0.3" if at == 0 else "0.6") in told
    same_outcome(f, [1.5 if k == 5 else 0.3 if k == 0 else 1.0 for k in range(N)])
    assert any(loops)


def test_a_long_chain_of_choices_is_not_all_written_out(loops) -> None:
    def chain(x, i, k):
        return cond(
            i == k, Real, lambda: x[k] * (k + 1.0), lambda: chain(x, i, k + 1) if k < 15 else sin(x[i])
        )

    same(grad(fn([Vec(100, Real)], Real, lambda x: total(100, lambda i: chain(x, i, 0)))), X * 5)
    assert sum(loops) <= 2


@pytest.mark.parametrize("seed", range(60))
def test_random_stencils(seed: int, loops) -> None:
    """The same bits as without."""
    of = grid if seed % 4 == 3 else line
    draw = Random(seed)
    n = of(seed)[1]
    row = lambda: [draw.uniform(-1, 1) for _ in range(n)]  # noqa: E731
    x = [[row() for _ in range(n)] if of is grid else row() for _ in range(2)]

    def outcomes():
        f = of(seed)[0]
        return repr([same(g, *x) for g in (f, grad(f), grad(f, 1))])

    found = outcomes()
    with patch.object(unroll, "peeled", lambda f: f):
        assert found == outcomes()
