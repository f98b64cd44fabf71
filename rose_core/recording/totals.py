"""Sums of what all iterations of a loop give: the loop itself adds up, in the same order, and keeps no terms.

An author's ``for`` loop collects terms in a list, and the next statement adds these up. Where the terms are
the iterations of a loop, additions follow right upon each other, each with the term of the next iteration.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from rose_core.recording.rows import Rows


class Total(NamedTuple):
    """The sum of a column: of what one row of a loop's body gives in all iterations."""

    column: int
    first: int | None
    """What it starts from; None for what the first iteration gives."""
    start: int
    """The first of the rows that add."""
    at: int
    """The last of them, which is the sum."""


class Columns:
    """Columns of loops, each as the rows that are its iterations."""

    def __init__(self, columns: Iterable[Sequence[int]] = ()) -> None:
        self.rows: list[array[int]] = []
        self._number: dict[int, int] = {}
        """The first and the second row of a column → its number."""
        for column in columns:
            self.add(column)

    def add(self, column: Sequence[int]) -> None:
        self._number.update(dict.fromkeys(column[:2], len(self.rows)))
        self.rows.append(array("i", column))

    def number(self, row: int) -> int:
        """Of which column a row is the first or the second iteration; -1 if of none."""
        return self._number.get(row, -1)


_none = array("i")


def totals(
    rows: Rows, start: int, end: int, columns: Columns, is_there: Callable[[int, int], bool]
) -> Iterator[Total]:
    """The totals among rows that add, right after each other.

    Args:
        rows: of the function.
        start, end: those that add.
        columns: those that may be added up.
        is_there: whether a value is there before the loop of a column begins.
    """
    from_nothing = not rows.has_tangents  # there is no telling what a zero would have to be
    at = start
    while at + 1 < end:
        terms, sums = (rows.xs, rows.ys) if rows.ys[at + 1] == at else (rows.ys, rows.xs)
        # the first row has no sum before it that would tell which of its operands is the term
        for term, other in ((terms[at], sums[at]), (sums[at], terms[at])):
            number = columns.number(term)
            iterations = columns.rows[number] if number >= 0 else _none
            first = None if iterations and iterations[0] == other and from_nothing else other
            skipped = int(first is None)
            # a look at two of them, before one at all
            goes_on = iterations[skipped : skipped + 2] == array("i", (term, terms[at + 1]))
            more = iterations[skipped + 1 :] if goes_on else _none
            last = at + len(more)
            if (
                more
                and last < end
                and terms[at + 1 : last + 1] == more
                and sums[at + 1 : last + 1] == array("i", range(at, last))
                and (first is None or is_there(first, number))
                and _lead_on(rows, at, last)
            ):
                yield Total(number, first, at, last)
                at = last
                break
        at += 1


def _lead_on(rows: Rows, start: int, last: int) -> bool:
    """Whether rows of a sum are used by the next one only."""
    after = rows.last_from(last + 1)
    return all(after.get(v, 0) <= last for v in range(start, last))
