"""Sums of what all turns of a loop give: the loop itself adds up, in the same order, and keeps no terms.

An author's ``for`` loop collects terms in a list, and the next statement adds these up. Where the terms are
the turns of a loop, additions follow right upon each other, each with the term of the next turn.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from rose_core.recording.rows import Rows


class Total(NamedTuple):
    """The sum of a column: of what one row of a loop's body gives in all turns."""

    column: int
    first: int | None
    """What it starts from; None for what the first turn gives."""
    start: int
    """The first of the rows that add."""
    at: int
    """The last of them, which is the sum."""


def totals(
    rows: Rows, start: int, end: int, columns: Sequence[Sequence[int]], is_there: Callable[[int, int], bool]
) -> Iterator[Total]:
    """The totals among rows that add, right after each other.

    Args:
        rows: of the function.
        start, end: those that add.
        columns: the rows that are turns of a loop.
        is_there: whether a value is there before the loop of a column begins.
    """
    of = {column[k]: number for number, column in enumerate(columns) for k in (0, 1)}
    at = start
    while at + 1 < end:
        terms, sums = (rows.xs, rows.ys) if rows.ys[at + 1] == at else (rows.ys, rows.xs)
        number = of.get(terms[at], -1)
        turns = columns[number] if number >= 0 else ()
        first: int | None = sums[at]
        if turns and turns[0] == first:
            first = None
        skipped = int(first is None)
        # a look at two of them, before there is a list of all
        goes_on = [*terms[at : at + 2]] == [*turns[skipped : skipped + 2]]
        column = array("i", turns[skipped:] if goes_on else ())
        last = at + len(column) - 1
        if (
            column
            and last < end
            and terms[at : last + 1] == column
            and sums[at + 1 : last + 1] == array("i", range(at, last))
            and (first is None or is_there(first, number))
            and _lead_on(rows, at, last)
        ):
            yield Total(number, first, at, last)
            at = last
        at += 1


def _lead_on(rows: Rows, start: int, last: int) -> bool:
    """Whether rows of a sum are used by the next one only."""
    after = rows.last_from(last + 1)
    return all(after.get(v, 0) <= last for v in range(start, last))
