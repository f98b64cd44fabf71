"""Sums side by side: the same numbers, to the bit, in fewer loops."""

from __future__ import annotations

import random
from itertools import product

import pytest
from random_nests import pulled
from random_programs import flat

from rose_core import Real, RunError, Vec, compile, fn, iadd, index, interp, opaque, real, sin, vec, vjp
from rose_core import sum as total
from rose_core.derivatives.expand import Expansion
from rose_core.language.flatten import flatten
from rose_core.language.interp import call
from rose_core.language.ir import ADD_TO, Func
from rose_core.language.parse import parse
from rose_core.language.types import fin
from rose_core.optimise.unroll import unrolled
from tests.test_unroll import root, same, wave

N = 20


def loops(f: Func) -> int:
    return len(f.blocks) - 1


def before(f) -> int:
    return loops(Expansion(f.func).root)


def channels(count: int, term):
    """For each channel c, the sum of ``term(x, c, i)`` over all i."""
    t = Vec(N, Vec(count, Real))
    return fn([t], Vec(count, Real), lambda x: vec(count, Real, lambda c: total(N, lambda i: term(x, c, i))))


@pytest.mark.parametrize(("count", "after"), [(1, 2), (2, 1), (3, 1), (4, 1), (5, 2)])
def test_a_few_sums_are_one_loop(count, after) -> None:
    f = channels(count, lambda x, c, i: sin(x[i][c]) * x[i][0])
    assert before(f) == 2
    found = same(f, wave(N, count))
    assert loops(found) == after
    if after == 1:
        (block,) = found.blocks[1:]
        assert sum(found.code[v][0] == ADD_TO for v in block.order) == count


def image(side: int, reach: int):
    """A blur of a picture with three channels, whose margin stays as it is."""
    colour, inner = Vec(3, Real), side - 2 * reach
    picture, taps = Vec(side, Vec(side, colour)), 2 * reach + 1

    def mean(kernel, x, y, k, c):
        def term(j, i):
            return kernel[j][i] * x[iadd(side, y, j)][iadd(side, k, i)][c]

        return total(taps, lambda j: total(taps, lambda i: term(j, i)))

    def body(kernel, x):
        def pixel(y, k):
            return vec(3, Real, lambda c: mean(kernel, x, y, k, c))

        return vec(inner, Vec(inner, colour), lambda y: vec(inner, colour, lambda k: pixel(y, k)))

    return [Vec(taps, Vec(taps, Real)), picture], Vec(inner, Vec(inner, colour)), body


@pytest.mark.parametrize("reach", [2, 9])
def test_channels_of_a_picture_and_of_its_gradient(reach) -> None:
    side = 2 * reach + 6
    params, result, body = image(side, reach)
    f = fn(params, result, body)
    given = wave(2 * reach + 1, 2 * reach + 1), wave(side, side, 3)
    assert loops(same(f, *given)) < before(f)

    def gradient(kernel, x):
        y, grad = vjp(f)(kernel, x)
        return dict(zip(both, grad(y), strict=True))

    both = {"kernel": params[0], "picture": params[1]}
    g = fn(params, both, gradient)
    same(g, *given)


def test_what_each_iteration_adds_to_an_element_of_its_own() -> None:
    point = Vec(3, Real)

    def body(x, w):
        return total(N, lambda i: sin(total(3, lambda c: x[i][c] * w[c])))

    f = fn(
        [Vec(N, point), point], point, lambda x, w: vjp(fn([point], Real, lambda w: body(x, w)))(w).grad(1)
    )
    same(f, wave(N, 3), wave(3))


def test_what_all_iterations_add_to_one_sum_keeps_its_order() -> None:
    t = Vec(N, Vec(3, Real))
    f = fn([t], Real, lambda x: total(3, lambda c: sin(total(N, lambda i: x[i][c] * x[i][c]))))
    assert loops(same(f, wave(N, 3))) == 1


def test_what_several_iterations_add_to_the_same_element_keeps_its_order() -> None:
    """The cotangents of x[c] and of x[c + 1] go to the same elements."""
    t = Vec(4, Real)

    def body(x):
        return total(3, lambda c: total(N, lambda i: sin(x[iadd(4, c, 0)] * x[iadd(4, c, 1)] + real(i))))

    f = fn([t], t, lambda x: vjp(fn([t], Real, body))(x).grad(1))
    found = same(f, wave(4))
    assert fin(3) in [block.size for block in found.blocks]


def test_what_is_given_may_be_one_accumulator() -> None:
    """Each iteration adds to a row of one, and to a column of the other."""
    draw = random.Random(1)
    args = [[draw.uniform(-1, 1) for _ in range(N)]]
    for k, j in product(range(3), range(3)):
        source = f"""
            def add(p: &[3][3]Real, q: &[3][3]Real, x: [{N}]Real): () =
              [for c: 3, [for i: {N}, &p[c][{k}] += x[i]]; [for i: {N}, &q[{j}][c] += x[i] * x[i]]; ()];
              ()
            def f(x: [{N}]Real): ([3][3]Real, ()) =
              accum p from [for _: 3, [for _: 3, 0.1]] in add(p, p, x)"""
        f = flatten(parse(source)["f"])
        assert flat(call(unrolled(f), args)) == flat(call(f, args))


def test_of_several_failures_the_first_is_told() -> None:
    f = channels(3, lambda x, c, i: x[index(N, x[i][c])][c])
    rows = [[0.0, 0.0, 0.0] for _ in range(N)]
    rows[N - 1][0], rows[0][1] = 77.0, 88.0
    for run in (compile(f), interp(f)):
        with pytest.raises(RunError, match="77"):
            run(rows)
    assert loops(root(f)) == before(f)


def test_of_several_failures_for_sums_the_first_is_told() -> None:
    """A sum of what differs from iteration to iteration does so, too."""
    pairs, numbers = Vec(N, Vec(2, Real)), Vec(N, Real)

    def both(a, b, w, c):
        first = w[index(N, total(N, lambda j: a[j][c]))]
        return w[index(N, total(N, lambda j: b[j][c] * first))]

    f = fn([pairs, pairs, numbers], Vec(2, Real), lambda a, b, w: vec(2, Real, lambda c: both(a, b, w, c)))
    a, b = ([list(at), *([0.0, 0.0] for _ in range(1, N))] for at in ((0.0, 0.25), (0.75, 0.0)))
    for run in (interp(f), compile(f)):
        with pytest.raises(RunError, match=r"0\.75"):
            run(a, b, [1.0] * N)


def test_calls_of_opaque_functions_keep_their_order() -> None:
    seen: list[float] = []

    def note(x: float) -> float:
        seen.append(x)
        return x

    noted = opaque([Real], Real, note)
    f = channels(3, lambda x, c, i: noted(x[i][c]))
    x = wave(N, 3)
    compile(f)(x)
    assert seen == [x[i][c] for c in range(3) for i in range(N)]


def test_vectors_of_loops_inside_stay_loops() -> None:
    def one(x, c):
        y = vec(N, Real, lambda i: sin(x[i][c]))
        return total(N, lambda i: y[i] * x[i][0])

    f = fn([Vec(N, Vec(3, Real))], Vec(3, Real), lambda x: vec(3, Real, lambda c: one(x, c)))
    same(f, wave(N, 3))


SIZES = (2, 3, 4, 18)


class RandomSums:
    """Sums in sums in a vector, of few iterations and of many, over matrices of all these sizes."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        shapes = [(m, n) for m in SIZES for n in SIZES]
        self.at = {shape: k for k, shape in enumerate(shapes)}
        params = [Vec(m, Vec(n, Real)) for m, n in shapes]
        self.args = [wave(m, n, phase=m + n) for m, n in shapes]
        size = self.rng.choice(SIZES)
        self.value = fn(params, Vec(size, Real), lambda *xs: vec(size, Real, lambda c: self.sum(xs, [c])))

    def sum(self, xs, indices):
        return total(self.rng.choice(SIZES), lambda i: self.term(xs, [*indices, i]))

    def term(self, xs, indices):
        found = self.element(xs, indices)
        for _ in range(self.rng.randrange(3)):
            found = found * self.element(xs, indices)
        if len(indices) < 4 and self.rng.random() < 0.7:
            inner = self.sum(xs, indices)
            found = found * inner if self.rng.random() < 0.5 else found + sin(inner)
        return found

    def element(self, xs, indices):
        i, j = self.rng.choices(indices, k=2)
        return xs[self.at[i.type.size, j.type.size]][i][j]


@pytest.mark.parametrize("seed", range(40))
def test_random_sums(seed) -> None:
    sums = RandomSums(seed)
    same(sums.value, *sums.args)
    same(pulled(sums.value), *sums.args)
