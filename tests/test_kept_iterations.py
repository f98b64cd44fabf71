"""What reverse mode keeps of a loop: arrays where the number of iterations is known, tapes where it is
not.
"""

from __future__ import annotations

import math
import re

import pytest
from differences import assert_derivatives, directional
from engines import same
from test_states import in_trips

from rose_core import (
    Real,
    Vec,
    atan2,
    compile,
    cond,
    cos,
    cosh,
    expm1,
    fn,
    fori,
    grad,
    hvp,
    inspect,
    pow,
    sin,
    sinh,
    sqrt,
    sum,
    tanh,
    vec,
    while_loop,
)
from rose_core.derivatives.linearize_control import _MOST_IN_SIDE
from rose_core.language.ops import by_name
from rose_core.optimise.inline import MOST_TRIPS

N = MOST_TRIPS + 4
V = Vec(N, Real)
X = [math.sin(k + 0.5) for k in range(N)]
D = [math.cos(3.0 * k) for k in range(N)]


def turned(x, n=N, limit=None):
    """Iterations in a loop that has to keep something of each, whose number may be known."""
    if limit is None:
        return fori(n, Real, 1.0, lambda k, s: sin(s * x[0]) + s * x[1])
    state = {"s": Real, "k": Real}
    return while_loop(
        state,
        {"s": 1.0, "k": 0.0},
        lambda c: c.k < float(n),
        lambda c: {"s": sin(c.s * x[0]) + c.s * x[1], "k": c.k + 1.0},
        limit=limit,
    ).s


def choice(x, n):
    """Iterations some of which have iterations in them."""
    return fori(
        N, Real, 0.0, lambda k, s: cond(x[k] > 0.5, Real, lambda: s + turned(x, n), lambda: 0.9 * s + x[k])
    )


def in_side(x, body):
    """Iterations in some of which there is something else."""

    def iteration(k, s):
        return cond(x[k] > 0.5, Real, lambda: sin(0.1 * body(s)) + 0.2 * s, lambda: 0.9 * s + x[k])

    return fori(N, Real, 0.1, iteration)


def vectors(x, s):
    """Iterations of which each has to keep a vector."""
    v = fori(N, V, x, lambda k, v: vec(N, Real, lambda i: sin(v[i] * x[k]) + 0.1 * s))
    return sum(N, lambda i: v[i])


def several(n):
    """A function that is too long to be in line."""

    def body(x: V) -> Real:
        y = turned(x, n)
        for k in range(N):
            y = sin(y * x[k]) + x[k]
        return y

    return fn([V], Real, body)


SHORT, LONG = several(N), several(_MOST_IN_SIDE + 1)
SLOPE = grad(fn([V], Real, lambda x: turned(x, _MOST_IN_SIDE + 1)))

PROGRAMS = {
    "a loop": (turned, False),
    "loops in a sum": (lambda x: sum(N, lambda i: x[i] * turned([x[i], x[0]])), False),
    "loops in a loop": (lambda x: fori(N, Real, 0.1, lambda i, s: 0.2 * s + x[i] * turned([x[i], s])), False),
    "a loop that tests": (lambda x: turned(x, limit=99), True),
    "a loop in one that tests": (
        lambda x: while_loop(
            Real, x[0], lambda s: s > -1.0, lambda s: 0.1 * turned([s, x[0]]) - 0.9 + s, limit=9
        ),
        True,
    ),
    "a loop in a side": (lambda x: choice(x, N), False),
    "a long loop in a side": (lambda x: choice(x, _MOST_IN_SIDE + 1), True),
    "a loop of vectors in a side": (lambda x: in_side(x, lambda s: vectors(x, s)), True),
    "a loop in a loop in a side": (
        lambda x: in_side(x, lambda s: fori(N, Real, s, lambda i, s: 0.2 * s + 0.1 * turned([x[i], x[0]]))),
        True,
    ),
    "a loop in what a side calls": (lambda x: in_side(x, lambda _: SHORT(x)) + SHORT(x), False),
    "a long loop in what a side calls": (lambda x: in_side(x, lambda _: LONG(x)) + LONG(x), True),
    "the gradient of a long loop in a side": (
        lambda x: cond(x[0] > 0.1, Real, lambda: sum(N, lambda k: SLOPE(x)[k] * x[k]), lambda: x[1]),
        True,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives(name: str) -> None:
    body, has_tapes = PROGRAMS[name]
    f = fn([V], Real, body)
    slope, product = grad(f), hvp(f)
    for g in (slope, product, grad(fn([V], Real, lambda x: sum(N, lambda k: slope(x)[k] * x[k])))):
        same(g, *[X, D][: len(g.func.param_types)])
        assert ("[?]" in inspect(g).ir) == has_tapes
    gradient = compile(slope)
    along = math.fsum(a * b for a, b in zip(gradient(X), D, strict=True))
    assert along == pytest.approx(directional(f, X, D), rel=1e-9)
    up, down = (gradient([x + h * d for x, d in zip(X, D, strict=True)]) for h in (1e-5, -1e-5))
    expected = [(a - b) / 2e-5 for a, b in zip(up, down, strict=True)]
    assert compile(product)(X, D) == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_what_functions_keep_elsewhere_stays_in_arrays() -> None:
    """Only the loops in calls from sides have tapes."""
    ir = inspect(grad(fn([V], Real, PROGRAMS["a long loop in what a side calls"][0]))).ir
    assert f"[{_MOST_IN_SIDE + 1}]Real" in ir


def test_a_side_that_is_not_taken_writes_nothing() -> None:
    """There is memory for what its loop would keep, which has nothing in it."""
    gradient = grad(fn([V], Real, lambda x: choice(x, _MOST_IN_SIDE)))
    assert in_trips(gradient, "memory.copy", "memory.fill") == 0


def test_a_table_is_not_kept():
    """A vector of constants in a loop's body is there already, however it is written."""

    def body(x: Vec(2, Real)) -> Real:
        def iteration(k, s):
            row = vec(N, Vec(2, Real), [[d, 2 * d] for d in D])[k]
            number = vec(N, Real, D)[k]
            return sin(number * s) + sum(2, lambda j: x[j] * row[j] * sin(number + s * x[j]))

        return fori(N, Real, 1.0, iteration)

    f = fn(body)
    assert f"[{N}][{N}]" not in inspect(grad(f)).ir
    assert_derivatives(f, [0.3, 0.7])


FUNCTIONS = {
    "sin": sin,
    "cos": cos,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "expm1": expm1,
    "sqrt": lambda s: sqrt(1.5 + s),
    "pow": lambda s: pow(s + 1.5, s),
    "atan2": lambda s: atan2(s, s + 2.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_function_is_called_again_in_the_iterations_back(name: str) -> None:
    """What its derivative is made of is computed with it, and kept, though its operand is at hand."""
    f = fn([Vec(2, Real)], Real, lambda x: fori(N, Real, 0.5, lambda k, s: x[0] * FUNCTIONS[name](x[1] * s)))
    _, backward = inspect(grad(f)).ir.split("def bwd_")
    called = {by_name[k] for k in "sin cos sinh cosh tanh exp expm1 sqrt pow log atan2 hypot".split()}
    iteration = re.split(r"\n\n|\ndef ", backward)[0]
    assert not [op.name for op in called if re.search(rf"= {op.symbol}\b| {op.symbol} ", iteration)]
    assert_derivatives(f, [0.5, 0.6])
