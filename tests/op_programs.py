"""Programs made of one operation, for the op tests: in a loop and written out, varying in some operands."""

from __future__ import annotations

from collections.abc import Iterable

from engines import engines
from op_cases import SIZE, Case, bits
from random_programs import flat

import rose_core as rose
from rose_core import Function
from rose_core.derivatives.expand import Expansion
from rose_core.language.check import check

TYPES = {"R": rose.Real, "B": rose.Bool, "I": SIZE}


def types(c: Case) -> tuple[list[object], object]:
    """The operand and result types of an op, as an author writes them; a choice is one of Reals."""
    if c.name == "select":
        return [rose.Real] * 3, rose.Real
    return [TYPES[letter] for letter in c.op.ins], TYPES[c.op.out]


def columns(points: list[tuple[object, ...]]) -> list[list[object]]:
    """The points operand by operand."""
    return [list(column) for column in zip(*points, strict=True)]


def literals(xs: list[object], t: object) -> object:
    """A vector of literals, inside a body: an element read from it does not vary, and yet is not known."""
    v = rose.Vec(len(xs), t)
    return rose.select(True, v, xs, xs)


def literal(x: float) -> object:
    """A symbolic Real whose value is known, inside a body: operations on it are folded."""
    return rose.select(True, rose.Real, x, x)


def in_loop(c: Case, points: list[tuple[object, ...]], varying: Iterable[int] | None = None) -> Function:
    """The op at many points, in a loop: a function of the vectors of the operands in ``varying``."""
    ins, out = types(c)
    varying = range(c.arity) if varying is None else list(varying)
    given = columns(points)

    def body(*args: object) -> object:
        rows = [literals(given[k], ins[k]) if k not in varying else None for k in range(c.arity)]
        for k, arg in zip(varying, args, strict=True):
            rows[k] = arg
        return rose.vec(len(points), out, lambda i: c.call(*[row[i] for row in rows]))

    n = len(points)
    return rose.fn([rose.Vec(n, ins[k]) for k in varying], rose.Vec(n, out), body)


def straight(c: Case, points: list[tuple[object, ...]], varying: Iterable[int] | None = None) -> Function:
    """The op at many points, written out; the operands that are not in ``varying`` are literals."""
    ins, out = types(c)
    varying = range(c.arity) if varying is None else list(varying)
    n = len(points)

    def body(*args: object) -> object:
        results = []
        for j, point in enumerate(points):
            x = list(point)
            for k, arg in zip(varying, args, strict=True):
                x[k] = arg[j]
            results.append(c.call(*x))
        return results

    return rose.fn([rose.Vec(n, ins[k]) for k in varying], rose.Vec(n, out), body)


def gradient(f: Function) -> Function:
    """The function of ``f``'s arguments and a cotangent that gives the arguments' cotangents, x0, x1 …"""
    params = f.func.param_types

    def body(*args: object) -> object:
        result = rose.vjp(f)(*args[:-1]).grad(args[-1])
        return {f"x{k}": x for k, x in enumerate(result if len(params) > 1 else [result])}

    return rose.fn([*params, f.func.ret], {f"x{k}": t for k, t in enumerate(params)}, body)


def interpreted(f: Function, *args: object) -> object:
    """The result of a function by the interpreter, whose program must follow the typing rules."""
    check(Expansion(f.func).root)
    return rose.interp(f)(*args)


def run(f: Function, *args: object) -> object:
    """The result of a function, compiled; the interpreter's must have the same bits."""
    compiled, by_definition = engines(f)
    result, expected = compiled(*args), flat(by_definition(*args))
    assert list(map(bits, flat(result))) == list(map(bits, expected)), (
        f"{f}: WebAssembly and interpreter differ"
    )
    return result
