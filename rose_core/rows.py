"""Sums over the rows of a matrix, two rows at a time in the lanes of WebAssembly.

A sum has an order, so a loop that adds up one row waits for every addition. Where a loop over rows does
nothing in a turn but such sums, and computes numbers of them, its turns are independent of each other: each
lane adds up a row of its own, in the order of its elements, and the results are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rose_core.encode import (
    BR_IF_0,
    END,
    F64X2_ADD,
    I32_ADD,
    I32_LT_U,
    I32_MUL,
    LANE,
    LANES,
    LOOP,
    SECOND_LANE,
    SPLAT,
    i32_const,
    local_get,
    local_set,
    local_tee,
)
from rose_core.ir import ACCUM, ADD_TO, FOR, INDEX, RESOLVE
from rose_core.lanes import LEAST_TURNS, STEP, Writer, in_lanes_of, is_number
from rose_core.layout import BASE, Place, size_of
from rose_core.types import BOOL, Array, Fin, is_tape

if TYPE_CHECKING:
    from rose_core.lower import Body


@dataclass(slots=True)
class Rows:
    """What a loop consists of that adds up rows."""

    number: int
    """Its block."""
    order: list[int] = field(default_factory=list)
    """What it does in a turn, in order: operations, reads, accumulators, loops."""
    rows: list[int] = field(default_factory=list)
    """The rows of matrices that move with its turns."""
    sums: list[int] = field(default_factory=list)
    """``ADD_TO`` a number that stays over all turns."""
    inner: dict[int, list[int]] = field(default_factory=dict)
    """Block of a loop in it → what that does in a turn: operations, reads, additions."""


def in_rows(body: Body, number: int, columns: Mapping[int, int]) -> Rows | None:
    """How a loop adds up two rows at a time, if it can; ``columns``: its used results, by number."""
    func, needed = body.func, body.demand.uses
    block = func.blocks[number]
    assert isinstance(block.size, Fin)
    if block.size.size < LEAST_TURNS or not all(is_number(func.type_of(block.results[k])) for k in columns):
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
            if not is_number(func.type_of(ins[2])) or func.home[ins[1]] == number:
                return None
            rows.sums.append(v)
        elif ins[0] in (ACCUM, RESOLVE):
            if not is_number(func.types[v].inner if ins[0] == ACCUM else t):  # type: ignore[attr-defined]
                return None
            rows.order.append(v)
        elif ins[0] == INDEX:
            is_row = isinstance(t, Array) and is_number(t.elem)
            if not (is_row or is_number(t)) or not _moves(body, number, ins):
                return None
            (rows.rows if is_row else rows.order).append(v)
        elif is_number(t) or t is BOOL:
            if not in_lanes_of(body, v):
                return None
            rows.order.append(v)
        elif body.affine(v) is None:
            return None
    return rows if rows.inner else None


def _adds(body: Body, rows: Rows, number: int) -> bool:
    """Whether a loop in one over rows does nothing but add to accumulators of that."""
    func, needed = body.func, body.demand.uses
    anchors = set(body.demand.anchors[number])
    inner = rows.inner[number] = []
    if not anchors:
        return False
    for v in sorted({*(v for v in func.blocks[number].order if needed[v]), *anchors}):
        ins, t = func.code[v], func.types[v]
        if ins[0] == ADD_TO:
            if func.code[ins[1]][0] != ACCUM or func.home[ins[1]] != rows.number:
                return False
        elif ins[0] == INDEX:
            if not is_number(t) or not _moves(body, number, ins):
                return False
        elif not (is_number(t) or t is BOOL):
            if body.affine(v) is None:
                return False
            continue
        elif not in_lanes_of(body, v):
            return False
        inner.append(v)
    return True


def _moves(body: Body, number: int, ins: tuple[int, ...]) -> bool:
    """Whether an element is one of something from outside, a step further in every turn."""
    func = body.func
    _, of, index = ins
    at = body.affine(index) if index >= 0 else None
    return (
        at is not None
        and at[0] == func.blocks[number].index
        and at[1] == 1
        and at[2] >= 0
        and (of < 0 or func.home[of] != number)
        and of not in body.clobbered
        and not is_tape(func.type_of(of))
    )


class RowsWriter(Writer):
    """Writes a loop that adds up rows."""

    def __init__(self, body: Body, rows: Rows, places: Mapping[int, Place]) -> None:
        super().__init__(body, rows.number, places)
        self.rows = rows
        self.inside |= set(rows.inner)
        self.row_of: dict[int, tuple[bytes, int]] = {}
        """Row → code that pushes where it is in this turn, without the offset, and the offset."""

    def write(self) -> None:
        body, code, rows = self.body, self.func.code, self.rows
        added = [v for of in rows.inner.values() for v in of]
        used = [code[v] for v in (*rows.order, *rows.rows, *rows.sums, *added) if code[v][0] != FOR]
        for ins in used:
            if ins[0] in (INDEX, ADD_TO) and self.is_outside(ins[1]):
                body.place(ins[1])
            if ins[0] == ADD_TO:
                self.bring(ins[2:])
            elif ins[0] not in (INDEX, RESOLVE):
                self.bring(ins[1:])
        self.bring(self.block.results[k] for k in self.places)
        self.k = body.new_local(True)
        starts = [body.new_local(True) for _ in rows.rows]
        for v, n in zip(rows.rows, starts, strict=True):
            place = self._ahead(code[v], size_of(self.func.types[v]))
            self.row_of[v] = local_get(n), place.offset
        self.starts = starts
        self.loop([x for ins in used for x in ins[1:]])
        body.free[-1][1].extend([self.k, *starts])

    def turn(self, count: int) -> list[bytes]:
        code, access = self.func.code, LANES if count == 2 else LANE
        out: list[bytes] = []
        known = dict(self.outside)
        for v, n in zip(self.rows.rows, self.starts, strict=True):
            width = size_of(self.func.types[v]) // STEP
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
            else:
                read = b""
                if ins[0] == INDEX:
                    place = self._ahead(ins)
                    read = self.address(place) + access.load(place.offset)
                self.operation(v, known, out, read)
        return out + self.results(known, count) + self.sums(self.rows.sums, count, known)

    def _ahead(self, ins: tuple[int, ...], step: int = STEP) -> Place:
        """What this turn reads, which is of ``step`` bytes, as an offset to its own."""
        at = self.body.affine(ins[2])
        assert at is not None
        return self.body.place(ins[1]).at(at[2] * step)

    def _inner(self, number: int, count: int, known: dict[int, bytes], sums: dict[int, int]) -> list[bytes]:
        """The loop over the elements of ``count`` rows."""
        code, block = self.func.code, self.func.blocks[number]
        assert isinstance(block.size, Fin)
        if not block.size.size:
            return []
        out = [BASE, local_set(self.k), LOOP]
        for v in self.rows.inner[number]:
            ins = code[v]
            if ins[0] == ADD_TO:
                n = sums[ins[1]]
                out += [local_get(n), known[ins[2]], F64X2_ADD, local_set(n)]
            else:
                read = self._read(ins, count) if ins[0] == INDEX else b""
                self.operation(v, known, out, read)
        step = [local_get(self.k), i32_const(STEP), I32_ADD, local_tee(self.k)]
        return [*out, *step, i32_const(block.size.size * STEP), I32_LT_U, BR_IF_0, END]

    def _read(self, ins: tuple[int, ...], count: int) -> bytes:
        """Code that reads an element of each row, or the same of a vector for all of them."""
        at = self.body.affine(ins[2])
        assert at is not None
        k = local_get(self.k)
        if ins[1] not in self.row_of:
            place = self._ahead(ins)
            return place.plus(k) + SPLAT.load(place.offset)
        start, offset = self.row_of[ins[1]]
        here, offset = start + k + I32_ADD, offset + at[2] * STEP
        first = here + LANE.load(offset)
        if count == 1:
            return first
        return here + first + SECOND_LANE.load(offset + size_of(self.func.types[ins[1]]))
