"""Loops that change places: every element gets the same, in the same order, to the bit."""

from __future__ import annotations

import math
from itertools import product
from random import Random

import pytest
from changes import noted
from engines import same
from random_programs import flat
from test_growth import calls_in

from rose_core import Real, Vec, fn, grad, iadd, idiv, imul, isub, max
from rose_core import sum as total
from rose_core.derivatives.expand import Expansion
from rose_core.language import interp
from rose_core.language.check import check
from rose_core.language.flatten import flatten
from rose_core.language.parse import parse
from rose_core.optimise import unroll
from rose_core.optimise.interchange import interchanged
from rose_core.optimise.single import relinked

N = 14


@pytest.fixture
def nests(monkeypatch):
    """Finds out how many loops change places in what is compiled from then on."""
    return noted(monkeypatch, unroll, "interchanged")


def wave(*shape: int, phase: float = 0.0):
    if len(shape) == 1:
        return [math.sin(k * k + phase) for k in range(shape[0])]
    return [wave(*shape[1:], phase=phase + 3 * k) for k in range(shape[0])]


def picture(m: int, n: int):
    return Vec(m, Vec(n, Real))


def at(n: int, i, j):
    return iadd(n, i, j)


TERMS = {
    "correlation": lambda x, w, i, j, p, q, k: x[at(N, i, p)][at(N, j, q)] * w[p][q],
    "convolution": lambda x, w, i, j, p, q, k: (
        x[at(N, i, p)][at(N, j, q)] * w[isub(k, k - 1, p)][isub(k, k - 1, q)]
    ),
    "of one row of the picture": lambda x, w, i, j, p, q, k: x[p][at(N, j, q)] * w[p][q],
    "of one row of the kernel": lambda x, w, i, j, p, q, k: x[at(N, i, p)][at(N, j, q)] * w[0][q],
    "of one row of the picture and another": lambda x, w, i, j, p, q, k: (
        x[i][at(N, j, q)] * x[p][q] * w[p][q]
    ),
    "of the picture and its rows": lambda x, w, i, j, p, q, k: (
        x[at(N, i, p)][at(N, j, q)] * x[i][q] * w[p][q]
    ),
    "down columns": lambda x, w, i, j, p, q, k: x[at(N, j, q)][at(N, i, p)] * w[p][q],
    "of every second pixel": lambda x, w, i, j, p, q, k: x[at(N, i, p)][at(N, j, imul(N, q, 2))] * w[p][q],
    "diagonally": lambda x, w, i, j, p, q, k: x[at(N, j, p)][at(N, j, q)] * w[p][q],
    "transposed": lambda x, w, i, j, p, q, k: x[at(N, i, p)][at(N, j, q)] * w[q][p],
}
CHANGE = {"correlation", "convolution", "of one row of the picture", "of every second pixel"}


def response(term, k: int, after=lambda y: y * y):
    m = N - 2 * k + 2

    def pixel(x, w, i, j):
        return after(total(k, lambda p: total(k, lambda q: term(x, w, i, j, p, q, k))))

    return fn(
        [picture(N, N), picture(k, k)],
        Real,
        lambda x, w: total(m, lambda i: total(m, lambda j: pixel(x, w, i, j))),
    )


@pytest.mark.parametrize("name", TERMS)
def test_gradients(name: str, nests) -> None:
    k = 4
    same(grad(response(TERMS[name], k), [0, 1]), wave(N, N), wave(k, k, phase=1.0))
    assert (True in nests) == (name in CHANGE)


def test_few_iterations_are_written_out(nests) -> None:
    k = 3
    same(grad(response(TERMS["correlation"], k), [0, 1]), wave(N, N), wave(k, k, phase=1.0))
    assert True not in nests


def test_in_a_loop_that_never_runs() -> None:
    k, m = 4, N - 6

    def square(x, w, i, j):
        y = total(k, lambda p: total(k, lambda q: TERMS["correlation"](x, w, i, j, p, q, k)))
        return y * y

    def never(x, w):
        return total(0, lambda _: total(m, lambda i: total(m, lambda j: square(x, w, i, j))))

    f = fn([picture(N, N), picture(k, k)], Real, never)
    assert same(grad(f, 1), wave(N, N), wave(k, k)) == [[0.0] * k] * k


@pytest.mark.parametrize("by", [0, 1], ids=["by the picture", "by the kernel"])
def test_by_one_of_both(by: int) -> None:
    k = 4
    same(
        grad(response(TERMS["correlation"], k, lambda y: max(y, 0.0)), by), wave(N, N), wave(k, k, phase=1.0)
    )


def test_several_channels(nests) -> None:
    k, m, channels = 3, 9, 2
    x, w = Vec(channels, picture(m + k, m + k)), Vec(3, Vec(channels, picture(k, k)))

    def pixel(x, w, o, i, j):
        def term(c, p, q):
            return x[c][at(m + k, i, p)][at(m + k, j, q)] * w[o][c][p][q]

        of_all = total(channels, lambda c: total(k, lambda p: total(k, lambda q: term(c, p, q))))
        return max(of_all, 0.0) * of_all

    f = fn(
        [x, w],
        Real,
        lambda x, w: total(3, lambda o: total(m, lambda i: total(m, lambda j: pixel(x, w, o, i, j)))),
    )
    same(grad(f, [0, 1]), wave(channels, m + k, m + k), wave(3, channels, k, k, phase=1.0))
    assert True in nests


@pytest.mark.parametrize("seed", range(40))
def test_random(seed: int) -> None:
    """Of elements at any sums of the iterations."""
    draw = Random(seed)
    k, trips = draw.choice((4, 5)), draw.choice((8, 9))
    others = draw.randrange(2, 5)

    def index(size: int):
        parts = draw.choice(("ip", "jq", "ip", "jq", "p", "q", "i", "j", "iq", "jp", "pq"))

        def sum_of(places):
            found = 0
            for part in parts:
                found = iadd(size, found, places[part])
            return found

        return sum_of

    size = 16
    reads = [(index(size), index(size)) for _ in range(draw.choice((2, 2, 3)))]
    arrays = [draw.randrange(2) for _ in reads]

    def term(given, places):
        found = 1.0
        for of, (row, column) in zip(arrays, reads, strict=True):
            found = found * given[of][row(places)][column(places)]
        return found

    def pixel(given, i, j):
        return total(k, lambda p: total(k, lambda q: term(given, {"i": i, "j": j, "p": p, "q": q})))

    def f(x, w):
        return total(others, lambda i: total(trips, lambda j: (lambda y: y * y)(pixel((x, w), i, j))))

    f = fn([picture(size, size), picture(size, size)], Real, f)
    same(grad(f, [0, 1]), wave(size, size), wave(size, size, phase=seed))


@pytest.mark.parametrize("along", [False, True])
def test_indices_are_looked_through_once(along: bool) -> None:
    """Though each is computed of the one before it twice."""

    m = N - 4

    def effort(depth: int) -> int:
        def twisted(n, i):
            for _ in range(depth):
                i = idiv(n, iadd(2 * n, i, i), 2)
            return i

        def out(x, w, i, j):
            def column(b):
                return at(N, b, twisted(m, j)) if along else at(N, twisted(5, b), j)

            return total(5, lambda a: total(5, lambda b: w[a][b] * x[at(N, i, a)][column(b)]))

        f = fn(
            [picture(N, N), picture(5, 5)],
            Real,
            lambda x, w: total(m, lambda i: total(m, lambda j: max(out(x, w, i, j), 0.0))),
        )
        root = Expansion(grad(f, [0, 1]).func).root
        return calls_in(lambda: unroll.interchanged(root, 24))

    assert effort(16) < 3 * effort(8)


ROWS = ["1 + r", "3 + r", "1 + p", "2 + l", "k", "2"]
COLUMNS = ["1 + p", "1 + p + q", "1 + p + r", "1 + r", "k", "2"]


def index(name: str, of: str) -> str:
    """Code that gives an index of a row or column this name."""
    steps = of.split(" + ")
    sums = [f"let {name}: 2147483648 = {' + '.join(steps[:2])} in"] if steps[1:] else []
    sums += [f"let {name}: 2147483648 = {name} + {step} in" for step in steps[2:]]
    return " ".join([*sums, f"let {name}: 24 = {f'narrow({name}, 24)' if sums else of} in"])


@pytest.mark.parametrize("after", ["", "&g[2][b] += x[p];"], ids=["", "and after the inner loops"])
@pytest.mark.parametrize("to", ["to one", "to two", "to two that may be one"])
def test_additions(to: str, after: str) -> None:
    """One is to an element that follows the iterations of both loops, another one to any element."""
    start = "[for _: 24, [for _: 24, 0.1]]"
    given = "x: [12]Real, w: [5]Real, k: 24, l: 3"
    draw = Random(0)
    args = [*([draw.uniform(-1, 1) for _ in range(n)] for n in (12, 5)), 4, 1]
    changed = 0
    for row, column in product(ROWS, COLUMNS):
        body = f"""
            [for p: 12, {index("b", "1 + p")}
              [for r: 5, {index("a", "1 + r")}
                [for q: 3, {index("i", row)} {index("j", column)}
                  &g[a][b] += x[p] * w[r];
                  &{"g" if to == "to one" else "h"}[i][j] += x[p] - w[r]]];
              {after}
              ()];
            ()"""
        source = f"""
            def add(g: &[24][24]Real, h: &[24][24]Real, {given}): () = {body}
            def f({given}): ([24][24]Real, ([24][24]Real, ())) =
              accum g from {start} in accum h from {start} in
              {"add(g, g, x, w, k, l)" if to == "to two that may be one" else f"({body})"}"""
        f = flatten(parse(source)["f"])
        made = relinked(interchanged(f, 0), [interchanged(g, 0) for g in f.callees])
        check(made)
        assert repr(flat(interp.call(made, args))) == repr(flat(interp.call(f, args)))
        changed += made is not f
    assert (changed > 0) == (not after and to != "to two that may be one")


@pytest.mark.parametrize(
    ("inner", "result"),
    [("", "()"), ("add(g, x[p])", "()"), ("", "x[p] * 0.5")],
    ids=["none", "a call that adds", "an element of a vector"],
)
def test_what_else_an_iteration_does(inner: str, result: str) -> None:
    each = "()" if result == "()" else "Real"
    f = flatten(
        parse(f"""
            def add(g: &[24][24]Real, x: Real): () = &g[3][2] += x
            def f(g: &[24][24]Real, x: [12]Real, w: [5]Real): [12]{each} =
              [for p: 12, {index("b", "1 + p")}
                [for r: 5, {index("a", "1 + r")} &g[a][b] += x[p] * w[r]; {inner or "()"}];
                {result}]""")["f"]
    )
    assert (interchanged(f, 0) is f) == bool(inner or each == "Real")
