"""Loops that run two iterations at a time: the same bits, and only where iterations are independent of each
other.
"""

from __future__ import annotations

import math
import random

import lane_loops
import pytest
from engines import engines, same
from random_programs import flat

from rose_core import (
    Bool,
    Real,
    RunError,
    Vec,
    abs,
    and_,
    ceil,
    compile,
    exp,
    floor,
    fn,
    fori,
    grad,
    iadd,
    ieq,
    imin,
    imod,
    imul,
    index,
    inspect,
    isub,
    max,
    min,
    neg,
    not_,
    or_,
    real,
    select,
    sin,
    sqrt,
    struct,
    tan,
    trunc,
    vec,
    vjp,
    xor,
)
from rose_core import sum as total
from rose_core.host import instantiate
from rose_core.language import interp
from rose_core.language.flatten import flatten
from rose_core.language.ir import ACCUM
from rose_core.language.parse import parse
from rose_core.wasm import lane_code, lane_order, lane_writer, lanes
from rose_core.wasm.program import Program

SIZES = [1, 2, 3, 4, 5, 8, 9, 33]
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1e308]


@pytest.fixture
def written(monkeypatch):
    """The loops that are written in lanes from then on, by the number of their iterations."""
    return lane_loops.noted(monkeypatch, lambda writer: writer.block.size.size)


def numbers(n: int, seed: int = 0) -> list[float]:
    draw = random.Random(seed)
    return [draw.choice(SPECIAL) if draw.random() < 0.2 else draw.uniform(-2, 2) for _ in range(n)]


OPERATIONS = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "min": min,
    "max": max,
    **{f"min {c}": lambda x, y, c=c: min(y, c) for c in (0.0, -0.0, 0.5, math.nan, -math.inf)},
    **{f"max {c}": lambda x, y, c=c: max(c, y) for c in (0.0, -0.0, 0.5, math.nan, math.inf)},
    "neg": lambda x, y: neg(x),
    "abs": lambda x, y: abs(x),
    "sqrt": lambda x, y: sqrt(x),
    "ceil": lambda x, y: ceil(x),
    "floor": lambda x, y: floor(x),
    "trunc": lambda x, y: trunc(x),
    "lt": lambda x, y: select(x < y, x, 2.0),
    "or nothing": lambda x, y: select(x < y, x, 0.0),
    "nothing or": lambda x, y: select(x < y, 0.0, y),
    "or less than nothing": lambda x, y: select(x < y, x, -0.0),
    "less than nothing or": lambda x, y: select(x < y, -0.0, y),
    "one of three": lambda x, y: select(x > y, x, select(or_(x > y, x < y), 0.0, y)),
    "another of three": lambda x, y: select(x > y, x, select(or_(y > 0.5, x < y), 0.0, y)),
    "the less": lambda x, y: select(x < y, x, y),
    "the less, by what is greater": lambda x, y: select(x > y, y, x),
    "the greater": lambda x, y: select(x > y, x, y),
    "the greater, by what is less": lambda x, y: select(x < y, y, x),
    "leq": lambda x, y: select(x <= y, x, y),
    "gt": lambda x, y: select(x > y, 1.0, y),
    "geq": lambda x, y: select(x >= y, x, y),
    "and": lambda x, y: select(and_(x > y, y > 0.5), x, y),
    "or": lambda x, y: select(or_(x > y, y > 0.5), x, y),
    "xor": lambda x, y: select(xor(x > y, y > 0.5), x, y),
    "not": lambda x, y: select(not_(x > y), x, y),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation(name: str, written) -> None:
    """Of each of two vectors, and of one and a number that stays."""
    op, n = OPERATIONS[name], 9
    v = Vec(n, Real)
    f = fn([v, Real], v, lambda x, c: vec(n, Real, lambda i: op(x[i], c)))
    g = fn([v, v], v, lambda x, y: vec(n, Real, lambda i: op(x[i], y[i])))
    for seed in range(5):
        same(f, numbers(n, seed), 0.75)
        same(g, numbers(n, seed), numbers(n, -1 - seed))
    assert written == [n] * 10


@pytest.mark.parametrize("n", [9, 10, 33])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
def test_sums_side_by_side(n: int, count: int, written) -> None:
    """Numbers that get something in every iteration, some of them twice, and of some it is taken away."""
    v, w = Vec(n, Real), Vec(count, Real)

    def iteration(x, c, i):
        y = x[imod(n, iadd(2 * n, i, 1))]
        terms = [y / (c[k] + x[i] * x[i]) * (1 if k % 3 else -1) for k in range(count)]
        sum = terms[0]
        for term in terms[1:]:
            sum = sum * 0.5 + term
        return sum + c[count - 1] * x[i]

    f = fn(
        [v, w],
        w,
        lambda x, c: vjp(fn([w], Real, lambda c: total(n, lambda i: iteration(x, c, i))))(c).grad(1.0),
    )
    for seed in range(5):
        same(f, numbers(n, seed), numbers(count, seed))
    assert n in written


STENCILS = {
    "rows apart": lambda i, a: iadd(14, i, a),
    "one row": lambda i, a: iadd(14, i, 1),
    "round the edge": lambda i, a: index(14, imod(12, iadd(24, i, 11 * a))),
    "round a small edge": lambda i, a: index(14, imod(2, iadd(24, i, a))),
    "up to the edge": lambda i, a: imin(14, iadd(24, i, a), 10),
}


@pytest.mark.parametrize("name", STENCILS)
def test_neighbours_in_several_rows(name: str, written) -> None:
    """What an iteration adds to neighbours in rows that are others, for sure or as it turns out, goes on
    beside the next iteration's."""
    row = STENCILS[name]
    m = Vec(14, Vec(13, Real))

    def iteration(x, i, j):
        p = [[x[row(i, a)][iadd(13, j, b)] for b in range(3)] for a in range(3)]
        least = [min(min(p[a][0] * p[a][1], p[a][2]), p[1][1]) for a in range(3)]
        return max(least[0] * p[2][0], max(least[1], least[2] * p[0][2]))

    def f(x):
        return total(12, lambda i: total(11, lambda j: iteration(x, i, j)))

    g = fn([m], m, lambda x: vjp(fn([m], Real, f))(x).grad(1.0))
    for seed in range(3):
        draw = random.Random(seed)
        same(g, [[draw.uniform(-1, 1) for _ in range(13)] for _ in range(14)])
    assert 11 in written


def test_what_a_loop_needs_comes_from_another(written) -> None:
    """Two sums, which are loops of their own, in a third one."""
    n = 8
    v = Vec(n, Real)

    def f(x, c):
        s = [total(n, lambda i, p=p: x[i] * x[i] - p * x[i]) for p in (c, 3.0)]
        return vec(n, Real, lambda i: x[i] * c * s[0] + s[1] * x[i])

    f = fn([v, Real], v, f)
    same(f, [math.sin(k) for k in range(n)], 0.3)
    same(
        fn([v, Real, v], v, lambda x, c, d: vjp(f)(x, c).grad(d)[0]),
        [0.1 * k for k in range(n)],
        2.0,
        [1.0] * n,
    )
    assert written[:3] == [n] * 3


@pytest.mark.parametrize("n", SIZES)
def test_sizes(n: int, written) -> None:
    """Elements of their own, with a gradient; the last iteration of an odd number is alone."""
    v = Vec(n, Real)

    def loss(x, y):
        return total(n, lambda i: (x[i] - y[i]) * (x[i] - y[i]) / (1 + y[i] * y[i]))

    f = fn([v, v], Real, loss)
    g = fn([v, v], Vec(2, v), lambda x, y: list(vjp(f)(x, y).grad(1.0)))
    x, y = ([math.sin(k * k + of) for k in range(n)] for of in (1, 2))
    same(f, x, y)
    same(g, x, y)
    assert (n in written) == (n >= lanes.LEAST_TRIPS)


def test_rows_of_a_matrix(written) -> None:
    m, n = 5, 19
    matrix, v = Vec(m, Vec(n, Real)), Vec(n, Real)

    def f(a, x):
        y = vec(m, Real, lambda j: total(n, lambda i: a[j][i] * x[i]))
        return total(m, lambda j: y[j] * y[j])

    f = fn([matrix, v], Real, f)
    g = fn([matrix, v], matrix, lambda a, x: vjp(f)(a, x).grad(1.0)[0])
    h = fn([matrix, v], v, lambda a, x: vjp(f)(a, x).grad(1.0)[1])
    a, x = [[math.sin(j * n + i) for i in range(n)] for j in range(m)], [math.cos(i) for i in range(n)]
    for program, expected in ((f, [m]), (g, [m, m, n]), (h, [m, m, n])):
        written.clear()
        same(program, a, x)
        assert written == expected


def test_sums_keep_their_order(written) -> None:
    """Two sums into one, of numbers so different that every other order is another result."""
    n = 8
    v = Vec(n, Real)
    f = fn([Real, v], v, lambda s, x: vec(n, Real, lambda i: s * x[i] + s / x[i]))
    by_both = {"s": Real, "x": v}
    g = fn([v, v], by_both, lambda x, d: dict(zip("sx", vjp(f)(3.0, x).grad(d), strict=True)))
    x = [10.0 ** (k * 5 % 17) for k in range(n)]
    same(g, x, [(-1.0) ** k for k in range(n)])
    assert written == [n]


@pytest.mark.parametrize("n", [5, 6, 9, 10])
def test_what_is_added_to_a_neighbour(n: int, written) -> None:

    def stencil(x):
        return total(n - 1, lambda i: x[iadd(n, i, 0)] * x[iadd(n, i, 1)] / (x[iadd(n, i, 1)] + 2.0) - 1.0)

    f = fn([Vec(n, Real)], Real, stencil)
    g = fn([Vec(n, Real)], Vec(n, Real), lambda x: vjp(f)(x).grad(1.0))
    same(f, [math.sin(k) for k in range(n)])
    assert written == [n - 1]
    written.clear()
    same(g, [10.0 ** (k * 5 % 17) for k in range(n)])
    assert written == [n - 1]


@pytest.mark.parametrize("half", [lambda i, n: i < n // 2, lambda i, n: real(i) < n / 2])
@pytest.mark.parametrize("n", [28, 29])
def test_a_choice_that_changes_in_the_middle(half, n: int, written) -> None:
    V = Vec(n, Real)
    f = fn(
        [V],
        Real,
        lambda x: total(n, lambda i: select(half(i, n), x[i] * x[i] - 2.0, x[i] / (x[i] * x[i] + 1.0))),
    )
    for g in f, grad(f):
        written.clear()
        same(g, [math.sin(3 * k) for k in range(n)])
        assert written == [n]


def points(n: int, seed: int, wide: bool = False) -> list[list[float]]:
    """Coordinates; ``wide``: so different in size that each order of adding them up is another result."""
    draw = random.Random(seed)
    size = (lambda: 10.0 ** draw.randint(-9, 9)) if wide else (lambda: 1.0)
    return [[draw.uniform(-2, 2) * size() for _ in range(2)] for _ in range(n)]


@pytest.mark.parametrize(
    ("row", "column"), [((2, 0), (1, 0)), ((3, 1), (0, 3))], ids=["behind the column", "ahead of the column"]
)
def test_a_row_and_a_column_that_cross_in_different_iterations(row, column) -> None:
    """The element where they do has been added to before; some of the iterations run alone."""
    n = 12
    V, M = Vec(n, Real), Vec(n, Vec(n, Real))

    def iteration(x, y, i):
        a, b = x[row[0]][iadd(n, i, row[1])], x[iadd(n, i, column[0])][column[1]]
        return y[imin(n, iadd(n + 4, i, 4), n - 1)] * sqrt(1 + a * a) * b * b / (2 + a * a)

    def f(x, y):
        return total(9, lambda i: iteration(x, y, i)) + total(n, lambda i: x[i][0] * x[2][i] * x[i][i])

    compiled, interpreted = engines(fn([M, V], M, lambda x, y: vjp(fn([M, V], Real, f))(x, y).grad(1)[0]))
    for seed in range(8):
        draw = random.Random(seed)
        y, *x = ([draw.uniform(-1, 1) for _ in range(n)] for _ in range(n + 1))
        assert compiled(x, y) == interpreted(x, y)


GIVEN_TWICE = {
    "to an element several times": """
        def add(p: &[12]Real, q: &[12]Real, x: [12]Real): () =
          [for i: 12,
            let y = x[i] * x[i] + sqrt(x[i] * x[i] + 2.0) * x[i] in
            &p[i] += y;
            &q[i] += y * x[i] - y * y;
            &p[i] += x[i]];
          ()
        def f(x: [12]Real): ([12]Real, ()) = accum p from x in add(p, p, x)""",
    "to an element of a row that stays, and of the matrix": """
        def add(p: &[12]Real, q: &[4][12]Real, x: [12]Real): () =
          [for i: 12,
            let y = x[i] * x[i] + sqrt(x[i] * x[i] + 2.0) * x[i] in
            &q[1][i] += y;
            &p[5] += y * x[i] - y * y];
          ()
        def f(x: [12]Real): ([4][12]Real, ()) = accum q from [for _: 4, x] in add(&q[1], q, x)""",
}


@pytest.mark.parametrize("added", GIVEN_TWICE)
def test_what_is_added_to_accumulators_that_are_one(added: str) -> None:
    f = flatten(parse(GIVEN_TWICE[added])["f"])
    x = [random.Random(k).uniform(-1, 1) for k in range(12)]
    assert flat(instantiate(Program(f))([x])) == flat(interp.call(f, [x]))


@pytest.mark.parametrize("way", ["", "down "])
def test_neighbours_that_as_many_iterations_add_to_as_a_call_says(way: str, written) -> None:
    """Where they end, what they add to the next neighbours is known only then."""
    source = f"""
        def body(j: 20, t: Real, x: [21]Real, r: &[21]Real): Real =
          let here: 21 = narrow(j, 21) in
          let next: 2147483648 = 1 + j in let there: 21 = narrow(next, 21) in
          let a = x[here] in let b = x[there] in
          let c = a × b in let d = c + a in let e = d × b in let f = e - a in
          let g = f × f in let h = g × c in
          let p = &r[here] in let q = &r[there] in
          let _ = p += h in let _ = q += g in
          let u = t + f in u
        def f(x: [21]Real, n: 21): ([21]Real, Real) =
          accum r from [for _: 21, 0.0] in
            let v: (Real, 21) = loop 20 {way}to n from (0.0) do body(x, r) in
            let (w, _) = v in w"""
    f = flatten(parse(source)["f"])
    run, x = instantiate(Program(f)), [random.Random(k).uniform(-1, 1) for k in range(21)]
    for n in (0, 1, 2, 3, 7, 12, 19, 20):
        assert repr(flat(run([x, n]))) == repr(flat(interp.call(f, [x, n])))
    assert 20 in written


def test_what_is_added_twice_to_the_last_point(written) -> None:
    """Of an odd number of iterations, the last one runs alone, and writes nothing behind the accumulator."""
    source = """
        def f(x: [5]Real, t: 4): ([6][2]Real, [4]Real) =
          let made: ([4]Real, ([6][2]Real, ())) = accum h from [for _: 4, 0.0] in
            (let _ = &h[t] += x[1] in let _ = &h[0] += x[2] in
            accum g from [for _: 6, [for _: 2, 0.0]] in
              ([for i: 5,
                let a = x[i] × x[i] in let b = sqrt(a) in let c = a + b in let d = c × a in
                let next: 2147483648 = 1 + i in let there: 6 = narrow(next, 6) in
                let here: 6 = narrow(i, 6) in
                &g[there][0] += d - b;
                &g[there][0] += d + b;
                &g[here][1] += d × b]; ())) in
          let (h, rest) = made in let (g, _) = rest in (g, h)"""
    f = flatten(parse(source)["f"])
    for r in [v for v, ins in enumerate(f.code) if ins[0] == ACCUM]:
        f.pool.append((0.0, f.types[r].inner))  # as a constant, which the notation does not have
        f.code[r] = ACCUM, -len(f.pool)
    args = [[1.0, 2.0, 3.0, 4.0, 5.0], 2]
    assert instantiate(Program(f))(args) == interp.call(f, args)
    assert written == [5]


@pytest.mark.parametrize("n", [4, 9])
def test_coordinates_of_points(n: int, written) -> None:
    """Each is read and written by itself: of arguments, results and gradients."""
    shape = Vec(n, Vec(2, Real))

    def turned(p, c):
        return vec(n, Vec(2, Real), lambda i: [c * p[i][0] - p[i][1], p[i][0] + c * p[i][1]])

    def energy(p):
        return total(n, lambda i: 1 / sqrt(p[i][0] * p[i][0] + p[i][1] * p[i][1] + 0.5))

    same(fn([shape, Real], shape, turned), points(n, 1), 0.3)
    f = fn([shape], Real, energy)
    same(f, points(n, 2))
    same(fn([shape], shape, lambda p: vjp(f)(p).grad(1.0)), points(n, 3))
    assert written == [n] * 3


PAIR = Vec(2, Real)
BESIDES = {
    "a row that is made": (PAIR, lambda x, m, c, i: [x[i], c], True),
    "a row that is read": (PAIR, lambda x, m, c, i: m[i], False),
    "a row from outside": (PAIR, lambda x, m, c, i: m[0], False),
    "a row of what is outside": (PAIR, lambda x, m, c, i: [c, c + 1], False),
    "a constant row": (PAIR, lambda x, m, c, i: [1.0, 2.0], False),
    "zeros": (PAIR, lambda x, m, c, i: grad(fn([PAIR], Real, lambda p: 1.0))(m[i]), False),
    "a row of answers": (Vec(2, Bool), lambda x, m, c, i: [x[i] > c, x[i] < 0], False),
    "a row of indices": (Vec(2, 9), lambda x, m, c, i: [i, isub(9, 8, i)], False),
    "rows": (Vec(1, PAIR), lambda x, m, c, i: [[x[i], c]], False),
    "an answer": (Bool, lambda x, m, c, i: x[i] > c, False),
    "an index": (9, lambda x, m, c, i: isub(9, 8, i), False),
    "nothing": (struct({}), lambda x, m, c, i: {}, True),
}


@pytest.mark.parametrize("name", BESIDES)
def test_what_an_iteration_gives_besides_a_number(name: str, written) -> None:
    """Only numbers and rows of such that it makes are what lanes give."""
    t, besides, goes = BESIDES[name]
    both = struct({"x": Real, "besides": t})

    def iteration(x, m, c, i):
        y = x[i] * x[i] + c
        return {"x": y * y / (2 + y * x[i]) + y * c, "besides": besides(x, m, c, i)}

    args = [Vec(9, Real), Vec(9, PAIR), Real]
    f = fn(args, Vec(9, both), lambda x, m, c: vec(9, both, lambda i: iteration(x, m, c, i)))
    same(f, numbers(9), points(9, 1), 0.75)
    assert written == [9] * goes


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("apart", [0, 9])
def test_neighbouring_points_are_added_to_in_order(seed: int, apart: int, written) -> None:
    """Each gets something from several iterations, and from the earlier ones first; also where some are
    farther ``apart`` than those of which local variables keep what they get."""
    draw = random.Random(seed)
    n, far = draw.randint(9, 12), draw.randint(1, 3)
    ends = [draw.randint(0, far) for _ in range(draw.randint(2, 4))]
    if apart:
        n, far = n + apart, apart
        ends = [*ends, far, 0]
        draw.shuffle(ends)
    shape = Vec(n, Vec(2, Real))
    weights = [draw.uniform(0.5, 2) for _ in ends]

    def chain(p):
        def term(i):
            x = [p[iadd(n, i, k)] for k in ends]
            lengths = [a * q[0] * q[0] / (1 + q[1] * q[1]) for a, q in zip(weights, x, strict=True)]
            product = lengths[0]
            for length in lengths[1:]:
                product = product * length + length / (2 + product * product)
            return product

        return total(n - far, term)

    f = fn([shape], Real, chain)
    same(f, points(n, seed))
    g = fn([shape], shape, lambda p: vjp(f)(p).grad(1.0))
    for k in range(5):
        same(g, points(n, seed + 100 * k, wide=True))
    assert set(written) == {n - far}


def test_every_other_element(written) -> None:
    n = 7
    v = Vec(2 * n, Real)
    f = fn([v], Real, lambda x: total(n, lambda i: pair(x, imul(2 * n, i, 2), 2 * n)))
    g = fn([v], v, lambda x: vjp(f)(x).grad(1.0))
    same(f, numbers(2 * n, 1))
    same(g, numbers(2 * n, 2))
    assert written == [n] * 2


def pair(x, i, size: int):
    a, b = x[i], x[iadd(size, i, 1)]
    return a * b / (1 + a * a) + b * b * b / (2 + b * b)


@pytest.mark.parametrize(("count", "goes"), [(4, True), (49, True), (50, False)])
def test_choices_that_need_each_other(count, goes, written) -> None:
    """Of very many minima, one of the other, the iterations stay alone."""
    n = 9
    v = Vec(n, Real)

    def f(x, y):
        def term(i):
            found = x[i] * x[i]
            for k in range(1, count):
                d = x[i] - k * y[i]
                found = min(found, d * d)
            return found

        return vec(n, Real, term)

    same(fn([v, v], v, f), numbers(n, 1), numbers(n, 2))
    assert written == [n] * goes


def test_a_choice_between_a_number_and_zero() -> None:
    """One instruction, and so are the two sides of a minimum in reverse, each beside what is neither."""
    v = Vec(8, Real)
    f = fn([v, v], v, lambda x, y: vec(8, Real, lambda i: select(x[i] < y[i], x[i], 0.0)))
    assert "bitselect" not in inspect(f).wat
    loss = fn([v, v], Real, lambda x, y: total(8, lambda i: sqrt(max(x[i], y[i]))))
    assert "bitselect" not in inspect(grad(loss)).wat


@pytest.mark.parametrize(
    "body",
    [
        lambda x, i: tan(x[i]),
        lambda x, i: x[imod(6, imul(6, i, 2))],
    ],
    ids=["imported", "stride"],
)
def test_what_has_no_lanes(body, written) -> None:
    f = fn([Vec(6, Real)], Vec(6, Real), lambda x: vec(6, Real, lambda i: body(x, i)))
    same(f, [0.5, 1, 2, 3, 4, 5])
    assert written == []


@pytest.mark.parametrize("b", [False, True])
def test_a_choice_from_outside(b: bool, written) -> None:
    f = fn(
        [Vec(6, Real), Bool],
        Vec(6, Real),
        lambda x, b: vec(6, Real, lambda i: select(b, x[i], select(not_(b), 1.0, 2.0))),
    )
    same(f, [0.5, 1, 2, 3, 4, 5], b)
    assert written == [6]


@pytest.mark.parametrize("n", [4, 9, 20])
def test_an_index_from_outside_beside_the_iteration(n: int, written) -> None:
    V, W = Vec(n + 7, Real), Vec(n, Real)
    f = fn([V, 5], W, lambda x, k: vec(n, Real, lambda i: x[i + k + 2] * x[i] + x[k + i]))
    for k in (0, 3, 4):
        same(f, numbers(n + 7, k), k)
    assert written == [n] * 3
    two = fn([V, V, 5, 5], W, lambda x, y, k, j: vec(n, Real, lambda i: x[i + k] * y[j + i] - x[i + j]))
    same(two, numbers(n + 7), numbers(n + 7, 1), 1, 4)
    assert written == [n] * 4
    with pytest.raises(RunError, match="out of range"):
        compile(fn([V, 9], W, lambda x, k: vec(n, Real, lambda i: x[i + k])))(numbers(n + 7), 8)
    # `real` of it, and sums of two such indices, are not what lanes have
    same(fn([V, 5], W, lambda x, k: vec(n, Real, lambda i: x[i + k] * real(i + k))), numbers(n + 7), 2)
    same(fn([V, 3, 3], W, lambda x, k, j: vec(n, Real, lambda i: x[i + k + j] * x[i])), numbers(n + 7), 2, 1)
    # nor is twice the iteration
    twice = fn([Vec(2 * n + 7, Real), 5], W, lambda x, k: vec(n, Real, lambda i: x[i + k + i] * x[i]))
    same(twice, numbers(2 * n + 7), 3)
    assert len(written) == 4


def test_the_gradient_of_a_convolution_by_its_coefficients(written) -> None:
    V, W = Vec(60, Real), Vec(20, Real)

    def value(w, x):
        return total(40, lambda i: sin(total(20, lambda j: w[j] * x[i + j])))

    def gradient(w, x):
        return vjp(fn([W], Real, lambda w: value(w, x)))(w).grad(1)

    same(fn([W, V], W, gradient), numbers(20), numbers(60))
    assert 20 in written


def test_the_gradient_of_a_convolution_by_the_coefficients_of_channels(written) -> None:
    """A channel's coefficients are in local variables, two of which are added to at once."""
    kernels, picture = Vec(3, Vec(2, Vec(2, Real))), Vec(7, Vec(9, Real))

    def pixel(k, x, c, i, j):
        return total(2, lambda a: total(2, lambda b: k[c][a][b] * x[iadd(7, i, a)][iadd(9, j, b)]))

    def energy(k, x):
        square = lambda y: y * y  # noqa: E731
        rows = lambda c: total(6, lambda i: total(8, lambda j: square(pixel(k, x, c, i, j))))  # noqa: E731
        return total(3, rows)

    f = fn([kernels, picture], Real, energy)
    g = fn([kernels, picture], kernels, lambda k, x: vjp(f)(k, x).grad(1)[0])
    same(g, [[numbers(2, c), numbers(2, c + 3)] for c in range(3)], [numbers(9, i) for i in range(7)])
    assert written == [8]
    assert "i8x16.shuffle" in inspect(g).wat


@pytest.mark.parametrize(
    ("term", "found"),
    [
        (lambda x, w, i, j: w[j] * x[i + j], [39, 20]),
        # an iteration adds to elements that others add to, as well
        (lambda x, w, i, j: x[j] * x[i + j], [39]),
        (lambda x, w, i, j: w[j] * x[i + j] * x[i + j + 1], [39]),
    ],
)
def test_the_gradient_of_a_convolution_by_its_signal(term, found, written) -> None:
    V, W = Vec(60, Real), Vec(20, Real)

    def value(x, w):
        return total(39, lambda i: sin(total(20, lambda j: term(x, w, i, j))))

    def gradient(x, w):
        return vjp(fn([V], Real, lambda x: value(x, w)))(x).grad(1)

    same(fn([V, W], V, gradient), numbers(60), numbers(20))
    assert written == found


COMPARED = {
    "one of them": lambda x, i, j, k: select(ieq(len(x), j, k), Real, 0.0, x[i] / (1 + x[j] * x[j])),
    "up to one": lambda x, i, j, k: select(j <= k, Real, x[j] * x[i] * x[j], x[j] - x[i]),
    "between two": lambda x, i, j, k: select(
        and_(j < i, k < j + 1), Real, x[j] * x[i] / (3 + x[j]) + x[j], x[i]
    ),
    "on the right": lambda x, i, j, k: select(xor(k > j, not_(i >= j)), Real, x[j] * x[j], x[j] / 3),
}


@pytest.mark.parametrize("n", [7, 33, 34])
@pytest.mark.parametrize("term", COMPARED.values(), ids=COMPARED)
def test_the_iteration_is_compared_with_indices_from_outside(term, n: int, written) -> None:
    V = Vec(n, Real)

    def body(x, k):
        rows = vec(n, V, lambda i: vec(n, Real, lambda j: term(x, i, j, k)))
        return total(n, lambda i: total(n, lambda j: rows[i][j] * rows[j][i]))

    f = fn([V, n], Real, body)
    matrix = fn([V, n], Vec(n, V), lambda x, k: vec(n, V, lambda i: vec(n, Real, lambda j: term(x, i, j, k))))
    for k in (0, 2, n - 1):
        same(matrix, numbers(n), k)
    assert n in written or n == 7  # which is written out
    for k in (0, 2, n - 1):
        same(fn([V, n], V, lambda x, k: vjp(f)(x, k).grad(1)[0]), numbers(n), k)


PAIRS = {
    "one sum": lambda p, m, i, j: m[j] / sqrt(distance(p, i, j) + 0.1),
    "a library function": lambda p, m, i, j: m[i] * exp(-distance(p, i, j)),
    "the numbers of iterations": lambda p, m, i, j: sqrt(distance(p, i, j) + real(j)) * real(i + 1),
}


def distance(p, i, j):
    x, y = p[i][0] - p[j][0], p[i][1] - p[j][1]
    return x * x + y * y


@pytest.fixture
def counted(monkeypatch):
    """Of loops in lanes that are counted when they run, whether they begin with the last iteration."""
    found = []
    counted = lane_writer.Writer._counted

    def noted(self, count):
        found.append(self.block.down)
        return counted(self, count)

    monkeypatch.setattr(lane_writer.Writer, "_counted", noted)
    return found


@pytest.mark.parametrize("n", [4, 7])
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_triangles(pair, n: int, counted) -> None:
    """The energy of pairs, and its gradient by everything, which goes back from the last pair on."""
    P, V = Vec(n, Vec(2, Real)), Vec(n, Real)
    f = fn(
        [P, V],
        Real,
        lambda p, m: total(n, lambda i: total(n, lambda j: select(j < i, Real, pair(p, m, i, j), 0.0))),
    )
    args = [[math.sin(3 * i + k) for k in range(2)] for i in range(n)], [math.cos(i) for i in range(n)]
    same(f, *args)
    assert counted == [False]
    by_all = {"p": P, "m": V}
    same(fn([P, V], by_all, lambda *x: dict(zip("pm", vjp(f)(*x).grad(1), strict=True))), *args)
    assert True in counted or pair is not PAIRS["one sum"]  # in others, to put lanes together takes as long


@pytest.mark.parametrize("n", [10, 11])
@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize(
    ("meet", "is_apart"),
    [
        (lambda i, j: j < i, True),
        (lambda i, j: i < j, True),
        (lambda i, j: j <= i, False),
        (lambda i, j: i <= j, False),
    ],
    ids=["before", "after", "up to", "from"],
)
def test_pairs_by_sums_over_coordinates(meet, is_apart, d: int, n: int, counted) -> None:
    """Where a row meets others only, its derivative is in local variables while these have theirs."""
    T = Vec(n, Vec(d, Real))

    def pair(x, i, j):
        return sqrt(total(d, lambda k: (x[i][k] - x[j][k]) * (x[i][k] - x[j][k])) + 0.1)

    def energy(x):
        return total(n, lambda i: total(n, lambda j: select(meet(i, j), Real, pair(x, i, j), 0.0)))

    g = fn([T], T, lambda x: vjp(fn([T], Real, energy))(x).grad(1))
    same(g, [[math.sin(3 * i + k) for k in range(d)] for i in range(n)])
    assert len(counted) == 1 + is_apart


def test_triangles_whose_iterations_are_not_independent(counted) -> None:
    V = Vec(9, Real)

    def gradient(row):
        f = fn(
            [V], Real, lambda x: total(9, lambda i: x[i] * fori(i, Real, x[i], lambda j, s: row(x, i, j, s)))
        )
        return fn([V], V, lambda x: vjp(f)(x).grad(1))

    def root(x, k, i):
        return sqrt((x[k] - x[i]) * (x[k] - x[i]) + 1)

    # two iterations add to an element, in the order of the iterations
    same(gradient(lambda x, i, j, s: s + root(x, j, i) * root(x, iadd(9, j, 1), i)), numbers(9))
    # what is added depends on the sum
    same(gradient(lambda x, i, j, s: s + s * root(x, j, i) * root(x, i, j)), numbers(9))
    assert counted == [False] * len(counted)
    # a number of iterations that is computed, also where iterations run one by one
    for at in (lambda j: j, lambda j: imod(9, imul(100, j, j))):

        def some(x, k, at=at):
            def row(i):
                return fori(
                    imin(9, i * 2, k + 6), Real, x[i], lambda j, s: s + root(x, at(j), i) * root(x, i, at(j))
                )

            return total(4, row)

        h = fn([V, 4], Real, some)
        for k in (0, 3):
            same(h, numbers(9), k)
    # two numbers, of which one is added to twice
    T = {"a": Real, "b": Real}

    def iteration(x, i, j, s):
        return {"a": s["a"] + root(x, j, i) - x[j], "b": s["b"] - root(x, j, i)}

    def ends(x, i):
        e = fori(i, T, {"a": x[i], "b": 0.0}, lambda j, s: iteration(x, i, j, s))
        return e["a"] * e["b"]

    same(fn([V], Real, lambda x: total(9, lambda i: ends(x, i))), numbers(9))
    assert counted[-1:] == [False]


def test_arrays_are_added_in_lanes() -> None:
    """The cotangents of an array with two users, of even and odd size."""
    for n in (1, 2, 7, 8):
        v = Vec(n, Real)
        inner = fn([v], Real, lambda x, n=n: total(n, lambda i: sin(x[i])))
        f = fn([v], Real, lambda x, g=inner: g(x) * g(x) + x[0])
        same(fn([v], v, lambda x, f=f: vjp(f)(x).grad(1.0)), [math.sin(k) for k in range(n)])


@pytest.mark.parametrize("seed", range(100))
def test_random_loops(seed: int) -> None:
    """Loops over rows and elements of random operations, with gradients by everything."""
    draw = random.Random(seed)
    m, n = draw.randint(1, 4), draw.randint(17, 20)
    v, matrix = Vec(n, Real), Vec(m, Vec(n, Real))
    names = [name for name in OPERATIONS if name != "div" and name != "sqrt"]

    def value(x, a, j, i, c):
        found = [x[i], a[j][i], c, a[j][iadd(n, i, 0)]]
        for _ in range(draw.randint(1, 6)):
            found.append(OPERATIONS[draw.choice(names)](draw.choice(found), draw.choice(found)))
        return found[-1]

    def f(x, a, c):
        rows = vec(m, v, lambda j: vec(n, Real, lambda i: value(x, a, j, i, c)))
        return total(m, lambda j: total(n, lambda i: value(x, rows, j, i, c)) * c)

    f = fn([v, matrix, Real], Real, f)
    g = fn(
        [v, matrix, Real],
        {"x": v, "a": matrix, "c": Real},
        lambda x, a, c: dict(zip("xac", vjp(f)(x, a, c).grad(1.0), strict=True)),
    )
    args = (
        [draw.uniform(-1, 1) for _ in range(n)],
        [[draw.uniform(-1, 1) for _ in range(n)] for _ in range(m)],
        0.5,
    )
    same(f, *args)
    same(g, *args)


@pytest.mark.parametrize("seed", range(40))
def test_random_loops_over_points(seed: int) -> None:
    """Random operations on coordinates of points and of their neighbours, with gradients by everything."""
    draw = random.Random(seed)
    n, wide, far = draw.randint(8, 11), draw.randint(1, 3), draw.randint(0, 2)
    point = Vec(wide, Real)
    names = [name for name in OPERATIONS if name != "sqrt"]

    def value(p, x, i, c):
        near = [p[iadd(n, i, draw.randint(0, far))][draw.randrange(wide)] for _ in range(3)]
        found = [*near, x[iadd(n, i, 0)], c]
        for _ in range(draw.randint(2, 9)):
            found.append(OPERATIONS[draw.choice(names)](draw.choice(found), draw.choice(found)))
        return found[-1] * near[0]

    def f(p, x, c):
        made = vec(n - far, point, lambda i: [value(p, x, i, c) for _ in range(wide)])
        return total(n - far, lambda i: value(p, x, i, c) + made[i][draw.randrange(wide)] * c)

    types = [Vec(n, point), Vec(n, Real), Real]
    f = fn(types, Real, f)
    by_all = dict(zip("pxc", types, strict=True))
    g = fn(types, by_all, lambda *args: dict(zip("pxc", vjp(f)(*args).grad(1.0), strict=True)))
    args = [[draw.uniform(-2, 2) for _ in range(wide)] for _ in range(n)], numbers(n, seed), 0.5
    same(f, *args)
    same(g, *args)


@pytest.mark.parametrize("trips", [60, 61])
def test_elements_too_far_apart_for_sums_that_move_along(trips: int, written, monkeypatch) -> None:
    """Beside iterations that run alone, each lane is added after the other."""
    singly = []
    add = lane_code.FlatWriter._add_singly
    monkeypatch.setattr(lane_code.FlatWriter, "_add_singly", lambda *a: singly.append(a[1]) or add(*a))
    far = lane_order.WIDEST + 4
    long = trips + far

    def term(w, v, i):
        near = imin(trips, iadd(2 * trips, i, 1), trips - 1)
        apart = w[iadd(long, i, far)] - w[index(long, i)]
        return sqrt(1 + apart * apart) / (2 + v[i] * v[near])

    f = fn([Vec(long, Real), Vec(trips, Real)], Real, lambda w, v: total(trips, lambda i: term(w, v, i)))
    same(grad(f, [0, 1]), numbers(long), numbers(trips, 1))
    assert trips in written
    assert singly
