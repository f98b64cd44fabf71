"""Vectors of known numbers are one constant, in every part of the compiler."""

from __future__ import annotations

import math
from array import array

import pytest
from engines import same

from rose_core import (
    Bool,
    Dual,
    Real,
    Vec,
    compile,
    fn,
    fori,
    grad,
    hvp,
    inspect,
    interp,
    jet,
    jvp,
    real,
    select,
    sin,
    sparse_jacobian,
    vec,
    vmap,
)
from rose_core import sum as total
from rose_core.derivatives.expand import Expansion
from rose_core.language.parse import parse
from rose_core.language.tables import FEWEST, table_of
from rose_core.language.text import show_program
from rose_core.recording.rebuild import rebuilt
from tests.random_programs import flat
from tests.test_serialize import straight

N = 40
V = Vec(N, Real)
NUMBERS = [math.sin(k) for k in range(N)]
ODD = [-0.0, 0.0, math.inf, -math.inf, math.nan, 5e-324, *NUMBERS[6:]]
ROWS = [[math.cos(k), k / 7, -k] for k in range(N)]
PLACES = [(7 * k + 3) % N for k in range(N)]
FLAGS = [k % 3 == 0 for k in range(N)]


def data(numbers):
    return vec(N, Real, numbers)


PROGRAMS = {
    "numbers": lambda x: total(N, lambda i: data(NUMBERS)[i] * x[i] * x[i]),
    "rows": lambda x: total(N, lambda i: vec(N, Vec(3, Real), ROWS)[i][2] * sin(x[i])),
    "a row": lambda x: total(3, lambda j: vec(N, Vec(3, Real), ROWS)[5][j] * x[j]),
    "indices": lambda x: total(N, lambda i: x[vec(N, N, PLACES)[i]] * x[i]),
    "conditions": lambda x: total(N, lambda i: select(vec(N, Bool, FLAGS)[i], Real, x[i] * x[i], 0.0)),
    "elements": lambda x: data(NUMBERS)[3] * x[3] + data(NUMBERS)[N - 1],
    "an update": lambda x: total(N, lambda i: data(NUMBERS).set(4, x[0])[i] * x[i]),
    "updates": lambda x: total(
        N, lambda i: fori(N, V, data(NUMBERS), lambda k, s: s.set(k, s[k] * x[k] + x[0]))[i] * x[i]
    ),
    "a start": lambda x: total(
        N, lambda i: fori(3, V, data(NUMBERS), lambda k, s: vec(N, Real, lambda j: s[j] * x[j]))[i]
    ),
}


@pytest.mark.parametrize("body", PROGRAMS.values(), ids=PROGRAMS)
def test_programs(body) -> None:
    f, x = fn([V], Real, body), [0.3 + 0.01 * k for k in range(N)]
    assert repr(same(f, x)) == repr(straight(f, x))
    slope = grad(f)
    for g, args in ((slope, [x]), (hvp(f), [x, NUMBERS]), (grad(fn([V], Real, lambda x: slope(x)[3])), [x])):
        assert flat(same(g, *args)) == pytest.approx(flat(straight(g, *args)), rel=1e-12)
    for k in (0, 3, 17):
        up, down = ([y + h * (j == k) for j, y in enumerate(x)] for h in (1e-6, -1e-6))
        assert compile(slope)(x)[k] == pytest.approx(
            (compile(f)(up) - compile(f)(down)) / 2e-6, rel=1e-7, abs=1e-8
        )


def test_numbers_are_the_same_to_the_bit() -> None:
    by_loop = fn([], V, lambda: vec(N, Real, lambda i: data(ODD)[i]))
    by_place = fn([], V, lambda: data([data(ODD)[k] + 0.0 * 0 if k != 1 else data(ODD)[k] for k in range(N)]))
    whole = fn([], V, lambda: data(ODD))
    for f in (by_loop, whole):
        assert repr(compile(f)()) == repr(interp(f)()) == repr(ODD)
    assert repr(compile(by_place)()[2:]) == repr(ODD[2:])


def test_a_program_has_one_constant() -> None:
    for n in (FEWEST, 4000):
        rows = [[float(k), 1 / (k + 1)] for k in range(n)]
        f = fn(
            [Real], Real, lambda x, n=n, rows=rows: total(n, lambda i: x * vec(n, Vec(2, Real), rows)[i][1])
        )
        root = Expansion(rebuilt(grad(f).func)).root
        assert len(root.pool) < 8 and len(root.code) < 40
        assert [v for v in range(len(root.code)) if table_of(root, v)]


def test_short_vectors_are_none() -> None:
    f = fn([Real], Real, lambda x: total(3, lambda i: x * vec(3, Real, [1.0, 2.0, 4.0])[i]))
    assert compile(f)(2.0) == 14.0
    root = Expansion(f.func).root
    assert not any(table_of(root, v) for v in range(len(root.code)))


def test_as_text() -> None:
    f = fn([V], V, lambda x: vec(N, Real, lambda i: data(NUMBERS)[i] * x[i]))
    shown = show_program(f.func)
    assert str(NUMBERS[3]) in shown
    again_shown = show_program(parse(shown)[f.func.name])
    assert str(NUMBERS[3]) in again_shown
    assert show_program(parse(again_shown)[f.func.name]) == again_shown
    assert str([*map(float, ROWS[5])]) in inspect(fn([V], Real, PROGRAMS["rows"])).ir


def test_other_operators() -> None:
    product = fn([V], V, lambda x: vec(N, Real, lambda i: data(NUMBERS)[i] * x[vec(N, N, PLACES)[i]]))
    matrix = sparse_jacobian(product)
    assert (matrix.rows, matrix.columns) == ([*range(N)], PLACES)
    assert compile(matrix.values)(NUMBERS) == pytest.approx(NUMBERS)
    line = fn([Real], Real, lambda t: total(N, lambda i: data(NUMBERS)[i] * t * t))
    assert compile(jvp(line))({"re": 2.0, "du": 1.0}).du == pytest.approx(4 * math.fsum(NUMBERS))
    series = fn([Real], Vec(3, Real), lambda t: jet(line, 2)([t, 1.0, 0.0]))
    assert compile(series)(2.0)[1] == pytest.approx(4 * math.fsum(NUMBERS))
    several = fn([Vec(3, Real)], Vec(3, Real), lambda t: vmap(line)(t))
    assert compile(several)([1.0, 2.0, 3.0])[1] == pytest.approx(4 * math.fsum(NUMBERS))


def test_rules_of_authors() -> None:
    twice = fn([Real], Real, lambda x: data(NUMBERS)[7] * x)
    twice.jvp = fn(
        [Dual], Dual, lambda d: {"re": twice(d.re), "du": data([2.0 + 0 * k for k in range(N)])[7] * d.du}
    )
    f = fn([V], Real, lambda x: total(N, lambda i: twice(x[i]) * real(i)))
    assert compile(grad(f))(NUMBERS) == [2.0 * k for k in range(N)]


SHORT_ROWS = [[k / 4, -0.0, k] for k in range(20)]


@pytest.mark.parametrize("kind", [list, tuple, lambda row: array("d", row)])
def test_data_of_python_is_traced_as_a_whole(kind) -> None:
    """There is no constant for each number, and no vector for each row."""
    rows = kind(map(kind, SHORT_ROWS)) if kind in (list, tuple) else [kind(row) for row in SHORT_ROWS]
    f = fn([20, 3], Real, lambda i, j: vec(20, Vec(3, Real), rows)[i][j] + vec(20, Real, range(20))[i])
    assert len(f.func.pool) == 2 and len(f.func.code) < 10
    for by in (compile, interp):
        assert by(f)(7, 0) == 8.75 and by(f)(7, 2) == 14.0
    g = fn([20], Real, lambda i: vec(20, Real, [-0.0, math.inf, math.nan, *range(17)])[i])
    assert math.copysign(1, compile(g)(0)) == -1 and compile(g)(1) == math.inf and math.isnan(compile(g)(2))


@pytest.mark.parametrize(
    ("row", "error", "message"),
    [
        ([1.0], ValueError, r"vec\[3\]: expected 2 elements, got 1"),
        ([1.0, True], TypeError, r"vec\[3\]\[1\]: expected Real, got bool"),
        ([1.0, 10**400], TypeError, r"vec\[3\]\[1\]: expected Real, got int"),
        (5.0, TypeError, r"vec\[3\]: expected \[2\]Real, got float"),
    ],
)
def test_what_is_wrong_with_data(row, error, message) -> None:
    rows = [[1.0, 2.0]] * 3 + [row] + [[1.0, 2.0]] * 16
    with pytest.raises(error, match=message):
        fn([20], Real, lambda i: vec(20, Vec(2, Real), rows)[i][0])


def test_data_with_a_symbol_in_it() -> None:
    f = fn([Real, Vec(2, Real), 20], Real, lambda x, v, i: vec(20, Vec(2, Real), [v, [x, 1]] * 10)[i][1])
    assert compile(f)(3, [4, 5], 2) == interp(f)(3, [4, 5], 2) == 5.0
