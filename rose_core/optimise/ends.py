"""Choices that go the same way in all iterations of a loop but a few at its ends.

`optimise.peel` and `optimise.begun` write these iterations out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from rose_core.language.ir import COND, CondSite, Func, callees
from rose_core.language.ops import by_name
from rose_core.optimise.pieces import Piece, Pieces

_OF_BOOLS = frozenset(by_name[name].code for name in ("not", "and", "or", "iff", "xor"))

_MOST = 4
"""The most iterations that are written out."""

_LEAST_BESIDE = 4
"""The fewest iterations in between for each of these."""

_MOST_WRITTEN = 400
"""The most instructions that are written out, with those of the sides of choices."""

_MOST_CONDITIONS = 16
"""The most comparisons that a choice may depend on."""


def followed(f: Func, v: int, pieces_of: Callable[[int], list[Piece] | None]) -> dict[int, list[Piece]]:
    """The comparisons on which a choice depends, and how they follow loops; none if not all do."""
    found: dict[int, list[Piece]] = {}
    for c in _compared(f, CondSite(f, f.code[v]).p):
        pieces = pieces_of(c)
        if pieces is None:
            return {}
        found[c] = pieces
    return found


def _compared(f: Func, p: int) -> list[int]:
    """What a condition is made of: the comparisons, and what else there is; nothing if it is made of many."""
    found: dict[int, None] = {}
    waiting = [p]
    while waiting and len(found) <= _MOST_CONDITIONS:
        v = waiting.pop()
        if v >= 0 and f.code[v][0] in _OF_BOOLS:
            waiting += f.code[v][1:]
        elif v >= 0:
            found[v] = None
    return [] if waiting else [*found]


def between(trips: int, all_pieces: Iterable[Sequence[Piece]]) -> tuple[int, int] | None:
    """The first of nearly all iterations in which nothing goes another way, and the first one after these, if
    there are such.
    """
    if not trips:
        return None
    changes = sorted({0, trips}.union(start for pieces in all_pieces for start, _, _ in pieces))
    first, last = max(pairwise(changes), key=lambda ends: ends[1] - ends[0])
    alone = trips - (last - first)
    return (first, last) if alone <= _MOST and last - first >= _LEAST_BESIDE * max(alone, 1) else None


def at_ends(pieces: Pieces, v: int) -> list[Piece] | None:
    """How a value follows its loop, if it goes another way only at the ends of that."""
    found = pieces.of(v)
    return found if found and between(pieces.trips, [found]) else None


def is_short(f: Func, ids: Iterable[int], times: int) -> bool:
    """Whether these instructions, with the sides of choices, may be written out so many times."""
    count, waiting = 0, [(f, v) for v in ids]
    while waiting and count * times <= _MOST_WRITTEN:
        of, v = waiting.pop()
        count += 1
        if of.code[v][0] == COND:
            sides = [of.callees[k] for k in callees(of.code[v])]
            waiting += [(side, w) for side in sides for w in range(len(side.code))]
    return count * times <= _MOST_WRITTEN
