"""Arithmetic on indices: exact in range, refused while a body runs where it cannot be, checked otherwise."""

from __future__ import annotations

import builtins
import math
import re
import sys
from itertools import product

import pytest
from engines import engines, outcome, same, same_outcome

from rose_core import (
    Bool,
    Real,
    RunError,
    Size,
    Vec,
    compile,
    fn,
    fori,
    iadd,
    idiv,
    ieq,
    imax,
    imin,
    imod,
    imul,
    index,
    interp,
    isub,
    real,
    select,
    struct,
    sum,
    vec,
    vjp,
)
from rose_core.language.check import check
from tests.differences import differences

OPS = {
    iadd: lambda i, j: i + j,
    isub: lambda i, j: i - j,
    imul: lambda i, j: i * j,
    imin: min,
    imax: max,
}


def here():
    """How errors name the line of the caller."""
    return f"(test_indices.py, line {sys._getframe(1).f_lineno})"


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.__name__)
def test_of_several_types(op):
    """The operands' types and the result's are all different; out of range is an error that says so."""
    f, line = fn([4, 6], 5, lambda i, j: op(5, i, j)), here()
    compiled, interpreted = engines(f)
    check(f.func)
    for i, j in product(range(4), range(6)):
        exact = OPS[op](i, j)
        expected = (
            exact
            if exact in range(5)
            else f"{op.__name__}: {exact} is out of range, expected a whole number from 0 to 4 {line}"
        )
        for run in (compiled, interpreted):
            assert outcome(run, i, j) == expected


def test_no_check_where_none_is_needed():
    f = fn([4, 6], 9, lambda i, j: iadd(9, i, j))
    g = fn([4, 6], 8, lambda i, j: iadd(8, i, j))
    names = [{ins[0] for ins in h.func.code} for h in (f, g)]
    from rose_core.language.ops import code

    assert code("bound") not in names[0]
    assert code("bound") in names[1]
    assert same_outcome(f, 3, 5) == 8


def test_out_of_range_on_the_way():
    """What is only computed with or compared is not checked."""
    f = fn([4, 4], 4, lambda i, j: imod(4, iadd(4, i, j)))
    g = fn([4, 4], Bool, lambda i, j: (i + j) * 2 < i + 3)

    def of_the_enclosing(i, j):
        both = iadd(4, i, j)
        inner = fn([], 4, lambda: imod(4, iadd(4, both, 1)))
        return inner()

    h = fn([4, 4], 4, of_the_enclosing)
    for i, j in product(range(4), range(4)):
        assert same_outcome(f, i, j) == (i + j) % 4
        assert same_outcome(g, i, j) == ((i + j) * 2 < i + 3)
        assert same_outcome(h, i, j) == (i + j + 1) % 4
    used = fn([4, 4], 4, lambda i, j: iadd(4, iadd(4, i, j), 0))
    assert "iadd: 5 is out of range" in same_outcome(used, 2, 3)


def one(p):
    return select(p, Real, 1, 0)


DIFFERENCES = {
    "compared": (
        lambda i, j: one(i - j < 0) + 2 * one(i - j >= -1),
        lambda i, j: (i < j) + 2 * (i - j >= -1),
    ),
    "compared with more": (
        lambda i, j: one(i - 3 <= j) + 2 * one(j - i > i - 2),
        lambda i, j: (i - 3 <= j) + 2 * (j - i > i - 2),
    ),
    "a number": (
        lambda i, j: real(i - j) + 9 * real(imul(7, isub(7, i, 3), isub(7, j, 2))),
        lambda i, j: i - j + 9 * (i - 3) * (j - 2),
    ),
    "modulo": (
        lambda i, j: real(imod(3, isub(7, i, j))) + 3 * real((i - 6) % 5),
        lambda i, j: (i - j) % 3 + 3 * ((i - 6) % 5),
    ),
    "divided": (
        lambda i, j: real(idiv(7, isub(7, i, j), 3)) + 5 * real((i - 6) // 2) + 25 * real((j + 20) // 4),
        lambda i, j: (i - j) // 3 + 5 * ((i - 6) // 2) + 25 * ((j + 20) // 4),
    ),
    "quotient and remainder": (
        lambda i, j: real(divmod(i - j, 3)[0]) + 9 * real(divmod(i - j, 3)[1]) + real(i // 1),
        lambda i, j: (i - j) // 3 + 9 * ((i - j) % 3) + i,
    ),
    "a product modulo": (
        lambda i, j: real(imod(4, imul(7, isub(7, i, j), 3))),
        lambda i, j: 3 * (i - j) % 4,
    ),
    "at an end": (
        lambda i, j: real(imax(7, i - j, 0)) + 9 * real(imin(7, imax(7, j - 2, 1), 5)),
        lambda i, j: max(i - j, 0) + 9 * min(max(j - 2, 1), 5),
    ),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_differences_below_zero(name):
    """They are what they are in mathematics, alone and in loops, two iterations at a time as well."""
    body, exact = DIFFERENCES[name]
    f = fn([7, 7], Real, body)
    expected = [[exact(i, j) for j in range(7)] for i in range(7)]
    assert [[same_outcome(f, i, j) for j in range(7)] for i in range(7)] == expected
    V = Vec(7, Real)
    table = fn([V], Vec(7, V), lambda v: vec(7, V, lambda i: vec(7, Real, lambda j: v[j] * body(i, j))))
    assert same_outcome(table, [1.0] * 7) == expected


def test_neighbours_on_the_left():
    """Round the end, or the first itself: as on the right."""
    V = Vec(5, Real)
    f = fn([V], V, lambda v: vec(5, Real, lambda i: v[imod(5, isub(5, i, 1))] - v[imax(5, i + (-1), 0)]))
    g = fn([V], V, lambda v: vjp(f)(v).grad([1, 2, 3, 4, 5]))
    assert same_outcome(f, [1, 2, 3, 4, 5]) == [4, 0, 0, 0, 0]
    assert same_outcome(g, [1, 2, 3, 4, 5]) == [-1, 0, 0, 0, 1]


@pytest.mark.parametrize("at", [lambda i: -1 * i + 11, lambda i: 2 * (i * -1) + 22, lambda i: 11 + i * -1])
def test_backwards_by_a_product(at):
    """What is read, and what is added to, alone and in rows."""
    V = Vec(23, Real)
    f = fn([V], Vec(12, Real), lambda v: vec(12, Real, lambda i: v[at(i)] * v[i]))
    g = fn([V], V, lambda v: vjp(f)(v).grad([k + 1.0 for k in range(12)]))
    v = [k - 2.5 for k in range(23)]
    assert same_outcome(f, v) == [v[at(i)] * v[i] for i in range(12)]
    same_outcome(g, v)
    rows = fn([Vec(23, V)], V, lambda m: vec(23, Real, lambda j: sum(12, lambda i: m[at(i)][j] * m[i][j])))
    same_outcome(rows, [[j - x for x in v] for j in range(23)])


def test_products_that_are_too_large():
    """For any index, they are as good as none: also where only their remainder is wanted."""
    f = fn([100000], 256, lambda i: imod(256, imul(100000, i, 1103515245)))
    assert same_outcome(f, 1) == 1103515245 % 256
    assert "imul: 2147483647 is out of range" in same_outcome(f, 2)


@pytest.mark.parametrize(
    ("op", "i", "j", "found"),
    [
        (iadd, 3, 4, "7"),
        (isub, 0, 1, "-1"),
        (imul, 2, 5, "10"),
        (iadd, "i", 9, "9 to 12"),
        (imax, "i", 8, "8"),
        (idiv, 19, 2, "9"),
    ],
)
def test_never_in_range(op, i, j, found):
    message = f"{op.__name__}: {found} is out of range, expected an index below 5"
    with pytest.raises(IndexError, match=re.escape(message)):
        fn([4], 5, lambda v: op(5, v if i == "i" else i, j))


def test_literals():
    f = fn([], struct(a=7, b=7, c=7), lambda: {"a": iadd(7, 2, 4), "b": imod(7, 19), "c": index(7, 3)})
    assert same_outcome(f) == {"a": 6, "b": 5, "c": 3}


def test_one_sum_in_two_types():
    f = fn([4, 4, Vec(9, Real), Vec(5, Real)], Real, lambda i, j, u, v: u[iadd(9, i, j)] * v[iadd(5, i, j)])
    assert same_outcome(f, 1, 3, [*range(9)], [*range(5)]) == 16
    assert "iadd: 6 is out of range" in same_outcome(f, 3, 3, [0] * 9, [0] * 5)


@pytest.mark.parametrize(("rows", "columns"), [(3, 4), (4, 3), (1, 5), (5, 1)])
def test_rows_and_columns(rows, columns):
    """Of a grid that is one vector: a quotient is an index of its rows."""
    flat, grid = Vec(rows * columns, Real), Vec(rows, Vec(columns, Real))
    f = fn([grid], flat, lambda m: vec(rows * columns, Real, lambda p: m[p // columns][p % columns]))
    m = [[10.0 * i + j for j in range(columns)] for i in range(rows)]
    numbers = [x for row in m for x in row]
    assert same_outcome(f, m) == numbers
    assert same_outcome(fn([grid, flat], grid, lambda m, d: vjp(f)(m).grad(d)), m, numbers) == m


def test_begun_rows_are_rows():
    f = fn([Vec(3, Real)], Vec(7, Real), lambda x: vec(7, Real, lambda i: x[i // 3]))
    assert same_outcome(f, [1.0, 2.0, 3.0]) == [1, 1, 1, 2, 2, 2, 3]
    nothing = fn([Vec(1, Real)], Vec(0, Real), lambda x: vec(0, Real, lambda i: x[i // 3]))
    assert same_outcome(nothing, [1.0]) == []


def test_divided_by_a_size():
    n = Size("n")
    f = fn([Vec(n, Real)], Vec(12, Real), lambda x: vec(12, Real, lambda i: x[imod(n, i // n)]))
    assert compile(f.at(n=3))([1.0, 2.0, 3.0]) == [1, 1, 1, 2, 2, 2, 3, 3, 3, 1, 1, 1]


def test_a_quotient_out_of_range():
    f = fn([9, Vec(2, Real)], Real, lambda i, x: x[idiv(2, i, 3)])
    assert same_outcome(f, 5, [1.0, 2.0]) == 2
    assert "idiv: 2 is out of range, expected a whole number from 0 to 1" in same_outcome(f, 6, [1.0, 2.0])
    g = fn([9], 5, lambda i: (i - 1) // 2)  # the parent in a tree
    assert [same_outcome(g, i) for i in range(1, 9)] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert "idiv: -1 is out of range" in same_outcome(g, 0)


def test_operators():
    f = fn([9], struct(a=9, b=9, c=9), lambda i: {"a": i - 1, "b": i * 2, "c": 8 - i})
    assert same_outcome(f, 4) == {"a": 3, "b": 8, "c": 4}
    assert "isub: -1 is out of range" in same_outcome(f, 0)


def test_large_products():
    f = fn([2**31], 2**31, lambda i: imul(2**31, i, i))
    assert same_outcome(f, 46340) == 46340**2
    assert "2147483646" not in str(same_outcome(f, 30000))
    g = fn([2**31], 5, lambda i: imul(5, i, i))
    assert same_outcome(g, 2) == 4
    assert "imul: 2147483647 is out of range" in same_outcome(g, 65536)  # 2³² is 0 as a 32-bit integer


SMALL = {
    "a difference": lambda i, j: isub(100, isub(100, 0, i), j),
    "a sum": lambda i, j: iadd(100, isub(100, 0, i), isub(100, 0, j)),
    "a literal": lambda i, j: isub(2**31 - 1, 3, i) - j,
}


@pytest.mark.parametrize("name", SMALL)
def test_differences_that_are_too_small(name):
    """What is below the least 32-bit integer is no large one."""
    most = 2**31 - 2
    f = fn([2**31 - 1] * 2, Real, lambda i, j: real(SMALL[name](i, j)))
    g = fn([2**31 - 1] * 2, Real, lambda i, j: select(SMALL[name](i, j) < 5, Real, 1.0, 0.0))
    for h in (f, g):
        assert ": -2147483648 is out of range" in same_outcome(h, most, most)
    assert ": -5 is out of range" in same_outcome(f, 4, 4 if name == "a literal" else 1)
    assert same_outcome(f, 0, 0) == (3 if name == "a literal" else 0)


def test_between_reals_and_indices():
    f, line = fn([Real], 10, lambda x: index(10, x)), here()
    assert [same_outcome(f, x) for x in (0.0, -0.0, 9.0)] == [0, 0, 9]
    for x, text in ((10.0, "10"), (-1.0, "-1"), (2.5, "2.5"), (float("nan"), "NaN"), (1e300, "1e+300")):
        assert (
            same_outcome(f, x)
            == f"index: {text} cannot be an index, expected a whole number from 0 to 9 {line}"
        )
    for x in (float("inf"), float("-inf")):
        assert "Infinity" in same_outcome(f, x)
    g = fn([7], Real, lambda i: real(i) / 2 + real(3))
    assert same_outcome(g, 5) == 5.5


def test_between_index_types():
    t = struct(wide=9, narrow=3)
    f, line = fn([7], t, lambda i: {"wide": index(9, i), "narrow": index(3, i)}), here()
    assert same_outcome(f, 2) == {"wide": 2, "narrow": 2}
    assert same_outcome(f, 3) == f"index: 3 is out of range, expected a whole number from 0 to 2 {line}"


V = [1.0, 2.0, 4.0]

WIDER = {
    "next": (2, lambda v, i: v[i + 1] - v[i], lambda i: V[i + 1] - V[i]),
    "twice": (2, lambda v, i: v[i * 2], lambda i: V[i * 2]),
    "half": (3, lambda v, i: v[i // 2], lambda i: V[i // 2]),
    "two indices": (2, lambda v, i: sum(2, lambda j: v[i + j]), lambda i: V[i] + V[i + 1]),
    "compared": (3, lambda v, i: sum(2, lambda j: select(j < i, v[i], 0.0)), lambda i: V[i] * min(i, 2)),
    "equal": (3, lambda v, i: sum(2, lambda j: select(ieq(5, i, j), v[i], 0.0)), lambda i: V[i] * (i < 2)),
    "passed": (2, lambda v, i: fn([3], Real, real)(i + 1) * v[i], lambda i: (i + 1) * V[i]),
    "state": (2, lambda v, i: v[fori(2, 3, 0, lambda j, k: imin(3, k + i, 2))], lambda i: V[2 * i]),
}


@pytest.mark.parametrize("trips, term, plain", WIDER.values(), ids=WIDER)
def test_an_index_is_one_of_more_elements(trips, term, plain):
    """What is below a size is below a larger one; a sum is checked against what it indexes."""
    f = fn([Vec(3, Real)], Real, lambda v: sum(trips, lambda i: term(v, i)))
    assert same_outcome(f, V) == builtins.sum(map(plain, range(trips)))
    slope = fn([Vec(3, Real)], Vec(3, Real), lambda v: vjp(f)(v).grad(1))
    assert same_outcome(slope, V) == pytest.approx(differences(f, V))


def test_a_sum_as_an_index_of_another_size():
    """It is checked for the size that it gets, and not for that of its parts, which nobody has written."""
    f = fn([Vec(4, Real)], Real, lambda v: sum(3, lambda i: v[index(4, i + 1)] * v[index(2, i * 2 // 3)]))
    g = fn([Vec(2, Real), 5], Real, lambda v, i: v[index(2, i - 3)])
    for by in (compile, interp):
        assert by(f)([1.0, 2.0, 4.0, 8.0]) == 2 * 1 + 4 * 1 + 8 * 2
        assert by(g)([5.0, 7.0], 4) == 7.0
        with pytest.raises(RunError, match=r"index: -1 is out of range, expected a whole number from 0 to 1"):
            by(g)([5.0, 7.0], 2)


CHOSEN = {
    "clamped": (lambda v, i: v[select(i > 0, 3, i - 1, 0)], lambda i: V[max(i - 1, 0)]),
    "of no type": (lambda v, i: v[select(i > 0, i - 1, 2)], lambda i: V[i - 1]),
    "two": (lambda v, i: v[select(i > 1, i - 2, i + 1)], lambda i: V[(i + 1) % 3]),
    "in each other": (
        lambda v, i: v[select(i > 0, select(i > 1, i - 2, i - 1), i + 2)], lambda i: V[[2, 0, 0][i]]),
    "summed": (lambda v, i: v[select(i > 0, i - 2, 0) + 1], lambda i: V[[1, 0, 1][i]]),
    "in a function": (
        lambda v, i: fn([Real], Real, lambda x: x * v[select(i > 0, i - 1, 2)])(2.0), lambda i: 2 * V[i - 1]),
    "a number": (lambda v, i: real(select(i > 0, i * 4, -1)) * v[0], lambda i: V[0] * (4 * i or -1)),
}  # fmt: skip


@pytest.mark.parametrize("term, plain", CHOSEN.values(), ids=CHOSEN)
def test_of_two_indices_that_is_checked_which_is_chosen(term, plain):
    f = fn([Vec(3, Real)], Real, lambda v: sum(3, lambda i: term(v, i) * v[i]))
    assert same_outcome(f, V) == builtins.sum(plain(i) * V[i] for i in range(3))
    slope = fn([Vec(3, Real)], Vec(3, Real), lambda v: vjp(f)(v).grad(1))
    assert same_outcome(slope, V) == pytest.approx(differences(f, V))


def test_of_indices_of_two_types():
    f = fn([2, 3], Real, lambda i, j: vec(3, Real, V)[select(i < j, i, j)] + select(i < j, 1, 2))
    assert [[same_outcome(f, i, j) for j in range(3)] for i in range(2)] == [[3, 2, 2], [3, 4, 3]]


def test_a_chosen_index_out_of_range():
    f, line = fn([Vec(3, Real), 3], Real, lambda v, i: v[select(i > 0, 0, i - 1)]), here()
    assert same_outcome(f, V, 1) == V[0]
    assert same_outcome(f, V, 0) == f"select: -1 is out of range, expected a whole number from 0 to 2 {line}"


def test_what_is_too_large_for_more_elements():
    f, line = fn([Vec(3, Real)], Real, lambda v: sum(3, lambda i: v[i + 1])), here()
    assert (
        same_outcome(f, [1.0] * 3) == f"iadd: 3 is out of range, expected a whole number from 0 to 2 {line}"
    )
    with pytest.raises(TypeError, match=r"expected an index below 3, got one below 4; index\(3, i\) makes"):
        fn([Vec(3, Real)], Real, lambda v: sum(4, lambda i: v[i]))


def test_what_is_no_index():
    for body in (lambda i, x: iadd(5, i, x), lambda i, x: isub(Real, i, i), lambda i, x: imul(5, i, 1.5)):
        with pytest.raises(TypeError, match="expected"):
            fn([5, Real], 5, body)
    with pytest.raises(TypeError, match="index: expected an index below 5, got float"):
        fn([], 5, lambda: index(5, 1.5))


@pytest.mark.parametrize("last_bits", [0, 1, 3, 6, 7, -1])
@pytest.mark.parametrize(
    "beyond", [0, 0.5, 2**31, 2**32, 2**51, 2**52, 3 * 2**52, 2**53, 2**63, math.inf, math.nan]
)
def test_which_numbers_are_an_index(beyond, last_bits) -> None:
    """Those that are whole and small enough, and none whose last bits look like it."""
    f = fn([Real, Vec(7, Real)], Real, lambda x, v: v[index(7, x)])
    v = [float(k) for k in range(7)]
    for x in (float(beyond + last_bits), -float(beyond + last_bits)):
        if x in range(7):
            assert same(f, x, v) == x
        else:
            for run in engines(f):
                with pytest.raises(RunError, match="cannot be an index"):
                    run(x, v)
