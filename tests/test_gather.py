"""What neighbours get is gathered in another loop: each gets the same, in the same order, to the bit."""

from __future__ import annotations

import math
from random import Random

import pytest
from changes import noted
from engines import same

from rose_core import Real, Vec, fn, fori, grad, iadd, imax, imin, imul, isub, max, real, sin, tanh, vec
from rose_core import sum as total
from rose_core.language.builder import COUNT, Builder
from rose_core.language.check import check
from rose_core.language.ir import Func
from rose_core.language.ops import by_name
from rose_core.language.types import REAL, UNIT, Type, array, fin
from rose_core.optimise import unroll
from tests.test_interchange import wave

N = 60


@pytest.fixture
def gathers(monkeypatch):
    """Finds out for each function that is compiled from then on whether something is gathered."""
    return noted(monkeypatch, unroll, "gathered")


TERMS = {
    "correlation": lambda x, w, i, j, k: w[j] * x[iadd(N, i, j)],
    "convolution": lambda x, w, i, j, k: w[isub(k, k - 1, j)] * x[iadd(N, i, j)],
    "average": lambda x, w, i, j, k: x[iadd(N, i, j)],
    "differences": lambda x, w, i, j, k: w[j] * (x[iadd(N, i, j)] - x[i]),
    "squares": lambda x, w, i, j, k: w[j] * x[iadd(N, i, j)] * x[iadd(N, i, j)],
    "of every second one": lambda x, w, i, j, k: w[j] * x[iadd(N, i, imul(N, j, 2))],
    "of every second iteration": lambda x, w, i, j, k: w[j] * x[iadd(N, imul(N, i, 2), j)],
    "weights of the iteration": lambda x, w, i, j, k: sin(w[j] * w[i % k]) * x[iadd(N, i, j)],
    "backwards": lambda x, w, i, j, k: w[j] * x[isub(N, iadd(N, i, k), j)],
    "products of neighbours": lambda x, w, i, j, k: w[j] * x[iadd(N, i, j)] * x[iadd(N, i, k)],
}
GATHERED = {
    "correlation",
    "convolution",
    "average",
    "of every second one",
    "backwards",
}


def loss(k: int, trips: int, term, after=lambda y: y * y):
    def one(x, w, i):
        return after(total(k, lambda j: term(x, w, i, j, k)))

    return fn([Vec(N, Real), Vec(k, Real)], Real, lambda x, w: total(trips, lambda i: one(x, w, i)))


@pytest.mark.parametrize("name", TERMS)
def test_gradients(name: str, gathers) -> None:
    k, trips = 5, 25 if name == "of every second iteration" else 50
    same(grad(loss(k, trips, TERMS[name])), wave(N), wave(k, phase=1.0))
    assert (True in gathers) == (name in GATHERED)


@pytest.mark.parametrize("of", [[0], [1], [0, 1]], ids=str)
@pytest.mark.parametrize("k", [4, 5, 7, 9, 12])
def test_kernels(k: int, of: list[int], gathers) -> None:
    same(grad(loss(k, 49, TERMS["correlation"], tanh), of), wave(N), wave(k, phase=1.0))
    assert (True in gathers) == (0 in of and 5 <= k <= 10)


@pytest.mark.parametrize("trips", [1, 2, 19, 20, 21, 55, 56])
def test_numbers_of_iterations(trips: int, gathers) -> None:
    """With as few, the ends would be most of it."""
    same(grad(loss(5, trips, TERMS["correlation"])), wave(N), wave(5, phase=1.0))
    assert (True in gathers) == (trips >= 20)


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, -0.0, 0.0, 5e-324])
def test_odd_numbers(odd: float, gathers) -> None:
    """Elements near the ends get no part of what is beyond, be it infinite."""
    f = grad(loss(5, 50, TERMS["correlation"], lambda y: max(y, 0.0)))
    for place in (0, 2, 30, 55):
        x, w = wave(N), wave(5, phase=1.0)
        x[place] = odd
        same(f, x, w)
        x, w[place % 5] = wave(N), odd
        same(f, x, w)
    assert True in gathers


def test_zeros_keep_their_signs(gathers) -> None:
    """A sum of -0 that starts from 0 is 0."""
    f = grad(loss(5, 50, TERMS["correlation"], lambda y: -0.0 * y))
    assert repr(same(f, wave(N), [1.0] * 5)) == repr([0.0] * N)
    assert True in gathers


def test_two_signals(gathers) -> None:
    def one(x, y, w, i):
        s = total(5, lambda j: w[j] * x[iadd(N, i, j)] - w[4 - j] * y[iadd(N, i, j)])
        return tanh(s * y[i])

    f = fn([Vec(N, Real)] * 2 + [Vec(5, Real)], Real, lambda *v: total(50, lambda i: one(*v, i)))
    same(grad(f, [0, 1, 2]), wave(N), wave(N, phase=2.0), wave(5, phase=1.0))
    assert True in gathers


def test_in_other_loops(gathers) -> None:
    """Of rows by themselves; not where each step has a part in the one before besides."""

    def smooth(x, w):
        return vec(N - 4, Real, lambda i: tanh(total(5, lambda j: w[j] * x[iadd(N, i, j)])))

    def step(x, w):
        y = smooth(x, w)
        return vec(N, Real, lambda i: y[isub(N - 4, imin(N - 2, imax(N, i, 2), N - 3), 2)] + 0.1 * x[i])

    rows = fn(
        [Vec(3, Vec(N, Real)), Vec(5, Real)],
        Real,
        lambda m, w: total(3, lambda r: total(N - 4, lambda i: smooth(m[r], w)[i])),
    )
    same(grad(rows, [0, 1]), [wave(N), wave(N, phase=1.0), wave(N, phase=2.0)], wave(5, phase=1.0))
    found = len(gathers)
    again = fn(
        [Vec(N, Real), Vec(5, Real)],
        Real,
        lambda x, w: total(N, lambda i: fori(3, Vec(N, Real), x, lambda _, s: step(s, w))[i]),
    )
    same(grad(again, [0, 1]), wave(N), wave(5, phase=1.0))
    assert True in gathers[:found]
    assert True not in gathers[found:]


MORE = {
    "one row in all iterations": lambda m, w, r: windows(m[0], w) * real(r),
    "any row": lambda m, w, r: windows(m[imax(3, r, 1)], w) * real(r),
    "rows twice": lambda m, w, r: windows(m[r], w) + windows(m[r], w, 3.0),
    "whole rows besides": lambda m, w, r: windows(m[r], w) + square(total(N, lambda i: m[r][i])),
    "an element of one row besides": lambda m, w, r: windows(m[r], w) + square(m[0][r]),
    "elements besides": lambda m, w, r: windows(m[r], w) + square(m[r][7]) + square(m[0][r]),
}


def windows(x, w, factor: float = 2.0):
    return total(50, lambda i: square(factor + total(5, lambda j: w[j] * x[iadd(N, i, j)])))


def square(x):
    return x * x


@pytest.mark.parametrize("name", MORE)
def test_what_gets_more_is_left(name: str, gathers) -> None:
    f = fn([Vec(3, Vec(N, Real)), Vec(5, Real)], Real, lambda m, w: total(3, lambda r: MORE[name](m, w, r)))
    same(grad(f, [0, 1]), [wave(N), wave(N, phase=1.0), wave(N, phase=2.0)], wave(5, phase=1.0))
    assert True not in gathers


def are_gathered(elem: Type, start: float) -> bool:
    """Whether elements that 50 iterations add to five neighbours each are, where all start from this."""
    f = Func("f", [], UNIT)
    b = Builder(f)
    terms, size = b.param(array(fin(50), elem)), fin(N)
    sums = b.accum(b.const(start, array(size, elem)))
    iteration = b.open_for(fin(50))
    for k in range(5):
        i = b.binary(by_name["iadd"].code, b.const(k, COUNT), iteration, COUNT)
        b.add_to(b.ref_index(sums, b.narrow(i, size)), b.index(terms, iteration))
    b.close_for([])
    f.blocks[0].results = [b.resolve(sums)]
    check(f)
    return unroll.gathered(f) is not f


def test_rows_that_are_added_whole_are_left() -> None:
    assert not are_gathered(array(fin(3), REAL), 0.0)


@pytest.mark.parametrize(("start", "is_gathered"), [(0.0, True), (-0.0, False), (1.0, False)])
def test_what_elements_start_from(start: float, is_gathered: bool) -> None:
    """The first that one gets is added to that."""
    assert are_gathered(REAL, start) == is_gathered


def test_sums_besides(gathers) -> None:
    """What is added to numbers stays in the loop."""
    f = loss(5, 50, lambda x, w, i, j, k: w[j] * x[iadd(N, i, j)] * w[0] + w[1])
    gradient = same(grad(f, [0, 1]), wave(N), wave(5, phase=1.0))
    assert all(gradient[1][:2])
    assert True in gathers


@pytest.mark.parametrize("seed", range(40))
def test_random(seed: int) -> None:
    """Of several elements at any distances, of which some repeat, in any terms."""
    same(*random_stencil(seed))


def random_stencil(seed: int):
    draw = Random(seed)
    trips = draw.randrange(18, 51)
    places = [draw.randrange(10) for _ in range(draw.randrange(4, 9))]
    kinds = [draw.randrange(6) for _ in places]

    def term(kind, x, y, w, i, k, j):
        a, b = x[iadd(N, i, k)], y[iadd(N, i, places[j - 1])]
        c = w[j % 3]
        return [a, c * a, a * b, c * a * a, -a, max(a, b * c)][kind]

    def one(x, y, w, i):
        s = term(kinds[0], x, y, w, i, places[0], 0)
        for j, k in enumerate(places[1:], 1):
            s = s + term(kinds[j], x, y, w, i, k, j)
        return draw_after(s, x[i])

    after = draw.randrange(4)

    def draw_after(s, a):
        return [s * s, tanh(s), sin(s) * a, max(s, a)][after]

    f = fn([Vec(N, Real)] * 2 + [Vec(3, Real)], Real, lambda *v: total(trips, lambda i: one(*v, i)))
    numbers = [draw.choice([draw.gauss(0, 1), draw.gauss(0, 1), 0.0, -0.0, 1.0]) for _ in range(2 * N + 3)]
    return grad(f, draw.choice([[0], [0, 1], [0, 1, 2]])), numbers[:N], numbers[N:-3], numbers[-3:]
