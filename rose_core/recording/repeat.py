"""A loop that was found in copies of rows: what an iteration does, and what differs from one to the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rose_core.language.ir import ADD_TO, INDEX
from rose_core.language.ops import code
from rose_core.recording.columns import are_literals, picked
from rose_core.recording.totals import Total

_MIN, _MAX, _SELECT = map(code, ("min", "max", "select"))


class Carry(NamedTuple):
    """What a row gives in a copy before."""

    row: int
    first: tuple[int, ...]
    """What it is in the first copies, of which there are as many as it goes back."""


@dataclass(slots=True)
class Operand:
    """What one row of a copy has as operand, in all copies."""

    back: int = 0
    """How many rows before it in the copy its value is; 0 if it is from outside of the copies."""
    ids: Sequence[int] = ()
    """The values from outside: one for each copy, a range if they go in equal steps, or one for all."""
    carry: Carry | None = None
    """What it is of a copy before, if it is that."""
    of: int = -1
    """The vector from outside whose element it is, ``ids`` being the indices; -1 if it is no such element."""


class Head(NamedTuple):
    """What stands before the operands of a row of structure."""

    numbers: list[int]
    """What is the same in all copies: a type, or the number of a result."""
    called: list[Sequence[int]]
    """The functions that it calls: for each a number for each copy, or one for all; -1 for none."""


@dataclass(slots=True)
class Repeat:
    """Copies of ``length`` rows each, ``count`` of them, the first at ``start``."""

    start: int
    length: int
    count: int
    rows: list[tuple[int, list[Operand]]]
    """Opcode and operands of each row; of one that adds to a sum the operand that is added."""
    heads: dict[int, Head]
    """Row of structure → what stands before its operands."""
    sums: dict[int, int]
    """Sum that goes through all copies, by the last row that adds to it in one → where it starts from."""
    used: dict[int, list[int]]
    """Row → the copies of it that are used after the loop."""
    live: Sequence[int] = ()
    """The copies that the loop has: those of which something is used."""
    adds: dict[int, int] = field(default_factory=dict)
    """Row that adds to a sum → the sum."""
    carries: list[Carry] = field(default_factory=list)
    """The state, if a copy needs the ones before for more than sums."""
    last: list[tuple[int, Carry]] = field(default_factory=list)
    """What is used of the state after the loop: the row, and what it is then."""
    reads: list[int] = field(default_factory=list)
    """The rows of copies that are read again after the loop: elements of vectors from outside."""
    totals: list[tuple[int, Total]] = field(default_factory=list)
    """The sums of all copies of a row, which are made in the loop: of which row, and the sum."""
    is_total: bool = False
    """Whether it is such a sum, of another loop, and nothing is left to do."""

    @property
    def end(self) -> int:
        return self.start + self.length * self.count

    def columns(self) -> Iterator[tuple[int, Sequence[int]]]:
        """The rows of a copy that are used in all iterations, and what they are in these."""
        for row, copies in self.used.items():
            if len(copies) == len(self.live):
                yield row, picked(range(self.start + row, self.end, self.length), self.live)

    def chooses(self) -> bool:
        """Whether copies leave the state as it is or replace it: those do that look for the least of many."""
        depends: set[int] = set()
        """The rows of a copy that depend on the state."""

        def varies(row: int, x: Operand) -> bool:
            return bool(x.carry) or (x.back > 0 and row - x.back in depends)

        for row, (_, operands) in enumerate(self.rows):
            if any(varies(row, x) for x in operands):
                depends.add(row)
        for carry in self.carries:
            op, operands = self.rows[carry.row]
            others = [x for x in operands[-2:] if x.carry != carry]
            if op not in (_MIN, _MAX, _SELECT) or len(others) != 1 or varies(carry.row, others[0]):
                return False
        return bool(self.carries) and not self.used

    def elements(self, values: Sequence[float]) -> Iterator[tuple[int, int, Sequence[float]]]:
        """The elements that copies read of values outside: row, value, and which; ``values`` of literals.

        What a row reads itself, and after that what it has as operands.
        """
        for row, (op, operands) in enumerate(self.rows):
            if op == INDEX and operands[0].ids and are_literals(operands[1].ids):
                yield row, operands[0].ids[0], [values[~k] for k in operands[1].ids]
            for x in operands:
                if x.of >= 0:
                    yield row, x.of, [values[~k] for k in x.ids]

    def with_needs(self, rows: Iterable[int]) -> set[int]:
        """These rows of a copy and what they need of it."""
        adds: dict[int, list[int]] = {}
        """Accumulator or sum → what is added to it."""
        for row, sum_ in self.adds.items():
            adds.setdefault(sum_, []).append(row)
        for row, (op, operands) in enumerate(self.rows):
            if op == ADD_TO:
                adds.setdefault(row - operands[0].back, []).append(row)
        found: set[int] = set()
        waiting = [*rows]
        while waiting:
            row = waiting.pop()
            if row not in found:
                found.add(row)
                waiting += adds.get(row, ())
                waiting += [row - x.back for x in self.rows[row][1] if x.back]
        return found

    def keep_used(self) -> bool:
        """Keep the copies of which something is used; whether there are any."""
        live = sorted(set[int]().union(*self.used.values()))
        if len(live) == self.count or not live:
            return bool(live)
        even = range(live[0], live[-1] + 1, live[1] - live[0] if len(live) > 1 else 1)
        self.live = even if live == [*even] else live
        for head in self.heads.values():
            head.called[:] = [picked(k, self.live) if len(k) > 1 else k for k in head.called]
        for _, operands in self.rows:
            for x in operands:
                if len(x.ids) > 1:
                    x.ids = picked(x.ids, self.live)
        return True
