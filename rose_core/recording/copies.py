"""Copies of rows, as a loop: what one row has as operand in each of them, and what is handed on.

They are checked a column at a time: the operands that one row has in all copies are a slice of the
recording.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from rose_core.language.indices import MOST
from rose_core.language.ir import INDEX, PARAM, VEC
from rose_core.language.ops import BINARY_END, OPS, TABLE_END, UNARY_END, code
from rose_core.language.types import BOOL, REAL, TAN, Array, Type, fin
from rose_core.recording.rows import Rows
from rose_core.recording.totals import Total

_FARTHEST = 3
"""How many copies before it one may need."""

_ADD, _SUB, _SELECT = map(code, ("add", "sub", "select"))

_TYPES: dict[str, Type] = {"R": REAL, "B": BOOL, "I": fin(MOST + 1)}

_TAKE_ANY = frozenset((INDEX, _SELECT, *(k for k, op in enumerate(OPS) if "I" in op.ins)))
"""Operations that take values of several types, as vectors and indices are."""

_BY_SIZE = frozenset(k for k, op in enumerate(OPS) if op.sized or op.name == "idiv")
"""Operations on an index whose further operands are a size, and a note."""


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


@dataclass(slots=True)
class Repeat:
    """Copies of ``length`` rows each, ``count`` of them, the first at ``start``."""

    start: int
    length: int
    count: int
    rows: list[tuple[int, list[Operand]]]
    """Opcode and operands of each row; of a sum the operand that is added."""
    sums: dict[int, int]
    """Row of a sum that goes through all copies → where it starts from."""
    used: dict[int, list[int]]
    """Row → the copies of it that are used after the loop."""
    live: Sequence[int] = ()
    """The copies that the loop has: those of which something is used."""
    carries: list[Carry] = field(default_factory=list)
    """The state, if a copy needs the ones before for more than sums."""
    last: list[tuple[int, Carry]] = field(default_factory=list)
    """What is used of the state after the loop: the row, and what it is then."""
    totals: list[tuple[int, Total]] = field(default_factory=list)
    """The sums of all copies of a row, which are made in the loop: of which row, and the sum."""
    is_total: bool = False
    """Whether it is such a sum, of another loop, and nothing is left to do."""

    @property
    def end(self) -> int:
        return self.start + self.length * self.count

    def columns(self) -> Iterator[tuple[int, Sequence[int]]]:
        """The rows of a copy that are used in all turns, and what they are in these."""
        for row, copies in self.used.items():
            if len(copies) == len(self.live):
                yield row, _picked(range(self.start + row, self.end, self.length), self.live)


class Copies(Rows):
    """The rows of a function, in which there may be copies."""

    def columns_of(self, at: int, row: int, length: int, count: int) -> list[array[int]]:
        """The operands of one row in all copies, a list for each operand."""
        place = slice(at + row, at + row + length * count, length)
        op, xs = self.ops[at + row], self.xs[place]
        if op < UNARY_END:
            return [xs]
        if op < BINARY_END or op == INDEX:
            return [xs, self.ys[place]]
        return [array("i", [self.entry.extra[x + k] for x in xs]) for k in range(3)]

    def check(
        self, at: int, length: int, count: int, loop: Callable[[int, int, int], Repeat | None]
    ) -> Repeat | None:
        """The loop of these copies, perhaps from a later row on; None if they are no loop."""
        start = self._cut(at, length)
        count -= start > at
        # the first copy may differ from the others, where a sum starts
        return loop(start, length, count) or loop(start + length, length, count - 1)

    def _cut(self, at: int, length: int) -> int:
        """The first row at which copies can start so that each needs the least of the one before."""
        reach: dict[int, int] = {}
        """Row → how far it is used, from the start of its copy."""
        for row in range(length):
            for _, second, third in self.columns_of(at, row, length, 3):
                back = at + row + length - second
                if 0 < back <= row + length and third == second + length:
                    of = row - back if back <= row else row - back + length
                    reach[of] = max(reach.get(of, 0), of + back)
        # a value is handed on where copies start after its row and not after its last use
        crossed = [0] * (length + 1)
        for row, last in reach.items():
            crossed[row + 1] += 1
            crossed[min(last + 1, length)] -= 1
            if last >= length:
                crossed[0] += 1
                crossed[last - length + 1] -= 1
        totals = [*accumulate(crossed[:length])]
        return at + totals.index(min(totals))

    def loop(self, start: int, length: int, count: int) -> Repeat | None:
        repeat = Repeat(start, length, count, [], {}, {}, range(count))
        for row in range(length):
            columns = self.columns_of(start, row, length, count)
            operands = [self._operand(column, start, row, length) for column in columns]
            if None in operands or not self._are_alike(self.ops[start + row], columns, operands, start):
                return None
            repeat.rows.append((self.ops[start + row], operands))  # type: ignore[arg-type]
        if all(op == INDEX for op, _ in repeat.rows):
            return None  # it would copy a vector
        own = {row: _sum(op, operands, row) for row, (op, operands) in enumerate(repeat.rows)}
        sums = {row: k for row, k in own.items() if k >= 0}
        carried = [
            (row, x.carry) for row, (_, operands) in enumerate(repeat.rows) for x in operands if x.carry
        ]
        so_far = {row - x.back for row, (_, operands) in enumerate(repeat.rows) for x in operands if x.back}
        if so_far.isdisjoint(sums) and all(carry.row == row and row in sums for row, carry in carried):
            for row, carry in carried:
                repeat.rows[row][1].pop(sums[row])
                repeat.sums[row] = carry.first[0]
            return repeat
        for _, carry in carried:
            while carry.first and carry not in repeat.carries:
                repeat.carries.append(carry)
                carry = Carry(carry.row, carry.first[1:])
        return repeat

    def _are_alike(
        self, op: int, columns: Sequence[array[int]], operands: Sequence[Operand | None], start: int
    ) -> bool:
        """Whether operands are of one type in all copies, where an operation takes any; sizes are literals.

        A loop has no table of vectors: what it reads is one, or rows of a matrix.
        """
        if op not in _TAKE_ANY:
            return True
        for x in operands:
            if x and x.carry and not all(self._fits(first, start + x.carry.row) for first in x.carry.first):
                return False
        if op in _BY_SIZE:
            values = self.entry.values
            if any(len({values[~x] if x < 0 else -1 - x for x in column}) > 1 for column in columns[1:]):
                return False
            columns = columns[:1]
        for column in columns[1:] if op == _SELECT else columns[:1] if op == INDEX else columns:
            outside = {x for x in column if x < start}
            if len(outside) < 2:
                continue
            types = {self.type_of(x) for x in outside}
            if len(types) > 1:
                return False
            if isinstance(types.pop(), Array):
                of = {
                    self.xs[x] if x >= 0 and self.ops[x] == INDEX and self.ys[x] < 0 else -1 for x in outside
                }
                if len(of) > 1 or -1 in of:
                    return False
        return True

    def _fits(self, first: int, row: int) -> bool:
        """Whether a loop's state may start from a value, and be what a row gives after that."""
        t, later = self.type_of(first), self.type_of(row)
        if isinstance(t, int):  # where nobody knows, only numbers are sure to be alike
            return later in (REAL, BOOL)
        return t == later or (t is TAN and later is REAL)

    def type_of(self, x: int) -> Type | int:
        """The type of a row or literal, as far as its own operation tells; else what no other has."""
        while x >= 0 and self.ops[x] == _SELECT:
            x = self.entry.extra[self.xs[x] + 1]
        if x < 0:
            return self.entry.types[self.entry.kinds[~x]]
        op = self.ops[x]
        if op == PARAM:
            return self.entry.leaves[self.xs[x]]
        if op == VEC:
            return self.entry.types[self.entry.extra[self.xs[x]]]
        if op == INDEX:
            of = self.type_of(self.xs[x])
            return of.elem if isinstance(of, Array) else x
        if op < TABLE_END and OPS[op].sized:
            size = self.ys[x] if op < BINARY_END else self.entry.extra[self.xs[x] + 1]
            return fin(int(self.entry.values[~size])) if size < 0 else x
        return _TYPES.get(OPS[op].out, x) if op < TABLE_END else x

    def _operand(self, column: array[int], start: int, row: int, length: int) -> Operand | None:
        """An operand of a row, in the copies from a row on; None if it is not the same in all."""
        back, step = start + row - column[0], _step(column)
        if 0 < back <= row and step == length:
            return Operand(back)
        ids = _compact(column, step)
        if max((ids[0], ids[-1]) if step else ids) < start:
            return Operand(0, ids)
        for far in range(1, min(_FARTHEST, len(column) - 2) + 1):
            if start <= column[far] < start + length and max(column[:far]) < start:
                if _step(column[far:]) == length:
                    return Operand(carry=Carry(column[far] - start, tuple(column[:far])))
                return None
        return None

    def used(self, start: int, length: int, count: int) -> Repeat | None:
        """As `loop`, with what is used after the loop; of a sum that may be its last value only."""
        repeat = self.loop(start, length, count)
        if repeat is None:
            return None
        end = start + length * count
        last = self.last_from(end)
        rows = sorted(last) if len(last) < end - start else range(start, end)
        for v in rows:
            if start <= v < end and last.get(v, -1) >= end:
                repeat.used.setdefault((v - start) % length, []).append((v - start) // length)
        if repeat.carries:
            return self._with_last(repeat)
        if not repeat.sums and not self._keep_used(repeat):
            return None
        if any(copies != [count - 1] for row, copies in repeat.used.items() if row in repeat.sums):
            return None
        return repeat

    @staticmethod
    def _keep_used(repeat: Repeat) -> bool:
        """Keep the copies of which something is used; whether there are any."""
        live = sorted(set[int]().union(*repeat.used.values()))
        if len(live) == repeat.count or not live:
            return bool(live)
        even = range(live[0], live[-1] + 1, live[1] - live[0] if len(live) > 1 else 1)
        repeat.live = even if live == [*even] else live
        for _, operands in repeat.rows:
            for x in operands:
                if len(x.ids) > 1:
                    x.ids = _picked(x.ids, repeat.live)
        return True

    def _with_last(self, repeat: Repeat) -> Repeat | None:
        """Steps, of which the state tells what is used of the last ones."""
        in_state = {carry.row for carry in repeat.carries if len(carry.first) == 1}
        # what of a row is used in the last step only stays as it is, as do steps of which nothing is used
        alone = {copies[0] for row, copies in repeat.used.items() if row not in in_state}
        present = set[int]().union(*repeat.used.values())
        count = repeat.count
        while count and (count - 1 not in present or count - 1 in alone):
            count -= 1
        if count < repeat.count:
            return self.used(repeat.start, repeat.length, count) if count > _FARTHEST + 1 else None
        known = {(carry.row, count - len(carry.first)): carry for carry in repeat.carries}
        for row, copies in [*repeat.used.items()]:
            if all((row, copy) in known for copy in copies):
                del repeat.used[row]
                at = repeat.start + row
                repeat.last += [(at + copy * repeat.length, known[row, copy]) for copy in copies]
        return repeat


def _picked(items: Sequence[int], which: Sequence[int]) -> Sequence[int]:
    """The items at these places, a range of a range."""
    if isinstance(which, range):
        return items[which.start : which.stop : which.step]
    return array("i", [items[k] for k in which])


def _sum(op: int, operands: Sequence[Operand], row: int) -> int:
    """Which operand is the row itself in the copy before, to which the other is added; -1 if none."""
    own = [k for k, x in enumerate(operands) if x.carry and x.carry.row == row]
    if len(own) != 1 or not (op == _ADD or (op == _SUB and own == [0])):
        return -1
    carry = operands[own[0]].carry
    return own[0] if carry and len(carry.first) == 1 else -1


_numbers = array("i")
"""0, 1, 2, … as far as columns have reached so far: to compare them with."""

_INVERSE = bytes(range(255, -1, -1))


def _step(column: array[int]) -> int:
    """By what a column goes up or down from element to element; 0 if not in equal steps, or not at all."""
    first, last = column[0], column[-1]
    step = column[1] - first
    if step == 0 or last != first + step * (len(column) - 1) or (first < 0) != (last < 0):
        return 0  # as most have none, without a look at what is between
    if first < 0:
        column = array("i", column.tobytes().translate(_INVERSE))
        first, last = ~first, ~last
    if last < first:
        column, first, last = column[::-1], last, first
    _numbers.extend(range(len(_numbers), last + 1))
    return step if column == _numbers[first : last + 1 : abs(step)] else 0


def _compact(column: array[int], step: int) -> Sequence[int]:
    """A column as `Operand` has it."""
    if step:
        return range(column[0], column[-1] + step, step)
    return column[:1] if column == column[:1] * len(column) else column
