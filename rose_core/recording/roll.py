"""Rows of calls: many calls of one function, none of which needs another's result, are one loop.

    f(a, 2); f(b, 7); f(c, 5)     →     for k:  f([a, b, c][k], [2, 7, 5][k])

What differs from call to call stands in tables that the loop reads. The rows of a recording are put
into levels for that: a call is one level above its arguments, so calls on one level cannot need each
other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from rose_core.language.ir import ADD_TO, CALL, COND, FOR, GET, INDEX, LOOP, PULL, VJP
from rose_core.language.ops import BINARY_END, UNARY_END, code
from rose_core.recording.operands import END, operands_of
from rose_core.recording.rows import Rows
from rose_core.recording.share import Entry, calls, places
from rose_core.recording.totals import Columns, Total, totals

_ADD = code("add")

_CALL_PARTS = frozenset((COND, LOOP, VJP, PULL))
"""What calls functions in parts, or in iterations."""

FEWEST = 32
"""Calls that are worth a loop."""


@dataclass(slots=True)
class Row:
    """A row of calls of the same function."""

    calls: list[int]
    """The positions of the calls."""
    totals: list[tuple[int, Total]] = field(default_factory=list)
    """The sums of what all calls give, which are made in the loop: of which result, and the sum."""


def plan(
    entry: Entry, same: Callable[[int, Sequence[int]], object], effects: Collection[int]
) -> Iterator[int | Row] | None:
    """An order for the rows of a function, by position, with rows of calls; None if there are none of these.

    Args:
        entry: the function.
        same: of the number of a callee and arguments, equal for calls that may be in one loop, and None for
            those that may not.
        effects: which of its callees have effects, whose order stays.
    """
    if entry.ops.count(CALL) < FEWEST:
        return None
    columns = Rows(entry)
    needed = columns.needed(effects.__contains__)
    asked: dict[int, set[int]] = {}
    """Call → the numbers of its results that are needed."""
    for k in places(columns.ops, GET):
        if needed[k]:
            asked.setdefault(columns.xs[k], set()).add(columns.ys[k])
    alike: dict[object, list[int]] = {}
    for k, which, args in calls(entry):
        # a loop computes what nobody needs, too, which may fail or have an infinite derivative
        if k in asked and (key := same(entry.callees[which], args)) is not None:
            alike.setdefault((key, *sorted(asked[k])), []).append(k)
    if max(map(len, alike.values()), default=0) < FEWEST:
        return None
    levels, loops = _levels(columns, effects)
    groups: dict[object, list[int]] = {}
    for key, row in alike.items():
        for k in row:
            if k not in loops:
                groups.setdefault((levels[k], key), []).append(k)
    found = {row[0]: Row(row) for row in groups.values() if len(row) >= FEWEST}
    if not found:
        return None
    return _order(levels, found, _add_up(columns, levels, [*found.values()]))


def _add_up(rows: Rows, levels: list[int], found: list[Row]) -> set[int]:
    """Let loops add up what their calls give; the rows that nobody needs then."""
    number = {k: n for n, row in enumerate(found) for k in row.calls}
    """Call → its row of calls."""
    gets: dict[tuple[int, int], dict[int, int]] = {}
    for k in places(rows.ops, GET):
        x = rows.xs[k]
        if x in number:
            gets.setdefault((number[x], rows.ys[k]), {}).setdefault(x, k)
    whole = {
        key: [of[k] for k in found[key[0]].calls]
        for key, of in gets.items()
        if len(of) == len(found[key[0]].calls)
    }
    homes, columns = [*whole], Columns(whole.values())
    there: dict[int, int] = {}
    """Total → the row of calls that makes it."""

    def is_there(x: int, column: int) -> bool:
        n = homes[column][0]
        level = levels[found[n].calls[0]]
        return x < 0 or levels[x] < level or (there.get(x, n) < n and levels[x] == level)

    added: set[int] = set()
    for run in re.finditer(re.escape(bytes([_ADD])) + b"{%d,}" % (FEWEST - 1), rows.ops):
        for total in totals(rows, *run.span(), columns, is_there):
            n, y = homes[total.column]
            found[n].totals.append((y, total))
            there[total.at] = n
            added.update(range(total.start, total.at + 1))
    if not added:
        return added
    needed = {*rows.entry.results, *(total.first for row in found for _, total in row.totals)}
    for k, (op, x, y) in enumerate(zip(rows.ops, rows.xs, rows.ys, strict=True)):
        if k not in added:
            needed.update(operands_of(op, x, y, rows.entry.extra))
    return added.union(*whole.values()) - (needed - added)


def _order(levels: list[int], found: dict[int, Row], left_out: set[int]) -> Iterator[int | Row]:
    rolled = left_out.union(*(row.calls for row in found.values()))
    by_level: list[list[int | Row]] = [[] for _ in range(max(levels) + 1)]
    for k, row in found.items():
        by_level[levels[k]].append(row)
    for k, level in enumerate(levels):
        if k not in rolled:
            by_level[level].append(k)
    return chain.from_iterable(by_level)


def _levels(rows: Rows, effects: Collection[int]) -> tuple[list[int], set[int]]:
    """The level of each row, one for a whole loop; and the positions inside of loops."""
    extra = rows.entry.extra
    levels = [0] * len(rows.ops)
    ready = levels + [0] * len(rows.entry.values)
    """As ``levels``, but for an accumulator the level of what was last added to it; then of literals."""
    loops: set[int] = set()
    start = depth = level = acted = 0
    acts = False
    for k, (op, x, y) in enumerate(zip(rows.ops, rows.xs, rows.ys, strict=True)):
        if not depth:
            if op < BINARY_END or op == INDEX:
                level = ready[x]
                if op >= UNARY_END and ready[y] > level:
                    level = ready[y]
                levels[k] = ready[k] = level
                continue
            start, level, acts = k, 0, False
        for v in operands_of(op, x, y, extra):
            if ready[v] > level:
                level = ready[v]
        if effects and (op in _CALL_PARTS or (op == CALL and extra[x] in effects)):
            acts, level = True, max(level, acted)
        if depth or op == FOR:
            loops.add(k)
            depth += (op == FOR) - (op == END)
        elif op == CALL:
            level += 1
        if not depth:
            if acts:
                acted = level
            for j in range(start, k + 1):
                levels[j] = ready[j] = level
                if rows.ops[j] == ADD_TO:
                    ready[rows.xs[j]] = level
    return levels, loops
