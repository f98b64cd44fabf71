"""Accumulators whose neighbouring elements stay in local variables: nothing but the speed changes."""

from __future__ import annotations

import math
import random

import pytest
from random_einsums import Einsums
from random_points import numbers, points

from rose_core import (
    Real,
    Vec,
    compile,
    fn,
    fori,
    grad,
    iadd,
    idiv,
    imax,
    imul,
    interp,
    isub,
    sin,
    sqrt,
    vec,
    vjp,
)
from rose_core import sum as total
from rose_core.derivatives.expand import Expansion
from rose_core.host import instantiate
from rose_core.language.demand import Demand
from rose_core.language.flatten import flatten
from rose_core.language.interp import call
from rose_core.language.ir import ACCUM
from rose_core.language.parse import parse
from rose_core.optimise import inline
from rose_core.wasm.context import Codes, Context
from rose_core.wasm.expressions import Expressions
from rose_core.wasm.given import Given
from rose_core.wasm.program import Program
from rose_core.wasm.windows import WIDEST, windows


def at(n: int, i, offset: int = 0):
    """The index ``i + offset``, of any vector of ``n``."""
    return iadd(n, i, offset)


def widths(g) -> list[list[int]]:
    """For each function of the program that has windows, their widths."""
    root = Expansion(g.func).root
    found = []
    for f in (root, *root.callees):
        affine = Expressions(f, Context(Codes([])), 0, {}).affine
        of = windows(f, Demand(f), affine, Given([root, *root.callees]))
        found += [sorted(w.width for w in at) for at in of.values() if at]
    return found


def check(g, n: int, expected: list[list[int]]) -> None:
    values = [math.sin(3 * k) for k in range(n)]
    assert compile(g)(values) == interp(g)(values)
    assert widths(g) == expected


def stencil(n: int, *offsets: int):
    """A sum over products of the sines of elements that are so far from the iteration."""
    size = n - max(offsets)

    def term(x, i):
        product = 1
        for offset in offsets:
            product = product * sin(x[at(n, i, offset)])
        return product

    return fn([Vec(n, Real)], Real, lambda x: total(size, lambda i: term(x, i)))


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        ((0, 1), [[2]]),
        ((0, 1, 2), [[3]]),
        ((1, 4), [[4]]),
        ((2, 3), [[2]]),
        ((0, WIDEST - 1), [[WIDEST]]),
        ((0, WIDEST), []),
        ((3,), [[1]]),
        ((8,), [[1]]),
        ((9,), []),
    ],
)
def test_of_stencils(offsets, expected) -> None:
    check(grad(stencil(20, *offsets)), 20, expected)


def test_added_to_before() -> None:
    """Two loops that add to one accumulator: only for the first is it new."""
    n = 20
    f = fn(
        [Vec(n, Real)],
        Real,
        lambda x: total(n - 1, lambda i: sin(x[at(n, i)]) * x[at(n, i, 1)]) + total(n, lambda i: sin(x[i])),
    )
    check(grad(f), n, [[1], [2]])


def test_one_iteration() -> None:
    check(grad(stencil(2, 0, 1)), 2, [[2]])


def test_of_every_other_element() -> None:
    f = fn(
        [Vec(12, Real)],
        Real,
        lambda x: total(5, lambda i: sin(x[imul(12, i, 2)]) * x[iadd(12, imul(12, i, 2), 1)]),
    )
    check(grad(f), 12, [])


def test_at_fixed_elements_too() -> None:
    """What adds to an element that does not move may meet the window."""
    f = fn([Vec(9, Real)], Real, lambda x: total(8, lambda i: sin(x[at(9, i, 1)] * x[at(9, i)] * x[4])))
    values = [math.sin(3 * k) for k in range(9)]
    assert compile(grad(f))(values) == interp(grad(f))(values)


def test_where_iterations_are_counted() -> None:
    """The derivative of a loop of as many iterations as is asked, which does not run in lanes."""
    n = 12
    V = Vec(n + 2, Real)

    def term(x, y, i):
        return x[at(n + 2, i)] * x[at(n + 2, i, 2)] * sqrt(x[i] * x[i] + 2.0) * y[idiv(n + 2, i, 2)]

    f = fn([V, V, n], Real, lambda x, y, k: fori(k, Real, 0.0, lambda i, s: s + term(x, y, i)))
    g = fn([V, V, n], V, lambda x, y, k: vjp(f)(x, y, k).grad(1)[0])
    values = [math.sin(3 * k) for k in range(n + 2)]
    for k in range(n):
        assert compile(g)(values, values, k) == interp(g)(values, values, k)


def test_in_an_inner_loop() -> None:
    """With a loop inside that adds to the same elements, and one around."""
    n = 30

    def body(x):
        rows = vec(
            20,
            Real,
            lambda i: sin(x[at(n, i, 1)]) * x[at(n, i)] + total(20, lambda j: x[at(n, j)] * sin(x[at(n, i)])),
        )
        return total(20, lambda i: rows[i] * x[at(n, i)])

    g = grad(fn([Vec(n, Real)], Real, body))
    values = [math.sin(3 * k) for k in range(n)]
    assert compile(g)(values) == interp(g)(values)


def test_of_what_others_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two parameters of a function that add to one vector; and one that does."""
    monkeypatch.setattr(inline, "SHORT", 0)
    n = 24
    step = fn([Vec(n, Real)], Real, lambda x: total(n - 1, lambda i: sin(x[at(n, i)]) * x[at(n, i, 1)]))
    both = fn(
        [Vec(n, Real), Vec(n, Real)],
        Real,
        lambda x, y: total(n - 1, lambda i: sin(x[at(n, i)] * y[at(n, i, 1)]) * x[at(n, i, 1)] * y[at(n, i)]),
    )
    check(grad(fn([Vec(n, Real)], Real, lambda x: step(x) * step(x))), n, [[2]])

    def twice(x):
        y = vec(n, Real, lambda i: -x[i])
        return both(x, x) * both(y, y)

    check(grad(fn([Vec(n, Real)], Real, twice)), n, [])


def test_beside_what_nobody_reads() -> None:
    """A call adds to an accumulator that is read in its iteration, and to one that nobody ever reads."""
    source = """
def both(a: &Real, b: &Real, x: Real): Real =
  let _ = a += x in
  let _ = b += x in
  x
def f(v: [3]Real): [3]Real =
  snd (accum unread from 0.0 in
    [for i: 3, fst (accum part from 0.0 in both(unread, part, v[i]))])
"""
    f = flatten(parse(source)["f"])
    args = [[0.5, 2.0, -3.0]]
    assert call(f, args) == [[0.5, 2.0, -3.0]] == instantiate(Program(f))(args)


@pytest.mark.parametrize("seed", range(20))
def test_random_stencils(seed) -> None:
    rng = random.Random(seed)
    n = 40

    def around(y, i, offsets):
        return y[i] + sum(sin(y[iadd(n + 6, i, k) % n]) for k in offsets)

    def body(x):
        y = x
        for _ in range(rng.randint(1, 3)):
            offsets = [rng.randint(0, 6) for _ in range(rng.randint(1, 3))]
            y = vec(n, Real, lambda i, y=y, offsets=offsets: around(y, i, offsets))
        a, b = rng.randint(0, 5), rng.randint(0, 5)
        return total(n - 5, lambda i: y[at(n, i, a)] * y[at(n, i, b)] * x[at(n, i)])

    g = grad(fn([Vec(n, Real)], Real, body))
    values = [rng.uniform(-1, 1) for _ in range(n)]
    assert compile(g)(values) == interp(g)(values)


def new_rows(g) -> int:
    """How many windows of rows of new matrices there are in a program."""
    root = Expansion(g.func).root
    found = 0
    for f in (root, *root.callees):
        affine = Expressions(f, Context(Codes([])), 0, {}).affine
        of = windows(f, Demand(f), affine, Given([root, *root.callees]))
        found += sum(w.is_new and w.accumulator != w.root for at in of.values() for w in at)
    return found


ROWS = 4
Matrix = Vec(ROWS, Vec(6, Real))


def by_rows(x):
    return total(ROWS, lambda i: sin(total(6, lambda j: x[i][j] * x[0][j])))


MATRICES = {
    "every element once": (lambda x: total(ROWS, lambda i: sin(total(6, lambda j: 2 * x[i][j]))), 1),
    "neighbours in a row": (
        lambda x: total(ROWS, lambda i: sin(total(5, lambda j: x[i][at(6, j)] * x[i][at(6, j, 1)]))),
        1,
    ),
    "one row in every iteration": (by_rows, 0),
    "twice": (lambda x: by_rows(x) + total(ROWS, lambda i: sin(total(6, lambda j: 2 * x[i][j]))), 0),
    "not all rows": (lambda x: total(3, lambda i: sin(total(6, lambda j: 2 * x[at(ROWS, i)][j]))), 0),
    "moved rows": (lambda x: total(3, lambda i: sin(total(6, lambda j: 2 * x[at(ROWS, i, 1)][j]))), 0),
    "the same rows again": (
        lambda x: total(
            3, lambda k: total(ROWS, lambda i: sin(total(6, lambda j: x[i][j] * x[at(ROWS, k)][j])))
        ),
        0,
    ),
    "columns": (lambda x: total(6, lambda j: sin(total(ROWS, lambda i: x[i][j] * x[i][j]))), 0),
    "beside the loop over elements": (
        lambda x: total(ROWS, lambda i: sin(total(6, lambda j: 2 * x[i][j])) * x[i][2]),
        0,
    ),
}


@pytest.mark.parametrize("name", MATRICES)
def test_of_rows(name) -> None:
    f, expected = MATRICES[name]
    g = grad(fn([Matrix], Real, f))
    x = [[math.sin(6 * i + j) for j in range(6)] for i in range(ROWS)]
    for _ in range(2):  # memory that is used again is not zero
        assert compile(g)(x) == interp(g)(x)
    compiled = compile(g)
    assert compiled(x) == compiled(x) == interp(g)(x)
    assert new_rows(g) == expected


def test_two_loops_that_add_to_the_same_rows() -> None:
    """Rows are new to the first of them only."""
    t = Vec(20, Vec(18, Real))

    def body(x):
        return total(20, lambda i: total(18, lambda j: sin(x[i][j])) * total(18, lambda j: x[i][j] * x[i][j]))

    g = grad(fn([t], Real, body))
    x = [[math.sin(7 * i + j) for j in range(18)] for i in range(20)]
    assert compile(g)(x) == interp(g)(x)


def test_an_element_that_an_outer_loop_chooses() -> None:
    """What a loop in it makes anew in each iteration has no window of that loop."""
    t = Vec(20, Real)

    def term(x, i, j):
        v = vec(20, Real, lambda k: sin(x[k] * x[j]))
        return sin(total(20, lambda k: v[k])) * v[i]

    g = grad(fn([t], Real, lambda x: total(20, lambda i: total(20, lambda j: term(x, i, j)))))
    x = [math.sin(k) for k in range(20)]
    assert compile(g)(x) == interp(g)(x)


def test_elements_of_few_rows_that_an_outer_loop_chooses() -> None:
    """One of them may be in the window of a loop in that."""
    n = 6
    t = Vec(n, Vec(n, Real))

    def term(x, i, j):
        return total(3, lambda k: sin(x[i][j] * x[i][at(n, j, 1)]) * x[k][i])

    g = grad(fn([t], Real, lambda x: total(n, lambda i: total(n - 1, lambda j: term(x, i, j)))))
    x = [[math.sin(3 * i + j * j) for j in range(n)] for i in range(n)]
    assert compile(g)(x) == interp(g)(x)


def test_iterations_that_run_alone_add_to_a_new_accumulator() -> None:
    """The first iteration reads another neighbour than its iteration's, so it runs by itself before the
    others.
    """
    n = 20

    def term(x, y, i):
        before = isub(n, imax(n, at(n, i), 1), 1)
        return sin(x[at(n, i)]) * x[at(n, i, 1)] * y[before]

    f = fn([Vec(n, Real), Vec(n, Real)], Real, lambda x, y: total(n - 1, lambda i: term(x, y, i)))
    g = grad(f)
    x, y = ([math.sin(3 * k + j) for k in range(n)] for j in range(2))
    compiled = compile(g)
    assert compiled(x, y) == compiled(x, y) == interp(g)(x, y)


POINTS = {
    "a coordinate each": (lambda p, i: sin(p(0, 0)) * p(0, 1) * p(0, 2), 20, [[1, 1, 1]]),
    "two of three": (lambda p, i: sin(p(0, 0)) * p(0, 2), 20, [[1, 1, 1]]),
    "neighbours": (lambda p, i: sin(p(0, 0) - p(1, 0)) * sin(p(0, 1) - p(1, 1)) * p(0, 2), 19, [[1, 2, 2]]),
    "not all points": (lambda p, i: sin(p(2, 0)) * p(2, 1) * p(2, 2), 18, [[1, 1, 1]]),
    "few of the points": (lambda p, i: sin(p(3, 0)) * p(3, 1) * p(3, 2), 17, []),
    "too far": (lambda p, i: sin(p(0, 0)) * p(WIDEST, 0), 20 - WIDEST, []),
}


@pytest.mark.parametrize("name", POINTS)
def test_of_points(name) -> None:
    """Each coordinate has a window; of new points, those too that nothing is added to."""
    term, trips, expected = POINTS[name]

    def body(x):
        return total(trips, lambda i: term(lambda offset, k: x[at(20, i, offset)][k], i))

    g = grad(fn([Vec(20, Vec(3, Real))], Real, body))
    x = [[math.sin(3 * i + k) for k in range(3)] for i in range(20)]
    compiled = compile(g)
    assert compiled(x) == compiled(x) == interp(g)(x)
    assert widths(g) == expected


@pytest.mark.parametrize("seed", range(120))
def test_random_points(seed) -> None:
    f, draw, sizes = points(seed)
    x, y = numbers(draw, sizes), numbers(draw, sizes[:1])
    for g in (grad(f), grad(f, (0, 1))):
        compiled, expected = compile(g), interp(g)(x, y)
        assert compiled(x, y) == compiled(x, y) == expected


def test_sums_in_lanes_add_to_windows_around_them() -> None:
    """A loop that runs in lanes adds to an element that a loop around it keeps in a local variable."""
    n = 4
    t = Vec(n, Vec(n, Real))

    def product(a, b):
        return vec(n, Vec(n, Real), lambda i: vec(n, Real, lambda k: total(n, lambda j: a[i][j] * b[j][k])))

    def body(a, b):
        m = product(a, b)
        return total(n, lambda i: total(n, lambda k: sin(m[i][k])))

    g = grad(fn([t, t], Real, body), (0, 1))
    a = [[0.1 * (n * i + j) for j in range(n)] for i in range(n)]
    assert compile(g)(a, a) == interp(g)(a, a)


@pytest.mark.parametrize("seed", range(120))
def test_random_einsums(seed) -> None:
    case = Einsums(seed)
    args = case.arguments()
    g = grad(case.function, tuple(range(len(args))))
    compiled, expected = compile(g), interp(g)(*args)
    assert compiled(*args) == compiled(*args) == expected


OF_NEW = {
    "each": (3, "let r: 3 = i in"),
    "some": (2, "let r: 3 = i mod 3 in"),
    "others": (2, "let q: 2147483648 = 1 + i in let r: 3 = narrow(q, 3) in"),
    "backward": (3, "let q: 2147483648 = 2 - i in let r: 3 = narrow(q, 3) in"),
    "one": (3, "let r: 3 = k in"),
    "the last": (3, "let r: 3 = 2 in"),
    "each, and some again": (5, "let r: 3 = i mod 3 in"),
}


@pytest.mark.parametrize("name", OF_NEW)
def test_rows_of_a_new_matrix(name) -> None:
    """Their zeros are written, unless iterations go through all of them; another call has left numbers
    there.
    """
    trips, row = OF_NEW[name]
    source = f"""def f(x: [40]Real, k: 3): ([3][40]Real, ()) =
  accum g from [for _: 3, [for _: 40, 0.0]] in
    (let a: [{trips}]() = [for i: {trips}, {row} let row: &[40]Real = &g[r] in
      let b: [38]() = [for j: 38,
        let m0: 2147483648 = 1 + j in let m: 40 = narrow(m0, 40) in
        let n0: 2147483648 = 2 + j in let n: 40 = narrow(n0, 40) in
        let e = x[m] × x[m] in let _ = (&row[m]) += e in let _ = (&row[n]) += e × x[n] in ()] in ()] in ())"""
    f = flatten(parse(source)["f"])
    (g,) = (v for v, ins in enumerate(f.code) if ins[0] == ACCUM)
    f.pool.append((0.0, f.types[g].inner))  # as a constant, which the notation does not have
    f.code[g] = ACCUM, -len(f.pool)
    run = instantiate(Program(f))
    for k in (1, 0, 2):
        args = [[math.sin(j + k) for j in range(40)], k]
        assert run(args) == call(f, args)
