"""Windows: the elements of an accumulator that are near the iteration of a loop, in local variables.

A stencil such as ``g[i] += a; g[i + 1] += b`` adds to each element in neighbouring iterations. Through memory
every iteration would wait for what the last one stored. So the elements from the lowest to the highest offset
are kept in local variables: each iteration reads the one that comes in at the top, writes the one that
goes out at the bottom, and moves the others down. Each element gets the same additions in the same order.
If nothing was added to a new accumulator before, its zeros need neither be written nor read; nor those of
a new matrix, if a loop over its rows with a loop over their elements in it is all that adds to it.

Of points, ``g[i][0] += a; g[i][1] += b``, each coordinate is a *column* with a window of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from rose_core.encode import I32_MUL, f64_const, i32_const, load, local_get, local_set, store
from rose_core.language.demand import Demand
from rose_core.language.ir import ACCUM, ADD_TO, CALL, COND, LOOP, PARAM, REF_INDEX, Func, operands
from rose_core.language.queries import path_of
from rose_core.language.types import REAL, Array, Fin, Ref, is_tape
from rose_core.wasm.given import Given
from rose_core.wasm.layout import Place, size_of
from rose_core.wasm.strides import STEP

WIDEST = 8
"""The most elements in a window, each of which is a local variable."""

_MOST_BESIDE = 8
"""The most elements of a new accumulator beside those that a loop adds to, for it to write them all."""

_MOST_LOCALS = 16
"""The most elements in all windows of an accumulator."""

_ZERO = f64_const(0.0)


@dataclass(slots=True)
class Window:
    """The elements of a column from ``low`` on, counted from the iteration, that a loop adds to."""

    accumulator: int
    root: int
    """What the accumulator is a row of, or itself."""
    column: int
    """Bytes from the start of an element of the accumulator to the number."""
    step: int
    """Bytes of such an element."""
    sites: dict[int, int]
    """``REF_INDEX`` → its offset from the iteration."""
    trips: int
    size: int
    is_new: bool = False
    """Whether all elements are zero, which nothing has written yet."""
    heads: int = 0
    """How many ``REF_INDEX`` of the accumulator are for this window, and none before it, alone."""
    low: int = field(init=False)
    width: int = field(init=False)
    locals: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        offsets = self.sites.values() or [0]
        self.low = min(offsets)
        self.width = max(offsets) - self.low + 1

    def local(self, site: int) -> int:
        return self.locals[self.sites[site] - self.low]

    def at(self, place: Place, k: int) -> Place:
        """Where the number of element ``k`` is, if the accumulator is at ``place``."""
        return place.at(self.column + k * self.step)

    @property
    def beside(self) -> list[int]:
        """The elements that are never in the window."""
        return [*range(self.low), *range(self.low + self.trips + self.width - 1, self.size)]

    def before(self, place: Place) -> list[bytes]:
        """Code ahead of the loop."""
        out = []
        if self.is_new:
            for k in self.beside:
                out += [place.base, _ZERO, store("f", self.at(place, k).offset)]
        for k, n in enumerate(self.locals[:-1], self.low):
            read = [_ZERO] if self.is_new else [place.base, load("f", self.at(place, k).offset)]
            out += [*read, local_set(n)]
        return out

    def enter(self, place: Place, iteration: bytes) -> list[bytes]:
        """Code at the start of an iteration, whose number ``iteration`` pushes."""
        if self.is_new:
            return [_ZERO, local_set(self.locals[-1])]
        top = self.at(place, self.low + self.width - 1)
        return [self._address(place, iteration), load("f", top.offset), local_set(self.locals[-1])]

    def leave(self, place: Place, iteration: bytes) -> list[bytes]:
        """Code at the end of an iteration."""
        bottom = store("f", self.at(place, self.low).offset)
        out = [self._address(place, iteration), local_get(self.locals[0]), bottom]
        for n, above in zip(self.locals, self.locals[1:], strict=False):
            out += [local_get(above), local_set(n)]
        return out

    def after(self, place: Place) -> list[bytes]:
        """Code behind the loop."""
        out = []
        for k, n in enumerate(self.locals[:-1], self.trips + self.low):
            out += [place.base, local_get(n), store("f", self.at(place, k).offset)]
        return out

    def _address(self, place: Place, iteration: bytes) -> bytes:
        return place.plus(iteration + i32_const(self.step) + I32_MUL)


Affine = Callable[[int], tuple[int, int, int] | None]
"""Tells what an index is in terms of a loop's: the loop's index, a factor, and a constant."""


@dataclass(slots=True)
class _Sites:
    """What a loop adds to elements of an accumulator that move with its iterations."""

    columns: dict[int, dict[int, int]] = field(default_factory=dict)
    """Column → ``REF_INDEX`` of the number → its offset from the iteration."""
    heads: dict[int, int] = field(default_factory=dict)
    """``REF_INDEX`` of the accumulator → the column where it is first."""


def windows(func: Func, demand: Demand, affine: Affine, given: Given) -> dict[int, list[Window]]:
    """Block of a loop → its windows."""
    sites: dict[int, dict[int, _Sites]] = {}
    uses = _Uses(func, demand)
    for number, anchors in enumerate(demand.anchors):
        for v in anchors:
            ins = func.code[v]
            if ins[0] == ADD_TO:
                roots = demand.accumulators(ins[1])
                site = _site(func, ins[1], affine)
                if site is None or not func.blocks[site.block].is_whole:
                    uses.note(roots, v, number)
                else:
                    of = sites.setdefault(site.block, {}).setdefault(site.accumulator, _Sites())
                    of.columns.setdefault(site.column, {})[ins[1]] = site.offset
                    of.heads.setdefault(site.head, site.column)
                    # the loops around that one cannot know what is added when
                    uses.note(roots, func.blocks[site.block].owner, func.blocks[site.block].parent)
                    uses.note_within(roots, number, site.block)
                    at = site.accumulator, site.block
                    uses.added[at] = uses.added.get(at, 0) + 1
            elif ins[0] in (CALL, COND, LOOP):
                for x in operands(ins, func.blocks):
                    if x >= 0 and isinstance(func.types[x], Ref):
                        uses.note(demand.accumulators(x), v, number)
    return {block: _windows(func, block, of, uses, affine, given) for block, of in sites.items()}


class _Uses:
    """Where accumulators are used, other than at sites of windows."""

    def __init__(self, func: Func, demand: Demand) -> None:
        self.func = func
        self.position = {v: k for anchors in demand.anchors for k, v in enumerate(anchors)}
        self.within: dict[int, set[int]] = {}
        """Block of a loop → the accumulators that are used in it."""
        self.first: dict[int, int] = {}
        """Accumulator → the first statement of its own block that adds to it."""
        self.count: dict[int, int] = {}
        """Accumulator → how many statements add to it or its parts, or may do so."""
        self.added: dict[tuple[int, int], int] = {}
        """Accumulator or row of one, and block of a loop → how many statements add to elements there."""

    def note(self, roots: Iterable[int], v: int, number: int) -> None:
        """``v``, a statement of block ``number``, uses these."""
        for r in roots:
            self.count[r] = self.count.get(r, 0) + 1
        while True:
            for r in roots:
                # a loop that is no statement itself adds to nothing that anyone reads
                if self.func.home[r] == number and v in self.position:
                    known = self.first.setdefault(r, v)
                    if self.position[v] < self.position[known]:
                        self.first[r] = v
            if number <= 0:
                break
            self.within.setdefault(number, set()).update(roots)
            v, number = self.func.blocks[number].owner, self.func.blocks[number].parent

    def note_within(self, roots: Iterable[int], number: int, around: int) -> None:
        """These are used in block ``number``, which may be in loops that are in another one, ``around``."""
        while number != around:
            self.within.setdefault(number, set()).update(roots)
            number = self.func.blocks[number].parent


def _windows(
    func: Func, block: int, sites: dict[int, _Sites], uses: _Uses, affine: Affine, given: Given
) -> list[Window]:
    used = uses.within.get(block, set())
    roots = [path_of(func, r)[1] for r in sites]
    found = []
    for (r, of), root in zip(sites.items(), roots, strict=True):
        others = [*used, *roots]
        others.remove(root)
        if given.may_meet(func, [root], others):
            continue
        trips, elements = func.blocks[block].size, func.inner_type_of(r)
        assert isinstance(trips, Fin) and isinstance(elements, Array)
        step = size_of(elements.elem)
        window = partial(Window, r, root, step=step, trips=trips.size, size=elements.size)
        row = [window(column=column, sites=at) for column, at in of.columns.items()]
        heads = [*of.heads.values()]
        for w in row:
            w.heads = heads.count(w.column)
        if step <= _MOST_LOCALS * STEP and _is_new(func, r, block, uses, affine):
            others = [c for c in range(0, step, STEP) if c not in of.columns]
            whole = [*row, *(window(column=c, sites={}) for c in others)]
            if sum(len(w.beside) for w in whole) <= _MOST_BESIDE:
                row = whole
                for w in row:
                    w.is_new = True
        widest = max(w.width for w in row)
        if (
            trips.size
            and (widest > 1 or row[0].is_new)
            and widest <= WIDEST
            and sum(w.width for w in row) <= _MOST_LOCALS
        ):
            found += row
    return found


def _is_new(func: Func, r: int, block: int, uses: _Uses, affine: Affine) -> bool:
    """Whether nothing has been added to ``r`` before a loop, nor written.

    For a row: if the loops around this one go through all rows, and nothing else ever adds to any.
    """
    code, blocks, root = func.code, func.blocks, path_of(func, r)[1]
    if code[root][0] != ACCUM or code[root][1] >= 0:
        return False
    if r != root and uses.count[root] != uses.added[r, block]:
        return False
    while r != root:
        _, whole, i = code[r]
        block = blocks[block].parent
        rows = func.types[whole].inner.index  # type: ignore[attr-defined]
        if i < 0 or affine(i) != (blocks[block].index, 1, 0) or blocks[block].size != rows:
            return False
        r = whole
    return uses.first.get(root) == blocks[block].owner


class _Site(NamedTuple):
    accumulator: int
    head: int
    """The ``REF_INDEX`` of the accumulator."""
    column: int
    block: int
    """Of the loop with whose iterations it moves."""
    offset: int


def _site(func: Func, r: int, affine: Affine) -> _Site | None:
    """What ``r`` is, if it is a number that moves with the iterations of a loop."""
    code, column = func.code, 0
    if func.inner_type_of(r) is not REAL:
        return None
    while code[r][0] == REF_INDEX and code[r][2] < 0:
        if is_tape(func.inner_type_of(code[r][1])):
            return None
        column += int(func.pool[~code[r][2]][0]) * size_of(func.inner_type_of(r))
        r = code[r][1]
    if code[r][0] != REF_INDEX:
        return None
    _, base, index = code[r]
    at = affine(index)
    if at is None or at[1] != 1 or is_tape(func.inner_type_of(base)):
        return None
    block = code[at[0]][1]
    known = code[base][0] in (ACCUM, PARAM) or code[path_of(func, base)[1]][0] == ACCUM
    # what is made in the loop is another one in every iteration
    return _Site(base, r, column, block, at[2]) if known and func.home[base] < block else None
