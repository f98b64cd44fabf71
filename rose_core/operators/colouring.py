"""Colourings: which columns of a sparse matrix can be computed together.

Columns of one colour are added up, and every element can be told from the sums. Sets of colours are bits of a
number, so that a matrix takes time in proportion to its elements. After Gebremedhin, Manne and Pothen, *What
Color Is Your Jacobian?* (2005).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def of_columns(rows: Sequence[Sequence[int]], columns: int) -> list[int]:
    """A colour for each column, such that no row has elements in two of one colour.

    ``rows`` holds for each row the columns in which it has elements.
    """
    count = Counter(j for row in rows for j in row)
    distinct = [*dict.fromkeys(map(tuple, rows))]  # of a full matrix they are one
    where = transposed(distinct, columns)
    colours = [-1] * columns
    used = [0] * len(distinct)
    for j in sorted(range(columns), key=lambda j: -count[j]):
        taken = 0
        for i in where[j]:
            taken |= used[i]
        colours[j] = _free(taken)
        for i in where[j]:
            used[i] |= 1 << colours[j]
    return colours


def of_symmetric(rows: Sequence[Sequence[int]]) -> list[int]:
    """A colour for each row of a symmetric matrix, such that every path of four rows has three colours.

    Then of an element and its mirror image one stands alone in the sums. The diagonal counts as full.
    """
    n = len(rows)
    near = [[k for k in row if k != j] for j, row in enumerate(rows)]
    if all(len(row) == n - 1 for row in near):
        return [*range(n)]
    colours = [-1] * n
    used = [0] * n  # by those that are near
    for v in sorted(range(n), key=lambda v: -len(near[v])):
        taken = 0
        for w in near[v]:
            c = colours[w]
            taken |= used[w] if c < 0 else used[w] & ((1 << c) - 1) | 1 << c
        colours[v] = _free(taken)
        for w in near[v]:
            used[w] |= 1 << colours[v]
    return colours


def in_fewer_passes(
    rows: Sequence[Sequence[int]], columns: Sequence[Sequence[int]]
) -> tuple[bool, list[int]]:
    """Whether to go by columns, or by rows, and their colours: a colour is a pass."""
    if max(map(len, rows), default=0) <= max(map(len, columns), default=0):
        return True, of_columns(rows, len(columns))
    return False, of_columns(columns, len(rows))


def transposed(rows: Sequence[Sequence[int]], columns: int) -> list[list[int]]:
    """For each column the rows in which it has elements."""
    found: list[list[int]] = [[] for _ in range(columns)]
    for i, row in enumerate(rows):
        for j in row:
            found[j].append(i)
    return found


def symmetric(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """The rows, with the mirror images of their elements."""
    return [sorted({*row, *column}) for row, column in zip(rows, transposed(rows, len(rows)), strict=True)]


def _free(taken: int) -> int:
    """The least colour that is not taken, of which each is a bit."""
    return (~taken & (taken + 1)).bit_length() - 1
