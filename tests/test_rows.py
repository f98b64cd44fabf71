"""Products of matrices: sums over rows and columns, and their gradients, two at a time, to the same bits."""

from __future__ import annotations

import random

import pytest
from engines import same

from rose_core import Real, RunError, Vec, compile, cos, fn, imod, interp, max, sin, struct, sum, vec, vjp
from rose_core.wasm import rows
from rose_core.wasm.rows import Site


@pytest.fixture
def found(monkeypatch):
    """How loops are written from then on."""
    noted = []
    in_rows = rows.RowsWriter.__init__

    def note(self, body, of, places):
        noted.append(of)
        in_rows(self, body, of, places)

    monkeypatch.setattr(rows.RowsWriter, "__init__", note)
    return noted


def gradient(f, M, V):
    State = struct({"a": M, "b": M, "x": V})
    return fn([M, M, V], State, lambda a, b, x: dict(zip("abx", vjp(f)(a, b, x).grad(1), strict=True)))


def point(n: int, seed: int):
    draw = random.Random(seed)

    def row():
        return [draw.uniform(-2, 2) for _ in range(n)]

    return [row() for _ in range(n)], [row() for _ in range(n)], row()


@pytest.mark.parametrize("n", [18, 19])
def test_columns(n: int, found) -> None:
    """Of a matrix times a vector, and of a product; what the gradient adds to, in each way that there is."""
    V = Vec(n, Real)
    M = Vec(n, V)

    def product(a, b):
        return vec(n, V, lambda i: vec(n, Real, lambda j: sum(n, lambda k: a[i][k] * b[k][j])))

    def body(a, b, x):
        c = product(a, b)
        d = product(b, c)
        y = vec(n, Real, lambda j: sum(n, lambda i: d[i][j] * x[i]))
        return sum(n, lambda j: sin(y[j]) * x[j])

    f = fn([M, M, V], Real, body)
    a, b, x = point(n, n)
    c = same(fn([M, M], M, product), a, b)
    for i, j in (0, 0), (3, n - 1), (n - 1, 1):
        assert c[i][j] == pytest.approx(sum_of(a[i][k] * b[k][j] for k in range(n)), rel=1e-12)
    assert [len(of.lines) for of in found] == [1]
    same(f, a, b, x)
    del found[:]
    same(gradient(f, M, V), a, b, x)
    assert {site for of in found for site in of.sites.values()} >= {Site.COLUMN, Site.SAME}


def sum_of(terms) -> float:
    total = 0.0
    for term in terms:
        total += term
    return total


def test_two_additions_to_one_matrix_keep_their_order(found) -> None:
    n = 18
    M = Vec(n, Vec(n, Real))
    f = fn([M], Real, lambda a: sum(n, lambda j: cos(sum(n, lambda k: a[k][j] * a[j][k]))))
    a = point(n, 1)[0]
    same(fn([M], M, lambda a: vjp(f)(a).grad(1)), a)
    assert not any(of.sites for of in found)


@pytest.mark.parametrize(
    "term",
    [lambda a, i, j, k: a[i][k] * a[k][j], lambda a, i, j, k: a[k][i] * a[k][j]],
    ids=["a a", "transposed a a"],
)
def test_a_matrix_times_itself(term, found) -> None:
    """What is the same row or column of it for all columns of the product is added up by itself."""
    n = 18
    M = Vec(n, Vec(n, Real))
    f = fn([M], Real, lambda a: sum(n, lambda i: sum(n, lambda j: cos(sum(n, lambda k: term(a, i, j, k))))))
    a = point(n, 1)[0]
    same(f, a)
    g = fn([M], M, lambda a: vjp(f)(a).grad(1))
    same(g, a)
    assert [set(of.sites.values()) for of in found if of.sites] == [{Site.COLUMN, Site.SAME}]


@pytest.mark.parametrize("n", [18, 19])
def test_a_matrix_times_itself_and_its_elements(n: int, found) -> None:
    """To a column is added what it is multiplied by, and what the rows are."""
    M = Vec(n, Vec(n, Real))

    def term(a, i, j):
        return sum(n, lambda k: a[i][k] * a[k][j]) * a[i][j]

    f = fn([M], Real, lambda a: sum(n, lambda i: sum(n, lambda j: term(a, i, j))))
    same(fn([M], M, lambda a: vjp(f)(a).grad(1)), point(n, 2)[0])
    sites = [list(of.sites.values()) for of in found if of.sites]
    assert sites == [[Site.COLUMN, Site.COLUMN, Site.SAME]]


PRODUCTS = {
    "of three": lambda m, row, i, j: m[2][i][j] * row(m[0][i], m[1], j),
    "of three, by constants": lambda m, row, i, j: m[2][3][j] * row(m[0][1], m[1], j),
}
PERHAPS_THE_SAME = {
    "matrices": lambda m, row, i, j: cos(row(m[0][i], m[imod(3, i)], j)),
    "elements": lambda m, row, i, j: m[0][i][j] * row(m[0][i], m[0], j),
}


@pytest.mark.parametrize("n", [18, 19])
@pytest.mark.parametrize("term", (PRODUCTS | PERHAPS_THE_SAME).values(), ids=PRODUCTS | PERHAPS_THE_SAME)
def test_several_additions_to_one_accumulator(term, n: int, found) -> None:
    """They are made to two columns at a time if no element is one of two iterations, for all that is
    known.
    """
    T = Vec(3, Vec(n, Vec(n, Real)))

    def row(x, m, j):
        return sum(n, lambda k: x[k] * m[k][j])

    f = fn([T], Real, lambda m: sum(n, lambda i: sum(n, lambda j: term(m, row, i, j))))
    a, b, _ = point(n, n)
    c, _, _ = point(n, 3)
    same(f, [a, b, c])
    same(fn([T], T, lambda m: vjp(f)(m).grad(1)), [a, b, c])
    assert any(of.sites for of in found) == (term in PRODUCTS.values())


@pytest.mark.parametrize("more", [0, 3])
@pytest.mark.parametrize("n", [40, 41])
def test_windows_slide(n: int, more: int, found) -> None:
    """A convolution, and an autocorrelation, whose windows begin one and four elements further."""
    m = 18
    V, W = Vec(n, Real), Vec(m, Real)

    def at(x, w, i):
        return cos(sum(m, lambda j: w[j] * x[i + j + more]))

    x, _, _ = point(n, 1)
    convolution = fn([V, W], Real, lambda x, w: sum(n - m - more + 1, lambda i: at(x, w, i)))
    same(convolution, x[0], x[1][:m])
    assert len(found) == 1
    lags = fn(
        [V], W, lambda x: vec(m, Real, lambda k: sum(n - m - more, lambda i: x[i] * x[i + k + (more + 1)]))
    )
    same(lags, x[0])
    assert len(found) == 2
    same(fn([V], V, lambda x: vjp(fn([V], Real, lambda x: at(x, lags(x), 0)))(x).grad(1)), x[0])
    same(
        fn(
            [V, W],
            struct({"x": V, "w": W}),
            lambda x, w: dict(zip("xw", vjp(convolution)(x, w).grad(1), strict=True)),
        ),
        x[0],
        x[1][:m],
    )


def test_a_window_that_ends_beyond_the_vector_fails() -> None:
    f = fn([Vec(20, Real)], Real, lambda x: sum(5, lambda i: cos(sum(18, lambda j: x[j] * x[i + j]))))
    for run in compile, interp:
        with pytest.raises(RunError, match="20 is out of range"):
            run(f)(point(20, 1)[2])


def test_columns_beside_a_derivative() -> None:
    n = 5
    M = Vec(n, Vec(n, Real))

    def product(a, b):
        return vec(n, Vec(n, Real), lambda i: vec(n, Real, lambda j: sum(n, lambda k: a[k][i] * b[k][j])))

    f = fn([M], Real, lambda a: sum(n, lambda i: cos(product(a, a)[i][i])))
    g = fn([M], M, lambda a: product(vjp(f)(a).grad(1), a))
    same(g, point(n, 2)[0])
    same(fn([M], M, lambda a: vjp(fn([M], Real, lambda a: g(a)[1][2]))(a).grad(1)), point(n, 2)[0])


@pytest.mark.parametrize("n", [18, 19])
def test_columns_after_what_wrote_zeros(n: int, found) -> None:
    """Of a reflection the vector has its derivative from two loops: the first one alone begins with zeros."""
    V = Vec(n, Real)
    M = Vec(n, V)

    def body(a, b, v):
        d = vec(n, Real, lambda j: sum(n, lambda i: v[i] * a[i][j]))
        return sum(n, lambda i: sum(n, lambda j: sin(a[i][j] - 2 * d[j] * v[i]) * b[i][j]))

    same(gradient(fn([M, M, V], Real, body), M, V), *point(n, n))
    assert [set(of.sites.values()) for of in found if of.sites] == [{Site.COLUMN, Site.SAME}]


def test_an_iteration_adds_to_its_sums_itself_too(found) -> None:
    """The derivative by a vector, multiples of which are used by a loop in each iteration, and beside it."""
    n, m = 6, 20
    X, V, W, M = Vec(n, Real), Vec(m, Real), Vec(5, Real), Vec(n, Vec(m, Real))

    def iteration(a, v, w, x):
        s = vec(5, Real, lambda c: x * w[c] * x)
        return s[2] * s[3] + sum(m, lambda j: sum(2, lambda c: s[c] * a[j] * s[c]) * v[j])

    f = fn([M, X, V, W], Real, lambda a, x, v, w: sum(n, lambda i: iteration(a[i], v, w, x[i])))
    a, b, v = point(m, 1)
    by_w = fn([M, X, V, W], W, lambda *args: vjp(f)(*args).grad(1)[3])
    same(by_w, a[:n], b[0][:n], v, b[1][:5])
    assert found


@pytest.mark.parametrize("seed", range(60))
def test_random_products(seed: int) -> None:
    draw = random.Random(seed)
    n = draw.choice([6, 13, 17, 18])
    V = Vec(n, Real)
    M = Vec(n, V)

    def body(a, b, x):
        def term(i, j, k):
            leaves = [a[i][k], b[k][j], a[k][j], b[j][k], x[k], x[j], x[i], b[i][j]]
            leaves = draw.sample(leaves, 2)
            t = draw.choice(leaves)
            for _ in range(draw.randrange(1, 3)):
                u = draw.choice(leaves)
                t = draw.choice([lambda t, u: t * u, lambda t, u: t + u, lambda t, u: t - sin(u), max])(t, u)
            return t

        outer = draw.choice([cos, lambda s: s * s, lambda s: s])

        def element(i, j):
            s = sum(n, lambda k: term(i, j, k))
            others = [s, s, s * sum(n, lambda k: term(i, j, k)), s * a[i][j], s + x[j], b[i][j] - s]
            return outer(draw.choice(others))

        c = vec(n, V, lambda i: vec(n, Real, lambda j: element(i, j)))
        return sum(n, lambda i: sum(n, lambda j: c[i][j] * x[j]))

    f = fn([M, M, V], Real, body)
    a, b, x = point(n, seed)
    same(f, a, b, x)
    same(gradient(f, M, V), a, b, x)
    # the same of one array, by which the derivative is one accumulator
    Both = Vec(2, M)
    of_both = fn([Both, V], Real, lambda m, x: f(m[0], m[1], x))
    same(fn([Both, V], Both, lambda m, x: vjp(of_both)(m, x).grad(1)[0]), [a, b], x)
