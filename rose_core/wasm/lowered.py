"""Functions as WebAssembly, each made once for its place in a program.

What a function becomes depends on what is around it in few ways: where its frame and its constants are, and
the numbers of what it calls. Where these are as they were in an earlier program, so is the code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rose_core.encode import Function
from rose_core.language.demand import Demand
from rose_core.language.ir import COND, ZEROS, Func, opcodes, remembered
from rose_core.wasm.enclosed import Enclosed
from rose_core.wasm.expressions import Codes
from rose_core.wasm.given import Given
from rose_core.wasm.layout import Convention, HostConvention, has_tapes
from rose_core.wasm.lower import Body
from rose_core.wasm.reuse import Overwriting
from rose_core.wasm.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Lowered:
    """A function as WebAssembly."""

    functions: Sequence[Function]
    """The function, or the parts of one that is very long."""
    frame_end: int


def lowered(
    func: Func,
    frame: int,
    zeros: int,
    data: dict[int, int],
    codes: Codes,
    callees: dict[Func, tuple[int, Convention | HostConvention | Enclosed]],
    entry: tuple[list[int], list[int]] | None,
    runtime: Runtime,
    overwriting: Overwriting,
    given: Given,
    demand: Demand | None,
) -> Lowered:
    """``func`` in its place, which is told as to `Body`."""

    def make() -> Lowered:
        body = Body(func, frame, zeros, data, codes, callees, entry, runtime, overwriting, given, demand)
        return Lowered(body.functions, body.frame_end)

    if entry or not _stands_alone(func):
        return make()
    numbers = [callees[g][0] for g in func.callees]
    changing = [overwriting.places(g) for g in (func, *func.callees)]
    place = frame, zeros, sorted(data.items()), codes, numbers, changing, given.groups(func)
    known = func.memo.get("lowered")
    if not isinstance(known, tuple) or known[0] != place:
        known = func.memo["lowered"] = place, make()
    found = known[1]
    assert isinstance(found, Lowered)
    return found


@remembered
def _stands_alone(func: Func) -> bool:
    """Whether a function needs none of the functions that the compiler adds to a program."""
    needs = func.specs or not opcodes(func).isdisjoint((COND, ZEROS))
    return not needs and not has_tapes(func)
