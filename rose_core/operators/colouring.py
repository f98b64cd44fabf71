"""Colourings: which columns of a sparse matrix can be computed together.

Columns of one colour are added up, and every element can be told from the sums. After Gebremedhin, Manne and
Pothen, *What Color Is Your Jacobian?* (2005).
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
    for j in sorted(range(columns), key=lambda j: -count[j]):
        colours[j] = _free({colours[k] for i in where[j] for k in distinct[i]})
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
    for v in sorted(range(n), key=lambda v: -len(near[v])):
        taken = set()
        for w in near[v]:
            c = colours[w]
            if c >= 0:
                taken.add(c)
            for x in near[w]:
                if c < 0 or colours[x] < c:
                    taken.add(colours[x])
        colours[v] = _free(taken)
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


def _free(taken: set[int]) -> int:
    """The least colour that is not taken; -1 stands for none."""
    colour = 0
    while colour in taken:
        colour += 1
    return colour
