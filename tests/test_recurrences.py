"""Loops with a state in loops that run in lanes: each lane has a state of its own, with the same bits."""

from __future__ import annotations

from random import Random

import lane_loops
import pytest
from engines import same
from random_orbits import N, Orbits, T, total

from rose_core import (
    Real,
    Vec,
    fn,
    fori,
    iadd,
    ieq,
    imin,
    imod,
    max,
    min,
    real,
    scan,
    select,
    sin,
    sqrt,
    struct,
    sum,
    value_and_grad,
    vec,
    while_loop,
)

X, R, M, C = Vec(N, Real), Vec(T, Real), Vec(N, Vec(T, Real)), Vec(T, Vec(N, Real))
"""Numbers for each iteration; for each step; for both, and by steps first."""

TYPES = [X, R, M, C, Real, T]


@pytest.fixture
def found(monkeypatch):
    """The recurrences of each loop that is written in lanes from then on."""
    return lane_loops.recurrences(monkeypatch)


def point(seed: int):
    draw = Random(seed)

    def numbers(n):
        return [draw.uniform(-1, 1) for _ in range(n)]

    return (
        numbers(N),
        numbers(T),
        [numbers(T) for _ in range(N)],
        [numbers(N) for _ in range(T)],
        draw.uniform(-1, 1),
        draw.randrange(T),
    )


@pytest.mark.parametrize("seeds", [range(k, k + 12) for k in range(0, 60, 12)], ids=lambda of: str(of[0]))
def test_random_orbits(seeds, found) -> None:
    for seed in seeds:
        orbits = Orbits(seed)
        same(orbits.function, *orbits.args())
        same(value_and_grad(total(orbits.function), [0, 1, 2, 3, 4, 6]), *orbits.args())
    assert sum_of(found) > 1


def sum_of(found) -> int:
    return len([one for of in found for one in of])


def each(step, start=0.5, trips=T):
    """For each ``i`` what it comes to after all steps."""

    def body(x, r, m, c, a, n):
        given = x, r, m, c, a, n
        return vec(N, Real, lambda i: fori(trips, Real, start, lambda j, s: step(s, i, j, *given)))

    return fn(TYPES, X, body)


STEPS = {
    "elements": lambda s, i, j, x, r, m, c, a, n: s * x[i] + r[j],
    "rows": lambda s, i, j, x, r, m, c, a, n: 0.5 * s + m[i][j] * r[j],
    "columns": lambda s, i, j, x, r, m, c, a, n: 0.5 * s + c[j][i],
    "neighbours": lambda s, i, j, x, r, m, c, a, n: 0.5 * s + c[j][imod(N, iadd(2 * N, i, 0))] * a,
    "the number of the step": lambda s, i, j, x, r, m, c, a, n: s * x[i] + real(j),
    "steps that differ": lambda s, i, j, x, r, m, c, a, n: select(
        ieq(T, imod(2, j), 0), 0.5 * s * m[i][j] + a, s * x[i]
    ),
    "indices of steps": lambda s, i, j, x, r, m, c, a, n: 0.5 * s * x[i] + m[i][imod(T, iadd(99, j, 5))],
    "an index from outside": lambda s, i, j, x, r, m, c, a, n: 0.5 * s * x[i] + m[i][n] * r[n],
    "a choice": lambda s, i, j, x, r, m, c, a, n: select(s > 0.2, 0.5 * s * x[i] - r[j], sqrt(1.0 + s * s)),
    "the largest": lambda s, i, j, x, r, m, c, a, n: max(s, r[j] * m[i][j]),
    "the least": lambda s, i, j, x, r, m, c, a, n: min(s, c[j][i] - x[i]),
    "what stays between two": lambda s, i, j, x, r, m, c, a, n: min(1.0, max(0.0, s + c[j][i])),
    "what is computed together": lambda s, i, j, x, r, m, c, a, n: sin(s * x[i]) * r[j] + 0.1 * s,
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_in_lanes(name: str, found) -> None:
    f = each(STEPS[name])
    same(f, *point(1))
    assert sum_of(found) == 1
    same(value_and_grad(total(f), [0, 1, 2, 3, 4]), *point(2))


ALONE = {
    "little beside what is taken apart": lambda s, i, j, x, r, m, c, a, n: max(s, m[i][j]),
    "indices that are looked up": lambda s, i, j, x, r, m, c, a, n: 0.5 * s + m[imin(N, i, imod(N, j))][j],
    "loops in steps": lambda s, i, j, x, r, m, c, a, n: 0.5 * s + sum(T, lambda k: r[k] * s * m[i][k]),
}


@pytest.mark.parametrize("name", ALONE)
def test_steps_that_are_not(name: str, found) -> None:
    f = each(ALONE[name])
    same(f, *point(1))
    assert not sum_of(found)
    same(value_and_grad(total(f), [0, 1, 2, 3, 4]), *point(2))


def test_a_small_grid_of_orbits_is_not_unrolled(found) -> None:
    def body(x, y):
        def orbit(i, j):
            return fori(T, Real, 0.5, lambda k, s: s * x[i] - y[j] * 0.1 * real(i) + 0.01 * real(k))

        return sum(N, lambda i: sum(N, lambda j: orbit(i, j) ** 2))

    f = fn([X, X], Real, body)
    same(f, point(3)[0], point(4)[0])
    assert sum_of(found) == 1
    same(value_and_grad(f, [0, 1]), point(3)[0], point(4)[0])


def test_as_many_steps_as_are_known_when_it_runs(found) -> None:
    def body(x, r, m, c, a, n):
        return vec(N, Real, lambda i: fori(n, Real, x[i], lambda j, s: s * x[i] + m[i][j]))

    f = fn(TYPES, X, body)
    for n in range(3):
        assert same(f, *point(4)[:5], n)[2] == pytest.approx(expected(point(4), n), rel=1e-14)
    assert sum_of(found) == 3


def expected(at, n):
    x, _, m, *_ = at
    s = x[2]
    for j in range(n):
        s = s * x[2] + m[2][j]
    return s


def test_what_is_kept_of_steps(found) -> None:
    """As the result, for another recurrence in the same iteration, and for both."""

    def body(x, r, m, c, a, n):
        def orbit(i):
            _, once = scan(T, Real, x[i], lambda s, j: [s * x[i] + r[j], s])
            _, twice = scan(T, Real, a, lambda s, j: (lambda y: [y, y])(0.5 * s + once[j] * m[i][j]))
            return twice, fori(T, Real, 0.0, lambda j, s: 0.3 * s * once[j] + twice[j])

        rows = vec(N, {"row": R, "end": Real}, lambda i: dict(zip(("row", "end"), orbit(i), strict=True)))
        return sum(N, lambda i: rows[i].end + sum(T, lambda j: rows[i].row[j] * c[j][i]))

    f = fn(TYPES, Real, body)
    same(f, *point(5))
    assert sum_of(found) == 3
    same(value_and_grad(f, [0, 1, 2, 3, 4]), *point(5))


def test_what_is_kept_once_and_given_twice() -> None:
    twice = struct({"p": R, "q": R, "r": Real, "s": Real})

    def orbit(i, x, r):
        end, kept = scan(T, Real, x[i], lambda s, j: (lambda y: [y, y])(s * x[i] - r[j]))
        return {"p": kept, "q": kept, "r": end, "s": end}

    f = fn([X, R], Vec(N, twice), lambda x, r: vec(N, twice, lambda i: orbit(i, x, r)))
    for row in same(f, *point(9)[:2]):
        assert [*row.p] == [*row.q]
        assert row.r == row.s == row.p[T - 1]


def test_while_loops_end_by_themselves(found) -> None:
    def body(x):
        return vec(N, Real, lambda i: while_loop(Real, x[i], lambda s: s < 3.0, lambda s: 1.5 * s + 0.1))

    same(fn([X], X, body), [0.1, 0.5, 2.9, 3.0, 4.0, 0.7, 1.0])
    assert sum_of(found) == 0


def test_steps_that_add_to_one_element_stay_in_order(found) -> None:
    """The gradient of ``r[n]``, which every step of all iterations reads, is added up in their order."""
    f = total(each(lambda s, i, j, x, r, m, c, a, n: s * x[i] * r[n] + m[i][j]))
    same(value_and_grad(f, [1]), *point(6))


def test_a_body_that_several_loops_run_is_written_in_each(found) -> None:
    def body(x, r, m, c, a, n):
        def orbit(v):
            return vec(N, Real, lambda i: fori(T, Real, 0.0, lambda j, s: s * v[i] + r[j]))

        v, w = orbit(x), orbit(m_first(m))
        return sum(N, lambda i: v[i] * w[i])

    def m_first(m):
        return vec(N, Real, lambda i: m[i][0])

    f = fn(TYPES, Real, body)
    same(f, *point(7))
    assert sum_of(found) == 2
    same(value_and_grad(f, [0, 1, 2]), *point(7))


def test_elements_that_several_iterations_add_to_get_it_in_their_order(found) -> None:
    """As those of a window that slides, whose steps meet in lanes in another order."""
    W = Vec(N + T, Real)

    def body(x, w):
        return vec(N, Real, lambda i: fori(T, Real, 0.5, lambda j, s: s * x[i] + w[iadd(N + T, i, j)] * s))

    f = fn([X, W], X, body)
    draw = Random(8)
    x, w = ([draw.uniform(-1, 1) for _ in range(n)] for n in (N, N + T))
    same(f, x, w)
    assert sum_of(found) == 1
    same(value_and_grad(total(f), [0, 1]), x, w)


@pytest.mark.parametrize("n", range(4, 13))
def test_any_number_of_iterations(n: int, monkeypatch) -> None:
    """Two pairs of them go on together, one pair, or one iteration by itself."""
    pairs = lane_loops.noted(monkeypatch, lambda of: of.pairs)
    V, ends = Vec(n, Real), Vec(n, struct({"kept": R, "end": Real}))

    def body(x, r):
        def orbit(i):
            _, kept = scan(T, Real, x[i], lambda s, j: (lambda y: [y, y])(s * x[i] - r[j]))
            return kept, fori(T, Real, 0.1, lambda j, s: 0.5 * s + kept[j] * kept[j])

        return vec(n, ends.elem, lambda i: dict(zip(("kept", "end"), orbit(i), strict=True)))

    f = fn([V, R], ends, body)
    draw = Random(n)
    x, r = [draw.uniform(-1, 1) for _ in range(n)], [draw.uniform(-1, 1) for _ in range(T)]
    same(f, x, r)
    assert 2 in pairs
    square = fn([V, R], Real, lambda x, r: (lambda y: sum(n, lambda i: y[i].end * y[i].kept[3]))(f(x, r)))
    same(value_and_grad(square, [0, 1]), x, r)
