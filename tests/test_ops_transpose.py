"""Reverse mode is forward mode transposed: ⟨J v, w⟩ = ⟨v, Jᵀ w⟩, op by op and for pairs of ops."""

from __future__ import annotations

import random
from itertools import product

import pytest
from op_cases import REAL_OPS, case
from op_programs import columns, gradient, in_loop, run, straight
from random_programs import duals, flat, like, tangents

from rose_core import Real, Vec, fn, jvp, sin, vec

TOLERANCE = 1e-14
"""Relative to the sum of the absolute values of the terms of both inner products."""


def dot(a, b, term=lambda x: x):
    return sum(term(p * q) for p, q in zip(flat(a), flat(b), strict=True))


def assert_transposed(f, x, rng):
    v = like(x, [rng.uniform(-1, 1) for _ in flat(x)])
    forward = tangents(run(jvp(f), *map(duals, x, v)))
    w = like(forward, [rng.uniform(-1, 1) for _ in flat(forward)])
    pulled = run(gradient(f), *x, w)
    pulled = [pulled[f"x{k}"] for k in range(len(x))]
    left, right = dot(forward, w), dot(v, pulled)
    scale = dot(forward, w, abs) + dot(v, pulled, abs)
    assert abs(left - right) <= TOLERANCE * scale, f"{left} is not {right}"


def operand_sets(name):
    """All sets of operands that may vary, but the empty one."""
    arity = case(name).arity
    return [[k for k in range(arity) if chosen[k]] for chosen in product((0, 1), repeat=arity) if any(chosen)]


@pytest.mark.parametrize(("name", "varying"), [(name, s) for name in REAL_OPS for s in operand_sets(name)])
def test_op(name, varying):
    """Operands that do not vary are constants: literals in straight code, read from a table in a loop."""
    c = case(name)
    points = c.random_points(6, "transpose")
    given = columns(points)
    for program in (straight, in_loop):
        assert_transposed(program(c, points, varying), [given[k] for k in varying], random.Random(name))


@pytest.mark.parametrize("seed", range(60))
def test_pair(seed):
    """One op after another: the second takes what the first gives and takes, brought into its domain."""
    rng = random.Random(seed)
    inner, outer = (case(name) for name in rng.sample(REAL_OPS, 2))
    order = [rng.randrange(inner.arity + 1) for _ in range(outer.arity)]
    order[rng.randrange(outer.arity)] = 0

    def both(x):
        sources = [inner.call(*x), *x]
        inside = zip(order, outer.box, strict=True)
        return outer.call(*[(lo + hi) / 2 + (hi - lo) / 2 * sin(sources[k]) for k, (lo, hi) in inside])

    points = inner.random_points(4, str(seed))
    n, x = len(points), columns(points)
    t = Vec(n, Real)
    looped = fn([t] * inner.arity, t, lambda *v: vec(n, Real, lambda i: both([row[i] for row in v])))
    written_out = fn([t] * inner.arity, t, lambda *v: [both([row[j] for row in v]) for j in range(n)])
    assert_transposed(looped, x, rng)
    assert_transposed(written_out, x, rng)
