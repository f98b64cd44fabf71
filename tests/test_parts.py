"""Long functions in parts: the same numbers, wherever the parts end."""

from __future__ import annotations

import math
import random

import pytest
from engines import same_numbers
from random_programs import RandomProgram
from test_random_programs import args_of, random_like, reverse

from rose_core import Bool, Real, Vec, fn, select, vjp
from rose_core.derivatives.expand import Expansion
from rose_core.tracing.operations import operation
from rose_core.wasm import parts
from rose_core.wasm.program import Program

exp, lt, maximum, sin = map(operation, ("exp", "lt", "max", "sin"))


@pytest.fixture
def short(monkeypatch):
    """Parts that end as soon as they can."""
    monkeypatch.setattr(parts, "LONGEST", 8)


@pytest.mark.parametrize("seed", range(150))
def test_random_programs(short, seed):
    program = RandomProgram(seed)
    f = program.functions[-1]
    args = args_of(program, f)
    value = same_numbers(f, *args)
    backward = reverse(f)
    cotangent = random_like(random.Random(seed), value)
    same_numbers(backward, *args, cotangent)


def chain(n, seed):
    """A function of ten numbers and a Bool in ``n`` operations, each of some of the last results."""
    rng = random.Random(seed)

    def body(x, p):
        values = [x[i] for i in range(10)]
        for _ in range(n):
            a, b = (values[-1 - int(rng.random() ** 2 * min(len(values), 60))] for _ in range(2))
            kind = rng.randrange(6)
            if kind == 0:
                values.append(a * 0.5 + b)
            elif kind == 1:
                values.append(sin(a) * b)
            elif kind == 2:
                values.append(maximum(a, b) - 0.25)
            elif kind == 3:
                values.append(select(lt(a, b), a, b - a))
            elif kind == 4:
                values.append(select(p, a, sin(b)))
            else:
                values.append(a / (1.5 + b * b))
        return sum(values[-20:], values[0])

    return fn([Vec(10, Real), Bool], Real, body)


@pytest.mark.parametrize("n", [300, 3000])
def test_long_functions(n):
    f = chain(n, n)
    gradient = fn([Vec(10, Real), Bool], Vec(10, Real), lambda x, p: vjp(f)(x, p).grad(1)[0])
    x = [math.sin(k) for k in range(10)]
    for p in (True, False):
        same_numbers(f, x, p)
        same_numbers(gradient, x, p)
    module = Program(Expansion(gradient.func).root).bytes
    assert (f"{gradient.func.name} 2".encode() in module) == (n == 3000)


def test_parts_that_are_called():
    """A long function with arrays as parameters and results, called twice."""
    f = chain(2500, 1)
    inner = fn([Vec(10, Real), Bool], Vec(10, Real), lambda x, p: vjp(f)(x, p).grad(1)[0])
    outer = fn([Vec(10, Real)], Vec(10, Real), lambda x: inner(inner(x, True), False))
    x = [math.cos(k) / 3 for k in range(10)]
    same_numbers(outer, x)
