"""Random programs: interpreter = WebAssembly, and derivatives agree with each other and with differences."""

from __future__ import annotations

import random

import pytest
from engines import engines, same_numbers
from random_programs import RandomProgram, duals, flat, like, tangents

from rose_core import fn, interp, jvp, vjp
from rose_core.language.check import check

SEEDS = range(150)


def args_of(program, f):
    return [program.argument(t) for t in f.func.param_types]


def reverse(f):
    """The function of f's arguments and a cotangent that gives the pullback of the cotangent."""
    params = f.func.param_types
    ret = params[0] if len(params) == 1 else {str(k): t for k, t in enumerate(params)}

    def body(*args):
        result = vjp(f)(*args[:-1]).grad(args[-1])
        return result if len(params) == 1 else {str(k): x for k, x in enumerate(result)}

    return fn([*params, f.func.ret], ret, body)


def random_like(rng, x):
    return like(x, [rng.uniform(-1, 1) for _ in flat(x)])


def dot(xs, ys):
    return sum(x * y for x, y in zip(flat(xs), flat(ys), strict=True))


def shift(args, direction, h):
    return like(args, [x + h * d for x, d in zip(flat(args), flat(direction), strict=True)])


def close(a, b, tolerance):
    assert abs(a - b) <= tolerance * max(1.0, abs(a), abs(b)), (a, b)


@pytest.mark.parametrize("seed", SEEDS)
def test_program(seed):
    program = RandomProgram(seed)
    f = program.functions[-1]
    args = args_of(program, f)
    compiled, interpreted = engines(f)
    value = interpreted(*args)
    assert flat(compiled(*args)) == flat(value)

    rng = random.Random(seed)
    direction = random_like(rng, args)
    cotangent = random_like(rng, value)
    forward = jvp(f)
    check(f.func)
    dual_args = [duals(a, d) for a, d in zip(args, direction, strict=True)]
    dual = same_numbers(forward, *dual_args)
    tangent = tangents(dual)

    backward = reverse(f)
    check(backward.func)
    pulled = same_numbers(backward, *args, cotangent)
    along = direction if len(args) > 1 else direction[0]
    pulled_list = [pulled[str(k)] for k in range(len(args))] if len(args) > 1 else pulled
    close(dot(tangent, cotangent), dot(along, pulled_list), 1e-9)

    h = 1e-6
    ahead, behind = interpreted(*shift(args, direction, h)), interpreted(*shift(args, direction, -h))
    for a, b, t in zip(flat(ahead), flat(behind), flat(tangent), strict=True):
        close((a - b) / (2 * h), t, 1e-5)


@pytest.mark.parametrize("seed", range(60))
def test_second_order(seed):
    """Forward over reverse, reverse over reverse and differences of the gradient agree."""
    program = RandomProgram(1000 + seed, count=2, steps=5)
    f = program.functions[-1]
    args = args_of(program, f)
    rng = random.Random(seed)
    value = interp(f)(*args)
    cotangent = random_like(rng, value)
    g = reverse(f)
    full = [*args, cotangent]
    run = interp(g)
    pulled = run(*full)
    direction = random_like(rng, full)
    w = random_like(rng, pulled)
    forward = jvp(g)
    dual_args = [duals(a, d) for a, d in zip(full, direction, strict=True)]
    dual = same_numbers(forward, *dual_args)
    tangent = tangents(dual)
    twice = reverse(g)
    second = same_numbers(twice, *full, w)
    close(dot(tangent, w), dot(direction, [second[str(k)] for k in range(len(full))]), 1e-8)
    h = 1e-5
    ahead, behind = run(*shift(full, direction, h)), run(*shift(full, direction, -h))
    for a, b, t in zip(flat(ahead), flat(behind), flat(tangent), strict=True):
        close((a - b) / (2 * h), t, 1e-4)
