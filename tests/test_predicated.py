"""Both sides of short choices in loops are computed: the same numbers to the bit, two at a time."""

from __future__ import annotations

from random import Random

import pytest
import random_sides
from changes import noted
from engines import same, same_outcome
from lane_loops import noted as lanes_noted

from rose_core import Real, Vec, and_, cond, exp, fn, fori, grad, iadd, ieq, imod, not_, opaque, sqrt, vec
from rose_core import sum as total
from rose_core.derivatives.expand import Expansion
from rose_core.language import interp as interpreter
from rose_core.language.check import check
from rose_core.language.flatten import flatten
from rose_core.language.ir import COND
from rose_core.language.parse import parse
from rose_core.optimise import sums, unroll
from rose_core.optimise.predicated import predicated

N = 20
V = Vec(N, Real)
X = [((7 * k) % 11 - 5) / 4 for k in range(N)]


@pytest.fixture
def loops(monkeypatch):
    """Finds out for each function that is compiled from then on whether choices in it are predicated."""
    return noted(monkeypatch, unroll, "predicated", check)


def either(p, one, other):
    return cond(p, Real, lambda: one, lambda: other)


def in_turns(i, one, other):
    return cond(ieq(2, imod(2, i), 0), Real, one, other)


def after(x, i):
    return x[imod(N, iadd(2 * N, i, 1))]


CELLS = {
    "relu": lambda x, i: cond(x[i] > 0.0, Real, lambda: x[i], lambda: 0.0),
    "hinge": lambda x, i: cond(x[i] < 0.5, Real, lambda: 0.5 - x[i], lambda: -0.0),
    "upwind": lambda x, i: cond(
        x[i] > 0.0, Real, lambda: x[i] * (x[i] - x[0]), lambda: x[i] * (after(x, i) - x[i])
    ),
    "several": lambda x, i: either(x[i] < after(x, i), x[i], 2.0) * either(x[i] > 0.3, x[i], after(x, i)),
    "in each other": lambda x, i: cond(
        x[i] < 1.0,
        Real,
        lambda: cond(x[i] < 0.5, Real, lambda: x[i], lambda: x[0]),
        lambda: x[i],
    ),
    "in the middle": lambda x, i: cond(
        i < N // 2, Real, lambda: x[i] * x[i] * x[3] + x[4] * x[i], lambda: after(x, i) * x[i] * x[5]
    ),
    "both": lambda x, i: cond(
        and_(i >= N // 2, not_(x[i] < 0.0)), Real, lambda: x[i] * 2.0, lambda: -after(x, i)
    ),
    "infinite elsewhere": lambda x, i: cond(
        x[i] > 0.0, Real, lambda: sqrt(x[i]) + x[i] * x[i] + after(x, i), lambda: sqrt(-x[i] + 1.0)
    ),
}


def squares(cell):
    return fn(
        [V], Real, lambda x: total(N, lambda i: cell(x, i) * cell(x, i) + x[i] * x[N - 1] * after(x, i))
    )


def steps(cell):
    def step(_, y):
        return vec(N, Real, lambda i: y[i] + 0.1 * cell(y, i) * y[i])

    return fn([V], Real, lambda x: total(N, lambda i: fori(3, V, x, step)[i] * x[i]))


@pytest.mark.parametrize("program", [squares, steps])
@pytest.mark.parametrize("name", CELLS)
def test_cells(name: str, program, loops, monkeypatch) -> None:
    lanes = lanes_noted(monkeypatch, lambda _: 1)
    programs = [program(CELLS[name]), grad(program(CELLS[name]))]
    found = [same(f, X) for f in programs]
    assert any(loops) and lanes
    monkeypatch.setattr(unroll, "predicated", lambda f: f)
    assert repr(found) == repr([same(f, X) for f in programs])


def test_loops_that_do_little_else_are_worth_it_as_well(loops) -> None:
    """What is computed in vain is less than what a branch costs that is foretold wrongly."""

    def wall(x, i):
        return cond(
            x[i] < 0.0,
            Real,
            lambda: -x[i],
            lambda: cond(x[i] > 1.0, Real, lambda: 2.0 - x[i], lambda: x[i]),
        )

    same(fn([V], V, lambda x: vec(N, Real, lambda i: wall(x, i))), X)
    assert any(loops)


def test_sums_as_loops_with_a_state(monkeypatch) -> None:
    def pair(x, i, j):
        d = (x[i] - x[j]) * (x[i] - x[j]) - 0.3 * x[0] + x[j] * x[1]
        return cond(d < 0.5, Real, lambda: d * d * x[j], lambda: 0.0) - cond(
            d > 1.0, Real, lambda: d, lambda: x[i]
        )

    f = fn(
        [V],
        Real,
        lambda x: fori(
            N, Real, 0.0, lambda i, s: s + fori(i, Real, 0.0, lambda j, t: t + pair(x, i, j)) * x[2]
        ),
    )
    lanes = lanes_noted(monkeypatch, lambda _: 1)
    found = [same(g, X) for g in (f, grad(f))]
    assert lanes
    lanes.clear()
    monkeypatch.setattr(sums, "straight", lambda body, _: body)
    assert repr(found) == repr([same(g, X) for g in (f, grad(f))])
    assert not lanes


def test_an_index_of_the_caller_is_compared_in_lanes(monkeypatch) -> None:
    """It does not change from iteration to iteration."""

    def term(x, k, i):
        return cond(
            i < k,
            Real,
            lambda: x[i] * x[i] * x[i] * x[i] * x[0] * x[1] * x[2],
            lambda: x[i] * x[i] * x[i] * x[3] * x[4] * x[5] + x[6],
        )

    f = fn([V, N], Real, lambda x, k: fori(N, Real, 0.0, lambda i, s: s + term(x, k, i)))
    lanes = lanes_noted(monkeypatch, lambda _: 1)
    same(f, X, 7)
    assert lanes


told = opaque([Real], Real, lambda x: x + 1.0)

LEFT = {
    "an element that is not there": lambda x, i: cond(i < 6, Real, lambda: x[i], lambda: x[i - 6]),
    "one that is not there after it": lambda x, i: cond(i < N - 6, Real, lambda: x[i + 6], lambda: x[i]),
    "may fail": lambda x, i: cond(x[i] > 0.0, Real, lambda: x[i - 1], lambda: 0.0),
    "a library function": lambda x, i: cond(x[i] > 0.0, Real, lambda: exp(x[i]), lambda: 0.0),
    "a host's function": lambda x, i: cond(x[i] > 0.0, Real, lambda: told(x[i]), lambda: 0.0),
    "a host's function in the middle": lambda x, i: cond(
        i < N // 2, Real, lambda: told(x[i]), lambda: told(x[i] + 1.0)
    ),
    "a loop": lambda x, i: cond(
        x[i] > 0.0, Real, lambda: fori(40, Real, x[i], lambda _, s: s * 0.5), lambda: 0.0
    ),
    "much on one side": lambda x, i: cond(
        x[i] > 0.0, Real, lambda: 1.0 / (1.0 + x[i] * x[i] / (2.0 + x[i])), lambda: 0.0
    ),
    "an end": lambda x, i: cond(i < 1, Real, lambda: 0.0, lambda: x[i - 1]),
    "much in turns": lambda x, i: in_turns(
        i,
        lambda: x[i] * x[i] * x[i] * x[i] * x[0] * x[1] * x[2],
        lambda: x[i] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6],
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_others_are_left(name: str, loops) -> None:
    y = fn([V], V, lambda x: vec(N, Real, lambda i: LEFT[name](x, i)))
    same_outcome(y, X)
    same_outcome(y, [abs(x) for x in X])
    assert not any(loops)


@pytest.mark.parametrize("name", ["an element that is not there", "one that is not there after it"])
def test_sums_with_a_state_that_are_left(name: str, monkeypatch) -> None:
    """Their sides read what is not there where they do not hold."""
    bodies = noted(monkeypatch, sums, "straight")

    def term(x, i):
        return LEFT[name](x, i) * (x[i] + x[0] * x[1]) * (x[i] - x[2] * x[3]) + x[4] * after(x, i)

    f = fn([V], Real, lambda x: fori(N, Real, 0.0, lambda i, s: s + term(x, i)))
    same(f, X)
    assert bodies
    assert not any(bodies)


def test_one_of_two_loops_reads_what_is_not_there(loops) -> None:
    """The other one is changed all the same."""

    def f(x):
        y = vec(N, Real, lambda i: CELLS["relu"](x, i) * x[i])
        return total(N, lambda i: LEFT["an element that is not there"](x, i) * y[i])

    same(fn([V], Real, f), X)
    assert any(loops)


@pytest.mark.parametrize("other", [3, 5])
def test_of_sides_in_turns_each_waits_for_what_the_other_one_adds(other: int) -> None:
    """To add to the same elements nothing is in vain."""

    def cell(x, i):
        return in_turns(i, lambda: x[3] + x[4], lambda: x[other] - x[other + 1])

    f = fn([V], Real, lambda x: total(N, lambda i: cell(x, i)))
    made = predicated(Expansion(grad(f).func).root)
    assert [ins[0] for ins in made.code].count(COND) == (other == 5)  # that of the value is gone


def test_what_both_sides_add_is_added_in_their_order(loops) -> None:
    """Sums of numbers so far apart tell every other order."""
    source = f"""
        def one(i: {N}, x: Real, y: Real, r: &[{N}]Real): () =
          let p = &r[i] in let q = &r[3] in
          let _ = q += x in let _ = p += y in let _ = q += y in ()
        def other(i: {N}, x: Real, y: Real, r: &[{N}]Real): () =
          let p = &r[i] in let q = &r[3] in
          let _ = p += x in let _ = q += y in let _ = q += x in let _ = p += y in ()
        def f(x: [{N}]Real, y: [{N}]Real): ([{N}]Real, [{N}]()) =
          accum r from [for _: {N}, 0.1] in
            [for i: {N},
              let a = x[i] in let b = y[i] in let c = a × b in let d = c - a in let e = d × d in
              let _ = if e < 1.0 then one(i, a, b, r) else other(i, a, b, r) in
              let p = &r[i] in let _ = p += e in ()]"""
    f = flatten(parse(source)["f"])
    made = predicated(f)
    assert made is not f
    check(made)
    y = [10.0 ** (k % 5 * 4) / 3 for k in range(N)]
    assert interpreter.call(made, [X, y]) == interpreter.call(f, [X, y])


def test_no_number_is_changed_by_what_is_not_added() -> None:
    """Not even a zero's sign."""
    source = f"""
        def one(i: {N}, x: Real, r: &[{N}]Real): () = let p = &r[i] in let _ = p += x in ()
        def other(): () = ()
        def f(x: [{N}]Real): ([{N}]Real, [{N}]()) =
          accum r from [for _: {N}, -0.0] in
            [for i: {N},
              let a = x[i] in
              let _ = if a < 0.0 then one(i, a, r) else other() in
              ()]"""
    f = flatten(parse(source)["f"])
    made = predicated(f)
    assert made is not f
    found = interpreter.call(made, [X])
    assert repr(found) == repr(interpreter.call(f, [X]))
    assert "-0.0" in repr(found)


@pytest.mark.parametrize("make", [random_sides.line, random_sides.grid])
@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int, make, monkeypatch) -> None:
    f, n = make(Random(seed))
    draw = Random(seed + 1)
    x = [draw.choice([0.0, -0.0, 0.5, draw.uniform(-1, 1)]) for _ in range(n)]
    found = [same_outcome(g, x) for g in (f, grad(f))]
    monkeypatch.setattr(unroll, "predicated", lambda f: f)
    monkeypatch.setattr(sums, "straight", lambda body, _: body)
    assert repr(found) == repr([same_outcome(g, x) for g in (f, grad(f))])
