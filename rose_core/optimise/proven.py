"""Checks of indices that the condition of a choice makes needless: bounds-check elimination.

    cond(i < 1, 0, x[i - 1, checked])     →     cond(i < 1, 0, x[i - 1])

A program that asks whether a cell has a neighbour reads it where it has one. What cannot fail may be done
earlier or later, and so loops with such choices may become one with others (`optimise.tapeless`), as they may
not where an error would come out of its turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from rose_core.language.builder import Builder
from rose_core.language.ir import COND, CondSite, Func, callees
from rose_core.language.ops import by_name
from rose_core.language.queries import among, opcodes, places, remembered
from rose_core.language.replay import Verbatim, copied
from rose_core.language.simplify import base_of, range_of, source_of
from rose_core.language.types import Fin
from rose_core.optimise.copies import stays

_BOUND, _NARROW, _NOT, _AND, _OR = (by_name[name].code for name in ("bound", "narrow", "not", "and", "or"))
_CHOICES, _NARROWED = among([COND]), among([_NARROW])

_LESS: dict[int, tuple[bool, int]] = {}
"""Comparison → whether it holds where the second one is the larger, and by how much it is that at least."""
_EQUAL: dict[int, bool] = {}
"""Comparison → whether it holds where both are the same."""
for _of in ("i", ""):
    _LESS |= {by_name[f"{_of}lt"].code: (True, 1), by_name[f"{_of}leq"].code: (True, 0)}
    _LESS |= {by_name[f"{_of}gt"].code: (False, 1), by_name[f"{_of}geq"].code: (False, 0)}
    _EQUAL |= {by_name[f"{_of}eq"].code: True, by_name[f"{_of}neq"].code: False}

_MOST_CONDITIONS = 16
"""The most comparisons that are looked at for a side."""

Range = tuple[int, int]
"""The least and the largest number that an index can be."""


def proven(f: Func) -> Func:
    """``f``, or a copy whose choices have sides without such checks; the functions that it calls are left."""
    return f if stays(f) or not _has_checked_sides(f) else _proven(f)


@remembered
def _has_checked_sides(f: Func) -> bool:
    """Whether a side of a choice checks an index, or has choices of which one does."""
    found = False
    for v in places(f, _CHOICES):
        for k in callees(f.code[v]):  # no generator: see `deep.py`
            found = found or _has_checks(f.callees[k])
    return found


def _has_checks(side: Func) -> bool:
    return not stays(side) and (_BOUND in opcodes(side) or _has_checked_sides(side))


@remembered
def _proven(f: Func) -> Func:
    return _within(f, (None,) * len(f.params))


@remembered
def unproven(f: Func) -> set[int]:
    """Indices that are right where a condition holds, and may be none elsewhere."""
    b, found = Builder(f), set[int]()
    for v in places(f, _NARROWED):
        t = f.types[v]
        assert isinstance(t, Fin)
        low, high = range_of(b, f.code[v][1])
        if low < 0 or high >= t.size:
            found.add(v)
    return found


@remembered
def is_proven(f: Func) -> bool:
    """Whether there are no such indices in a function, and in what it calls."""
    found = not unproven(f)
    for g in f.callees:  # no generator: see `deep.py`
        found = found and is_proven(g)
    return found


def _within(f: Func, ranges: tuple[Range | None, ...]) -> Func:
    """``f``, or a copy without the checks that are needless where its parameters are in these ranges."""
    key = "proven", ranges
    found = f.memo.get(key)
    if found is None:
        copy = copied(f, _Proving, ranges)
        found = f.memo[key] = copy if _checks(copy) < _checks(f) or copy.callees != f.callees else f
    assert isinstance(found, Func)
    return found


def _checks(f: Func) -> int:
    return sum(ins[0] == _BOUND for ins in f.code)


class _Proving(Verbatim):
    """Copies a function with sides that know what their choices have asked."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], ranges: Sequence[Range | None]) -> None:
        super().__init__(func, b, args)
        b.ranges = {v: known for v, known in zip(args, ranges, strict=True) if known}

    def cond(self, v: int, ins: tuple[int, ...]) -> None:
        site, env = CondSite(self.func, ins), self.env
        p = env[site.p]
        (f, g), (f_args, g_args) = site.functions, ([env[a] for a in args] for args in site.args)
        env[v] = self.b.cond(p, self.side(f, f_args, p, True), f_args, self.side(g, g_args, p, False), g_args)

    def side(self, side: Func, args: Sequence[int], p: int, holds: bool) -> Func:
        """What becomes of a side, which runs where a condition holds, or where it does not."""
        if not _has_checks(side):
            return side
        b, before = self.b, self.b.ranges
        b.ranges = {**before, **_told(b, p, holds)}
        ranges = tuple(self.range(a) for a in args)
        b.ranges = before
        return _within(side, ranges)

    def range(self, a: int) -> Range | None:
        """The range of an index, if more is known of it than its type says."""
        t = self.b.func.type_of(a)
        if not isinstance(t, Fin):
            return None
        found = range_of(self.b, a)
        return found if 0 <= found[0] <= found[1] < t.size and found != (0, t.size - 1) else None


def _told(b: Builder, p: int, holds: bool) -> Mapping[int, Range]:
    """What is known of indices where a condition holds, or where it does not."""
    found: dict[int, Range] = {}
    for v, is_so in _comparisons(b, p, holds):
        op, x, y = b.code[v]
        for one, other, is_first in ((x, y, True), (y, x, False)):
            index, more = _index(b, one)
            if index >= 0:
                before = found.get(index) or range_of(b, index)
                low, high = (end + more for end in before)
                low, high = _where(op, is_so, is_first, (low, high), _ends(b, other))
                if low <= high:
                    found[index] = low - more, high - more
    return found


def _comparisons(b: Builder, p: int, holds: bool) -> Iterator[tuple[int, bool]]:
    """The comparisons of which a condition tells whether they hold."""
    waiting, left = [(p, holds)], _MOST_CONDITIONS
    while waiting and left:
        v, is_so = waiting.pop()
        op, *given = b.code[v] if v >= 0 else (-1,)
        left -= 1
        if op == _NOT:
            waiting.append((given[0], not is_so))
        elif op == (_AND if is_so else _OR):
            waiting += [(x, is_so) for x in given]
        elif op in _LESS or op in _EQUAL:
            yield v, is_so


def _index(b: Builder, x: int) -> tuple[int, int]:
    """An index of which ``x`` is so many more, perhaps as a Real; a negative id if it is of none."""
    of, more = base_of(b.func, x)
    of = source_of(b.func, of)
    return (of, more) if isinstance(b.func.type_of(of), Fin) else (-1, 0)


def _ends(b: Builder, x: int) -> tuple[float, float]:
    """The least and the largest number that the other side of a comparison can be."""
    if x < 0:
        value = b.pool[~x][0]
        return (value, value) if math.isfinite(value) else (-math.inf, math.inf)
    index, more = _index(b, x)
    if index < 0:
        return -math.inf, math.inf
    low, high = range_of(b, index)
    return low + more, high + more


def _where(op: int, is_so: bool, is_first: bool, index: Range, other: tuple[float, float]) -> Range:
    """Where in its range an index is, if a comparison with another number holds, or if it does not."""
    (low, high), (least, most) = index, other
    if op in _EQUAL and _EQUAL[op] == is_so:
        return _at_least(low, least, 0), _at_most(high, most, 0)
    if op in _EQUAL:
        return low + (low == least == most), high - (high == least == most)
    second_is_larger, by = _LESS[op]
    if not is_so:
        by = 1 - by
    if second_is_larger == (is_so == is_first):
        return low, _at_most(high, most, by)
    return _at_least(low, least, by), high


def _at_least(low: int, bound: float, by: int) -> int:
    """The least whole number from ``low`` on that is not below a bound, or that is above it."""
    return low if bound == -math.inf else max(low, math.floor(bound) + 1 if by else math.ceil(bound))


def _at_most(high: int, bound: float, by: int) -> int:
    """The largest one up to ``high`` that is not above a bound, or that is below it."""
    return high if bound == math.inf else min(high, math.ceil(bound) - 1 if by else math.floor(bound))
