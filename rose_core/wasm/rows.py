"""Sums over the rows or columns of a matrix, two at a time in the lanes of WebAssembly.

A sum has an order, so a loop that adds up one row waits for every addition. Where a loop over rows does
nothing in an iteration but such sums, and computes numbers of them, its iterations are independent of each
other: each lane adds up a row of its own, in the order of its elements, and the results are the same to the
bit. So it is with columns, of which two that are side by side can be read at once, and with windows that
slide along a vector by an element an iteration, as in a convolution.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import combinations
from typing import TYPE_CHECKING

from rose_core.encode import (
    BR_IF_0,
    END,
    F64_ADD,
    F64X2_ADD,
    I32_ADD,
    I32_LT_U,
    I32_MUL,
    LOOP,
    SPLAT,
    extract_lane,
    i32_const,
    load,
    local_get,
    local_set,
    local_tee,
    store,
)
from rose_core.language.ir import ACCUM, ADD_TO, FOR, INDEX, PARAM, REF_INDEX, RESOLVE, Func
from rose_core.language.queries import path_of
from rose_core.language.types import BOOL, Array, Ref, Type, is_tape
from rose_core.wasm.apart import beside, differ
from rose_core.wasm.lane_numbers import in_lanes_of, is_number
from rose_core.wasm.lane_writer import Writer
from rose_core.wasm.lanes import LEAST_TRIPS, MOST_TRIPS
from rose_core.wasm.layout import BASE, Place, size_of
from rose_core.wasm.strides import STEP, read, write

if TYPE_CHECKING:
    from rose_core.wasm.lower import Body


_MOST_ADDED = 32
"""The most additions of which each is told from each other one."""


class Site(Enum):
    """Which element of an accumulator a loop adds to, in a loop over rows or columns."""

    COLUMN = auto()
    """That of a column that moves with the outer loop: the lanes add to neighbours."""
    ROW = auto()
    """That of a row that moves with the outer loop: each lane adds to a row of its own."""
    SAME = auto()
    """The same for each iteration of the outer loop: the lanes add to it one after the other."""


@dataclass(slots=True)
class Rows:
    """What a loop consists of that adds up rows."""

    number: int
    """Its block."""
    order: list[int] = field(default_factory=list)
    """What it does in an iteration, in order: operations, reads, accumulators, loops."""
    rows: list[int] = field(default_factory=list)
    """The rows of matrices that move with its iterations."""
    lines: list[int] = field(default_factory=list)
    """The rows of matrices that move with the iterations of a loop in it: columns are read of them."""
    sums: list[int] = field(default_factory=list)
    """``ADD_TO`` a number that stays over all iterations."""
    inner: dict[int, list[int]] = field(default_factory=dict)
    """Block of a loop in it → what that does in an iteration: operations, reads, additions."""
    sites: dict[int, Site] = field(default_factory=dict)
    """The elements of accumulators that it, or such a loop, adds to."""

    def added(self, func: Func) -> list[int]:
        """Its ``ADD_TO``, but for the sums, in order."""
        both = (self.order, *self.inner.values())
        return [v for of in both for v in of if func.code[v][0] == ADD_TO]


def in_rows(body: Body, number: int, columns: Mapping[int, int]) -> Rows | None:
    """How a loop adds up two rows at a time, if it can; ``columns``: its used results, by number."""
    func, needed = body.func, body.demand.uses
    block = func.blocks[number]
    fits = LEAST_TRIPS <= block.trips <= MOST_TRIPS and block.is_whole
    if not fits or not all(is_number(func.type_of(block.results[k])) for k in columns):
        return None
    rows = Rows(number)
    anchors = set(body.demand.anchors[number])
    for v in sorted({*(v for v in block.order if needed[v]), *anchors}):
        ins, t = func.code[v], func.types[v]
        if ins[0] == FOR:
            if v not in anchors or v in body.demand.columns or not _adds(body, rows, ins[1]):
                return None
            rows.order.append(v)
        elif ins[0] == ADD_TO:
            if not is_number(func.type_of(ins[2])):
                return None
            is_own = func.code[ins[1]][0] == ACCUM and func.home[ins[1]] == number
            (rows.order if is_own or ins[1] in rows.sites else rows.sums).append(v)
        elif ins[0] in (ACCUM, RESOLVE):
            if not is_number(func.inner_type_of(v) if ins[0] == ACCUM else t):
                return None
            rows.order.append(v)
        elif ins[0] in (INDEX, REF_INDEX):
            is_row = _is_row(t)
            is_site = isinstance(t, Ref) and is_number(t.inner)
            if not (is_row or is_site or is_number(t)) or not _moves(body, number, ins):
                return None
            if is_site:
                rows.sites[v] = Site.COLUMN
            else:
                (rows.rows if is_row else rows.order).append(v)
        elif is_number(t) or t is BOOL:
            if not in_lanes_of(body, v):
                return None
            rows.order.append(v)
        elif body.affine(v) is None:
            return None
    return rows if rows.inner and _keep_order(body, rows) else None


def _is_row(t: Type) -> bool:
    """Whether it is a row of numbers, or the accumulator of one."""
    t = t.inner if isinstance(t, Ref) else t
    return isinstance(t, Array) and is_number(t.elem)


def _keep_order(body: Body, rows: Rows) -> bool:
    """Whether what is added to elements is added to each in the order of the iterations.

    That is so where nothing else is added to them, or in the same iteration only. Where loops within add to
    elements, but not along columns, it is not tried: they go along the rows, and run in lanes themselves.
    """
    if not rows.sites:
        return True
    func = body.func
    added = [func.code[v][1] for v in (*rows.added(func), *rows.sums)]
    roots = {path_of(func, r)[1] for r in added}
    return (
        len(added) <= _MOST_ADDED
        and (bool(rows.lines) or all(func.home[r] == rows.number for r in rows.sites))
        and all(func.code[r][0] in (ACCUM, PARAM) for r in roots)
        and not any(body.given.may_meet(func, [r], [other]) for r, other in combinations(roots, 2))
        and all(
            _apart(body, rows, r, other)
            for r, other in combinations(added, 2)
            if r in rows.sites or other in rows.sites
        )
        and not any(body.windows.get(n) for n in (rows.number, *rows.inner))
    )


def _apart(body: Body, rows: Rows, r: int, other: int) -> bool:
    """Whether two elements are never the same one, or only in one and the same iteration."""
    func, sites = body.func, rows.sites
    (path, root), (others, other_root) = path_of(func, r), path_of(func, other)
    if root != other_root:
        return True
    if sites.get(r) is sites.get(other) is Site.COLUMN and body.affine(path[-1]) == body.affine(others[-1]):
        return True
    loops = {rows.number, *rows.inner}
    return any(
        differ(body, i, j)
        for i, j in zip(path, others, strict=False)
        if all(x < 0 or func.home[x] not in loops for x in (i, j))
    )


def _adds(body: Body, rows: Rows, number: int) -> bool:
    """Whether a loop in one over rows does nothing but add to accumulators of that."""
    func, needed = body.func, body.demand.uses
    anchors = set(body.demand.anchors[number])
    inner = rows.inner[number] = []
    if not (anchors and func.blocks[number].is_whole):
        return False
    for v in sorted({*(v for v in func.blocks[number].order if needed[v]), *anchors}):
        ins, t = func.code[v], func.types[v]
        if ins[0] == ADD_TO:
            is_own = func.code[ins[1]][0] == ACCUM and func.home[ins[1]] == rows.number
            if not is_own and ins[1] not in rows.sites:
                return False
        elif ins[0] in (INDEX, REF_INDEX) and _is_row(t):
            if not _moves(body, number, ins) or func.home[ins[1]] == rows.number:
                return False
            rows.lines.append(v)
        elif ins[0] == REF_INDEX:
            site = _site(body, rows, number, ins)
            if site is None or not is_number(func.inner_type_of(v)):
                return False
            rows.sites[v] = site
            continue
        elif ins[0] == INDEX:
            moves = _moves(body, rows.number if ins[1] in rows.lines else number, ins)
            if not is_number(t) or not (moves or _slides(body, rows.number, number, ins)):
                return False
        elif not (is_number(t) or t is BOOL):
            if body.affine(v) is None and _slide(body, rows.number, number, v) is None:
                return False
            continue
        elif not in_lanes_of(body, v):
            return False
        inner.append(v)
    return True


def _site(body: Body, rows: Rows, number: int, ins: tuple[int, ...]) -> Site | None:
    """Which element of an accumulator the loop ``number`` in one over rows adds to."""
    of = ins[1]
    if of in rows.lines:
        return Site.COLUMN if _moves(body, rows.number, ins) else None
    if not _moves(body, number, ins):
        return None
    if of in rows.rows:
        return Site.ROW
    return Site.SAME if body.func.home[of] != rows.number else None


def _moves(body: Body, number: int, ins: tuple[int, ...]) -> bool:
    """Whether an element is one of something from outside, a step further in every iteration."""
    func = body.func
    _, of, index = ins
    at = body.affine(index) if index >= 0 else None
    return (
        at is not None
        and at[0] == func.blocks[number].index
        and at[1] == 1
        and at[2] >= 0
        and (of < 0 or func.home[of] != number)
        and _stays(body, of)
    )


def _stays(body: Body, of: int) -> bool:
    """Whether something lies where it is, its elements side by side."""
    t = body.func.type_of(of)
    return not is_tape(t.inner if isinstance(t, Ref) else t)


def _slides(body: Body, outer: int, inner: int, ins: tuple[int, ...]) -> bool:
    """Whether an element is one of something from outside, a step on in every iteration of either loop."""
    _, of, index = ins
    is_outside = of < 0 or body.func.home[of] not in (outer, inner)
    return is_outside and _slide(body, outer, inner, index) is not None and _stays(body, of)


def _slide(body: Body, outer: int, inner: int, index: int) -> int | None:
    """What an index is more than the iterations of both loops together, if it is that; it is not less."""
    found = beside(body, inner, index)
    line = body.affine(found[0]) if found else None
    return found[1] + line[2] if found and line and line[:2] == (body.func.blocks[outer].index, 1) else None


class RowsWriter(Writer):
    """Writes a loop that adds up rows."""

    def __init__(self, body: Body, rows: Rows, places: Mapping[int, Place]) -> None:
        super().__init__(body, rows.number, places)
        self.rows = rows
        self.inside |= set(rows.inner)
        self.row_of: dict[int, tuple[bytes, int]] = {}
        """Row → code that pushes where it is in this iteration, without the offset, and the offset."""
        self.columns_of: dict[int, tuple[int, int]] = {}
        """Row in a loop → the local variable of where this iteration's columns are in it, and an offset."""

    def write(self) -> None:
        body, code, rows = self.body, self.func.code, self.rows
        inside = [v for of in rows.inner.values() for v in of]
        values = (*rows.order, *rows.rows, *rows.sums, *rows.sites, *inside)
        used = [code[v] for v in values if code[v][0] != FOR]
        for ins in used:
            if ins[0] in (INDEX, REF_INDEX, ADD_TO) and self.is_outside(ins[1]):
                body.reach(ins[1])
            if ins[0] == ADD_TO:
                self.bring(ins[2:])
            elif ins[0] not in (INDEX, REF_INDEX, RESOLVE):
                self.bring(ins[1:])
        self.bring(self.block.results[k] for k in self.places)
        self.k = body.new_local(True)
        starts = [body.new_local(True) for _ in rows.rows]
        for v, n in zip(rows.rows, starts, strict=True):
            place = self._ahead(code[v], self._size(v))
            self.row_of[v] = local_get(n), place.offset
        self.starts = starts
        for v in rows.lines:
            place = self._ahead(code[v], self._size(v))
            self.columns_of[v] = body.new_local(True), place.offset
        self.loop([x for ins in used for x in ins[1:]], rows.sums)
        body.free[-1][1].extend([self.k, *starts, *(n for n, _ in self.columns_of.values())])

    def iteration(self, count: int) -> list[bytes]:
        code = self.func.code
        out: list[bytes] = []
        known = dict(self.outside)
        for v, n in zip(self.rows.rows, self.starts, strict=True):
            width = self._size(v) // STEP
            at = local_get(self.i) + i32_const(width) + I32_MUL
            out += [self.body.place(code[v][1]).plus(at), local_set(n)]
        sums: dict[int, int] = {}
        for v in self.rows.order:
            ins = code[v]
            if ins[0] == ACCUM:
                sums[v] = self.new_local()
                out += [known[ins[1]], local_set(sums[v])]
            elif ins[0] == RESOLVE:
                known[v] = local_get(sums[ins[1]])
            elif ins[0] == FOR:
                out += self._inner(ins[1], count, known, sums)
            elif ins[0] == ADD_TO:
                out += self._add(ins, count, known, sums)
            else:
                place = self._ahead(ins) if ins[0] == INDEX else None
                push = read(self.address(place), place.offset, STEP, count) if place else b""
                self.operation(v, known, out, push)
        return out + self.results(known, count) + self.sums.add(known, count, False)

    def _ahead(self, ins: tuple[int, ...], step: int = STEP) -> Place:
        """What this iteration reads, which is of ``step`` bytes, as an offset to its own."""
        at = self.body.affine(ins[2])
        assert at is not None
        return self.body.place(ins[1]).at(at[2] * step)

    def _inner(self, number: int, count: int, known: dict[int, bytes], sums: dict[int, int]) -> list[bytes]:
        """The loop over the elements of ``count`` rows."""
        code, block = self.func.code, self.func.blocks[number]
        if not block.trips:
            return []
        out = [BASE, local_set(self.k), LOOP]
        for v in self.rows.inner[number]:
            ins = code[v]
            if ins[0] == ADD_TO:
                out += self._add(ins, count, known, sums)
            elif v in self.columns_of:
                width = self._size(v) // STEP
                at = local_get(self.k) + i32_const(width) + I32_MUL + local_get(self.i) + I32_ADD
                out += [self.body.place(ins[1]).plus(at), local_set(self.columns_of[v][0])]
            else:
                self.operation(v, known, out, self._read(ins, count) if ins[0] == INDEX else b"")
        step = [local_get(self.k), i32_const(STEP), I32_ADD, local_tee(self.k)]
        return [*out, *step, i32_const(block.trips * STEP), I32_LT_U, BR_IF_0, END]

    def _read(self, ins: tuple[int, ...], count: int) -> bytes:
        """Code that reads an element of each row, or the same of a vector for all of them."""
        at = self.body.affine(ins[2])
        k = local_get(self.k)
        if at is None:
            more = _slide(self.body, self.number, self.func.home[ins[2]], ins[2])
            assert more is not None
            place = self.body.place(ins[1]).at(more * STEP)
            return read(place.plus(local_get(self.i) + k + I32_ADD), place.offset, STEP, count)
        if ins[1] in self.columns_of:
            n, offset = self.columns_of[ins[1]]
            return read(local_get(n), offset + at[2] * STEP, STEP, count)
        if ins[1] not in self.row_of:
            place = self._ahead(ins)
            return place.plus(k) + SPLAT.load(place.offset)
        start, offset = self.row_of[ins[1]]
        return read(start + k + I32_ADD, offset + at[2] * STEP, self._size(ins[1]), count)

    def _size(self, v: int) -> int:
        """The bytes of a row, or of the accumulator of one."""
        t = self.func.types[v]
        return size_of(t.inner if isinstance(t, Ref) else t)

    def _add(
        self, ins: tuple[int, ...], count: int, known: Mapping[int, bytes], sums: Mapping[int, int]
    ) -> list[bytes]:
        """Code that adds to a sum of the outer loop's iteration or to an element, in ``count`` iterations."""
        _, r, x = ins
        if r in sums:
            return [local_get(sums[r]), known[x], F64X2_ADD, local_set(sums[r])]
        _, of, index = self.func.code[r]
        at = self.body.affine(index)
        assert at is not None
        more, k = at[2] * STEP, local_get(self.k)
        if self.rows.sites[r] is Site.SAME:
            place = self.body.place(of).at(more)
            here, offset = place.plus(k), place.offset
            n = self.new_local()
            out = [known[x], local_set(n)]
            for lane in range(count):
                term = [local_get(n), extract_lane(lane), F64_ADD]
                out += [here, here, load("f", offset), *term, store("f", offset)]
            return out
        if of in self.columns_of:
            start, offset = self.columns_of[of]
            here, offset, step = local_get(start), offset + more, STEP
        elif self.func.home[r] == self.number:
            place = self.body.place(of).at(more)
            here, offset, step = place.plus(local_get(self.i)), place.offset, STEP
        else:
            push, offset = self.row_of[of]
            here, offset, step = push + k + I32_ADD, offset + more, self._size(of)
        total = read(here, offset, step, count) + known[x] + F64X2_ADD
        return write(here, offset, step, total, count, self.new_local)
