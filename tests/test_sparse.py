"""Sparse Jacobians and Hessians, against dense ones."""

from __future__ import annotations

import math
import random

import pytest
from engines import same

from rose_core import (
    Bool,
    Dual,
    Real,
    Size,
    Vec,
    and_,
    compile,
    cond,
    exp,
    floor,
    fn,
    fori,
    grad,
    hessian,
    iadd,
    igt,
    imax,
    index,
    interp,
    isub,
    jacobian,
    opaque,
    scan,
    select,
    sin,
    sparse_hessian,
    sparse_jacobian,
    sum,
    vec,
    while_loop,
)
from rose_core.operators import pattern, sparse
from rose_core.operators.colouring import of_columns, of_symmetric
from rose_core.operators.sparse import paths

V6 = Vec(6, Real)
X = [0.3, -0.2, 1.1, 0.7, -1.3, 0.5]


def numbers(x, t):
    """The Reals of a value in the order in which they are written."""
    found = []
    for path in paths(t):
        y = x
        for step in path:
            y = y[step]
        found.append(y)
    return found


def dense(sparse, values):
    m, n = sparse.shape
    matrix = [[0.0] * n for _ in range(m)]
    for i, j, x in zip(sparse.rows, sparse.columns, values, strict=True):
        matrix[i][j] = x
    return matrix


def check_jacobian(f, *args, nonzeros=None, passes=None, argnums=0):
    s = sparse_jacobian(f, argnums)
    t = f.func.param_types[argnums]
    whole = same(jacobian(f, argnums), *args)
    expected = [numbers(row, t) for row in numbers(whole, f.func.ret)]
    found = dense(s, same(s.values, *args))
    for row, other in zip(found, expected, strict=True):
        assert row == pytest.approx(other, rel=1e-13, abs=1e-15)
    assert list(zip(s.rows, s.columns, strict=True)) == sorted(set(zip(s.rows, s.columns, strict=True)))
    assert nonzeros is None or len(s.rows) == nonzeros
    assert passes is None or s.passes == passes
    return s


def check_hessian(f, *args, nonzeros=None, passes=None):
    s = sparse_hessian(f)
    t = f.func.param_types[0]
    expected = [numbers(row, t) for row in numbers(same(hessian(f), *args), t)]
    found = dense(s, same(s.values, *args))
    for row, other in zip(found, expected, strict=True):
        assert row == pytest.approx(other, rel=1e-12, abs=1e-12)
    assert nonzeros is None or len(s.rows) == nonzeros
    assert passes is None or s.passes == passes
    return s


def term(x, i):
    a, b = x[index(6, i)], x[iadd(6, i, 1)]
    return 100 * (b - a * a) ** 2 + (1 - a) ** 2


def test_rosenbrock_however_it_is_written() -> None:
    added = fn([V6], Real, lambda x: sum(5, lambda i: term(x, i)))
    carried = fn([V6], Real, lambda x: fori(5, Real, 0.0, lambda i, s: s + term(x, i)))
    scanned = fn([V6], Real, lambda x: scan(5, Real, 0.0, lambda s, i: (s + term(x, i), s))[0])
    written = fn([V6], Real, lambda x: term(x, 0) + term(x, 1) + term(x, 2) + term(x, 3) + term(x, 4))
    called = fn([V6], Real, lambda x: sum(5, lambda i: fn([V6, 5], Real, term)(x, i)))
    counted = fn(
        [V6],
        Real,
        lambda x: (
            while_loop(
                {"s": Real, "i": 6},
                {"s": 0.0, "i": 0},
                lambda s: s.i < 5,
                lambda s: {"s": s.s + term(x, s.i), "i": iadd(6, s.i, 1)},
            ).s
        ),
    )
    for f in (added, carried, scanned, written, called, counted):
        check_hessian(f, X, nonzeros=16, passes=3)


def test_a_pattern_holds_for_all_numbers() -> None:
    """What is decided by numbers may be either, and an index that is computed from them may be any."""

    def f(x):
        y = cond(x[0] > 0, Real, lambda: x[1] * x[1], lambda: x[2] * x[2])
        z = select(x[3] > 0, x[4], x[5])
        k = index(6, select(x[0] > 0, 1.0, 2.0))
        return [y, z, x[k] * x[0], while_loop(Real, x[3], lambda s: s < 10, lambda s: s + 2 + x[4] * x[4])]

    s = check_jacobian(fn([V6], Vec(4, Real), f), X)
    rows = [[j for i, j in zip(s.rows, s.columns, strict=True) if i == k] for k in range(4)]
    assert rows == [[1, 2], [4, 5], [0, 1, 2, 3, 4, 5], [3, 4]]
    check_jacobian(fn([V6], Vec(4, Real), f), [-x for x in X])


def test_states_and_updates() -> None:
    def iteration(i, s):
        return {"v": s["v"].set(index(6, i), s.last * s["v"][iadd(6, i, 1)]), "last": s["v"][index(6, i)]}

    def f(x):
        end = fori(5, {"v": V6, "last": Real}, {"v": x, "last": 1.0}, iteration)
        picked = select(x[0] > 9, V6, x, end["v"])
        at = index(6, select(x[1] > 0, 5.0, 4.0))
        return picked.set(at, 2.0)

    check_jacobian(fn([V6], V6, f), X)

    def unknown_trips(x):
        v = while_loop(V6, x, lambda v: v[0] < 3, lambda v: v.set(0, v[0] + 1).set(2, v[1] * v[0]))
        return [v[0], v[1], v[2], v[3]]

    s = check_jacobian(fn([V6], Vec(4, Real), unknown_trips), X)
    assert list(zip(s.rows, s.columns, strict=True)) == [(0, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 3)]
    # in reverse the tape is of an unknown length
    energy = fn([V6], Real, lambda x: sum(4, lambda i: fn([V6], Vec(4, Real), unknown_trips)(x)[i] ** 2))
    check_hessian(energy, X)


def test_iterations_without_a_number_are_looked_through_once(monkeypatch) -> None:
    """What diffuses from cell to cell has spread after as many iterations as there are cells."""
    looked: list[int] = []

    class Counted(list):
        def __getitem__(self, k):
            looked[-1] += 1
            return super().__getitem__(k)

    class Sets(pattern.Sets):
        def __init__(self) -> None:
            super().__init__()
            self.pairs = Counted()

    monkeypatch.setattr(sparse, "Sets", Sets)

    def spread(n: int):
        def iteration(u):
            return vec(n, Real, lambda i: u[isub(n, imax(n, i, 1), 1)] + 0.5 * u[i])

        return fn(
            [Vec(n, Real)], Vec(n, Real), lambda u: while_loop(u.type, u, lambda u: u[0] < 9, iteration)
        )

    for n in (20, 40):
        looked.append(0)
        assert len(sparse_jacobian(spread(n)).rows) == n * (n + 1) // 2
    assert looked[1] < 5 * looked[0]


def test_the_fewer_passes() -> None:
    wide = fn([V6], Vec(2, Real), lambda x: [sum(6, lambda i: x[i] * x[i]), x[0]])
    check_jacobian(wide, X, nonzeros=7, passes=2)  # in reverse
    tall = fn([Vec(2, Real)], V6, lambda x: vec(6, Real, lambda i: x[0] * x[1]))
    check_jacobian(tall, X[:2], nonzeros=12, passes=2)  # forward
    band = fn([V6], Vec(5, Real), lambda x: vec(5, Real, lambda i: term(x, i)))
    check_jacobian(band, X, nonzeros=10, passes=2)
    arrow = fn([V6], Real, lambda x: sum(6, lambda i: x[i] * x[i] * x[5] + x[i] ** 4))
    check_hessian(arrow, X, nonzeros=16, passes=2)
    full = fn([V6], Real, lambda x: exp(sum(6, lambda i: x[i])))
    check_hessian(full, X, nonzeros=36, passes=6)
    linear = fn([V6], Real, lambda x: sum(6, lambda i: 3 * x[i]))
    assert check_hessian(linear, X, nonzeros=0).shape == (6, 6)


def test_structs() -> None:
    Point = {"y": Real, "ok": Bool, "x": Vec(2, Real)}

    def f(ps, a, k):
        return {
            "sums": vec(3, Real, lambda i: ps[i].x[0] * ps[i].y),
            "one": ps[k].x[1] * a,
            "flags": [ps[i].ok for i in range(3)],
            "pairs": [{"y": sin(ps[1].x[1])}, {"y": ps[0].y * a}],
        }

    ret = {"sums": Vec(3, Real), "one": Real, "flags": Vec(3, Bool), "pairs": Vec(2, {"y": Real})}
    g = fn([Vec(3, Point), Real, 3], ret, f)
    ps = [{"y": 2.0 + k, "ok": k == 1, "x": [0.5 * k, 3.0 - k]} for k in range(3)]
    s = check_jacobian(g, ps, 7.0, 2)
    assert s.shape == (6, 9) and len(s.rows) == 11  # which of the points k says is not known
    assert check_jacobian(g, ps, 7.0, 2, argnums=1).columns == [0, 0]
    energy = fn([Vec(3, Point)], Real, lambda ps: sum(3, lambda i: ps[i].x[0] * ps[i].y * ps[i].x[0]))
    check_hessian(energy, ps, nonzeros=9, passes=2)
    both = sparse_jacobian(g, (1, 0))
    assert both.shape == (6, 10) and (4, 0) not in zip(both.rows, both.columns, strict=True)


def test_custom_derivatives_may_use_any_argument() -> None:
    f = opaque([Real, Real], Vec(2, Real), lambda x, y: [x * y, 0.0])
    f.jvp = fn(
        [Dual, Dual],
        Vec(2, Dual),
        lambda x, y: [
            {"re": f(x.re, y.re)[0], "du": x.du * y.re + y.du * x.re},
            {"re": f(x.re, y.re)[1], "du": x.du * 0.0},
        ],
    )
    check_jacobian(fn([V6], Vec(4, Real), lambda x: [*f(x[0], x[1]), *f(x[2], 3.0)]), X, nonzeros=6)
    check_hessian(fn([V6], Real, lambda x: f(x[0], x[1])[0] + f(x[2], x[2])[0]), X)


def test_in_a_body_and_differentiated() -> None:
    f = fn([V6], Real, lambda x: sum(5, lambda i: term(x, i)))
    h = sparse_hessian(f)

    def vec_of(xs):
        t = Vec(len(xs), Real)
        return select(True, t, [float(x) for x in xs], [0.0] * len(xs))

    trace = fn(
        [V6],
        Real,
        lambda x: sum(
            len(h.rows),
            lambda e: h.values(x)[e] * select(vec_of(h.rows)[e] == vec_of(h.columns)[e], 1.0, 0.0),
        ),
    )

    diagonal = fn([V6], Real, lambda x: sum(6, lambda i: hessian(f)(x)[i][i]))
    assert same(grad(diagonal), X)
    assert same(trace, X) == same(diagonal, X)
    assert same(grad(trace), X) == same(grad(diagonal), X)


def test_colourings_tell_all_elements() -> None:
    rng = random.Random(7)
    for n in (1, 2, 9, 30):
        for density in (0.02, 0.1, 0.5):
            rows = [sorted({j for j in range(n) if rng.random() < density}) for _ in range(n + 3)]
            colours = of_columns(rows, n)
            for row in rows:
                assert len({colours[j] for j in row}) == len(row)
            half = [{j for j in range(i) if rng.random() < density} | {i} for i in range(n)]
            full = [sorted({*half[i], *(j for j in range(n) if i in half[j])}) for i in range(n)]
            colours = of_symmetric(full)
            for i, row in enumerate(full):
                for j in row:
                    alone = [colours[k] for k in row].count(colours[j]) == 1
                    mirrored = [colours[k] for k in full[j]].count(colours[i]) == 1
                    assert alone or mirrored
    assert max(of_symmetric([[k for k in (i - 1, i, i + 1) if 0 <= k < 50] for i in range(50)])) == 2


def test_mistakes() -> None:
    f = fn([V6], Real, lambda x: x[0])
    n = Size("n")
    with pytest.raises(TypeError, match=r"sparse_hessian: f has sizes that are not known"):
        sparse_hessian(fn([Vec(n, Real)], Real, lambda v: v[0]))
    with pytest.raises(IndexError, match="sparse_jacobian: f has no argument 1"):
        sparse_jacobian(f, 1)
    with pytest.raises(TypeError, match="sparse_jacobian: expected a function made with fn"):
        sparse_jacobian(math.sin)
    with pytest.raises(TypeError, match=r"f gives a \[6\]Real, expected a Real"):
        sparse_hessian(fn([V6], V6, lambda x: x))


@pytest.mark.parametrize("trips", range(3))
@pytest.mark.parametrize("others", range(3))
def test_tapes_of_either_side(trips, others) -> None:
    """Loops in loops on both sides, whose tapes have other lengths, or none at all."""

    def side(n, v, k):
        def inner(s):
            return fori(floor(v[2]), Real, s, lambda _, r: sin(r) * v[2])

        return lambda: fori(n, Real, v[k], lambda _, s: inner(s))

    f = fn([Vec(3, Real)], Real, lambda v: cond(v[0] < v[1], Real, side(trips, v, 0), side(others, v, 1)))
    for v in ([0.3, 0.5, 1.5], [0.5, 0.3, 2.5]):
        check_hessian(f, v)


@pytest.mark.parametrize("other", [lambda v: [v[2], v[3]], lambda v: [v[0], v[0]], lambda v: [1.0, v[5]]])
def test_a_choice_of_vectors_may_be_either(other) -> None:
    """Both sides take cotangents, though at first nothing has been added to either."""

    def f(v):
        w = select(v[4] > 2, Vec(2, Real), [v[0], v[1]], other(v))
        return w[0] * w[1] * v[4]

    check_hessian(fn([V6], Real, f), X)
    check_hessian(fn([V6], Real, f), [-x for x in X])


def test_columns_are_in_the_order_of_this_author() -> None:
    """Somebody else's struct with the same fields has them in another order."""
    Vec(2, {"x": Real, "y": Real})
    Point = {"y": Real, "x": Real}
    nested = fn([Vec(2, Vec(1, Point))], Real, lambda v: v[0][0].x + v[1][0].x)
    assert sparse_jacobian(nested).columns == [1, 3]
    assert list(compile(fn([Vec(2, Point)], Vec(2, Point), lambda v: v))([{"x": 1, "y": 2}] * 2)[0]) == [
        "y",
        "x",
    ]
    same = fn([Vec(2, {"x": Real, "y": Real})], Real, lambda v: v[0].x)
    assert interp(fn([Vec(2, Point)], Real, lambda v: same(v)))([{"x": 1, "y": 2}] * 2) == 1


@pytest.mark.parametrize("both", [False, True])
def test_a_side_that_never_runs_may_be_out_of_range(both: bool) -> None:
    v4 = Vec(4, Real)

    def upwind(v, i):
        goes_up = and_(v[i] > 0, igt(4, i, 0)) if both else v[i] > 0
        return cond(goes_up, Real, lambda: v[i] * v[isub(4, i, 1)], lambda: v[i] * v[i])

    f = fn([v4], v4, lambda v: vec(4, Real, lambda i: upwind(v, i)))
    x = [-1.0, 2.0, 3.0, 4.0]
    sparse = sparse_jacobian(f)
    assert dense(sparse, compile(sparse.values)(x)) == compile(jacobian(f))(x)
    first = [j for i, j in zip(sparse.rows, sparse.columns, strict=True) if i == 0]
    assert first == ([0] if both else [0, 1, 2, 3])  # an element that is not known may be any
