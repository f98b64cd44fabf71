"""Updates of vectors: the old value stays what it is, and takes no copy where nobody looks at it again."""

from __future__ import annotations

import math
import re
from itertools import product
from math import sin as sin_
from operator import mul
from random import Random

import pytest
from engines import same

from rose_core import (
    Real,
    Vec,
    abs,
    cond,
    fn,
    fori,
    gt,
    iadd,
    ieq,
    igt,
    imax,
    imod,
    index,
    inspect,
    interp,
    isub,
    jvp,
    log,
    min,
    real,
    select,
    sin,
    sqrt,
    struct,
    sum,
    vec,
    vjp,
    while_loop,
)
from rose_core.derivatives.expand import Expansion
from rose_core.encode import MEMORY_COPY
from rose_core.language.check import check
from rose_core.language.ir import ACCUM, SET
from rose_core.language.parse import parse
from rose_core.language.types import Array
from rose_core.optimise.sunk import sunk
from rose_core.wasm.program import Program
from rose_core.wasm.reuse import Overwriting, Updates

V4, V9 = Vec(4, Real), Vec(9, Real)


def copies(f):
    """How many instructions of a program copy arrays."""
    return Program(Expansion(f.func).root).bytes.count(MEMORY_COPY)


def test_an_update():
    f = fn([V4, 4], Vec(2, V4), lambda v, i: [v.set(i, 9.0), v])
    assert same(f, [1, 2, 3, 4], 2) == [[1, 2, 9, 4], [1, 2, 3, 4]]
    g = fn([Vec(3, V4), 3, 4], Vec(3, V4), lambda m, i, j: m.at[i, j].set(m[i][j] * 10).at[-1, 0].set(7))
    assert same(g, [[1, 2, 3, 4]] * 3, 1, 3) == [[1, 2, 3, 4], [1, 2, 3, 40], [7, 2, 3, 4]]
    Point = struct({"x": Real, "y": Real})
    h = fn([Vec(2, Point), 2], Vec(2, Point), lambda v, i: v.set(i, {"x": v[i].y, "y": 0.5}))
    assert same(h, [{"x": 1, "y": 2}, {"x": 3, "y": 4}], 1)[1] == {"x": 4, "y": 0.5}


def test_additions():
    """To one element, which may be a number, a vector or a struct, wherever it is."""
    Point = struct({"x": Real, "y": Vec(2, Real)})
    f = fn([Vec(3, V4), 3, 4], Vec(3, V4), lambda m, i, j: m.at[i, j].add(m[i][j]).at[-1].add([1, 2, 3, 4]))
    assert same(f, [[1, 2, 3, 4]] * 3, 1, 3) == [[1, 2, 3, 4], [1, 2, 3, 8], [2, 4, 6, 8]]
    g = fn([Vec(2, Point), 2], Vec(2, Point), lambda v, i: v.at[i].add({"x": 1, "y": v[0].y}))
    assert same(g, [{"x": 1, "y": [2, 3]}] * 2, 1)[1] == {"x": 2, "y": [4, 6]}
    h = fn([V4, 4], V4, lambda v, i: fori(3, V4, v, lambda _, s: s.at[i].add(s[i] * v[0])))
    assert same(h, [1, 2, 3, 4], 2) == [1, 2, 24, 4]
    assert copies(h) == copies(fn([V4, 4], V4, lambda v, i: v.set(i, 0.0)))
    third = fn([V4], V4, lambda v: h(v, 2))
    pullback = fn([V4, V4], V4, lambda v, w: vjp(third)(v).grad(w))
    assert same(pullback, [1, 2, 3, 4], [0, 0, 1, 0]) == [36, 0, 8, 0]


def test_places_that_are_none():
    for body, error, message in (
        (lambda v: v.at.set(1), TypeError, "at: expected an index"),
        (lambda v: v.at[0, 1].set(1), TypeError, "at: a symbolic Real has no elements"),
        (lambda v: v.at[4].add(1), IndexError, "4 is out of range"),
        (lambda v: v.at[0].add([1]), TypeError, "add: expected Real"),
    ):
        with pytest.raises(error, match=message):
            fn([V4], V4, body)


def trips(step, n=9):
    """A loop over neighbouring rows of a matrix, and its gradient."""
    M = Vec(n, V4)
    f = fn([M], M, lambda m: fori(n - 1, M, m, lambda i, s: step(iadd(n, i, 0), iadd(n, i, 1), s, M)))
    return f, fn([M, M], M, lambda m, w: vjp(f)(m).grad(w))


def mean(a, b):
    return vec(4, Real, lambda k: 0.75 * a[k] + 0.25 * b[k])


PAIRS = {
    "by each other": lambda i, j, m, _: m.set(i, mean(m[i], m[j])).set(j, mean(m[j], m[i])),
    "swapped": lambda i, j, m, _: m.set(i, m[j]).set(j, m[i]),
    "swapped where": lambda i, j, m, M: cond(
        m[i][1] > m[j][2], M, lambda: m.set(i, m[j]).set(j, m[i]), lambda: m
    ),
    "by rows read before": lambda i, j, m, M: rows_before(m[i], m[j], i, j, m, M),
    "one of the two": lambda i, j, m, M: cond(
        m[i][0] > 0.4, M, lambda: m.set(i, m[j]), lambda: m.set(j, m[i])
    ),
}


def rows_before(a, b, i, j, m, M):
    near = a[0] - b[0] < 0.3
    return cond(
        near, M, lambda: m.set(i, mean(a, b)).set(j, mean(b, vec(4, Real, lambda k: sin(a[k])))), lambda: m
    )


@pytest.mark.parametrize("name", PAIRS)
def test_two_rows_by_each_other(name):
    """Rows that are still to be read are copied, and not the matrix, neither on the way forward nor back."""
    f, gradient = trips(PAIRS[name])
    m, w = ([[sin_(k * (4 * i + j + 1)) for j in range(4)] for i in range(9)] for k in (1, 2))
    same(f, m)
    found = same(gradient, m, w)
    at_first = interp(fn([Vec(9, V4), Vec(9, V4)], Real, lambda m, w: dot(f(m), w)))
    h = 1e-6
    for i, j in ((0, 1), (4, 2), (8, 3)):
        up, down = (
            [[x + d * ((a, b) == (i, j)) for b, x in enumerate(row)] for a, row in enumerate(m)]
            for d in (h, -h)
        )
        assert found[i][j] == pytest.approx((at_first(up, w) - at_first(down, w)) / (2 * h), abs=1e-8)
    for g in (f, gradient):  # into the state of loops and out of it, in any number of iterations
        assert copies(g) <= 3
    assert not any(is_whole(f, ins) for f in reached(gradient)[1:] for ins in f.code)


def dot(m, w):
    return sum(9, lambda i: sum(4, lambda j: m[i][j] * w[i][j]))


def reached(f):
    """The functions of a program, what calls before what is called."""
    order = [Expansion(f.func).root]
    for g in order:
        order += [h for h in g.callees if h not in order]
    return order


def is_whole(f, ins):
    """Whether an instruction begins an accumulator of a matrix with zeros."""
    t = f.pool[~ins[1]][1] if ins[0] == ACCUM and ins[1] < 0 else None
    return isinstance(t, Array) and isinstance(t.elem, Array)


def test_what_comes_before_and_after():
    """Reads before an update see the old value, whatever the order in which they are needed."""

    @fn
    def f(v: V9, i: 9, j: 9) -> Vec(4, Real):
        u = vec(9, Real, lambda k: v[k] * 2)
        before, total = u[j], sum(9, lambda k: u[k])
        w = u.set(i, before + 1)
        x = w.set(j, total)
        return [x[i], x[j], before, total]

    assert same(f, [*range(9)], 3, 3) == [72, 72, 6, 72]
    assert same(f, [*range(9)], 3, 4) == [9, 72, 8, 72]
    assert copies(f) == 0


def test_the_old_value_is_used_again():
    @fn
    def f(v: V9, i: 9) -> Real:
        u = vec(9, Real, lambda k: v[k] + 1)
        w = u.set(i, 0.0)
        return sum(9, lambda k: w[k] * u[k]) + u[i]

    assert same(f, [1.0] * 9, 4) == 8 * 4 + 2


def sort(n):
    """Sorting by insertion, with a loop in a loop and a choice in it."""
    V = Vec(n, Real)

    def exchange(i, j, v):
        k = isub(n, i, j)
        before = isub(n, imax(n, k, 1), 1)
        a, b = v[before], v[k]
        return cond(a > b, V, lambda: v.set(before, b).set(k, a), lambda: v)

    return fn([V], V, lambda v: fori(n, V, v, lambda i, v: fori(i, V, v, lambda j, v: exchange(i, j, v))))


def test_versions():
    """Each keeps its own elements, whichever it was made from, and in whatever order they are read."""
    random = Random(3)
    size, count = 20, 40
    plan = [(random.choices(range(k + 1), k=2), random.choices(range(size), k=2)) for k in range(count)]

    def made(v, changed):
        versions = [v]
        for (old, read), (i, j) in plan:
            versions.append(changed(versions[old], i, versions[read][j] * 1.5))
        return versions

    start = [float(k) for k in range(1, size + 1)]
    V = Vec(size, Real)
    f = fn([V], Vec(count + 1, V), lambda v: made(v, lambda v, i, x: v.set(i, x)))
    assert same(f, start) == made(start, lambda v, i, x: [*v[:i], x, *v[i + 1 :]])


def test_sorting():
    f = sort(9)
    v = [3, 1, 4, 1.5, 5, 9, 2, 6, 5.5]
    assert same(f, v) == sorted(v)
    weights = [*range(9)]
    g = fn([V9], V9, lambda v: vjp(f)(v).grad(weights))
    assert same(g, v) == [sorted(v).index(x) for x in v]
    twice = fn([V9, V9], V9, lambda v, c: vjp(g)(v).grad(c))
    assert same(twice, v, weights) == [0] * 9
    # into the state of the loop, and out of it
    assert copies(sort(20)) == copies(sort(500)) == 2


def fibonacci(n):
    """The state of a loop is a table that is filled."""
    V = Vec(n, Real)

    def step(i, v):
        k = iadd(n, index(n - 2, i), 2)
        return v.set(k, v[isub(n, k, 1)] + v[isub(n, k, 2)] * v[0])

    return fn([Real], Real, lambda x: fori(n - 2, V, vec(n, Real, lambda i: x), step)[n - 1])


def test_a_table():
    f = fibonacci(9)
    assert same(f, 1.0) == 34
    assert copies(f) == 0
    h = 1e-6
    slope = same(fn([Real], Real, lambda x: vjp(f)(x).grad(1)), 1.1)
    run = interp(f)
    assert slope == pytest.approx((run(1.1 + h) - run(1.1 - h)) / (2 * h), rel=1e-8)
    assert slope == pytest.approx(same(jvp(f), {"re": 1.1, "du": 1.0}).du, rel=1e-13)


def test_rows_change_places():
    M = Vec(3, V4)

    @fn
    def f(m: M, i: 3, o: 3) -> M:
        n = vec(3, V4, lambda k: vec(4, Real, lambda j: m[k][j] + 1))
        a, b = n[i], n[o]
        return n.set(i, b).set(o, a)

    m = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
    assert same(f, m, 0, 2) == [[10, 11, 12, 13], [6, 7, 8, 9], [2, 3, 4, 5]]


def test_in_a_loop_over_the_old_value():
    """An iteration of a loop must find the vector from outside as it was."""

    @fn
    def f(v: V4) -> Vec(4, V4):
        u = vec(4, Real, lambda k: v[k] * 2)
        return vec(4, V4, lambda i: u.set(i, real(i)))

    assert same(f, [1, 1, 1, 1]) == [[0, 2, 2, 2], [2, 1, 2, 2], [2, 2, 2, 2], [2, 2, 2, 3]]


def test_a_loop_reads_the_old_value_and_gives_an_element_of_the_new_one():
    """It runs after the update, which must leave the old value as it is."""

    @fn
    def f(v: V4, i: 4, j: 4, x: Real) -> Vec(4, struct(new=Real, old=Real)):
        old = vec(4, Real, lambda k: v[k] * 2)
        new = old.set(i, x)[j]
        return vec(4, struct(new=Real, old=Real), lambda k: {"new": new, "old": old[k]})

    assert [row["old"] for row in same(f, [1, 2, 3, 4], 1, 2, 9.0)] == [2, 4, 6, 8]


WIDE = Vec(20, Vec(40, Real))

MADE_OF = {
    "of itself": (0, lambda m, i, k: vec(40, Real, lambda j: m[i][j] * 2)),
    "of another": (0, lambda m, i, k: vec(40, Real, lambda j: m[i][j] - m[k][j] / m[k][k] * m[i][k])),
    "of none": (0, lambda m, i, k: vec(40, Real, lambda j: real(j) / (real(i) + 1))),
    "of neighbours": (1, lambda m, i, k: vec(40, Real, lambda j: m[i][isub(40, 39, j)] * 2)),
    "of a column": (1, lambda m, i, k: vec(40, Real, lambda j: m[i][j] + m[imod(20, j)][k])),
    "of sums": (1, lambda m, i, k: vec(40, Real, lambda j: sum(40, lambda o: m[k][o] * m[i][j]))),
}
"""A row of a matrix that is made of others: how often it is copied, and how it is made."""


@pytest.mark.parametrize("name", MADE_OF)
def test_a_row_is_made_in_its_place(name: str) -> None:
    """But not where an iteration of the loop that makes it reads what other iterations write."""
    times, row = MADE_OF[name]

    def by(row):
        return fn([WIDE, 20], WIDE, lambda m, k: fori(20, WIDE, m, lambda i, m: m.set(i, row(m, i, k))))

    same(by(row), [[math.sin(7 * i + j) + 2 for j in range(40)] for i in range(20)], 7)
    of_state = 2
    assert copies(by(row)) == of_state + times


def test_a_row_of_what_is_changed():
    """Whoever changes a matrix finds the row as it was."""
    M = Vec(3, Vec(3, Real))

    def put(m, row, x):
        x = x + sum(3, lambda j: row[j])
        for _ in range(9):
            x = sin(x) + x
        return m.at[0, 0].set(x).at[0, 1].set(sum(3, lambda j: row[j] * x))

    whole = fn([M, Vec(3, Real), Real], M, put)

    def changed(step):
        def body(m, x):
            return step(vec(3, Vec(3, Real), lambda i: vec(3, Real, lambda j: m[i][j] * 2)), x)

        return fn([M, Real], M, body)

    for step in (
        lambda m, x: fori(3, M, m, lambda k, n: put(n, m[0], n[0][k] * x)),
        lambda m, x: cond(x > 1, M, lambda: put(m, m[0], x), lambda: put(m, m[1], x)),
        lambda m, x: whole(m, m[0], x),
        lambda m, x: whole(whole(m, m[1], x), m[0], x),
    ):
        for x in (0.5, 2.5):
            same(changed(step), [[1, 2, 3], [4, 5, 6], [7, 8, 9]], x)


def test_who_reads_an_array_by_many_ways_reads_it_once():
    def body(v, w, x):
        v = first = v.set(0, x)
        for k in range(12):
            v = select(x > k, V4, select(x < k, V4, v, w), select(x < 2 * k, V4, w, v))
        return first.set(1, x)[2] + v[3]

    root = Expansion(fn([V4, V4, Real], Real, body).func).root
    updates = Updates(root, Overwriting([]))
    assert len(updates.users(next(v for v, ins in enumerate(root.code) if ins[0] == SET))) < 50


def test_rows_that_a_matrix_is_made_of():
    """Neither changes with the other."""
    V = Vec(3, Real)
    M = Vec(2, V)

    def change(m, row, x):
        for _ in range(9):
            x = sin(x) + x
        return m.at[0, 0].set(x + sum(3, lambda j: row[j])).at[1, 1].set(row[0] * x)

    put = fn([M, V, Real], M, change)

    def rows(x):
        return [vec(3, Real, lambda i, k=k: x * (real(i) + k)) for k in range(2)]

    def read_later(x):
        a, b = rows(x)
        m = put(put(vec(2, V, [a, b]), b, x), a, x)
        return [m, put(vec(2, V, [b, b]), b, x)]

    def changed_later(x):
        a, b = rows(x)
        m = put(vec(2, V, [a, b]), b, x)
        return {"cube": vec(2, M, [m, vec(2, V, [b, a])]), "m": m.at[0, 1].set(x)}

    same(fn([Real], Vec(2, M), read_later), 2.0)
    same(fn([Real], struct({"cube": Vec(2, M), "m": M}), changed_later), 2.0)


def test_a_call_changes_what_nobody_needs_any_more():
    M = Vec(9, V9)

    @fn
    def step(m: M, k: 9) -> M:
        x = m[k][0]
        for _ in range(9):
            x = sin(x) + m[0][k]
        return m.at[k, 1].set(x * x)

    f = fn([M], M, lambda m: fori(9, M, m, lambda k, m: step(step(m, k), 0)))
    m = [[0.1 * i * j for j in range(9)] for i in range(9)]
    same(f, m)
    assert copies(f) == 2  # into the state of the loop, and out of it
    both = fn([M], Vec(2, M), lambda m: (lambda n: [n, step(n, 3)])(step(m, 1)))
    same(both, m)


def test_elements_of_arrays_of_matrices():
    """They are changed where they are, however many indices there are, unless others are read meanwhile."""
    T = Vec(3, Vec(3, V9))

    def table(step):
        return fn([T], T, lambda t: fori(3, T, t, step))

    def alone(i, t):
        return t.at[i, i, 2].set(sin(t[0][i][2])).at[2, i].add(t[i][0])

    def between(i, t):
        row = t[i][1].set(0, 9.0)
        other = t[i][imod(3, iadd(9, i, 1))]
        plane = t[i].set(1, row)
        return t.set(i, plane).at[2, 2].add(vec(9, Real, lambda k: other[k] * row[0]))

    x = [[[0.1 * (i + j) * k for k in range(9)] for j in range(3)] for i in range(3)]
    same(table(alone), x)
    same(table(between), x)
    assert copies(table(lambda i, t: t.at[i, i, 2].set(sin(t[0][i][2])))) == 2  # the state's


def test_a_row_that_nobody_reads():
    M = Vec(9, V9)
    f = fn([M], M, lambda m: fori(9, M, m, lambda k, m: (m[k], m.at[k, 1].set(sin(m[0][k])))[1]))
    g = fn([M, M], M, lambda m, c: vjp(f)(m).grad(c))
    m = [[0.1 * i * j for j in range(9)] for i in range(9)]
    same(g, m, m)


def test_both_sides_of_a_choice():
    @fn
    def f(v: V4, x: Real) -> Vec(3, V4):
        u = vec(4, Real, lambda k: v[k] * 2)
        w = cond(x > 0, V4, lambda: u.set(0, x), lambda: u.set(1, x))
        y = cond(x > 1, V4, lambda: w.set(2, x), lambda: u)
        return [u, w, y]

    assert same(f, [1, 2, 3, 4], 2.0) == [[2, 4, 6, 8], [2, 4, 6, 8], [2, 4, 2, 8]]
    assert same(f, [1, 2, 3, 4], -1.0) == [[2, 4, 6, 8], [2, -1, 6, 8], [2, 4, 6, 8]]


def changed_in_trips(n: int, trips: int, seed: int):
    """A loop that changes some elements of its state in each iteration, by what it reads of it; the same
    here.
    """
    draw = Random(seed)
    count = draw.randint(1, 3)
    plan = [
        (draw.choice(["set", "add"]), *(draw.randrange(n) for _ in range(4)), draw.uniform(-1, 1))
        for _ in range(count)
    ]
    late = draw.random() < 0.5

    def step(i: int, x, place, wave, put, add):
        old = x
        for kind, a, b, c, d, weight in plan:
            seen = old if late else x
            y = wave(seen[place(i, a)] * weight + seen[place(i, b)]) * seen[place(i, c)]
            x = put(x, place(i, d), y) if kind == "set" else add(x, place(i, d), y)
        return x

    def here(x: list[float]) -> float:
        for i in range(trips):
            x = step(
                i,
                x,
                lambda i, k: (i + k) % n,
                math.sin,
                lambda x, k, y: [*x[:k], y, *x[k + 1 :]],
                lambda x, k, y: [*x[:k], x[k] + y, *x[k + 1 :]],
            )
        return math.fsum(v * v for v in x)

    def there(x):
        def iteration(i, x):
            return step(
                i,
                x,
                lambda i, k: imod(n, iadd(trips + n, i, k)),
                sin,
                lambda x, k, y: x.set(k, y),
                lambda x, k, y: x.at[k].add(y),
            )

        x = fori(trips, Vec(n, Real), x, iteration)
        return sum(n, lambda k: x[k] * x[k])

    return here, fn([Vec(n, Real)], Real, there)


@pytest.mark.parametrize("seed", range(12))
def test_the_gradient_of_a_loop_that_changes_its_state(seed: int) -> None:
    n, trips = 24, 30
    here, f = changed_in_trips(n, trips, seed)
    draw = Random(seed)
    x = [draw.uniform(-1, 1) for _ in range(n)]
    assert same(f, x) == pytest.approx(here(x), rel=1e-12)
    slope = same(fn([Vec(n, Real)], Vec(n, Real), lambda x: vjp(f)(x).grad(1)), x)
    step = 1e-5
    for k in range(0, n, 5):
        low, high = ([*x[:k], x[k] + d, *x[k + 1 :]] for d in (-step, step))
        assert slope[k] == pytest.approx((here(high) - here(low)) / (2 * step), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("seed", range(12))
def test_a_backward_iteration_touches_what_the_iteration_has_changed(seed: int) -> None:
    """Of a state of any size: it is not kept, filled, added up, or copied unless forward, as a whole."""
    n = 100
    _, f = changed_in_trips(n, 30, seed)
    root = Expansion(fn([Vec(n, Real)], Vec(n, Real), lambda x: vjp(f)(x).grad(1)).func).root
    for g in root.callees:
        arrays = [t for t in (*g.params, *g.result_types) if isinstance(t, Array)]
        assert not any(isinstance(t.elem, Array) for t in arrays)
        assert not any(ins[0] == ACCUM and ins[1] < 0 for ins in g.code)
    # of which there is one more: into the state of the loop
    assert copies(fn([Vec(n, Real)], Vec(n, Real), lambda x: vjp(f)(x).grad(1))) == copies(f) + 1


def test_the_gradient_of_a_loop_that_changes_a_matrix() -> None:
    """Rows and elements of it, of which some are read."""
    n, trips = 6, 9
    M = Vec(n, Vec(n, Real))

    def here(m):
        m = [list(row) for row in m]
        for i in range(trips):
            j, k = i % n, (i + 1) % n
            m[j][k] = math.sin(m[j][k] * m[k][j])
            m[k] = [0.5 * a * b for a, b in zip(m[j], m[k], strict=True)]
            m[j][j] += m[k][j] * m[0][0]
        return math.fsum(x * x for row in m for x in row)

    def there(m):
        def iteration(i, m):
            j, k = imod(n, i), imod(n, iadd(trips + 1, i, 1))
            m = m.at[j, k].set(sin(m[j][k] * m[k][j]))
            row = vec(n, Real, lambda c: 0.5 * m[j][c] * m[k][c])
            m = m.set(k, row)
            return m.at[j, j].add(m[k][j] * m[0][0])

        m = fori(trips, M, m, iteration)
        return sum(n, lambda a: sum(n, lambda b: m[a][b] * m[a][b]))

    f = fn([M], Real, there)
    start = [[0.9 * math.cos(a * n + b) for b in range(n)] for a in range(n)]
    assert same(f, start) == pytest.approx(here(start), rel=1e-12)
    slope = same(fn([M], M, lambda m: vjp(f)(m).grad(1)), start)
    for a, b in [(0, 0), (1, 2), (3, 3), (5, 0), (2, 4)]:
        low, high = (
            here([[x + d * ((p, q) == (a, b)) for q, x in enumerate(row)] for p, row in enumerate(start)])
            for d in (-1e-5, 1e-5)
        )
        assert slope[a][b] == pytest.approx((high - low) / 2e-5, rel=1e-6, abs=1e-8)


def eliminated(n, M):
    """Gaussian elimination, of rows: the logarithm of the determinant."""

    def body(a):
        def row(i, k, m):
            factor = m[i][k] / m[k][k]
            return m.set(i, vec(n, Real, lambda j: m[i][j] - factor * m[k][j]))

        def column(k, m):
            return fori(n, M, m, lambda i, m: cond(igt(n, i, k), M, lambda: row(i, k, m), lambda: m))

        m = fori(n, M, a, column)
        return sum(n, lambda i: log(abs(m[i][i])))

    return fn([M], Real, body)


def cholesky(n, M):
    """Of elements, which other choices and loops read: the logarithm of the determinant."""

    def body(a):
        def element(i, j, m):
            rest = a[i][j] - fori(n, Real, 0.0, lambda k, s: s + m[i][k] * m[j][k])
            return m.at[i, j].set(cond(ieq(n, i, j), Real, lambda: sqrt(rest), lambda: rest / m[j][j]))

        def row(i, m):
            return fori(n, M, m, lambda j, m: cond(igt(n, j, i), M, lambda: m, lambda: element(i, j, m)))

        zeros = vec(M.index.size, M.elem, lambda i: vec(n, Real, lambda j: 0.0))
        m = fori(n, M, zeros, row)
        return 2.0 * sum(n, lambda i: log(m[i][i]))

    return fn([M], Real, body)


def pivoted(n, M):
    """As `eliminated`, by rows that change places: which one is up next, the matrix says itself."""

    def body(a):
        def column(k, m):
            def larger(i, best):
                return select(gt(abs(m[imax(n, i, k)][k]), abs(m[best][k])), imax(n, i, k), best)

            p = fori(n, n, k, larger)
            m = m.set(k, m[p]).set(p, m[k])

            def row(i, m):
                by = m[i][k] / m[k][k]
                return m.set(i, vec(n, Real, lambda j: m[i][j] - by * m[k][j]))

            return fori(n, M, m, lambda i, m: cond(igt(n, i, k), M, lambda: row(i, m), lambda: m))

        m = fori(n, M, a, column)
        return sum(n, lambda i: log(abs(m[i][i])))

    return fn([M], Real, body)


def orthogonal(n, M):
    """By Gram and Schmidt, of each row what is left of it; the logarithm of the determinant."""

    def body(a):
        def without(i, j, q):
            s = sum(n, lambda k: q[i][k] * q[j][k]) / sum(n, lambda k: q[j][k] * q[j][k])
            return q.set(i, vec(n, Real, lambda k: q[i][k] - s * q[j][k]))

        def row(i, q):
            return fori(n, M, q, lambda j, q: cond(igt(n, i, j), M, lambda: without(i, j, q), lambda: q))

        q = fori(n, M, a, row)
        return 0.5 * sum(n, lambda i: log(sum(n, lambda k: q[i][k] * q[i][k])))

    return fn([M], Real, body)


def called(n, M):
    """As `eliminated`, but for a little that makes functions too long to be in line."""

    def bent(x):
        for _ in range(12):
            x = x + 0.01 * sin(x)
        return x

    @fn
    def factor(i: n, k: n, m: M) -> Real:
        return bent(m[i][k]) / m[k][k]

    @fn
    def row(i: n, k: n, m: M) -> M:
        by = bent(factor(i, k, m))
        return m.set(i, vec(n, Real, lambda j: m[i][j] - by * m[k][j]))

    def body(a):
        def column(k, m):
            return fori(n, M, m, lambda i, m: cond(igt(n, i, k), M, lambda: row(i, k, m), lambda: m))

        m = fori(n, M, a, column)
        return sum(n, lambda i: log(abs(m[i][i])))

    return fn([M], Real, body)


@pytest.mark.parametrize("program", [eliminated, cholesky, pivoted, orthogonal, called])
def test_factorings_cost_what_they_do(program) -> None:
    """No iteration keeps the matrix, or adds to all of its cotangent.

    It has a row that is not used, to be told from the rows that iterations in iterations keep.
    """
    n = 5
    M = Vec(n + 1, Vec(n, Real))
    a = [[(n if i == j else 0.0) + math.cos(i - j) for j in range(n)] for i in range(n)]
    if program is pivoted:
        a.reverse()
    a.append([1.0] * n)
    f = program(n, M)
    gradient = fn([M], M, lambda m: vjp(f)(m).grad(1))
    slope = same(gradient, a)
    for i, j in product(range(n + 1), range(n)):  # which is the inverse, though Cholesky's looks at a half
        low, high = (
            same(f, [[x + d * ((p, q) == (i, j)) for q, x in enumerate(row)] for p, row in enumerate(a)])
            for d in (-1e-5, 1e-5)
        )
        assert slope[i][j] == pytest.approx((high - low) / 2e-5, rel=1e-6, abs=1e-8)
    trips = inspect(gradient).ir.rpartition("\ndef ")[0]
    assert "[?][6][5]Real" not in trips and "[5][6][5]Real" not in trips
    assert "from [for _: 6, [for _: 5, 0.0]]" not in trips


def test_an_iteration_keeps_of_what_it_reads_much_of_only_what_it_writes_over() -> None:
    """A number of each element, and no row: the matrix goes back with the iterations."""
    n = 5
    M = Vec(n, Vec(n, Real))
    gradient = fn([M], M, lambda m: vjp(cholesky(n, M))(m).grad(1))
    assert "[5][5][5]Real" not in inspect(gradient).ir


def read_in_trips(n: int, step):
    """A loop in a loop, of which each iteration of the inner one reads all of a vector."""
    V = Vec(n, Real)

    def body(x):
        x = fori(
            3, V, x, lambda t, x: fori(n, V, x, lambda i, x: step(t, i, x, sum(n, lambda k: x[k] * x[k])))
        )
        return sum(n, lambda k: (1.0 + 0.1 * real(k)) * x[k])

    return fn([V], Real, body)


def of_before(t, i, x, s):
    """What was there before the update is looked at after it."""
    y = x.set(i, 0.1 * sin(s) + x[i])
    return y.at[imod(len(X24), iadd(99, i, 5))].add(0.01 * sum(len(X24), lambda k: x[k] * y[k]))


def where_it_says(t, i, x, s):
    """The array itself says where."""
    n = len(X24)
    p = fori(n, n, i, lambda k, best: select(gt(x[k], x[best]), k, best))
    return x.set(p, 0.5 * sin(x[p]) + 0.01 * s)


def in_a_choice(t, i, x, s):
    """In one side or in both, once or twice."""
    n = len(X24)
    V = Vec(n, Real)
    x = cond(gt(x[i], 0.2), V, lambda: x.set(i, 0.9 * sin(s * x[i])), lambda: x)
    j = imod(n, iadd(99, i, 7))
    return cond(
        gt(x[j], 0.0),
        V,
        lambda: x.set(j, x[j] * 0.5 + 0.02 * s).set(i, x[j]),
        lambda: x.at[i].add(0.01 * s * x[j]),
    )


def as_long_as(t, i, x, s):
    """A loop in between that ends when the array says so."""
    n = len(X24)
    state = {"x": Vec(n, Real), "k": n}
    i = imod(n, iadd(99, i, 1))
    return while_loop(
        state,
        {"x": x, "k": i},
        lambda c: gt(c.x[c.k], 0.3),
        lambda c: {
            "x": c.x.set(c.k, 0.5 * c.x[c.k] + 0.001 * sum(n, lambda k: c.x[k] * c.x[k])),
            "k": imod(n, iadd(99, c.k, 1)),
        },
        limit=50,
    ).x


def not_at_all(t, i, x, s):
    """Sums of it alone, of which no derivative needs it."""
    return x.set(i, 0.1 * sum(len(X24), lambda k: (1.0 + 0.1 * real(k)) * x[k]))


X24 = [0.5 * math.sin(3.0 * k) for k in range(24)]


@pytest.mark.parametrize("step", [of_before, where_it_says, in_a_choice, as_long_as, not_at_all])
def test_updates_are_taken_back(step) -> None:
    n = len(X24)
    f = read_in_trips(n, step)
    V = Vec(n, Real)
    gradient = fn([V], V, lambda x: vjp(f)(x).grad(1))
    slope = same(gradient, X24)
    direction = [math.cos(5.0 * k) for k in range(n)]
    along = same(jvp(f), [{"re": x, "du": d} for x, d in zip(X24, direction, strict=True)]).du
    assert math.fsum(map(mul, slope, direction)) == pytest.approx(along, rel=1e-11)
    twice = same(jvp(gradient), [{"re": x, "du": d} for x, d in zip(X24, direction, strict=True)])
    h = 1e-5
    low, high = (
        same(gradient, [x + s * h * d for x, d in zip(X24, direction, strict=True)]) for s in (-1, 1)
    )
    for k in range(n):
        assert twice[k].du == pytest.approx((high[k] - low[k]) / (2 * h), rel=1e-6, abs=1e-7)
    code = inspect(gradient).ir
    outer = code.rpartition("\ndef ")[0].rpartition("\ndef ")[2].partition(" =\n")[0]
    goes_along = outer.endswith(": ([24]Real, [24]Real)")  # with its cotangent
    assert goes_along == (step is not not_at_all)
    assert "[24][24]Real" not in code and "[?][24]Real" not in code


def test_elements_of_a_row_change_places() -> None:
    """Where a row is updated and read again before the next update, it stays in its matrix."""
    n = 40  # a row has its own instruction to be copied
    M = Vec(n, Vec(n, Real))

    def swapped(s, i, j):
        k = imod(n, iadd(n + 1, j, 1))
        t = s.at[i, j].set(2 * s[i][k])
        return t.at[i, k].set(s[i][j] + t[i][j] * t[i][n - 1])

    f = fn([M], M, lambda m: fori(n, M, m, lambda i, s: fori(n, M, s, lambda j, s: swapped(s, i, j))))
    m = [[math.sin(7 * i + j) for j in range(n)] for i in range(n)]
    expected = [[*row] for row in m]
    for row in expected:
        for j in range(n):
            k = (j + 1) % n
            old, row[j] = row[j], 2 * row[k]
            row[k] = old + row[j] * row[n - 1]
    assert same(f, m) == expected
    assert copies(f) == 2  # into the state of the loop, and out of it


def test_of_shortest_ways_one_number_is_kept_of_an_iteration() -> None:
    """What an update writes over; what else it reads is in the matrix, in the row that is updated as well."""
    n = 20
    M = Vec(n, Vec(n, Real))

    def shorter(s, k, i, j):
        return s.at[i, j].set(min(s[i][j], s[i][k] + s[k][j]))

    def f(m):
        def ways(k, s):
            return fori(n, M, s, lambda i, s: fori(n, M, s, lambda j, s: shorter(s, k, i, j)))

        s = fori(n, M, m, ways)
        return sum(n, lambda i: sum(n, lambda j: s[i][j]))

    f = fn([M], Real, f)
    gradient = fn([M], M, lambda m: vjp(f)(m).grad(1))
    m = [[1.5 + math.sin(7 * i * i + 3 * j) for j in range(n)] for i in range(n)]
    slope = same(gradient, m)
    h = 1e-6
    for i, j in product((3, 11), (5, 11)):
        low, high = ([[*row] for row in m] for _ in range(2))
        low[i][j] -= h
        high[i][j] += h
        assert slope[i][j] == pytest.approx((same(f, high) - same(f, low)) / (2 * h), abs=1e-6)
    code = inspect(gradient).ir
    assert "def fwd_body(x0: 20, x1: [20][20]Real, x2: 20, x3: 20): ([20][20]Real, Real) =" in code
    assert copies(gradient) == copies(f) + 2  # of the matrix, and its cotangent


def of_choices(n: int, count: int):
    """So many choices, one after another, of which each changes an element of a vector or leaves it."""
    V = Vec(n, Real)

    def f(x):
        s = x
        for k in range(count):
            i, j = 3 * k % n, (5 * k + 1) % n
            s = cond(s[j] > 0, V, lambda s=s, i=i, j=j: s.set(i, s[i] * s[j]), lambda s=s: s)
        return sum(n, lambda i: s[i] * s[i])

    return fn([V], Real, f)


def of_calls(n: int, count: int):
    """The same by calls."""
    V = Vec(n, Real)
    step = fn(
        [V, n, n], V, lambda s, i, j: s.set(i, sin(s[i]) * cond(s[j] > 0, Real, lambda: s[j], lambda: 1.5))
    )

    def f(x):
        s = x
        for k in range(count):
            s = step(s, 3 * k % n, (5 * k + 1) % n)
        return sum(n, lambda i: s[i] * s[i])

    return fn([V], Real, f)


def of_small_loops(n: int, count: int):
    """A factoring of a small matrix, element by element, of which loops are written out."""
    M, V = Vec(count, Vec(count, Real)), Vec(n, Real)

    def f(x):
        def rest(a, k, i, f):
            return fori(
                count, M, a, lambda j, a: cond(j > k, M, lambda: a.at[i, j].add(-f * a[k][j]), lambda: a)
            )

        def row(a, k, i):
            f = a[i][k] / a[k][k]
            return rest(a.at[i, k].set(f), k, i, f)

        start = vec(
            count,
            Vec(count, Real),
            lambda i: vec(count, Real, lambda j: sin(x[imod(n, i * 3 + j)] + real(i))),
        )
        a = fori(
            count,
            M,
            start,
            lambda k, a: fori(count, M, a, lambda i, a: cond(i > k, M, lambda: row(a, k, i), lambda: a)),
        )
        return sum(count, lambda i: a[i][i])

    return fn([V], Real, f)


@pytest.mark.parametrize("of", [of_choices, of_calls, of_small_loops])
def test_choices_one_after_another_change_a_cotangent_in_its_place(of) -> None:
    """What each of them takes back does not depend on how long the array is."""
    n, count = 20, 5
    f = of(n, count)
    V = Vec(n, Real)
    gradient = fn([V], V, lambda x: vjp(f)(x).grad(1))
    x = [math.cos(k * k) for k in range(n)]
    slope = same(gradient, x)
    direction = [math.cos(5.0 * k) for k in range(n)]
    along = same(jvp(f), [{"re": a, "du": d} for a, d in zip(x, direction, strict=True)]).du
    assert math.fsum(map(mul, slope, direction)) == pytest.approx(along, rel=1e-11)
    code = inspect(gradient).ir
    zeros = re.findall(r"accum (?:\w+ from )?\[for", code)
    assert len(zeros) <= 2  # where the cotangent comes from, and where it goes to


ROWS = """
def row (r: [2]Real): Real = r[1]
def last (a: [3][2]Real): Real = let r = a[2] in row(r)
def first (b: [5][2]Real): Real = let r = b[0] in row(r)
def f (a: [3][2]Real, b: [5][2]Real, i: 3, j: 5, p: Bool): Real =
  let r = a[i] in
  let s = b[j] in
  let x = if p then row(r) else last(a) in
  let y = if p then row(s) else first(b) in
  x × y
"""


def test_a_side_of_several_choices_reads_rows_of_arrays_of_each_type() -> None:
    check(sunk(parse(ROWS)["f"]))
