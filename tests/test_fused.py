"""Loops that share what they compute become one: values are the same to the bit, and gradients agree."""

from __future__ import annotations

import math
from collections import Counter
from random import Random

import pytest
from engines import outcome, same
from random_nests import RandomNest
from random_programs import flat
from test_extremes import forward, points, slopes
from unchanged import assert_unchanged

from rose_core import Real, Vec, compile, exp, fn, imod, interp, real, sin, sqrt, vec
from rose_core import sum as total
from rose_core.derivatives import expand
from rose_core.derivatives.expand import Expansion
from rose_core.errors import note
from rose_core.language import interp as interpreter
from rose_core.language.check import check
from rose_core.language.flatten import flatten
from rose_core.language.parse import parse
from rose_core.optimise import fused
from rose_core.optimise.single import calling

N = 12
P, V = Vec(N, Vec(2, Real)), Vec(N, Real)


@pytest.fixture
def apart(monkeypatch):
    """Leaves all loops as they are from then on."""
    return lambda: monkeypatch.setattr(expand, "fused", lambda f: f)


def loops(f) -> int:
    """How many loops there are in ``f``."""
    root = Expansion(f.func).root
    check(root)
    return len(root.blocks) - 1


def squared(p, i, j):
    return 0.01 + (p[j][0] - p[i][0]) * (p[j][0] - p[i][0]) + (p[j][1] - p[i][1]) * (p[j][1] - p[i][1])


def forces(p):
    """Of all points: their components are sums of their own."""

    def force(i, k):
        def term(j):
            r = squared(p, i, j)
            return (p[j][k] - p[i][k]) / (r * sqrt(r))

        return total(N, term)

    return vec(N, Vec(2, Real), lambda i: [force(i, 0), force(i, 1)])


def of_forces(p):
    f = forces(p)
    return total(N, lambda i: f[i][0] * f[i][1])


def of_components(p):
    """The same in a loop around the sums, with distances that are sums."""

    def force(i, k):
        def term(j):
            r = 0.01 + total(2, lambda q: (p[j][q] - p[i][q]) * (p[j][q] - p[i][q]))
            return (p[j][k] - p[i][k]) / (r * sqrt(r))

        return total(N, term)

    f = vec(N, Vec(2, Real), lambda i: vec(2, Real, lambda k: force(i, k)))
    return total(N, lambda i: f[i][0] * f[i][1])


def of_rows(p):
    """Sums that have nothing in common, in a short loop."""
    return total(2, lambda k: total(N, lambda i: p[i][k] * p[i][0]) * p[0][k])


def of_vectors(p):
    """Two vectors, and a number from between them."""
    u = vec(N, Real, lambda i: exp(p[i][0] * p[i][1]) + p[i][0])
    c = p[0][0] * p[1][1]
    w = vec(N, Real, lambda i: exp(p[i][0] * p[i][1]) * c)
    return total(N, lambda i: u[i] * w[i])


def of_grids(p):
    """Loops in loops."""
    u = vec(N, V, lambda i: vec(N, Real, lambda j: sin(p[i][0] * p[j][1]) * p[j][0]))
    w = vec(N, V, lambda i: vec(N, Real, lambda j: sin(p[i][0] * p[j][1]) - p[i][1]))
    return total(N, lambda i: u[i][imod(N, i)] * w[i][0])


def of_three(p):
    """Three sums, the second of them of the first."""
    a = total(N, lambda i: exp(p[i][0] * p[i][1]))
    b = total(N, lambda i: exp(p[i][0] * p[i][1]) * a)
    c = total(N, lambda i: exp(p[i][0] * p[i][1]) * p[i][0])
    return a * b * c


def of_polygon(p):
    """Its area and perimeter, which have in common what they read, and nothing that is computed."""

    def along(term):
        return total(N, lambda i: term(p[i], p[imod(N, i + 1)]))

    area = along(lambda a, b: a[0] * b[1] - b[0] * a[1])
    return area / along(lambda a, b: sqrt((b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1])))


def of_scores(p):
    """Sums of the same sums: of these, one of two is what nobody asks for any more."""
    score = lambda i: exp(total(N, lambda k: p[i][0] * p[k][1]))  # noqa: E731
    return total(N, score) / total(N, lambda i: score(i) * p[i][0])


def of_mean(p):
    """Sums that need each other."""
    m = total(N, lambda i: exp(p[i][0]) * p[i][1]) / N
    return total(N, lambda i: exp(p[i][0]) * p[i][1] * (p[i][0] - m))


def of_sizes(p):
    return total(N, lambda i: exp(p[i][0])) * total(N - 1, lambda i: exp(p[imod(N, i)][0]))


def of_little(p):
    return total(N, lambda i: p[i][0] * p[i][1]) * total(N, lambda i: p[i][0] * p[i][1] + p[i][0])


PROGRAMS = {
    of_forces: (4, 3),
    of_components: (5, 3),
    of_vectors: (3, 2),
    of_grids: (5, 3),
    of_three: (3, 2),
    of_polygon: (2, 1),
    of_scores: (4, 3),
}
"""Programs, how many loops are written in them, and how many there are then."""


@pytest.mark.parametrize("body", PROGRAMS)
def test_loops_that_become_one(body, apart) -> None:
    args = (points(N, 1),)
    found, fewer = PROGRAMS[body][::-1]
    f = fn([P], Real, body)
    assert loops(f) == found
    value, slope = compile(f)(*args), slopes(f, args)
    assert repr(value) == repr(interp(f)(*args))
    assert slope == pytest.approx(forward(f, args), rel=1e-12, abs=1e-13)
    apart()
    g = fn([P], Real, body)
    assert loops(g) == fewer
    assert repr(compile(g)(*args)) == repr(value)
    assert slopes(g, args) == pytest.approx(slope, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("body", [of_mean, of_sizes, of_little, of_rows])
def test_loops_that_stay(body) -> None:
    f = fn([P], Real, body)
    assert loops(f) == 2
    args = (points(N, 1),)
    assert slopes(f, args) == pytest.approx(forward(f, args), rel=1e-12, abs=1e-13)


def corners(depth: int):
    """A sum over all corners of a cube of so many dimensions."""

    def along(k, x, p, i):
        return total(2, lambda i: along(k - 1, x, p * real(i), i)) if k else sin(x * real(i)) * p

    return fn([Real], Real, lambda x: along(depth, x, x, 0))


def test_what_loops_in_each_other_are_written_out_to_has_a_limit() -> None:
    rows = [len(Expansion(corners(depth).func).root.code) for depth in (6, 9, 12)]
    assert rows[2] - rows[1] == rows[1] - rows[0]


@pytest.mark.parametrize("seeds", [range(k, k + 8) for k in range(0, 160, 8)], ids=str)
def test_random_nests(seeds, apart, monkeypatch) -> None:
    """Where everything is put together that can be."""
    monkeypatch.setattr(fused, "LEAST_SHARED", -1)
    assert_unchanged(seeds, outcomes, apart, rel=1e-9, abs=1e-11, nan_ok=True)


def outcomes(seed):
    nest = RandomNest(seed)
    return same(nest.value, *nest.args), flat(same(nest.grad, *nest.args))


def of_statements(seed: int):
    """Additions to two sums, and loops of such which all have something in common, and may fail."""
    draw = Random(seed)

    def statement() -> str:
        to = draw.choice("pq")
        if draw.random() < 0.3:
            return f"let _ = {to} += {draw.choice(['1e16', '-1e16', 'x[5]'])} in"
        value = draw.choice(["e", "e × 1e16", "e × y[i]"])
        text = draw.choice(["one has {x}", "another has {x}"])
        at = f"let k: 6 = index(z[i], 6, {note(text)}) in" if draw.random() < 0.3 else "let k = i in"
        return f"let _ = [for i: 6, let e = exp(x[i] × y[i]) in {at} {to} += x[k] × ({value})] in"

    statements = " ".join(statement() for _ in range(draw.randrange(2, 7)))
    start = draw.choice(["0.0", "x[0]"])
    if draw.random() < 0.6:
        return parsed(f"accum p from 0.0 in (accum q from {start} in ({statements} ()))")
    call = draw.choice(["add(p, q, x, y, z)", "add(p, p, x, y, z)"])
    return parsed(f"accum p from 0.0 in (accum q from {start} in {call})", statements)


def parsed(body: str, statements: str = ""):
    """A function that gives two sums, and may call another one that takes these."""
    vectors = "x: [6]Real, y: [6]Real, z: [6]Real"
    source = f"""def add(p: &Real, q: &Real, {vectors}): () = {statements} ()
def f({vectors}): (Real, (Real, ())) = {body}"""
    return flatten(parse(source)["f"])


def test_sums_that_several_loops_add_to() -> None:
    """Each gets what it got, in the same order, and what failed first still does. Also two that are one."""
    x, y = [math.sin(k) for k in range(6)], [math.cos(k) for k in range(6)]
    fewer, failed = Counter(), 0
    for seed in range(300):
        f = of_statements(seed)
        g = calling(fused.fused(f), [*map(fused.fused, f.callees)])
        for one, other in zip((f, *f.callees), (g, *g.callees), strict=True):
            check(other)
            fewer[one.name] += len(other.blocks) < len(one.blocks)
        for z in ([5.0, 0, 1, 4, 2, 3], [0.0, 1, seed % 9, 2, 5, 7]):
            before, after = (outcome(lambda *x, f=f: interpreter.call(f, [*x]), x, y, z) for f in (f, g))
            assert repr(after) == repr(before)
            failed += isinstance(after, str)
    assert fewer["f"] > 50 and failed > 50


@pytest.mark.parametrize("within", [False, True])
def test_what_may_be_one_of_two_sums_is_both(within: bool) -> None:
    """As in reverse mode, where one of two vectors is chosen."""
    chosen = "let r = c > x[0] ? p : q in"
    before, inside = ("", chosen) if within else (chosen, "")
    source = f"""
        def f(x: [6]Real, c: Real): (Real, (Real, ())) =
          accum p from 0.0 in (accum q from 0.0 in (
            {before}
            [for i: 6, {inside} let y = sin(exp(x[i])) in r += y];
            [for i: 6, let y = sin(exp(x[i])) in p += y * 0.3];
            ()))"""
    f = flatten(parse(source)["f"])
    x = [math.sin(3 * k) for k in range(6)]
    assert len(fused.fused(f).blocks) == len(f.blocks)
    for c in 0.0, 1.0:
        assert interpreter.call(fused.fused(f), [x, c]) == interpreter.call(f, [x, c])
