"""Vectors that are made to be added to an accumulator: their elements are added instead.

    r += [x, y]     →     r[0] += x;  r[1] += y

Reverse mode collects what the elements of a row get, and adds it to the row's accumulator as one vector. That
vector would be written to memory number by number, and read from there two numbers at a time, for which
processors wait until both have been written.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign

from rose_core.language.builder import Builder
from rose_core.language.ir import ACCUM, ADD_TO, VEC, Func
from rose_core.language.queries import among, path_of, places
from rose_core.language.replay import Replay, copied
from rose_core.language.types import Array

MOST = 24
"""The most numbers of a vector with which it is done."""

_ADDITIONS = among([ADD_TO])


def added_by_elements(f: Func) -> Func:
    """``f``, whose derivatives are made, or a copy that adds elements where it added vectors of such."""
    found = {v for v in places(f, _ADDITIONS) if 0 < _computed(f, f.code[v][2]) <= MOST}
    return copied(f, _Adding, found) if found else f


def _computed(f: Func, x: int) -> int:
    """How many numbers are in the vector ``x``, if some of each row in it are computed; of all else, 0."""
    if x < 0 or f.code[x][0] != VEC or all(y < 0 for y in f.code[x][1:]):
        return 0
    t = f.types[x]
    assert isinstance(t, Array)
    if not isinstance(t.elem, Array):
        return len(f.code[x]) - 1
    rows = [_computed(f, y) for y in f.code[x][1:]]
    return sum(rows) if all(rows) else 0


class _Adding(Replay):
    def __init__(self, func: Func, b: Builder, args: Sequence[int], additions: set[int]) -> None:
        super().__init__(func, b, args)
        self.additions = additions

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        if v in self.additions:
            self._add(self.env[ins[1]], ins[2], self._is_never_negative_zero(ins[1]))
        else:
            super().structural(v, ins)

    def _add(self, r: int, x: int, leave_zeros: bool) -> None:
        """Add the vector ``x`` of the source to the accumulator ``r`` of the copy."""
        t = self.func.types[x]
        assert isinstance(t, Array)
        for k, y in enumerate(self.func.code[x][1:]):
            if leave_zeros and y < 0 and self.func.pool[~y][0] == 0:
                continue
            element = self.b.ref_index(r, self.b.const(k, t.index))
            if isinstance(t.elem, Array):
                self._add(element, y, leave_zeros)
            else:
                self.b.add_to(element, self.env[y])

    def _is_never_negative_zero(self, r: int) -> bool:
        """Whether no number of the accumulator ``r`` is ever -0: it is a part of one that starts from 0."""
        _, root = path_of(self.func, r)
        op, *given = self.func.code[root]
        if op != ACCUM or given[0] >= 0:
            return False
        start = self.func.pool[~given[0]][0]
        return start == 0 and copysign(1, start) > 0
