"""Small loops in loops, written out: the same numbers, to the bit, and no loops left where they were."""

from __future__ import annotations

import math

import pytest

from rose_core import (
    Real,
    RunError,
    Vec,
    compile,
    cond,
    exp,
    fn,
    fori,
    imin,
    imod,
    index,
    inspect,
    interp,
    real,
    sin,
    sqrt,
    vec,
    vjp,
)
from rose_core import sum as total
from rose_core.derivatives.expand import Expansion
from rose_core.language.ir import ACCUM, Func
from rose_core.language.queries import callees_first
from rose_core.language.types import Array
from rose_core.optimise import inline
from rose_core.optimise.unroll import unrolled


def wave(*shape: int, phase: float = 0.0):
    if len(shape) == 1:
        return [math.sin(k + phase) for k in range(shape[0])]
    return [wave(*shape[1:], phase=phase + 7 * k) for k in range(shape[0])]


def grad(params, body):
    """The gradient of ``body``, a function of these parameters, by the first of them."""

    def gradient(x, *others):
        of_first = fn([params[0]], Real, lambda x: body(x, *others))
        return vjp(of_first)(x).grad(1)

    return fn(params, params[0], gradient)


def root(f) -> Func:
    return unrolled(Expansion(f.func).root)


def same(f, *args) -> Func:
    """The code of ``f`` once unrolled; its results are those of the interpreter."""
    assert compile(f)(*args) == interp(f)(*args)
    return root(f)


def loss(n: int, d: int):
    return lambda w, xs, ys: total(n, lambda i: exp(ys[i] * total(d, lambda k: xs[i][k] * w[k])))


def logistic(n: int, d: int):
    return fn([Vec(d, Real), Vec(n, Vec(d, Real)), Vec(n, Real)], Real, loss(n, d))


@pytest.mark.parametrize(("d", "loops"), [(1, 1), (10, 1), (16, 1), (17, 2)])
def test_a_loop_in_a_loop(d, loops) -> None:
    f = logistic(30, d)
    assert len(same(f, wave(d), wave(30, d), wave(30)).blocks) == 1 + loops


def heavy(n: int, d: int):
    """A loss that computes a root for each addition to its gradient."""
    return lambda w, xs, ys: total(n, lambda i: total(d, lambda k: ys[i] * sqrt(xs[i][k] * w[k] * w[k] + 2)))


@pytest.mark.parametrize(
    ("of", "d", "split"),
    [(loss, 7, True), (loss, 8, False), (loss, 12, False), (heavy, 8, True)],
)
def test_short_accumulators_are_variables(of, d, split) -> None:
    params = [Vec(d, Real), Vec(30, Vec(d, Real)), Vec(30, Real)]
    code = same(grad(params, of(30, d)), wave(d), wave(30, d), wave(30))
    accumulated = [code.types[v].inner for v, ins in enumerate(code.code) if ins[0] == ACCUM]
    assert any(isinstance(t, Array) for t in accumulated) != split


def controlled(n: int, m: int):
    """The gradient of a system that moves by matrices, of which each iteration adds to the cost."""
    s = {"x": Vec(n, Real), "c": Real}

    def rollout(u, a, b):
        def step(t, s):
            def number(i):
                return total(n, lambda j: a[i][j] * s["x"][j]) + total(m, lambda j: b[i][j] * u[t][j])

            x = vec(n, Real, number)
            return {"x": x, "c": s["c"] + total(n, lambda i: x[i] * x[i])}

        return fori(9, s, {"x": vec(n, Real, lambda i: 1.0), "c": 0.0}, step)["c"]

    params = [Vec(9, Vec(m, Real)), Vec(n, Vec(n, Real)), Vec(n, Vec(m, Real))]
    return grad(params, rollout), wave(9, m), wave(n, n), wave(n, m)


@pytest.mark.parametrize(("n", "m"), [(3, 1), (4, 2), (4, 3)])
def test_short_accumulators_that_start_from_a_state_are_variables(n, m) -> None:
    code = same(*controlled(n, m))
    functions = callees_first(code)
    accumulated = [
        f.types[v].inner for f in functions[:-1] for v, ins in enumerate(f.code) if ins[0] == ACCUM
    ]
    assert not any(isinstance(t, Array) for t in accumulated)
    assert all(len(f.blocks) == 1 for f in functions[:-1])  # it is all written out


def test_short_accumulators_that_one_block_adds_to_are_sums() -> None:
    """The gradient of points on curves: all of an iteration around is operations, and runs two iterations at
    a time.
    """
    n, d = 30, 5
    P = Vec(d, Real)

    def point(p, i):
        def step(q):
            return vec(d, Real, lambda k: 0.3 * q[k] + real(i) * q[imin(d, k + 1, d - 1)])

        return fori(3, P, p, lambda _, q: step(q))[0]

    f = grad([P], lambda p: total(n, lambda i: point(p, i) * point(p, i)))
    code = same(f, wave(d))
    assert {code.home[v] for v, ins in enumerate(code.code) if ins[0] == ACCUM} <= {0}
    assert "f64x2.add" in inspect(f).wat


@pytest.mark.parametrize(("d", "loops"), [(8, 2), (13, 2), (16, 2), (17, 4)])
def test_what_is_added_to_few_neighbours_is_written_out_two_at_a_time(d, loops) -> None:
    params = [Vec(d, Real), Vec(30, Vec(d, Real)), Vec(30, Real)]
    f = grad(params, loss(30, d))
    same(f, wave(d), wave(30, d), wave(30))
    wat = inspect(f).wat
    assert wat.count(" loop ") == loops
    assert (wat.count("v128.store") >= d // 2 * 2) == (loops == 2)  # of zeros, and of sums


@pytest.mark.parametrize(("n", "d", "loops"), [(30, 5, 1), (30, 7, 2), (9, 5, 2)])
def test_loops_in_loops_are_written_out_if_they_add_to_local_variables(n, d, loops) -> None:
    """Quadratic forms of many rows, which then run two at a time; few rows are not worth so much code."""

    def forms(m, p, xs):
        def form(i):
            x = vec(d, Real, lambda k: xs[i][k] - m[k])
            return total(d, lambda k: x[k] * total(d, lambda j: p[k][j] * x[j]))

        return total(n, form)

    params = [Vec(d, Real), Vec(d, Vec(d, Real)), Vec(n, Vec(d, Real))]
    code = same(fn(params, Real, forms), wave(d), wave(d, d), wave(n, d))
    assert len(code.blocks) == 1 + loops
    same(grad(params, forms), wave(d), wave(d, d), wave(n, d))


@pytest.mark.parametrize(("n", "loops"), [(16, 4), (17, 3)])
def test_loops_in_loops_are_written_out_if_they_add_to_columns_of_the_loop_around(n, loops) -> None:
    """The gradient of squares times a matrix times itself, of which two columns are then made at a time."""
    M = Vec(n, Vec(n, Real))

    def squares(a):
        def term(i, j):
            return a[i][j] * a[i][j] * total(n, lambda k: a[i][k] * a[k][j])

        return total(n, lambda i: total(n, lambda j: term(i, j)))

    f = grad([M], squares)
    assert len(same(f, wave(n, n)).blocks) == 1 + loops


def test_outer_loops_stay() -> None:
    f = fn([Vec(4, Real)], Real, lambda x: total(4, lambda i: sin(x[i])))
    assert len(same(f, wave(4)).blocks) == 2


@pytest.mark.parametrize(("d", "loops"), [(3, 1), (4, 2), (16, 2)])
def test_a_loop_that_computes_much_for_a_sum_runs_in_lanes(d, loops) -> None:
    def distance(x, y):
        return sqrt((x - y) * (x - y) + 1)

    f = fn(
        [Vec(d, Real), Vec(30, Real)],
        Real,
        lambda c, x: total(30, lambda i: total(d, lambda k: distance(x[i], c[k]))),
    )
    assert len(same(f, wave(d), wave(30)).blocks) == 1 + loops
    assert "f64x2.sqrt" in inspect(f).wat  # of one loop, or of that around it, where it is written out


def test_a_loop_around_sums_that_are_written_out_runs_in_lanes() -> None:
    def squares(w, x):
        def window(i):
            s = total(5, lambda j: w[j] * x[i + j])
            return s * s

        return total(26, window)

    f = fn([Vec(5, Real), Vec(30, Real)], Real, squares)
    code = same(f, wave(5), wave(30))
    assert len(code.blocks) == 2
    assert sum(ins[0] == ACCUM for ins in code.code) == 1
    assert "f64x2.mul" in inspect(f).wat
    # the sign of a zero is that of a sum that begins with 0.0
    g = fn(
        [Vec(5, Real), Vec(30, Real)],
        Vec(26, Real),
        lambda w, x: vec(26, Real, lambda i: 1 / total(5, lambda j: w[j] * x[i + j])),
    )
    same(g, [-0.0] * 5, [1.0] * 30)


@pytest.mark.parametrize(("d", "loops"), [(7, 1), (8, 2), (16, 2)])
def test_a_loop_that_adds_to_neighbours_runs_in_lanes(d, loops) -> None:
    """The gradient by the centres, a matrix; that by a short vector is in local variables."""

    def squares(c, xs):
        return total(3, lambda j: total(d, lambda k: (xs[k] - c[j][k]) * (xs[k] - c[j][k])))

    def soft(c, xs):
        return total(20, lambda i: exp(-squares(c, xs[i])))

    params = [Vec(3, Vec(d, Real)), Vec(20, Vec(d, Real))]
    code = same(grad(params, soft), wave(3, d), wave(20, d))
    trips = [block.size.size for block in code.blocks[1:]]
    assert trips.count(d) == loops - 1, trips


@pytest.mark.parametrize(
    ("d", "element", "loops"),
    [
        (12, lambda x, i, k: x[i + k], 0),
        (12, lambda x, i, k: x[k + i + 1], 0),
        (12, lambda x, i, k: x[k], 2),
        (12, lambda x, i, k: x[i + k] * x[k], 1),
        (17, lambda x, i, k: x[i + k], 2),
    ],
)
def test_of_neighbours_for_the_loop_around_two_iterations_of_that_run_at_a_time(d, element, loops) -> None:
    """The gradient by a kernel."""

    def squares(w, x):
        return total(20, lambda i: (lambda y: y * y)(total(d, lambda k: w[k] * element(x, i, k))))

    code = same(grad([Vec(d, Real), Vec(40, Real)], squares), wave(d), wave(40))
    trips = [block.size.size for block in code.blocks[1:]]
    assert trips.count(d) == loops, trips


@pytest.mark.parametrize(("n", "often", "loops"), [(9, 3, 1), (10, 3, 2), (10, 1, 1)])
def test_a_loop_that_computes_much_for_a_row_runs_in_lanes(n: int, often: int, loops: int) -> None:
    def cell(x):
        y = x
        for _ in range(often):
            y = y * y - x
        return y

    rows = fn(
        [Vec(n, Vec(n, Real))],
        Vec(n, Vec(n, Real)),
        lambda x: vec(n, Vec(n, Real), lambda i: vec(n, Real, lambda j: cell(x[i][j]))),
    )
    code = same(rows, wave(n, n))
    assert [block.size.size for block in code.blocks[1:]] == [n] * loops


@pytest.mark.parametrize(
    ("changes_at", "often", "loops"),
    [(1, 3, 2), (1, 1, 1), (5, 3, 1)],
    ids=["at an end", "little to do", "in the middle"],
)
def test_a_loop_whose_ends_are_written_out_runs_in_lanes(changes_at: int, often: int, loops: int) -> None:
    """In the middle, a choice that is written out is none any more."""
    n = 10

    def cell(row, j):
        before = cond(j < changes_at, Real, lambda: row[j], lambda: row[j - 1])
        for _ in range(often):
            before = before * before + row[j]
        return before

    def rows(x):
        return vec(n, Vec(n, Real), lambda i: vec(n, Real, lambda j: cell(x[i], j)))

    code = same(fn([Vec(n, Vec(n, Real))], Vec(n, Vec(n, Real)), rows), wave(n, n))
    assert [block.size.size for block in code.blocks[1:]] == [n] * loops


def test_results_of_iterations() -> None:
    """A loop that gives vectors, of which some elements are read at indices of the loop around it."""

    def body(m):
        def row(i):
            squares = vec(3, Real, lambda j: m[i][j] * m[i][j])
            return squares[imod(3, i)] + squares[2] + real(imod(3, i))

        return vec(5, Real, row)

    same(fn([Vec(5, Vec(3, Real))], Vec(5, Real), body), wave(5, 3))


def test_three_deep() -> None:
    def body(t):
        return total(6, lambda i: total(3, lambda j: total(2, lambda k: sin(t[i][j][k]) * t[i][j][0])))

    params = [Vec(6, Vec(3, Vec(2, Real)))]
    assert len(same(fn(params, Real, body), wave(6, 3, 2)).blocks) == 2
    same(grad(params, body), wave(6, 3, 2))


def test_in_functions_that_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inline, "SHORT", 0)
    f = logistic(9, 3)
    g = fn(f.func.param_types, Real, lambda x, *rest: f(x, *rest) * f(vec(3, Real, lambda i: -x[i]), *rest))
    code = same(g, wave(3), wave(9, 3), wave(9))
    assert [len(callee.blocks) for callee in code.callees] == [2]


def test_an_index_out_of_range_is_told_when_it_is_met() -> None:
    def body(x, last):
        return total(4, lambda i: total(3, lambda j: x[index(5, real(i) + real(j) + last)]))

    f = fn([Vec(5, Real), Real], Real, body)
    for run in (compile(f), interp(f)):
        with pytest.raises(
            RunError,
            match="index: 5 cannot be an index, expected a whole number from 0 to 4",
        ):
            run(wave(5), 0.0)
