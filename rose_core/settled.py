"""Backward loops whose state, the cotangent of an array, changes in few places: it is updated there.

In general what a turn adds to the cotangent of an array is collected in an accumulator of its own, which
takes as long as the array is. Where a turn gives the cotangent from after it on, as a whole or updated, and
adds to some elements of that, these elements are updated, too; and updates of what nobody needs any more are
done in its place (`rose_core.reuse`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rose_core.builder import Builder
from rose_core.ir import ACCUM, ADD_TO, PARAM, REF_INDEX, RESOLVE, SET, Func, operands
from rose_core.ops import by_name
from rose_core.replay import Replay, copied
from rose_core.types import REAL, Array, Fin

_ADD = by_name["add"].code

_PART = 4
"""An array has so many times the elements, at least, that are updated."""


@dataclass(slots=True)
class _Total:
    """What is added to an accumulator."""

    whole: list[int] = field(default_factory=list)
    """Arrays: the one that it starts from, unless these are zeros, and those that are added to all of it."""
    added: list[int] = field(default_factory=list)
    """``ADD_TO`` all of it."""
    elements: list[int] = field(default_factory=list)
    """``ADD_TO`` one of its elements."""


def settled(f: Func) -> Func:
    """A function like ``f``, the body of a backward loop, that updates where it can."""
    totals = _totals(f)
    return copied(f, lambda b, args: _Updating(f, b, args, totals)) if totals else f


def _totals(f: Func) -> dict[int, _Total]:
    """The accumulators that are not needed, and what is added to each."""
    found = {
        v: _Total([ins[1]] if ins[1] >= 0 else [])
        for v, ins in enumerate(f.code)
        if ins[0] == ACCUM and not f.home[v] and _is_vector(f, v)
    }
    if not found:
        return found
    for v, ins in enumerate(f.code):
        for x in operands(ins, f.blocks):
            ref = f.code[x] if x >= 0 else ()
            if x in found:
                if ins[0] == ADD_TO and not f.home[v]:
                    found[x].whole.append(ins[2])
                    found[x].added.append(v)
                elif ins[0] not in (REF_INDEX, RESOLVE):
                    del found[x]
            elif ref and ref[0] == REF_INDEX and ref[1] in found:
                if ins[0] == ADD_TO and not f.home[v]:
                    found[ref[1]].elements.append(v)
                else:
                    del found[ref[1]]
    return {r: total for r, total in found.items() if _pays(f, r, found)}


def _is_vector(f: Func, r: int) -> bool:
    """Whether it is for numbers in a row, and starts from zeros or others."""
    t, start = f.types[r].inner, f.code[r][1]  # type: ignore[attr-defined]
    if not isinstance(t, Array) or t.elem is not REAL or not isinstance(t.index, Fin):
        return False
    return start >= 0 or not f.pool[~start][0]


def _pays(f: Func, r: int, totals: dict[int, _Total]) -> bool:
    """Whether it is a parameter, perhaps updated, to which little is added."""
    elements = 0
    while True:
        total = totals[r]
        if len(total.whole) != 1:
            return False
        elements += len(total.elements)
        x = total.whole[0]
        while x >= 0 and f.code[x][0] == SET:
            x = f.code[x][1]
        if x < 0 or f.code[x][0] != RESOLVE or f.code[x][1] not in totals:
            break
        r = f.code[x][1]
    size = f.types[r].inner.size  # type: ignore[attr-defined]
    return x >= 0 and f.code[x][0] == PARAM and _PART * elements <= size


class _Updating(Replay):
    """Copies a function without some of its accumulators."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], totals: dict[int, _Total]) -> None:
        super().__init__(func, b, args)
        self.totals = totals
        self.skipped = {v for total in totals.values() for v in (*total.added, *total.elements)}

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        is_place = ins[0] == REF_INDEX and ins[1] in self.totals
        if v in self.totals or v in self.skipped or is_place:
            return
        if ins[0] == RESOLVE and ins[1] in self.totals:
            self.env[v] = self.updated(self.totals[ins[1]])
        else:
            super().structural(v, ins)

    def updated(self, total: _Total) -> int:
        code, env, b = self.func.code, self.env, self.b
        whole = env[total.whole[0]]
        for v in total.elements:
            _, r, c = code[v]
            at = env[code[r][2]]
            whole = b.set(whole, at, b.binary(_ADD, b.index(whole, at), env[c]))
        return whole
