"""Functions as WebAssembly, each made once for its place in a program.

What a function becomes depends on what is around it in few ways: where its frame and its constants are, and
the numbers of what it calls. Where these are as they were in an earlier program, so is the code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rose_core.encode import Function
from rose_core.language.demand import Demand
from rose_core.language.ir import COND, ZEROS, Func
from rose_core.language.queries import opcodes, remembered
from rose_core.wasm.context import Context
from rose_core.wasm.layout import has_tapes
from rose_core.wasm.lower import Body


@dataclass(frozen=True, slots=True)
class Lowered:
    """A function as WebAssembly."""

    functions: Sequence[Function]
    """The function, or the parts of one that is very long."""
    frame_end: int


def lowered(
    func: Func,
    context: Context,
    frame: int,
    data: dict[int, int],
    demand: Demand | None,
    entry: tuple[list[int], list[int]] | None,
) -> Lowered:
    """``func`` as it is in its place; the parameters are those of `Body`."""

    def make() -> Lowered:
        body = Body(func, context, frame, data, demand, entry)
        return Lowered(body.functions, body.frame_end)

    if entry or not _stands_alone(func):
        return make()
    numbers = [context.callees[g][0] for g in func.callees]
    changing = [context.overwriting.places(g) for g in (func, *func.callees)]
    groups = context.given.groups(func)
    place = frame, context.zeros, sorted(data.items()), context.codes, numbers, changing, groups
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
