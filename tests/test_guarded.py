"""Sums over indices that a comparison chooses run over these alone, and have derivatives."""

from __future__ import annotations

import math

import pytest
from differences import assert_derivatives, gradient
from engines import outcome, same, same_outcome

from rose_core import (
    Real,
    Vec,
    compile,
    cond,
    exp,
    fn,
    grad,
    hessian,
    iadd,
    ieq,
    index,
    inspect,
    interp,
    opaque,
    select,
    sin,
    sqrt,
    sum,
    vec,
    vjp,
)
from rose_core.derivatives import expand
from rose_core.language.check import check
from rose_core.language.flatten import flatten
from rose_core.language.parse import parse
from rose_core.tracing.functions import Function

N = 6
V = Vec(N, Real)
P = Vec(N, Vec(2, Real))
X = [0.7, -0.4, 1.1, 0.3, -0.9, 0.2]
POINTS = [[math.cos(k), math.sin(2 * k)] for k in range(N)]


def inverse_distance(p, i, j):
    x, y = p[i][0] - p[j][0], p[i][1] - p[j][1]
    return 1.0 / sqrt(x * x + y * y)


def pairs(term):
    return fn([P], Real, lambda p: sum(N, lambda i: sum(N, lambda j: term(p, i, j))))


PAIRS = {
    "select": lambda p, i, j: select(j < i, inverse_distance(p, i, j), 0.0),
    "other side": lambda p, i, j: select(i <= j, 0.0, inverse_distance(p, i, j)),
    "cond": lambda p, i, j: cond(j < i, Real, lambda: inverse_distance(p, i, j), lambda: 0.0),
    "all but itself": lambda p, i, j: 0.5 * select(ieq(N, i, j), 0.0, inverse_distance(p, i, j)),
    "both": lambda p, i, j: (
        select(j < i, 0.5, 0.0) * inverse_distance_or_0(p, i, j)
        + select(j > i, 0.5 * inverse_distance(p, i, j), 0.0)
    ),
}


def inverse_distance_or_0(p, i, j):
    return select(ieq(N, i, j), 0.0, inverse_distance(p, i, j))


def energy(points):
    return math.fsum(1 / math.dist(points[i], points[j]) for i in range(N) for j in range(i))


def force(points, k):
    """The derivative of `energy` by point ``k``."""
    others = [q for j, q in enumerate(points) if j != k]
    return [math.fsum((q[d] - points[k][d]) / math.dist(q, points[k]) ** 3 for q in others) for d in (0, 1)]


@pytest.mark.parametrize("term", PAIRS.values(), ids=PAIRS)
def test_pairs(term) -> None:
    """A point has no distance from itself, and nobody asks for its derivative."""
    f = pairs(term)
    assert same(f, POINTS) == pytest.approx(energy(POINTS))
    found = same(grad(f), POINTS)
    for k in range(N):
        assert found[k] == pytest.approx(force(POINTS, k))
    twice = same(grad(fn([P], Real, lambda p: sum(N, lambda k: grad(f)(p)[k][0] * X[0] * p[k][1]))), POINTS)
    assert all(map(math.isfinite, (x for row in twice for x in row)))


def test_such_a_sum_runs_as_often_as_it_has_terms() -> None:
    for name in ("select", "other side", "cond"):
        assert "loop 6 to i from (0.0)" in inspect(pairs(PAIRS[name])).ir
    for name in ("all but itself",):
        assert "loop" not in inspect(pairs(PAIRS[name])).ir


SUMS = {
    "two at once": lambda x, i: both(x, i),
    "of sums": lambda x, i: sum(N, lambda j: select(j <= i, x[j] * sum(N, lambda k: sin(x[k] * x[j])), 0.0)),
    "of sums over ranges": lambda x, i: sum(
        N,
        lambda j: select(j < i, sum(N, lambda k: select(k > j, x[k] * x[j], 0.0)), 0.0),
    ),
    "in a band": lambda x, i: sum(
        N, lambda j: select((iadd(9, j, 2) > iadd(9, i, 0)) & (j <= i), exp(x[j]) * x[i], 0.0)
    ),
    "of a constant": lambda x, i: sum(N, lambda j: select(j < i, 1.0, 0.0)) * x[i],
    "where also numbers choose": lambda x, i: sum(N, lambda j: select((j < i) & (x[j] > 0), x[j], 0.0)),
    "beside others": lambda x, i: sum(N, lambda j: x[j] + select(j < i, x[j] * x[i], 0.0)),
    "in all rows alike": lambda x, i: sum(N, lambda j: select(j < 4, x[j] * x[i], 0.0)),
    "of calls": lambda x, i: sum(N, lambda j: select(j < i, third(x, j), 0.0)),
}


@fn
def third(x: V, j: N) -> Real:  # type: ignore[valid-type]
    return sin(x[j]) * x[j] - exp(x[j]) / (2.0 + x[j] * x[j] + sin(x[2]) * sin(x[3]) * sin(x[4]))


def both(x, i):
    a = sum(N, lambda j: select(j < i, x[j], 0.0))
    b = sum(N, lambda j: select(j < i, sin(x[j]), 0.0))
    return a * b


@pytest.mark.parametrize("row", SUMS.values(), ids=SUMS)
def test_sums(row, monkeypatch) -> None:
    def made():
        return fn([V], Real, lambda x: sum(N, lambda i: x[i] * row(x, i)))

    f = made()
    found = same(f, X)
    with monkeypatch.context() as m:
        m.setattr(expand, "guarded", lambda f: f)
        assert repr(found) == repr(outcome(compile(made()), X))
    assert_derivatives(f, X, rel=1e-5, abs=1e-7)


NESTED = """\
def f(x: [4]Real): Real =
  fst (accum s from 0.0 in
    [for i: 4,
      [for j: 4,
        s += j < i ? x[j] * x[i] : 0.0
      ]
    ])
"""


def test_each_of_many_sums_has_its_own_constants() -> None:
    def weighted(x, i, weight):
        return sum(N, lambda j: select(j < i, weight * (x[j] - x[i]), 0.0))

    f = fn([V], Real, lambda x: sum(N, lambda i: exp(sum([weighted(x, i, k + 0.5) for k in range(9)]))))
    bodies = expand.Expansion(f.func).root.callees
    assert len(bodies) == 9
    assert [x for body in bodies for x, t in body.pool if t is Real and x] == [k + 0.5 for k in range(9)]


def test_a_sum_over_several_loops() -> None:
    """As a program in the text form may have it: each iteration of the outer loop adds to what there is."""
    f = Function(flatten(parse(NESTED)["f"]))
    check(f.func)
    x = X[:4]
    products = [x[i] * x[j] for i in range(4) for j in range(i)]
    assert same(f, x) == pytest.approx(math.fsum(products), rel=1e-14)


STARTS = {
    "a number": "def f(x: [4]Real, i: 4): Real = fst (accum s from 2.0 in {loop})",
    "an argument": "def f(x: [4]Real, i: 4): Real = fst (accum s from x[i] in {loop})",
}


@pytest.mark.parametrize("name", STARTS)
def test_a_sum_that_starts_elsewhere(name) -> None:
    """As text may have it: what it starts from is a part of it."""
    source = STARTS[name].format(loop="[for j: 4, s += j < i ? x[j] : 0.0]")
    f = Function(flatten(parse(source)["f"]))
    check(f.func)
    start = X[2] if name == "an argument" else 2.0
    assert same(f, X[:4], 2) == pytest.approx(start + X[0] + X[1], rel=1e-15)


def test_what_fails_still_fails() -> None:
    """Where a term is 0, its index may be wrong all the same."""
    far = fn(
        [V, N],
        Real,
        lambda x, i: sum(N, lambda j: select(j < i, x[index(N, iadd(9, j, 3))], 0.0)),
    )
    assert "out of range" in same_outcome(far, X, 2)


def test_what_the_host_does_is_done_for_all() -> None:
    called = []

    def note(x):
        called.append(x)
        return x

    noted = opaque([Real], Real, note)
    f = fn([V, N], Real, lambda x, i: sum(N, lambda j: select(j < i, noted(x[j]), 0.0)))
    compile(f)(X, 2)
    assert called == X


def test_vectors_of_what_indices_choose() -> None:
    """What is not chosen has no part in a derivative there, either, in all orders of modes."""
    lower = fn([V], V, lambda x: vec(N, Real, lambda j: select((j > 0) & (j < 4), sqrt(x[j]), 1.0)))
    f = fn([V], Real, lambda x: sum(N, lambda j: lower(x)[j] * (1.0 + x[5])))
    at = [0.0, 0.25, 1.0, 4.0, 0.0, -1.0]
    assert same(gradient(f), at) == [0, 0, 0, 0, 0, 0.5 + 1 + 2 + 3]
    twice = fn([V], Real, lambda x: gradient(f)(x)[5])
    assert same(gradient(twice), at) == [0, 1, 0.5, 0.25, 0, 0]


def test_what_is_chosen_is_what_it_was() -> None:
    """Whatever else needs a value gets it: here both sides, and a comparison of numbers."""

    def body(x, i):
        root = sqrt(x)
        return select(i < 2, root, 0.0) + select(i < 3, select(root > 1.0, 1.0 / root, root), 2.0)

    f = fn([Real, N], Real, body)
    slope = fn([Real, N], Real, lambda x, i: vjp(f)(x, i).grad(1.0)[0])
    for i, value, derivative in ((0, 2.5, 0.25 - 0.0625), (2, 0.5, -0.0625), (3, 2.0, 0.0)):
        assert same(f, 4.0, i) == value
        assert interp(slope)(4.0, i) == compile(slope)(4.0, i) == derivative
    assert same(slope, 0.0, 4) == 0.0


def test_sums_beside_what_is_added_to_elements_of_others() -> None:
    """A loop that compares indices, of a vector that is changed at each of them: in its Hessian, too."""

    def term(v, x, i):
        return select(i < 2, v[0], 0.0) + x * v.set(i, x)[0]

    f = fn([V, Real], Real, lambda v, x: sum(N, lambda i: term(v, x, i)))
    assert same(f, X, 2.0) == pytest.approx(2 * X[0] + 4 + 5 * 2 * X[0])
    assert same(hessian(f, (0, 1)), X, 2.0)["1"] == {"0": [5, 0, 0, 0, 0, 0], "1": 2}
    assert same(hessian(f), X, 2.0) == [[0.0] * N] * N
