"""Updates of vectors: the old value stays what it is, and takes no copy where nobody looks at it again."""

from __future__ import annotations

from random import Random

import pytest

from rose_core import (
    Real,
    Vec,
    compile,
    cond,
    fn,
    fori,
    iadd,
    imax,
    index,
    interp,
    isub,
    jvp,
    real,
    struct,
    sum,
    vec,
    vjp,
)
from rose_core.check import check
from rose_core.encode import MEMORY_COPY
from rose_core.expand import Expansion
from rose_core.program import Program

V4, V9 = Vec(4, Real), Vec(9, Real)


def same(f, *args):
    check(Expansion(f.func).root)
    value = interp(f)(*args)
    assert repr(compile(f)(*args)) == repr(value)
    return value


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
    """A turn of a loop must find the vector from outside as it was."""

    @fn
    def f(v: V4) -> Vec(4, V4):
        u = vec(4, Real, lambda k: v[k] * 2)
        return vec(4, V4, lambda i: u.set(i, real(i)))

    assert same(f, [1, 1, 1, 1]) == [[0, 2, 2, 2], [2, 1, 2, 2], [2, 2, 2, 2], [2, 2, 2, 3]]


def test_both_sides_of_a_choice():
    @fn
    def f(v: V4, x: Real) -> Vec(3, V4):
        u = vec(4, Real, lambda k: v[k] * 2)
        w = cond(x > 0, V4, lambda: u.set(0, x), lambda: u.set(1, x))
        y = cond(x > 1, V4, lambda: w.set(2, x), lambda: u)
        return [u, w, y]

    assert same(f, [1, 2, 3, 4], 2.0) == [[2, 4, 6, 8], [2, 4, 6, 8], [2, 4, 2, 8]]
    assert same(f, [1, 2, 3, 4], -1.0) == [[2, 4, 6, 8], [2, -1, 6, 8], [2, 4, 6, 8]]
