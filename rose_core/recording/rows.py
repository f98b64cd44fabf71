"""The rows of a recorded function, and who uses whose values."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable
from itertools import compress

from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    GET,
    INDEX,
    PARAM,
    VJP,
)
from rose_core.language.ops import BINARY_END, UNARY_END
from rose_core.recording.operands import CALLED, operands_of
from rose_core.recording.share import Entry

_CALLING = {**CALLED, VJP: 1}

_HAVE_X, _HAVE_Y, _PARAMS, _OTHERS = (
    bytes(map(holds, range(256)))
    for holds in (
        lambda op: op < BINARY_END or op in (INDEX, GET),
        lambda op: UNARY_END <= op < BINARY_END or op == INDEX,
        lambda op: op == PARAM,
        lambda op: op >= BINARY_END and op not in (INDEX, GET, PARAM),
    )
)
"""By opcode, whether ``x`` and ``y`` are operands; which are parameters, and which have others."""

RESULT = 1 << 62


def opcodes_of(rows: memoryview) -> bytes:
    """The opcodes of rows, a byte each."""
    low = 0 if sys.byteorder == "little" else rows.itemsize - 1
    return rows.tobytes()[low :: 3 * rows.itemsize]


class Rows:
    """The rows of a function, by columns."""

    def __init__(self, entry: Entry) -> None:
        rows = array("i", entry.rows.tobytes())
        self.entry = entry
        self.has_tangents = entry.has_tangents
        self.ops = entry.ops
        self.xs, self.ys = rows[1::3], rows[2::3]
        self.last: dict[int, int] = {}
        """Row → the last one that uses it, as far as rows from `_seen` on tell."""
        self._seen = len(self.ops)

    def last_from(self, end: int) -> dict[int, int]:
        """For rows that are used at ``end`` or later, the last that uses them; `RESULT` for results."""
        last, entry, n = self.last, self.entry, len(self.ops)
        if self._seen == n:
            last.update(dict.fromkeys(entry.results, RESULT))
        for k in range(self._seen - 1, end - 1, -1):
            op, x, y = self.ops[k], self.xs[k], self.ys[k]
            if op < BINARY_END or op == INDEX:
                last.setdefault(x, k)
                if op >= UNARY_END:
                    last.setdefault(y, k)
            else:
                for v in operands_of(op, x, y, entry.extra):
                    last.setdefault(v, k)
        self._seen = min(self._seen, end)
        return last

    def needed(self, has_effects: Callable[[int], bool]) -> bytearray:
        """For each row whether results need it, or it has an effect, as callees may, by their number."""
        if self._are_all_used():
            return bytearray(b"\1") * len(self.ops)
        ops, xs, ys, extra = self.ops, self.xs, self.ys, self.entry.extra
        needed = bytearray(len(ops) + len(self.entry.values))  # literals at the end
        for v in self.entry.results:
            needed[v] = 1
        for k in range(len(ops) - 1, -1, -1):
            op, x, y = ops[k], xs[k], ys[k]
            if op < BINARY_END or op == INDEX:
                if needed[k]:
                    needed[x] = 1
                    if op >= UNARY_END:
                        needed[y] = 1
                continue
            if op == ADD_TO:
                needed[k] |= needed[x]
            elif op in _CALLING:
                needed[k] |= any(g >= 0 and has_effects(g) for g in extra[x : x + _CALLING[op]])
            if needed[k]:
                for v in operands_of(op, x, y, extra):
                    needed[v] = 1
        return needed[: len(ops)]

    def _are_all_used(self) -> bool:
        """Whether each row is an operand or a result, so that the last that is not needed would be none."""
        ops, extra, count = self.ops, self.entry.extra, len(self.ops)
        if ACCUM in ops:
            return False  # what is added to it is not used by that
        used = {*self.entry.results}
        for operands, having in ((self.xs, _HAVE_X), (self.ys, _HAVE_Y), (range(count), _PARAMS)):
            used.update(compress(operands, ops.translate(having)))
        for k in compress(range(count), ops.translate(_OTHERS)):
            used.update(operands_of(ops[k], self.xs[k], self.ys[k], extra))
        return used.issuperset(range(count))
