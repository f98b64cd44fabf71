"""Indices that follow a loop by pieces: of its first iterations, of most of them, and of its last ones.

A stencil takes the nearest cell where its neighbour would be beyond the ends (``imin``, ``imax``), or one
from the other end (``imod``), or asks whether it is at an end. From iteration to iteration such an index goes
on by the same step, and such an answer stays the same, but for a few iterations near the ends.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from rose_core.language.ir import Func
from rose_core.language.ops import OPS, code
from rose_core.language.simplify import SAME

Piece = tuple[int, int, int]
"""An iteration, and from that on: what the iteration's number is multiplied by, and what is added; a Bool is
0 or 1."""

MOST = 8
"""The most pieces that are told apart."""

FARTHEST = 2**53
"""Whole numbers below this are the same as Reals."""

_IADD, _ISUB, _IMUL, _IMOD = map(code, ("iadd", "isub", "imul", "imod"))
_SUMS = {_IADD: operator.add, _ISUB: operator.sub}
_CHOICES = {code(name) for name in ("imin", "imax")}
_COMPARISONS = {code(f"{of}{name}") for of in ("i", "") for name in ("eq", "neq", "lt", "leq", "gt", "geq")}
_OF_BOOLS = {code(name) for name in ("and", "or", "iff", "xor")}
_NOT, _SELECT = code("not"), code("select")

_KNOWN = {*_SUMS, *_CHOICES, *_COMPARISONS, *_OF_BOOLS, _IMUL, _IMOD, _NOT, _SELECT}


class Pieces:
    """How indices and Bools follow the iterations of a loop, of which there is at least one."""

    def __init__(self, func: Func, number: int, index: int, trips: int) -> None:
        """``number``: the block whose values may be asked for; ``index``: the iteration's number."""
        self.func = func
        self.number = number
        self.index = index
        self.trips = trips
        self._found: dict[int, list[Piece] | None] = {index: [(0, 1, 0)]}

    @classmethod
    def of_block(cls, func: Func, number: int) -> Pieces:
        """Those of a loop ``FOR``."""
        block = func.blocks[number]
        return cls(func, number, block.index, block.trips)

    def of(self, v: int) -> list[Piece] | None:
        """The pieces of ``v``; None if it depends on anything else, or is no index and no Bool."""
        if v < 0:
            value = self.func.pool[~v][0]
            return [(0, 0, value)] if abs(value) < FARTHEST else None
        if v not in self._found:
            self._found[v] = self._of(v) if self.func.home[v] == self.number else None
        return self._found[v]

    def _of(self, v: int) -> list[Piece] | None:
        """The same, of a value in the loop that is not known yet."""
        op, *given = self.func.code[v]
        if op in SAME:
            return self.of(given[0])
        if op not in _KNOWN:
            return None
        of = [self.of(x) for x in given]
        if None in of:
            return None
        found: list[Piece] = []
        for start, end, *lines in _together(of, self.trips):  # type: ignore[arg-type]
            made = _piece(op, start, end, lines)
            if made is None or len(found) + len(made) > MOST:
                return None
            for piece in made:
                if not found or found[-1][1:] != piece[1:]:
                    found.append(piece)
        return found


def at(found: Sequence[Piece], iteration: int) -> Piece:
    """The piece that an iteration is on."""
    return next(piece for piece in reversed(found) if piece[0] <= iteration)


Line = tuple[int, int]
"""A factor, and what is added."""


def _together(of: Sequence[list[Piece]], trips: int) -> Iterator[tuple[int, int, Line, *tuple[Line, ...]]]:
    """Iterations from one to another, and the line that each of the operands is on there."""
    starts = sorted({start for found in of for start, _, _ in found})
    for start, end in pairwise([*starts, trips]):
        lines = [at(found, start)[1:] for found in of]
        yield start, end, *lines  # type: ignore[misc]


def _piece(op: int, start: int, end: int, lines: Sequence[Line]) -> list[Piece] | None:
    """The pieces of an operation between two iterations, where its operands are on these lines."""
    if op == _SELECT:
        (_, p), *sides = lines
        return [(start, *sides[0 if p else 1])]
    (a, b), (c, d) = lines if len(lines) == 2 else (lines[0], (0, 0))
    if op in _SUMS:
        add: Callable[[int, int], int] = _SUMS[op]
        return [(start, add(a, c), add(b, d))]
    if op == _IMUL:
        if a and c:
            return None
        return [(start, a * d + c * b, b * d)]
    if op == _IMOD:
        return _remainder(start, end, (a, b), d) if not c else None
    if op == _NOT or op in _OF_BOOLS:
        return [(start, 0, int(OPS[op].evaluate(*(value for _, value in lines))))]
    made: list[Piece] = []
    for iteration in _changes(start, end, a - c, b - d):
        x, y = a * iteration + b, c * iteration + d
        if op in _COMPARISONS:
            made.append((iteration, 0, int(OPS[op].evaluate(x, y))))
        elif x == y:  # the one that moves goes on
            made.append((iteration, *max((a, b), (c, d))))
        else:
            made.append((iteration, *((a, b) if OPS[op].evaluate(x, y) == x else (c, d))))
    return made


def _changes(start: int, end: int, slope: int, constant: int) -> list[int]:
    """The first iteration, and those from which on the sign of a line is another one."""
    if not slope:
        return [start]
    zero = -constant / slope if abs(constant) < FARTHEST else start
    around = {int(zero) + k for k in (-1, 0, 1, 2)}
    sign = [
        (t, _sign(slope * t + constant)) for t in sorted({start, *(t for t in around if start < t < end)})
    ]
    return [start, *(t for (_, before), (t, after) in pairwise(sign) if after != before)]


def _sign(x: int) -> int:
    return (x > 0) - (x < 0)


def _remainder(start: int, end: int, line: Line, size: int) -> list[Piece] | None:
    """The pieces of a line, modulo ``size``."""
    a, b = line
    first, last = a * start + b, a * (end - 1) + b
    if size <= 0 or first < 0 or last < 0 or a < 0 or last // size - first // size >= MOST:
        return None
    made: list[Piece] = []
    for whole in range(first // size, last // size + 1):
        at = start if not made else -((b - whole * size) // a)
        made.append((at, a, b - whole * size))
    return made
