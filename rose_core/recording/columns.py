"""Columns: the operand that one row has in all copies of it, as a range where it goes up in equal steps."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

_numbers = array("i")
"""0, 1, 2, … as far as columns have reached so far: to compare them with."""

_INVERSE = bytes(range(255, -1, -1))


def step_of(column: array[int]) -> int:
    """By what a column goes up or down from element to element; 0 if not in equal steps, or not at all."""
    first, last = column[0], column[-1]
    step = column[1] - first
    if step == 0 or last != first + step * (len(column) - 1) or (first < 0) != (last < 0):
        return 0  # as most have none, without a look at what is between
    if first < 0:
        column = array("i", column.tobytes().translate(_INVERSE))
        first, last = ~first, ~last
    if last < first:
        column, first, last = column[::-1], last, first
    _numbers.extend(range(len(_numbers), last + 1))
    return step if column == _numbers[first : last + 1 : abs(step)] else 0


def compact(column: array[int], step: int) -> Sequence[int]:
    """A column as `Operand` has it, which goes up by ``step``."""
    if step:
        return range(column[0], column[-1] + step, step)
    return column[:1] if column == column[:1] * len(column) else column


def picked(items: Sequence[int], which: Sequence[int]) -> Sequence[int]:
    """The items at these places, a range of a range."""
    if isinstance(which, range):
        return items[which.start : which.stop : which.step]
    return array("i", [items[k] for k in which])


def are_literals(items: Sequence[int]) -> bool:
    """Whether all of a column are literals, and none is a row: of a range, the ends tell that."""
    return bool(items) and max((items[0], items[-1]) if isinstance(items, range) else items) < 0
