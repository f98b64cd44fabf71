"""Loops in each other that change places, so that iterations go along rows, and two of them can run at a
time.

    for p:  d = f(p);  for r:  g[r][p] += d * w[r]
        →     d = [for p: f(p)];  for r:  for p:  g[r][p] += d[p] * w[r]

The gradient of a convolution of a picture adds, for each pixel of its result, to rows of the kernel and of
the picture, row after row. With the loop over rows outside, the one over pixels goes along them. What that
has computed of each pixel is kept in a vector. Every element gets what it got, in the same order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rose_core.language.builder import Builder
from rose_core.language.ir import ACCUM, ADD_TO, FOR, IDX, INDEX, PARAM, REF_INDEX, Func, operands
from rose_core.language.ops import FAILS, TABLE_END, by_name
from rose_core.language.queries import contents, path_of
from rose_core.language.replay import Replay, copied
from rose_core.language.types import BOOL, REAL, TAN

_ADD, _SUB, _NARROW = (by_name[name].code for name in ("iadd", "isub", "narrow"))

_LEAST_TRIPS = 8
"""The fewest iterations along a row."""

_MOST_KEPT = 2
"""The most numbers of an iteration that are kept in vectors."""


@dataclass(frozen=True, slots=True)
class Nest:
    """A loop along rows, and one over rows in it, that change places."""

    inner: int
    """The loop ``FOR`` over rows."""
    kept: list[int]
    """The numbers of an iteration along a row that the loop over rows needs, to be kept in vectors."""
    again: list[int]
    """The places, rows and indices that it needs, to be found again, in order."""


def interchanged(f: Func, most_rows: int) -> Func:
    """``f``, about to be lowered, or a copy with such loops; those of few instructions are unrolled."""
    if len(f.blocks) < 3:
        return f
    found: dict[int, Nest] = {}
    loops = Counter(block.parent for block in f.blocks)
    for rows, block in enumerate(f.blocks):
        number = block.parent
        if number > 0 and loops[number] == 1 and _goes_along(f, number, block.owner):
            nest = _nest(f, number, rows, most_rows)
            if nest:
                found[f.blocks[number].owner] = nest
    return copied(f, _Interchanging, found) if found else f


def _goes_along(f: Func, number: int, inner: int) -> bool:
    """Whether the loop of a block may go along rows: besides the loop ``inner``, it only computes."""
    block = f.blocks[number]
    return (
        not block.results
        and block.trips >= _LEAST_TRIPS
        and all(v == inner or _is_pure(f, v) for v in block.order)
    )


def _nest(f: Func, number: int, rows: int, most_rows: int) -> Nest | None:
    """The loops of two blocks, the second in the first, if they can change places."""
    code, home = f.code, f.home
    inside = contents(f, rows)
    written = sum(f.trips_of(home[v], number) for v in inside)
    can_change = (
        written > most_rows
        and all(_adds(f, v) for v in inside)
        and _keeps_order(f, number, rows, [code[v][1] for v in inside if code[v][0] == ADD_TO])
    )
    if not can_change:
        return None
    kept: set[int] = set()
    again: set[int] = set()
    ways = [x for v in inside for x in operands(code[v], f.blocks)]
    while ways:
        x = ways.pop()
        if x < 0 or home[x] != number or x in again:
            continue
        if f.types[x] in (REAL, TAN):
            kept.add(x)
        elif f.types[x] is BOOL:
            return None
        else:
            again.add(x)
            ways += operands(code[x], f.blocks)
    return Nest(f.blocks[rows].owner, sorted(kept), sorted(again)) if 0 < len(kept) <= _MOST_KEPT else None


def _is_pure(f: Func, v: int) -> bool:
    op = f.code[v][0]
    return op not in FAILS if op < TABLE_END else op in (IDX, INDEX, REF_INDEX)


def _adds(f: Func, v: int) -> bool:
    """Whether ``v`` may be in a loop that only adds to elements."""
    return _is_pure(f, v) or f.code[v][0] in (ADD_TO, FOR)


def _keeps_order(f: Func, number: int, rows: int, sites: Sequence[int]) -> bool:
    """Whether iterations over rows add to rows of their own, and those around add to all that is in them.

    ``number`` and ``rows``: the blocks; ``sites``: the elements that are added to.
    """
    code = f.code
    row_of: dict[int, set[tuple[int, int]]] = {}
    along = False
    for r in sites:
        path, root = path_of(f, r)
        moving = {(k, i) for k, i in enumerate(path[:-1]) if _moves(f, i, rows, number)}
        row_of[root] = row_of.get(root, moving) & moving
        if not row_of[root]:
            return False
        along |= _depends(f, path[-1], number)
    given = [root for root in row_of if code[root][0] != ACCUM]
    return along and len(given) <= 1 and all(code[root][0] == PARAM for root in given)


def _moves(f: Func, i: int, number: int, around: int) -> bool:
    """Whether an index differs in all iterations of a block, and is invariant in one around it."""
    while i >= 0 and f.code[i][0] in (_ADD, _SUB, _NARROW):
        op, *given = f.code[i]
        moving = given[:1] if op == _NARROW else [x for x in given if f.home_of(x) >= around]
        if len(moving) != 1:
            return False
        (i,) = moving
    return i >= 0 and i == f.blocks[number].index


def _depends(f: Func, i: int, number: int) -> bool:
    """Whether an index depends on the iteration of a block."""
    ways, seen = [i], {i}
    while ways:
        x = ways.pop()
        if x == f.blocks[number].index:
            return True
        if x >= 0 and f.home[x] >= number:
            given = {*operands(f.code[x], f.blocks)} - seen
            seen |= given
            ways += given
    return False


class _Interchanging(Replay):
    def __init__(self, func: Func, b: Builder, args: Sequence[int], nests: Mapping[int, Nest]) -> None:
        super().__init__(func, b, args)
        self.nests = nests
        """Loop along rows → what changes places."""

    def loop(self, v: int, number: int) -> None:
        nest = self.nests.get(v)
        if nest is None:
            super().loop(v, number)
            return
        func, b, env = self.func, self.b, self.env
        along, rows = func.blocks[number], func.blocks[func.code[nest.inner][1]]
        env[along.index] = b.open_for(along.size)
        self.sequence([x for x in along.order if x != nest.inner])
        made = b.close_for([env[x] for x in nest.kept])
        kept = [b.get(made, k) for k in range(len(nest.kept))]
        env[rows.index] = b.open_for(rows.size)
        env[along.index] = iteration = b.open_for(along.size)
        for x, vector in zip(nest.kept, kept, strict=True):
            env[x] = b.index(vector, iteration)
        self.sequence(nest.again)
        self.sequence(rows.order)
        b.close_for([])
        b.close_for([])
