"""What iterations set is carried to those that read it: the same numbers, through no memory."""

from __future__ import annotations

from math import sin as sin_of

import pytest
from engines import outcome, same, same_outcome
from random_programs import flat
from random_recurrences import MOST_TRIPS, Recurrence, S

from rose_core import (
    Real,
    Vec,
    compile,
    cond,
    fn,
    fori,
    grad,
    iadd,
    inspect,
    isub,
    real,
    sin,
    struct,
    sum,
    vec,
    vjp,
)
from rose_core.derivatives import expand
from rose_core.optimise import inline

N = 9
V = Vec(N, Real)
X = [0.3, -1.2, 0.0, 0.7, -0.0, 2.0, 0.4, -0.6, 1.1]


@pytest.fixture(autouse=True)
def loops_stay(monkeypatch):
    """Small ones are not written out."""
    monkeypatch.setattr(inline, "MOST_TRIPS", 0)


def gradient_of(r: Recurrence):
    """Of a sum over all that it gives, by all that it takes but indices."""

    def spread(a):
        width = r.width or 1
        return sum(
            S, lambda i: sum(width, lambda j: sin(real(i) + 2.0 * real(j)) * (a[i][j] if r.width else a[i]))
        )

    def loss(x, y, s, k, n):
        after = r.function(x, y, s, k, n)
        return 1.25 * spread(after.x) + spread(after.y) + after.s

    types = [r.type, r.type, Real, 4, MOST_TRIPS + 1]
    f = fn(types, Real, loss)
    return fn(types, r.state, lambda *at: dict(zip("xys", vjp(f)(*at).grad(1.0), strict=False)))


@pytest.mark.parametrize("seeds", [range(k, k + 10) for k in range(0, 120, 10)], ids=str)
def test_random_recurrences(seeds, monkeypatch) -> None:
    for seed in seeds:
        r = Recurrence(seed)
        args = r.args()
        found = same_outcome(r.function, *args)
        gradient = same_outcome(gradient_of(r), *args)
        with monkeypatch.context() as m:
            m.setattr(expand, "carried", lambda f: f)
            r = Recurrence(seed)
            assert repr(found) == repr(outcome(compile(r.function), *args))
            plain = outcome(compile(gradient_of(r)), *args)
        if isinstance(plain, str):
            assert gradient == plain
        else:
            assert flat(gradient) == pytest.approx(flat(plain), rel=1e-11, abs=1e-11)


def numbers(f) -> int:
    """How many numbers the iterations of the only loop of a program take."""
    return inspect(f).ir.partition("def body(")[2].partition(")")[0].count(": Real")


STEPS = {
    "the last": (lambda i, x: x.set(iadd(N, i, 1), 0.5 * x[i] + 1.0), 1),
    "two": (lambda i, x: x.set(iadd(N, i, 2), x[iadd(N, i, 1)] - 0.5 * x[i]), 2),
    "from the end": (lambda i, x: x.set(isub(N, N - 2, i), 1.0 - x[isub(N, N - 1, i)]), 1),
    "one place": (lambda i, x: x.set(3, 0.5 * x[3] + 1.0), 1),
    "read after": (lambda i, x: (lambda y: y.set(iadd(N, i, 2), y[i]))(x.set(iadd(N, i, 1), 2.0)), 1),
    "in a side": (
        lambda i, x: x.set(iadd(N, i, 1), cond(real(i) < 3.5, Real, lambda: 0.5 * x[i], lambda: 1.0 - x[i])),
        1,
    ),
    "in one side": (
        lambda i, x: x.set(iadd(N, i, 1), cond(x[8] < 0.5, Real, lambda: 0.5 * x[i], lambda: 1.0)),
        1,
    ),
    "set back": (lambda i, x: (lambda y: y.set(4, x[4]))(x.set(4, 2.0)), 1),
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("trips", [0, 1, 2, 3, 7])
def test_steps(name, trips, monkeypatch) -> None:
    step, carried = STEPS[name]

    def made():
        return fn([V], V, lambda x: fori(trips, V, x, step))

    f = made()
    after = same(f, X)
    if trips > 1:
        assert numbers(f) == carried
    with monkeypatch.context() as m:
        m.setattr(expand, "carried", lambda f: f)
        assert repr(compile(made())(X)) == repr(after)


def test_in_one_place() -> None:
    """Products of matrices that are added up in place: the innermost loop has to do with no such matrix."""
    rows = Vec(N, V)

    def product(a, b):
        def row(i, c):
            def element(j, c):
                return fori(N, rows, c, lambda k, c: c.at[i][j].add(a[i][k] * b[k][j]))

            return fori(N, rows, c, element)

        return fori(N, rows, b, row)

    f = fn([rows, rows], rows, product)
    a, b = ([[sin_of(p + 3 * i + j * j) for j in range(N)] for i in range(N)] for p in (1, 2))
    c = [[*row] for row in b]
    for i in range(N):
        for j in range(N):
            for k in range(N):
                c[i][j] += a[i][k] * b[k][j]
    assert same(f, a, b) == c
    types = [text.partition("\n")[0] for text in inspect(f).ir.split("\n\n")]
    assert types[0].endswith(": Real =")
    loss = fn([rows, rows], Real, lambda a, b: sum(N, lambda i: sum(N, lambda j: sin(f(a, b)[i][j]))))
    plain = fn(
        [rows, rows],
        Real,
        lambda a, b: sum(N, lambda i: sum(N, lambda j: sin(b[i][j] + sum(N, lambda k: a[i][k] * b[k][j])))),
    )
    for k in range(2):
        expected = flat(compile(grad(plain, k))(a, b))
        assert flat(same(grad(loss, k), a, b)) == pytest.approx(expected, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("trips", [0, 1, 2, 6])
@pytest.mark.parametrize("k", [None, 1, 7])
def test_in_a_few_places(trips: int, k: int | None, monkeypatch) -> None:
    """Of an array of which iterations read and set the same elements, these go through the loop."""
    state = Vec(N, Vec(2, Real))

    def made():
        def step(at):
            def body(i, x):
                a, b, c = x[at[0]][0], x[at[0]][1], x[at[1]][1]
                x = x.set(at[0], [0.5 * a - c, sin(b)])
                return x.set(at[1], [0.5 * x[at[1]][0] + b, a + c * x[at[0]][1]])

            return body

        if k is None:
            return fn([state], state, lambda x: fori(trips, state, x, step((2, 5))))
        return fn([state, N - 1], state, lambda x, k: fori(trips, state, x, step((k, iadd(N, k, 1)))))

    given = [[[sin_of(3 * i), sin_of(i * i)] for i in range(N)]] + ([k] if k is not None else [])
    f = made()
    found = same(f, *given)
    x = [[*row] for row in given[0]]
    at = (2, 5) if k is None else (k, k + 1)
    for _ in range(trips):
        a, b, c = *x[at[0]], x[at[1]][1]
        x[at[0]] = [0.5 * a - c, sin_of(b)]
        x[at[1]] = [0.5 * x[at[1]][0] + b, a + c * x[at[0]][1]]
    assert flat(found) == pytest.approx(flat(x), rel=1e-14)
    if trips > 1 and k is None:
        assert "[" not in inspect(f).ir.partition("def body(")[2].partition("=")[0]
    slopes = flat(same(gradient_of_sum(f, given), given[0]))
    with monkeypatch.context() as m:
        m.setattr(expand, "carried", lambda f: f)
        assert flat(compile(gradient_of_sum(made(), given))(given[0])) == pytest.approx(slopes, rel=1e-13)


def gradient_of_sum(f, given):
    """The gradient of a function of the elements of ``f`` by its first argument, the others given."""
    state = Vec(N, Vec(2, Real))
    return grad(
        fn(
            [state],
            Real,
            lambda x: (lambda y: sum(N, lambda i: sin(y[i][0]) + y[i][1]))(f(x, *given[1:])),
        )
    )


def test_one_place_of_two_indices() -> None:
    """The array goes through the loop where two of the elements may be one."""
    f = fn(
        [V, N, N],
        V,
        lambda x, j, k: fori(4, V, x, lambda i, x: x.set(j, 0.5 * x[j] + 1.0).set(k, 2.0 * x[k] - x[j])),
    )
    for j, k in ((2, 5), (3, 3)):
        x = [*X]
        for _ in range(4):
            before = x[j], x[k]
            x[j] = 0.5 * before[0] + 1.0
            x[k] = 2.0 * before[1] - before[0]
        assert same(f, X, j, k) == x


def test_what_else_is_read_stays() -> None:
    """The array goes through the loop where its iterations read more of it than the element that they set."""
    f = fn([V, N], V, lambda x, k: fori(N, V, x, lambda i, x: x.set(k, 0.5 * x[k] + x[i])))
    for k in range(N):
        x = [*X]
        for i in range(N):
            x[k] = 0.5 * x[k] + x[i]
        assert same(f, X, k) == x


def test_others_may_set_it() -> None:
    """An element is read from the array where it cannot be told who has set it last."""

    def step(i, s):
        x = s.x.set(iadd(N, i, 1), 0.5 * s.x[i])
        return {"x": x.set(s.k, 3.0), "k": isub(N, N - 1, s.k)}

    state = struct({"x": V, "k": N})
    f = fn([V, N], V, lambda x, k: fori(N - 1, state, {"x": x, "k": k}, step).x)
    for k in range(N):
        x, at = [*X], k
        for i in range(N - 1):
            x[i + 1] = 0.5 * x[i]
            x[at], at = 3.0, N - 1 - at
        assert same(f, X, k) == x


def test_rows() -> None:
    """A trajectory in the plane has two numbers beside it; its gradient is that of an unrolled one."""
    rows = Vec(N, Vec(2, Real))

    def step(i, s):
        x, v = s[i][0], s[i][1]
        return s.set(iadd(N, i, 1), [x + 0.1 * v, v - 0.1 * sin(x)])

    def energy(s):
        return sum(N, lambda i: s[i][0] * s[i][1])

    start = [0.4, -0.3]
    f = fn([Vec(2, Real)], Real, lambda p: energy(fori(N - 1, rows, vec(N, p._type, lambda i: p), step)))

    def unrolled(p):
        s = [(p[0], p[1])]
        for _ in range(N - 1):
            x, v = s[-1]
            s.append((x + 0.1 * v, v - 0.1 * sin(x)))
        total = 0.0
        for x, v in s:
            total += x * v
        return total

    assert numbers(f) == 2
    expected = grad(fn([Vec(2, Real)], Real, unrolled))
    assert same(grad(f), start) == pytest.approx(compile(expected)(start), rel=1e-13)
