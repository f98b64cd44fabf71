"""WebAssembly as text: an assembler that is not ours makes the same code of it."""

from __future__ import annotations

import re

import pytest
import wasmtime
from op_cases import case
from op_programs import in_loop

import rose_core as rose
from rose_core import Bool, Real, Vec, encode, fn, opaque
from rose_core.derivatives.expand import Expansion
from rose_core.language.ops import OPS
from rose_core.language.parse import parse
from rose_core.tracing.operations import operation
from rose_core.wasm.program import Program
from rose_core.wasm.wat import wat

N = 6
RN = Vec(N, Real)
TYPES = {"R": Real, "B": Bool}


@fn
def product(v: RN) -> Real:
    w = rose.vec(N, Real, lambda i: rose.sin(v[i]) * v[0] - 0.1)
    return rose.fori(N, Real, 1.0, lambda i, p: p * w[i])


@fn
def newton(x: Real) -> Real:
    return rose.while_loop(Real, x, lambda y: abs(y * y - x) > 1e-9, lambda y: (y + x / y) / 2.0, limit=50)


@fn
def constants(x: Real) -> Real:
    table = rose.vec(3, Real, lambda i: [1.5, float("inf"), -1e-310][0])
    return rose.sum(5, lambda i: x * [1.5, float("inf"), float("-inf"), -0.0, 1e-310][0] + table[0])


@fn
def in_lanes(x: RN, b: Bool) -> RN:
    """Of a size that is even, and of one that is odd."""
    y = rose.vec(5, Real, lambda i: rose.max(x[rose.iadd(N, i, 1)], 0.5) + x[rose.iadd(N, i, 0)])
    s = rose.sum(5, lambda i: y[i] * y[i])
    return rose.vec(N, Real, lambda i: rose.select(rose.and_(b, x[i] > s), -x[i], rose.floor(x[i])))


@fn
def stencil(x: RN) -> Real:
    """Clamped at one end, with the iteration as a number, so that its gradient adds to neighbours."""
    near = lambda i: rose.imin(N, rose.iadd(N + 1, i, 1), N - 1)  # noqa: E731
    return rose.sum(N, lambda i: x[i] * x[near(i)] / (1 + rose.real(i)) + x[i])


told = opaque([Real], Real, lambda x: x + 1.0)

ROOTS = {
    "product": product,
    "its gradient": rose.grad(product),
    "its Hessian": rose.hessian(product),
    "a loop that ends by itself": newton,
    "constants": constants,
    "in lanes": in_lanes,
    "a stencil": stencil,
    "a stencil's gradient": rose.grad(stencil),
    "a host's function": fn([Real], Real, lambda x: told(x) * x),
    "no number": fn([Real], Real, lambda x: x * float("nan")),
    **{
        op.name: fn([TYPES[letter] for letter in op.ins], TYPES[op.out], operation(op.name))
        for op in OPS
        if {*op.ins, op.out} <= {*TYPES}
    },
    **{
        f"{op.name} in lanes": in_loop(case(op.name), [(0.5,) * len(op.ins)] * N)
        for op in OPS
        if callable(op.wasm)
    },
}


def sections(module: bytes) -> dict[int, bytes]:
    """By number, without the custom ones: names may be written down in more ways than one."""
    found = {}
    at = 8

    def uint() -> int:
        nonlocal at
        n = shift = 0
        more = True
        while more:
            n |= (module[at] & 0x7F) << shift
            shift += 7
            more = module[at] > 0x7F
            at += 1
        return n

    while at < len(module):
        at += 1
        number, size = module[at - 1], uint()
        found[number] = module[at : at + size]
        at += size
    # how many segments there are ahead of the code is written where that makes use of it
    return {number: content for number, content in found.items() if number not in (0, 12)}


@pytest.mark.parametrize("memory", ["exported", "imported", "shared"])
@pytest.mark.parametrize("name", ROOTS)
def test_an_assembler_makes_the_same_module_of_it(name: str, memory: str) -> None:
    module = Program(Expansion(ROOTS[name].func).root, memory).bytes
    assembled = bytes(wasmtime.wat2wasm(wat(module)))
    assert sections(assembled) == sections(module)


def test_each_function_has_a_name_of_its_own() -> None:
    names = ["f", "f", "f_1", "f", "f_1", "g"]
    functions = [encode.Function(name, "", "", [], b"") for name in names]
    text = wat(encode.module([], functions, {}, 0, [], "exported"))
    assert re.findall(r"\(func \$(\w+)", text) == ["f", "f_1", "f_1_1", "f_2", "f_1_2", "g"]


def test_a_function_without_a_name_has_its_number() -> None:
    functions = [encode.Function(name, "", "", [], encode.call(0)) for name in ("", "0", "")]
    text = wat(encode.module([], functions, {"f": 0}, 0, [], "exported"))
    assert re.findall(r"\(func \$(\w+)$", text, re.MULTILINE) == ["0_1", "0", "2"]
    assert re.findall(r"call (.*?) ", text) == ["$0_1"] * 3
    assert wasmtime.wat2wasm(text)


def test_bytes_stand_beside_their_instructions() -> None:
    square = fn([Real], Real, lambda x: x * x)
    assert (
        wat(Program(square.func, "imported").bytes)
        == """\
(module
  (import "m" "" (memory 1))
  (export "f" (func $f))
  (export "r" (func $run_f))
  (func $f (param f64) (result f64)
    local.get 0                                ;; 20 00
    local.get 0                                ;; 20 00
    f64.mul                                    ;; a2
  )
  (func $run_f
    i32.const 0                                ;; 41 00
    i32.const 0                                ;; 41 00
    f64.load align=8                           ;; 2b 03 00
    call $f                                    ;; 10 00
    f64.store offset=8 align=8                 ;; 39 03 08
  )
)
"""
    )


def test_what_compiled_programs_do_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="no WebAssembly module"):
        wat(b"(module)")
    table = bytes(wasmtime.wat2wasm("(module (func (result f32) f32.const 1))"))
    with pytest.raises(ValueError, match="do not have the instruction 0x43"):
        wat(table)


def test_an_inspection_shows_every_stage() -> None:
    f = fn([Real], Real, lambda x: x * rose.exp(x))
    found = rose.inspect(rose.grad(f))
    assert (
        found.recorded
        == """\
def f(x: Real): Real =
  let v1: Real = exp(x) in
  let v2: Real = x × v1 in
  v2

def grad_f(x: Real): Real =
  let v1: Real = vjp f(x) in
  let v3: Real = pull v1(1.0) in
  v3
"""
    )
    assert "vjp" not in found.ir
    assert parse(found.ir)
    module = bytes(wasmtime.wat2wasm(found.wat))
    assert found.wat == wat(module)
    assert len(module) <= found.size  # which has more names


def test_what_cannot_be_compiled_cannot_be_inspected() -> None:
    with pytest.raises(TypeError, match="inspect"):
        rose.inspect(3)
    with pytest.raises(rose.DerivativeError):
        rose.inspect(rose.grad(opaque([Real], Real, lambda x: x)))
