"""Loops and their derivatives as one: every value to the bit, only where nothing waits for a whole sum."""

from __future__ import annotations

import math

import pytest
from engines import same
from random_einsums import Einsums

from rose_core import Real, Vec, cond, exp, floor, fn, iadd, imin, log, max, sqrt, value_and_grad
from rose_core import sum as total
from rose_core.language.check import check
from rose_core.language.flatten import flatten
from rose_core.language.ir import FOR
from rose_core.language.parse import parse
from rose_core.optimise import unroll
from rose_core.optimise.tapeless import tapeless
from rose_core.recording.rebuild import expanded

N = 20
V, M = Vec(N, Real), Vec(N, Vec(N, Real))


def numbers(n: int, phase: float = 0.0) -> list[float]:
    return [math.sin(k * k + phase) for k in range(n)]


def matrix(n: int, phase: float = 0.0) -> list[list[float]]:
    return [numbers(n, phase + 2 * k) for k in range(n)]


def loops(f) -> int:
    """How many loops there are in a function as it is lowered."""
    root = unroll.unrolled(expanded(f.func))
    return sum(ins[0] == FOR for ins in root.code)


def pairs(term):
    return total(N, lambda i: total(N, lambda j: term(i, j)))


def near(j):
    return imin(N, iadd(N + 1, j, 1), N - 1)


def near_or_far(x, y):
    d = x * y - 1
    return cond(sqrt(1 + d * d) < 1.5, Real, lambda: x * d**2, lambda: 3 * d)


def side_of(x, y):
    return cond(y > 0, Real, lambda: (x[0] * y - 1) ** 2, lambda: (x[1] - y * x[2]) ** 2)


def weight(y):
    """Chosen by a branch: a side is long."""
    return cond(y > 0, Real, lambda: exp(floor(y)), lambda: 0.5)


JOINED = {
    "a sum": (1, lambda x, y, a: total(N, lambda i: (x[i] * y[i] - 1) ** 2)),
    "a mean": (1, lambda x, y, a: 3 * total(N, lambda i: (x[i] * y[i] - 1) ** 3) / N),
    "with a scale": (1, lambda x, y, a: x[0] * total(N, lambda i: (x[i] * y[i] - x[1]) ** 2)),
    "neighbours": (1, lambda x, y, a: total(N, lambda i: sqrt(1 + (x[i] - y[near(i)] * x[near(i)]) ** 2))),
    "pairs": (2, lambda x, y, a: pairs(lambda i, j: (a[i][j] * x[i] - y[j] * a[j][i]) ** 2)),
    "pairs, with rows": (
        2,
        lambda x, y, a: total(N, lambda i: y[i] * total(N, lambda j: (a[i][j] - x[j]) ** 2)),
    ),
    "two sums": (
        2,
        lambda x, y, a: total(N, lambda i: (x[i] - 1) ** 4) + total(N, lambda i: (y[i] * y[i] - 2) ** 2),
    ),
    "library functions of which the derivative needs none": (
        1,
        lambda x, y, a: total(N, lambda i: log(1 + x[i] * x[i] * y[i] * y[i])),
    ),
    "choices": (1, lambda x, y, a: total(N, lambda i: max(x[i] * y[i], x[i] - y[i]) ** 2)),
    "choices of which one side runs": (1, lambda x, y, a: total(N, lambda i: near_or_far(x[i], y[i]))),
    "sides that add to the same elements": (1, lambda x, y, a: total(N, lambda i: side_of(x, y[i]))),
    "choices in pairs": (2, lambda x, y, a: pairs(lambda i, j: near_or_far(a[i][j] * x[i], y[j]))),
}

APART = {
    "a whole sum": (2, lambda x, y, a: log(1 + total(N, lambda i: (x[i] * y[i]) ** 2))),
    "the sum of a row": (4, lambda x, y, a: total(N, lambda i: total(N, lambda j: a[i][j] * x[j]) ** 2)),
    "library functions": (2, lambda x, y, a: total(N, lambda i: exp(x[i] * y[i]) * x[i])),
    # the loop without choices runs two iterations at a time
    "choices in the loop forward only": (2, lambda x, y, a: total(N, lambda i: weight(y[i]) * x[i] ** 3)),
}


def function(body):
    return fn([V, V, M], Real, body)


@pytest.mark.parametrize(("count", "body"), JOINED.values(), ids=JOINED)
def test_one_loop(count: int, body) -> None:
    f = value_and_grad(function(body), [0, 1, 2])
    same(f, numbers(N), numbers(N, 1.0), matrix(N))
    assert loops(f) == count


@pytest.mark.parametrize(("count", "body"), APART.values(), ids=APART)
def test_what_stays_apart(count: int, body) -> None:
    f = value_and_grad(function(body), [0, 1, 2])
    same(f, numbers(N), numbers(N, 1.0), matrix(N))
    assert loops(f) == count


def becomes_one(source: str) -> bool:
    """Whether two loops of the function ``f`` in the notation of the IR do."""
    f = flatten(parse(source)["f"])
    made = tapeless(f)
    check(made)
    return made is not f


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [
        ("", "q += d", True),
        ("p += c", "q += d", False),  # both may be the same accumulator of a caller
        ("r += c", "r += d", True),  # each iteration has a part of its own
        ("s += c", "s += d", False),  # one part for all: all of a loop is added before the next one
        ("s += c", "r += d", False),
        ("r += c", "s += d", False),
    ],
)
def test_what_two_loops_add_to(one: str, other: str, joined: bool) -> None:
    source = f"""
        def f(x: [{N}]Real, p: &Real, q: &Real): ([{N}]Real, ([{N}]Real, [{N}]())) =
          accum a from [for _: {N}, 0.0] in
            let s = &a[3] in
            let y: [{N}]Real = [for i: {N},
              let b = x[i] in let c = b × b in let r = &a[i] in
              {f"let _ = {one} in" if one else ""} c] in
            let z: [{N}]() = [for i: {N},
              let b = y[i] in let d = 3.0 × b in let r = &a[i] in let _ = {other} in ()] in
            (y, z)"""
    assert becomes_one(source) == joined


@pytest.mark.parametrize(
    ("size", "between", "other", "joined"),
    [
        (N, "", "c × y[i]", True),
        (N, "", "c × y[3]", False),  # of another iteration
        (N - 1, "", "c × b", False),
        (N, "let w = x[0] × x[1] in", "c × w", True),
        (N, "let w = y[0] × x[1] in", "c × w", False),
        (N, "let w = y[0] × x[1] in", "w", False),
        (N, "let w = [y[0], x[0]] in", "c × w[1]", True),
        (N, "let w = x[0] < 1.0 ? y : x in", "c × w[i]", False),
        (N, "let w = twice(x[0]) in", "c × w", False),  # which is not computed ahead
        (N, "", "c × twice(x[i])", False),
        (N, "", "let k: 20 = bound(i + 1, 20, 0) in c × x[k]", False),  # an error of another iteration
    ],
)
def test_what_the_second_loop_needs(size: int, between: str, other: str, joined: bool) -> None:
    source = f"""
        def twice(x: Real): Real = x + x

        def f(x: [{N}]Real): ([{N}]Real, [{size}]Real) =
          let y: [{N}]Real = [for i: {N}, let b = real(i) in let c = b × b in c × x[i]] in
          {between}
          let z: [{size}]Real = [for i: {size}, let b = real(i) in let c = b × b in {other}] in
          (y, z)"""
    assert becomes_one(source) == joined


@pytest.mark.parametrize(
    ("between", "joined"),
    [
        ("", True),
        ("s += y[0]", True),
        ("r += y[0]", False),
        ("add(r, y[0])", False),
        ("let _ = [for k: 3, r += x[7]] in ()", False),
        ("let _ = [for k: 3, s += x[7]] in ()", True),
        ("let t = x[7] < 0.0 ? r : s in t += x[8]", False),
    ],
)
def test_what_is_added_between(between: str, joined: bool) -> None:
    """All that is added to a number is added in order."""
    between = f"let _ = {between} in" if between else ""
    source = f"""
        def add(r: &Real, x: Real): () = r += x

        def f(x: [{N}]Real): (Real, (Real, ([{N}]Real, [{N}]()))) =
          accum r from 0.0 in accum s from 0.0 in
            let y: [{N}]Real = [for i: {N}, let b = real(i) in let c = b × b in c × x[i]] in
            {between}
            let z: [{N}]() = [for i: {N}, let b = real(i) in let c = b × b in r += c × y[i]] in
            (y, z)"""
    assert becomes_one(source) == joined


@pytest.mark.parametrize("seed", range(80))
def test_random_sums_of_products(seed: int) -> None:
    program = Einsums(seed)
    same(value_and_grad(program.function, range(len(program.params))), *program.arguments())
