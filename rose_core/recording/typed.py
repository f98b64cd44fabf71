"""The types of the values of rows, as far as their operations tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from rose_core.language.indices import MOST
from rose_core.language.ir import ACCUM, CALL, COND, FOR, GET, INDEX, LOOP, PARAM, RESOLVE, SET, VEC, Func
from rose_core.language.ops import BINARY_END, OPS, TABLE_END, code
from rose_core.language.types import BOOL, REAL, Array, Type, array, fin
from rose_core.recording.operands import END, HEADS
from rose_core.recording.rows import Rows
from rose_core.recording.share import Entry

_SELECT = code("select")

_TYPES: dict[str, Type] = {"R": REAL, "B": BOOL, "I": fin(MOST + 1)}


class Typed(Rows):
    """The rows of a function, which say of what types they are.

    ``callee`` gives the functions that it calls by number, as they are built; without it, nothing is known
    of calls.
    """

    def __init__(self, entry: Entry, callee: Callable[..., Func] | None = None) -> None:
        super().__init__(entry)
        self.callee = callee
        self._types: dict[int, Type | None] = {}
        """Those that were asked for, of rows that have them from others, of which there are long chains."""

    def type_of(self, x: int) -> Type | int:
        """The type of a row or literal; where that does not tell, what no other row has."""
        if x < 0:
            return self.entry.types[self.entry.kinds[~x]]
        t = self._known_type(x)
        return x if t is None else t

    def _known_type(self, row: int) -> Type | None:
        """The type of a row; None where that does not tell."""
        known, extra = self._types, self.entry.extra
        way: list[int] = []
        """Rows that are what the next one is, or an element of it, or a vector of it."""
        while row >= 0 and row not in known:
            op, at = self.ops[row], self.xs[row]
            if op == _SELECT:
                after = extra[at + 1]
            elif op == SET:
                after = extra[at]
            elif op in (ACCUM, RESOLVE, INDEX):
                after = at
            elif op == GET and self.ops[at] == END:
                after = extra[self.xs[at] + self.ys[row]]
            else:
                break
            way.append(row)
            row = after
        t = known[row] if row in known else self._own_type(row)
        for row in reversed(way):
            if t is not None and self.ops[row] == INDEX:
                t = t.elem if isinstance(t, Array) else None
            elif t is not None and self.ops[row] == GET:
                t = array(self.entry.types[self.xs[self._loops[self.xs[row]]]], t)
            known[row] = t
        return t

    def _own_type(self, row: int) -> Type | None:
        entry = self.entry
        if row < 0:
            return entry.types[entry.kinds[~row]]
        op, at = self.ops[row], self.xs[row]
        if op == PARAM:
            return entry.leaves[at]
        if op == VEC:
            return entry.types[entry.extra[at]]
        if op == FOR:
            return entry.types[at]
        if op == GET:
            return self._result_type(at, self.ys[row])
        if op < TABLE_END and OPS[op].sized:
            size = self.ys[row] if op < BINARY_END else entry.extra[at + 1]
            return fin(int(entry.values[~size])) if size < 0 else None
        return _TYPES.get(OPS[op].out) if op < TABLE_END else None

    def _result_type(self, row: int, number: int) -> Type | None:
        """Of a result of a call, a choice, or a loop with a state."""
        op, at = self.ops[row], self.xs[row]
        if self.callee is None or op not in (CALL, COND, LOOP):
            return None
        extra = self.entry.extra
        f = self.callee(extra[at])
        carries = extra[at + 2] if op == LOOP else number + 1
        if number < carries:
            return f.result_type(number)
        kept = number > carries  # of every iteration
        return array(self.entry.types[extra[at + 3]], f.result_type(number - 1)) if kept else None

    def types_of_operands(self, row: int) -> Sequence[Type | None]:
        """The types that a row asks of its operands, from the first on, as far as it asks for any."""
        op, at, extra = self.ops[row], self.xs[row], self.entry.extra
        if op == VEC:
            t = self.entry.types[extra[at]]
            assert isinstance(t, Array)
            return [t.elem] * (self.ys[row] - HEADS[VEC])
        if self.callee is None or op not in (CALL, COND, LOOP):
            return ()
        f = self.callee(extra[at])
        if op == CALL:
            return f.params
        if op == COND:
            return [BOOL, *f.params[: extra[at + 2]], *self.callee(extra[at + 1]).params]
        return [None, *f.params[1 : 1 + extra[at + 2]]]

    @cached_property
    def _loops(self) -> dict[int, int]:
        """``END`` → the ``FOR`` that it closes."""
        found: dict[int, int] = {}
        opened: list[int] = []
        for k, op in enumerate(self.ops):
            if op == FOR:
                opened.append(k)
            elif op == END:
                found[k] = opened.pop()
        return found
