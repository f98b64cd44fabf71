"""Loops iteration over the range in which they do something: the same numbers, and no choice left in them."""

from __future__ import annotations

import math
import re

import pytest
from differences import assert_derivatives
from engines import outcome, same, same_outcome

from rose_core import (
    Real,
    Vec,
    compile,
    cond,
    fn,
    fori,
    grad,
    iadd,
    ieq,
    igt,
    imax,
    imin,
    imod,
    index,
    inspect,
    interp,
    isub,
    log,
    opaque,
    real,
    scan,
    select,
    sin,
    sqrt,
    struct,
    sum,
    vec,
    while_loop,
)
from rose_core.derivatives import expand
from rose_core.language.flatten import flatten
from rose_core.language.parse import parse
from rose_core.optimise import inline
from rose_core.tracing.functions import Function

N, WIDE = 5, 12
V = Vec(N, Real)
M = Vec(N, V)
X = [0.7, -0.4, 1.1, 0.3, -0.9]
ROWS = [[math.sin(3 * i + 2 * j) + 3.0 * (i == j) for j in range(N)] for i in range(N)]


@pytest.fixture(autouse=True)
def loops_stay(monkeypatch):
    """Small ones are not written out."""
    monkeypatch.setattr(inline, "MOST_TRIPS", 0)


@pytest.fixture
def plainly(monkeypatch):
    """What a function gives where loops run as they are written."""

    def given(f, *args):
        with monkeypatch.context() as m:
            for name in ("guarded", "bounded", "outside"):
                m.setattr(expand, name, lambda f: f)
            return outcome(compile(f), *args)

    return given


def choices(f) -> int:
    """How many choices there are in a program."""
    return len(re.findall(r"= if |: Real = \w+ \?|\]Real = \w+ \?", inspect(f).ir))


def plus(i, k):
    return iadd(WIDE, i, k)


RANGES = {
    "above": lambda i, k: i > k,
    "below": lambda i, k: i < k,
    "from": lambda i, k: i >= k,
    "to": lambda i, k: i <= k,
    "not above": lambda i, k: ~(i > k),
    "not below": lambda i, k: ~(i < k),
    "turned around": lambda i, k: k < i,
    "at": lambda i, k: ieq(N, k, i),
    "behind": lambda i, k: plus(i, 0) > plus(k, 1),
    "after another": lambda i, k: plus(i, 2) > plus(k, 0),
    "less something": lambda i, k: isub(WIDE, plus(i, 2), imin(N, k, 1)) < plus(k, 1),
    "two by two": lambda i, k: plus(i, k) < plus(k, 3),
    "between": lambda i, k: (i > k) & (plus(i, 0) <= plus(k, 2)),
    "outside of nothing": lambda i, k: ~((i < k) | (i > 3)),
    "above the larger": lambda i, k: i > imax(N, k, 1),
    "above a remainder": lambda i, k: i > imod(N, plus(k, 3)),
    "above a half": lambda i, k: plus(i, 0) > plus(k // 2, 0),
    "above 2": lambda i, k: i > 2,
    "never": lambda i, k: i < 0,
    "always": lambda i, k: i >= 0,
    "in some rows": lambda i, k: (i > k) & (k > 1),
    "in other rows": lambda i, k: (i > k) & ~(k > 1),
    "in one row": lambda i, k: k < 1,
}
OTHERS = {
    "but for one": lambda i, k: ~ieq(N, i, k),
    "or": lambda i, k: (i > k) | (i < 2),
    "odd": lambda i, k: ieq(2, imod(2, i), 1),
}


def of_a_vector(guard):
    """With a choice, a choice of an element, and a sum."""

    def f(x):
        def iteration(k, s):
            t = fori(N, V, s, lambda i, s: cond(guard(i, k), V, lambda: s.at[i].add(0.3 * s[k]), lambda: s))
            u = fori(N, V, t, lambda i, s: s.set(i, select(guard(i, k), sin(s[i] * x[k]), s[i])))
            y = fori(N, Real, 0.0, lambda i, y: y + select(guard(i, k), u[i] * x[i], 0.0))
            return u.at[k].add(0.1 * y)

        s = fori(N, V, x, iteration)
        return sum(N, lambda i: (1.5 + i) * s[i] if isinstance(i, int) else (1.5 + real(i)) * s[i])

    return fn([V], Real, f)


@pytest.mark.parametrize("guard", [*RANGES.values(), *OTHERS.values()], ids=[*RANGES, *OTHERS])
def test_a_vector(guard, plainly) -> None:
    f = of_a_vector(guard)
    assert repr(same(f, X)) == repr(plainly(of_a_vector(guard), X))
    assert_derivatives(f, X, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("guard", RANGES.values(), ids=RANGES)
def test_no_choice_is_left(guard) -> None:
    f = of_a_vector(guard)
    assert choices(f) == choices(fn([V], V, lambda x: fori(N, V, x, lambda k, s: s.at[k].add(x[k]))))
    assert not inspect(grad(f)).ir.count("= if ")


@pytest.mark.parametrize("guard", OTHERS.values(), ids=OTHERS)
def test_choices_that_are_no_ranges_stay(guard) -> None:
    assert choices(of_a_vector(guard)) == 3


def test_choices_in_choices() -> None:
    def iteration(i, k, s, x):
        inner = lambda: cond(i < 4, Real, lambda: s * x[i], lambda: s)  # noqa: E731
        return cond(i > k, Real, inner, lambda: s)

    f = fn([V, N], Real, lambda x, k: fori(N, Real, 2.0, lambda i, s: iteration(i, k, s, x)))
    assert not choices(f)
    assert same(f, X, 1) == 2.0 * X[2] * X[3]


def test_long_sides() -> None:
    """A side of a choice that is long may be all that a loop does; it is not looked through."""

    def long(s):
        for k in range(200):
            s = sin(s) + k
        return s

    for guard, trips in ((lambda i: i < 2, 2), (lambda i: ~(i < 2), 3)):
        for sides in ((long, lambda s: s), (lambda s: s, long)):
            f = fn(
                [Real],
                Real,
                lambda x, guard=guard, sides=sides: fori(
                    N, Real, x, lambda i, s: cond(guard(i), Real, lambda: sides[0](s), lambda: sides[1](s))
                ),
            )
            expected = 0.3
            for _ in range(trips if sides[0] is long else N - trips):
                expected = numbers(long, expected)
            assert same(f, 0.3) == expected


def numbers(f, x):
    return interp(fn([Real], Real, f))(x)


def determinant(a):
    """Its logarithm, by elimination, with every iteration guarded."""

    def column(k, a):
        def row(i, a):
            def below(a=a):
                f = a[i][k] / a[k][k]
                return fori(
                    N, M, a, lambda j, a: cond(j > k, M, lambda: a.at[i, j].add(-f * a[k][j]), lambda: a)
                )

            return cond(i > k, M, below, lambda: a)

        return fori(N, M, a, row)

    a = fori(N, M, a, column)
    return sum(N, lambda i: log(a[i][i] * a[i][i]))


def test_a_triangle() -> None:
    """The gradient of a determinant's logarithm is the transposed inverse."""
    f = fn([M], Real, determinant)
    g = same(grad(f), ROWS)
    for i in range(N):
        for j in range(N):
            product = math.fsum(ROWS[i][k] * g[j][k] for k in range(N))
            assert product == pytest.approx(2.0 * (i == j), abs=1e-9)
    assert not choices(f) and not choices(grad(f))


def test_what_costs_nothing_is_not_done() -> None:
    """An opaque function is not called by iterations that do nothing."""
    called = []

    def note(x):
        called.append(x)
        return x

    noted = opaque([Real], Real, note)
    f = fn(
        [V, N],
        Real,
        lambda x, k: fori(N, Real, 0.0, lambda i, s: cond(i < k, Real, lambda: s + noted(x[i]), lambda: s)),
    )
    compile(f)(X, 2)
    assert called == X[:2]


def test_what_else_an_iteration_does_is_done() -> None:
    """Though its state stays: an opaque function is called, and a failure is one."""
    called = []

    def note(x):
        called.append(x)
        return x

    noted = opaque([Real], Real, note)

    def iteration(i, s, x):
        y = noted(x[i])
        return cond(i < 2, Real, lambda: s + y, lambda: s)

    compile(fn([V], Real, lambda x: fori(N, Real, 0.0, lambda i, s: iteration(i, s, x))))(X)
    assert called == X

    def failing(i, s, x):
        y = x[index(N, plus(i, 2))]
        return cond(i < 2, Real, lambda: s + y, lambda: s)

    f = fn([V], Real, lambda x: fori(N, Real, 0.0, lambda i, s: failing(i, s, x)))
    assert "out of range" in same_outcome(f, X)


def test_zeros_with_a_sign(plainly) -> None:
    """A sum that starts from -0.0 is 0.0 once 0.0 is added."""
    for start, step in ((0.0, 1.0), (-0.0, 1.0), (0.0, -1.0), (-0.0, -0.0)):
        for change in (lambda s, y: s + y, lambda s, y: s - y, lambda s, y: y - s):
            f = fn(
                [N, Real],
                Real,
                lambda k, x, start=start, change=change: fori(
                    N, Real, start, lambda i, s: change(s, select(i < k, x, 0.0))
                ),
            )
            for k in (0, 3):
                assert repr(same(f, k, step)) == repr(plainly(f, k, step))


def test_other_loops_stay_as_they_are(plainly) -> None:
    def scanned(x, k):
        last, ys = scan(N, Real, 0.0, lambda s, i: (cond(i < k, Real, lambda: s + x[i], lambda: s), 2.0 * s))
        return last + sum(N, lambda i: ys[i] * x[i])

    def until(x, k):
        s = struct({"i": Real, "y": Real})
        more = lambda i, y: select(i < 3, y * y, 0.0)  # noqa: E731
        iteration = lambda s: {"i": s.i + 1, "y": s.y + more(s.i, x[k])}  # noqa: E731
        return while_loop(s, {"i": 0.0, "y": 0.0}, lambda s: s.i < 5, iteration).y

    for body in (scanned, until):
        f = fn([V, N], Real, body)
        assert repr(same(f, X, 2)) == repr(plainly(f, X, 2))
        assert_derivatives(fn([V], Real, lambda x, body=body: body(x, 2)), X, rel=1e-6)


def test_what_a_scan_gives_is_given_of_every_iteration(plainly) -> None:
    """Also if it is the same in all of them."""

    def scanned(x):
        last, xs = scan(N, Real, 0.0, lambda s, i: (cond(i < 2, Real, lambda: s + x[i], lambda: s), x))
        return last + sum(N, lambda i: xs[i][i])

    f = fn([V], Real, scanned)
    assert repr(same(f, X)) == repr(plainly(f, X))


def test_a_number_of_iterations_that_is_given() -> None:
    """It bounds the range, too, and is what the loop says."""
    f = fn([V, N, N], Real, lambda x, n, k: fori(n, Real, 0.0, lambda i, s: s + select(i >= k, x[i], 0.0)))
    for n in range(N):
        for k in range(N):
            assert same(f, X, n, k) == pytest.approx(math.fsum(X[k:n]))


def solved(a, b):
    """Back substitution, column by column."""

    def column(r, x):
        k = isub(N, N - 1, r)
        x = x.set(k, x[k] / a[k][k])
        return fori(N, V, x, lambda i, x: cond(i < k, V, lambda: x.at[i].add(-a[i][k] * x[k]), lambda: x))

    return fori(N, V, b, column)


def test_what_no_iteration_changes_is_read_before_the_loop() -> None:
    f = fn([M, V], Real, lambda a, b: sum(N, lambda i: solved(a, b)[i]))
    loops = [line for line in inspect(f).ir.split("\n\n") if "set(" in line and " × " in line]
    assert loops and all("Real): [5]Real" in loop for loop in loops)

    def of_one(b):
        return f(vec(N, V, lambda i: vec(N, Real, lambda j: 0.3 + 2.0 * b[i] * b[j])), b)

    assert_derivatives(fn([V], Real, of_one), X, rel=1e-4, abs=1e-6)


def mean(row, x):
    return vec(N, Real, lambda j: 0.9 * row[j] + 0.1 * x)


ALIASES = {
    "the row of another matrix": lambda s, i, k: {"m": s.m.set(i, s.w[i].set(k, 0.5 * s.m[k][k])), "w": s.w},
    "another column of a row before": lambda s, i, k: {"m": s.m.at[k, i].set(sin(s.m[k][k])), "w": s.w},
    "its own row": lambda s, i, k: {"m": s.m.set(k, mean(s.m[i], s.m[k][k])), "w": s.w},
    "by the other's": lambda s, i, k: {"m": s.m.at[i, k].add(s.w[k][k]), "w": s.w.at[k, i].add(s.m[k][k])},
    "changed places": lambda s, i, k: {"m": s.w.at[i, i].set(s.m[k][k]), "w": s.m},
}  # fmt: skip


@pytest.mark.parametrize("change", ALIASES.values(), ids=ALIASES)
def test_what_an_iteration_may_change_is_read_in_it(change, plainly) -> None:
    State = struct({"m": M, "w": M})

    def body(x):
        m = vec(N, V, lambda i: vec(N, Real, lambda j: x[i] + 0.5 * x[j] * x[j]))
        w = vec(N, V, lambda i: vec(N, Real, lambda j: x[i] * x[j]))

        def column(k, s):
            return fori(N, State, s, lambda i, s: cond(i > k, State, lambda: change(s, i, k), lambda: s))

        s = fori(N, State, {"m": m, "w": w}, column)
        return sum(N, lambda i: sum(N, lambda j: s.m[i][j] * (1.0 + x[i]) - s.w[i][j] * sin(x[j])))

    f = fn([V], Real, body)
    assert repr(same(f, X)) == repr(plainly(fn([V], Real, body), X))
    assert_derivatives(f, X, rel=1e-5, abs=1e-6)


def test_a_checkpointed_loop() -> None:
    def f(x, checkpoint):
        def iteration(i, s):
            return cond(igt(N, i, 1), Real, lambda: sin(s) + x[i], lambda: s)

        return fori(N, Real, x[0], iteration, checkpoint=checkpoint)

    one, other = (fn([V], Real, lambda x, c=c: f(x, c)) for c in ("none", 2))
    assert same(one, X) == same(other, X)
    assert same(grad(one), X) == pytest.approx(same(grad(other), X), rel=1e-14)
    x, y = math.sin(X[0]) + X[2], math.sin(math.sin(X[0]) + X[2]) + X[3]
    assert same(grad(one), X)[0] == pytest.approx(math.cos(y) * math.cos(x) * math.cos(X[0]))


def test_a_factor() -> None:
    """Cholesky's, with sums over what is there already."""

    def factor(a):
        def column(j, factor):
            def rest(i):
                return a[i][j] - sum(N, lambda k: select(k < j, factor[i][k] * factor[j][k], 0.0))

            def below(i, f):
                return cond(i > j, M, lambda: f.at[i, j].set(rest(i) / root), lambda: f)

            root = sqrt(rest(j))
            return fori(N, M, factor.at[j, j].set(root), below)

        return fori(N, M, vec(N, V, lambda i: vec(N, Real, lambda j: 0.0)), column)

    f = fn([M], Real, lambda a: sum(N, lambda i: 2.0 * log(factor(a)[i][i])))
    spd = [[math.exp(-abs(i - j)) + (i == j) for j in range(N)] for i in range(N)]
    g = same(grad(f), spd)
    by_parts = [[g[i][j] + g[j][i] if i != j else 2 * g[i][i] for j in range(N)] for i in range(N)]
    for i in range(N):
        for j in range(N):  # half of it is the inverse
            product = math.fsum(spd[i][k] * by_parts[k][j] for k in range(N))
            assert product == pytest.approx(2.0 * (i == j), abs=1e-9)
    assert not choices(f)


@pytest.mark.parametrize("sides", ["more(s, y) else same(s)", "same(s) else more(s, y)"])
def test_how_often_a_loop_runs(sides) -> None:
    """As a program in the text form may ask: iterations in which nothing happens count, too."""
    source = f"""
def more(s: Real, y: Real): Real = s + y
def same(s: Real): Real = s
def iteration(i: 5, s: Real, k: 5, x: [5]Real): Real =
  let p: Bool = i < k in
  let y: Real = x[i] in
  if p then {sides}
def f(x: [5]Real, k: 5): Real =
  let all: (Real, 2147483648) = loop 5 to 5 from (0.0) do iteration(k, x) in
  let (s, iterations) = all in
  s * real(iterations)
"""
    f = Function(flatten(parse(source)["f"]))
    chosen = X[:2] if sides.startswith("more") else X[2:]
    assert same(f, X, 2) == pytest.approx(5 * math.fsum(chosen))
