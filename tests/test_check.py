"""The checker refuses what no tracer would build."""

from __future__ import annotations

import pytest

from rose_core.language.builder import Builder
from rose_core.language.check import CheckError, check
from rose_core.language.ir import ACCUM, ADD_TO, CALL, GET, INDEX, RESOLVE, Func
from rose_core.language.ops import code
from rose_core.language.types import BOOL, REAL, TAN, UNIT, array, fin, ref


def builder(*params) -> Builder:
    b = Builder(Func("f", list(params), REAL))
    for t in params:
        b.param(t)
    return b


def raw(b: Builder, ins, t) -> int:
    """Append an instruction as it stands."""
    return b._append(ins, t, 0)


V3 = array(fin(3), REAL)

BROKEN = {
    "a Bool in a sum": ([REAL, BOOL], (code("add"), 0, 1), REAL, "expected Real, got Bool"),
    "a wrong result type": ([REAL], (code("sin"), 0), BOOL, "its type is Real, not Bool"),
    "a tangent times a tangent": ([TAN, TAN], (code("mul"), 0, 1), TAN, "not linear"),
    "the sine of a tangent": ([TAN], (code("sin"), 0), TAN, "not linear"),
    "a quotient by a tangent": ([REAL, TAN], (code("div"), 0, 1), TAN, "not linear"),
    "a choice between two types": (
        [BOOL, REAL, TAN],
        (code("select"), 0, 1, 2),
        REAL,
        "expected Real, got Tan",
    ),
    "an operand that is not there yet": ([REAL], (code("neg"), 7), REAL, "7 is not defined here"),
    "a constant that is not there": ([REAL], (code("neg"), -5), REAL, "no constant 4"),
    "an index of another type": ([V3, fin(2)], (INDEX, 0, 1), REAL, "expected an index of type 3, got 2"),
    "an element of a number": ([REAL, fin(2)], (INDEX, 0, 1), REAL, "Real has no elements"),
    "adding to a number": ([REAL], (ADD_TO, 0, 0), UNIT, "no accumulator"),
    "adding the wrong type": ([ref(V3), REAL], (ADD_TO, 0, 1), UNIT, r"expected \[3\]Real, got Real"),
    "resolving a parameter": ([ref(REAL)], (RESOLVE, 0), REAL, "only an accum"),
    "an accumulator of an accumulator": (
        [ref(REAL)],
        (ACCUM, 0),
        ref(ref(REAL)),
        "starts from an accumulator",
    ),
    "a result of no call": ([REAL], (GET, 0, 0), REAL, "has no results"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_instruction(name: str) -> None:
    params, ins, t, message = BROKEN[name]
    b = builder(*params)
    raw(b, ins, t)
    with pytest.raises(CheckError, match=message):
        check(b.func)


def test_a_call_with_other_arguments() -> None:
    callee = builder(REAL, REAL).func
    callee.results.append(0)
    b = builder(REAL)
    raw(b, (CALL, b.callee(callee), 0), UNIT)
    with pytest.raises(CheckError, match="f takes"):
        check(b.func)


def test_recursion() -> None:
    b = builder(REAL)
    b.func.results.append(0)
    b.call(b.func, [0])
    with pytest.raises(CheckError, match="calls itself: f → f"):
        check(b.func)


def test_a_value_out_of_its_loop() -> None:
    b = builder(V3)
    i = b.open_for(fin(3))
    x = b.index(0, i)
    b.close_for([x])
    b.func.results.append(x)
    with pytest.raises(CheckError, match="out of scope"):
        check(b.func)


def test_a_loop_is_well_formed() -> None:
    b = builder(V3)
    i = b.open_for(fin(3))
    loop = b.close_for([b.binary(code("mul"), b.index(0, i), b.real(2.0))])
    b.func.results.append(b.get(loop, 0))
    check(b.func)
    b.types[b.func.results[0]] = REAL
    with pytest.raises(CheckError, match=r"its type is \[3\]Real"):
        check(b.func)
