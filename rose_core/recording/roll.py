"""Rows of calls: many calls of one function, none of which needs another's result, are one loop.

What differs from call to call stands in tables that the loop reads. The rows of a recording are put
into levels for that: a call is one level above its arguments, so calls on one level cannot need each
other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    CALL,
    COND,
    FOR,
    GET,
    INDEX,
    LOOP,
    PARAM,
    RESOLVE,
    STRUCTURAL_NAMES,
    VEC,
    VJP,
)
from rose_core.language.ops import BINARY_END, TABLE_END, UNARY_END
from rose_core.recording.share import Entry, calls

END = TABLE_END + len(STRUCTURAL_NAMES)

CONTROL_HEADS = {COND: 3, LOOP: 7}
"""How many numbers stand before the operands in a row of control flow."""

FEWEST = 32
"""Calls that are worth a loop."""


@dataclass(slots=True)
class Row:
    """A row of calls of the same function."""

    calls: list[int]
    """The positions of the calls."""


def plan(entry: Entry, same: Callable[[int, Sequence[int]], object]) -> Iterator[int | Row] | None:
    """An order for the rows of a function, by position, with rows of calls; None if there are none of these.

    ``same(number of the callee, arguments)`` is equal for calls that may be in one loop, and None for
    those that may not.
    """
    rows = entry.rows.tolist()
    if rows[0::3].count(CALL) < FEWEST:
        return None
    alike: dict[object, list[int]] = {}
    for k, which, args in calls(entry):
        if (key := same(entry.callees[which], args)) is not None:
            alike.setdefault(key, []).append(k)
    if max(map(len, alike.values()), default=0) < FEWEST:
        return None
    levels, loops = _levels(entry, rows)
    groups: dict[object, list[int]] = {}
    for key, row in alike.items():
        for k in row:
            if k not in loops:
                groups.setdefault((levels[k], key), []).append(k)
    found = {row[0]: Row(row) for row in groups.values() if len(row) >= FEWEST}
    if not found:
        return None
    return _order(levels, found)


def _order(levels: list[int], found: dict[int, Row]) -> Iterator[int | Row]:
    rolled = {k for row in found.values() for k in row.calls}
    by_level: list[list[int | Row]] = [[] for _ in range(max(levels) + 1)]
    for k, row in found.items():
        by_level[levels[k]].append(row)
    for k, level in enumerate(levels):
        if k not in rolled:
            by_level[level].append(k)
    for items in by_level:
        yield from items


def _levels(entry: Entry, rows: list[int]) -> tuple[list[int], set[int]]:
    """The level of each row, one for a whole loop; and the positions inside of loops."""
    extra = entry.extra
    levels = [0] * (len(rows) // 3)
    ready = list(levels)
    """As ``levels``, but for an accumulator the level of what was last added to it."""
    loops: set[int] = set()
    start = depth = level = 0
    for k, (op, x, y) in enumerate(zip(rows[0::3], rows[1::3], rows[2::3], strict=True)):
        if not depth:
            start, level = k, 0
        for v in operands_of(op, x, y, extra):
            if v >= 0 and ready[v] > level:
                level = ready[v]
        if depth or op == FOR:
            loops.add(k)
            depth += (op == FOR) - (op == END)
        elif op == CALL:
            level += 1
        if not depth:
            for j in range(start, k + 1):
                levels[j] = ready[j] = level
                if rows[3 * j] == ADD_TO:
                    ready[rows[3 * j + 1]] = level
    return levels, loops


def operands_of(op: int, x: int, y: int, extra: Sequence[int]) -> Sequence[int]:
    """The values that a row refers to."""
    if op < UNARY_END or op in (GET, RESOLVE):
        return (x,)
    if op < BINARY_END or op in (INDEX, ADD_TO):
        return (x, y)
    if op < TABLE_END or op == END:
        return extra[x : x + y]
    if op in (VEC, CALL, VJP):
        return extra[x + 1 : x + y]
    if op in (PARAM, FOR):
        return ()
    if op in (COND, LOOP):
        return extra[x + CONTROL_HEADS[op] : x + y]
    return extra[x : x + y] if op != ACCUM else (x,)
