"""Loops that an author's language has unrolled: found again in the rows of a recording.

A page's own ``for`` loop around symbolic operations leaves the same rows over and over, which differ in
literals, in elements of vectors, and in results of earlier rows. A long run of such copies becomes a
loop: what differs stands in tables, and a sum that goes on from copy to copy is an accumulator, which
adds in the same order and so gives the same bits. Anything else that one copy has from the one before
makes it no loop for us.

Copies are found by comparing opcodes as bytes, and checked a column at a time: the operands that one row
has in all copies are a slice of the recording. Nothing here makes a Python object for each row.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from rose_core.language.ir import INDEX
from rose_core.language.ops import BINARY_END, UNARY_END, code
from rose_core.recording.rows import Rows, operands_of
from rose_core.recording.share import Entry
from rose_core.recording.totals import Total, totals

FEWEST_ROWS = 256
"""Rows that are worth a loop: fewer run faster as they are, with everything in local variables."""

FEWEST_COPIES = 16

FEWEST_ROWS_OF_STEPS = 512
"""Rows that are worth a loop with a state, which has to keep that of every turn for its derivative."""

FEWEST_OPERATIONS = 2
"""Of a step; a product of as many factors has powers in it that are computed once."""

_FARTHEST = 3
"""How many copies before it one may need."""

LONGEST = 2048
"""The most rows of a copy."""

_SAMPLE = 8
"""Copies that are checked before all of them: what is no loop shows in a few."""

_MOST_ALIKE = 256
"""Copies that are looked at to find out after how many of them one is like another."""

_PROBE = 12
"""Rows that are compared to find out where the next copy may start."""

_STEP = 7
"""Rows to move on where no copies are found; it has no factor in common with most lengths of copies."""

_ADD, _SUB, _SELECT = map(code, ("add", "sub", "select"))
_OTHER = 255
_TOKENS = bytes(op if op <= _SELECT or op == INDEX else _OTHER for op in range(256))


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
    carries: list[Carry] = field(default_factory=list)
    """The state, if a copy needs the ones before for more than sums."""
    last: list[tuple[int, Carry]] = field(default_factory=list)
    """What is used of the state after the loop: the row, and what it is then."""
    totals: dict[int, list[Total]] = field(default_factory=dict)
    """Row → the sums of all its copies, which are made in the loop."""
    is_total: bool = False
    """Whether it is such a sum, of another loop, and nothing is left to do."""

    @property
    def end(self) -> int:
        return self.start + self.length * self.count


def repeats(entry: Entry) -> list[Repeat]:
    """The runs of copies in the rows of a function, in their order."""
    n = len(entry.rows) // 3
    if n < FEWEST_ROWS:
        return []
    search = _Search(entry)
    at = 0
    while at + FEWEST_COPIES <= n:
        end = search.copies(at)
        # a run is looked at once, whether there are loops in it or not
        at = max(at + _STEP, end, search.free)
    if search.there:
        search.leave_out()
    return search.found


class _Search(Rows):
    def __init__(self, entry: Entry) -> None:
        super().__init__(entry)
        self.tokens = self.ops.translate(_TOKENS)
        self.found: list[Repeat] = []
        self.columns: list[range] = []
        """The rows that are the turns of loops and are all used."""
        self.homes: list[tuple[Repeat, int]] = []
        """The loop of each, and which row of a copy."""
        self.there: dict[int, int] = {}
        """Total → where the loop starts that makes it."""

    @property
    def free(self) -> int:
        """The first row after all loops that have been found."""
        return self.found[-1].end if self.found else 0

    def copies(self, at: int) -> int:
        """Find the loops in the longest run of copies from a row on; the end of that run."""
        tokens = self.tokens
        probe = tokens[at : at + _PROBE]
        next_at, end = at, at
        for _ in range(4):
            next_at = tokens.find(probe, next_at + 1, at + LONGEST + _PROBE)
            if next_at < 0:
                break
            copy = tokens[at:next_at]
            if _OTHER in copy:
                break
            length = len(copy)
            if length == 1 and probe[0] == _ADD and self.found:
                at = self._run_start(at)
                if end := self._totals(at, at + _copies(tokens, at, 1)):
                    return end
            count = _copies(tokens, at, length)
            if count >= FEWEST_COPIES:
                end = max(end, at + count * length)
            found = list(self._within(at, length, count))
            if not found and (several := self._period(at, length, count)) > 1:
                found = list(self._within(at, several * length, count // several))
            if found:
                several = len(found) > 1
                found[0] = self._longer(found[0], self.free, found[1].start if several else len(tokens))
                found[-1] = self._longer(found[-1], found[-2].end if several else self.free, len(tokens))
                self.found += found
                for repeat in found:
                    for row, copies in repeat.used.items():
                        if len(copies) == repeat.count:
                            self.columns.append(range(repeat.start + row, repeat.end, repeat.length))
                            self.homes.append((repeat, row))
                break
        return end

    def _totals(self, start: int, end: int) -> int:
        """Let loops add up what their turns give; the end of such rows, or 0 if there are none."""
        last = 0
        for total in totals(self, start, end, self.columns, self._is_there):
            loop, row = self.homes[total.column]
            loop.totals.setdefault(row, []).append(total)
            self.there[total.at] = loop.start
            last = total.at + 1
            self.found.append(Repeat(total.start, 1, last - total.start, [], {}, {}, is_total=True))
        return last

    def _is_there(self, x: int, column: int) -> bool:
        return self.there.get(x, x) < self.homes[column][0].start

    def leave_out(self) -> None:
        """Forget what of loops is used by totals only, which are made in them."""
        needed = set(self.entry.results)
        for item in order(self.found, len(self.ops)):
            if not isinstance(item, Repeat):
                needed.update(operands_of(self.ops[item], self.xs[item], self.ys[item], self.entry.extra))
                continue
            needed.update(item.sums.values(), *(x.ids for _, operands in item.rows for x in operands))
            needed.update(*(carry.first for carry in item.carries))
            needed.update(total.first or 0 for row in item.totals.values() for total in row)
        for loop in self.found:
            for row in loop.totals:
                at = loop.start + row
                left = [copy for copy in loop.used.pop(row) if at + copy * loop.length in needed]
                if left:
                    loop.used[row] = left

    def _run_start(self, at: int) -> int:
        """The first row of those that are like this one, up to it."""
        free = self.free
        return free + len(self.tokens[free:at].rstrip(self.tokens[at : at + 1]))

    def _longer(self, repeat: Repeat, first: int, last: int) -> Repeat:
        """A loop with the copies right before and after it, between these rows.

        A run that is found where a copy has begun already lacks that one, and a part of the last.
        """
        tokens, length = self.tokens, repeat.length
        start, end = repeat.start, repeat.end
        copy = tokens[start : start + length]
        while start - length >= first and tokens.startswith(copy, start - length):
            start -= length
        while end + length <= last and tokens.startswith(copy, end):
            end += length
        for a, b in ((start, end), (repeat.start, end), (start, repeat.end)):
            if (a, b) != (repeat.start, repeat.end):
                longer = self._used(a, length, (b - a) // length)
                if longer is not None:
                    return longer
        return repeat

    def _within(self, at: int, length: int, count: int) -> Iterator[Repeat]:
        """The loops in a run: one for all of it, else those in its halves."""
        if count < FEWEST_COPIES:
            return
        sample = self._check(at, length, _SAMPLE, self._loop)
        if sample is not None and not self._is_worth_it(sample, count):
            return
        found = sample and self._check(at, length, count, self._used)
        if found is not None:
            yield found
        else:
            half = count // 2
            for start, part in ((at, half), (at + half * length, count - half)):
                if part * length >= FEWEST_ROWS:
                    yield from self._within(start, length, part)

    def _period(self, at: int, length: int, count: int) -> int:
        """How many copies after it one is like another, where they look all alike; 0 if that is not clear.

        The cells of a row are computed alike, but those at its ends have other neighbours.
        """
        if count < 2 * FEWEST_COPIES:
            return 0
        count = min(count, _MOST_ALIKE)
        first = count // 4  # the first ones may need what is before all of them
        found = 1
        for row in range(length):
            for column in self._columns(at, row, length, count):
                place = range(at + row + first * length, at + row + count * length, length)
                back = [k - x if x >= at else 0 for k, x in zip(place, column[first:], strict=True)]
                n = len(back)
                period = next((p for p in range(1, n // 2 + 1) if back[p:] == back[: n - p]), 0)
                found = math.lcm(found, period)
                if not 0 < found * length <= LONGEST:
                    return 0
        return found

    def _is_worth_it(self, loop: Repeat, count: int) -> bool:
        """Whether so many copies are better a loop than as they are, in local variables."""
        size = count * loop.length
        if not loop.carries:
            return size >= FEWEST_ROWS or self._goes_on(loop)
        copy = self.tokens[loop.start : loop.start + loop.length]
        copy = copy[: (copy + copy).find(copy, 1)]  # several copies may look like one
        return size >= FEWEST_ROWS_OF_STEPS and len(copy) - copy.count(INDEX) >= FEWEST_OPERATIONS

    def _goes_on(self, loop: Repeat) -> bool:
        """Whether copies take what the turns of a loop give, which would have to be kept for them."""
        return any(
            column[0] <= x.ids[0] < column[-1] and x.ids.step == column.step
            for _, operands in loop.rows
            for x in operands
            if isinstance(x.ids, range)
            for column in self.columns
        )

    def _columns(self, at: int, row: int, length: int, count: int) -> list[array[int]]:
        """The operands of one row in all copies, a list for each operand."""
        place = slice(at + row, at + row + length * count, length)
        op, xs = self.ops[at + row], self.xs[place]
        if op < UNARY_END:
            return [xs]
        if op < BINARY_END or op == INDEX:
            return [xs, self.ys[place]]
        return [array("i", [self.entry.extra[x + k] for x in xs]) for k in range(3)]

    def _check(
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
            for _, second, third in self._columns(at, row, length, 3):
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

    def _loop(self, start: int, length: int, count: int) -> Repeat | None:
        repeat = Repeat(start, length, count, [], {}, {})
        for row in range(length):
            columns = self._columns(start, row, length, count)
            operands = [self._operand(column, start, row, length) for column in columns]
            if None in operands:
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

    def _used(self, start: int, length: int, count: int) -> Repeat | None:
        """As `_loop`, with what is used after the loop; of a sum that may be its last value only."""
        repeat = self._loop(start, length, count)
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
        if any(copies != [count - 1] for row, copies in repeat.used.items() if row in repeat.sums):
            return None
        return repeat

    def _with_last(self, repeat: Repeat) -> Repeat | None:
        """Steps, of which the state tells what is used of the last ones."""
        known = {(carry.row, repeat.count - len(carry.first)): carry for carry in repeat.carries}
        for row, copies in [*repeat.used.items()]:
            if all((row, copy) in known for copy in copies):
                del repeat.used[row]
                at = repeat.start + row
                repeat.last += [(at + copy * repeat.length, known[row, copy]) for copy in copies]
            elif copies == [repeat.count - 1]:
                # nobody needs it of a step before: the last one stays as it is
                return self._used(repeat.start, repeat.length, repeat.count - 1)
        return repeat


def _sum(op: int, operands: Sequence[Operand], row: int) -> int:
    """Which operand is the row itself in the copy before, to which the other is added; -1 if none."""
    carries = [x.carry for x in operands]
    own = [k for k, carry in enumerate(carries) if carry and carry.row == row and len(carry.first) == 1]
    return own[0] if len(own) == 1 and (op == _ADD or (op == _SUB and own == [0])) else -1


def _copies(tokens: bytes, at: int, length: int) -> int:
    """How many times what stands at a place is there, one after the other."""
    block, end = tokens[at : at + length], at + length
    while len(block) >= length:
        if tokens.startswith(block, end):
            end += len(block)
            block += block
        else:
            block = block[: len(block) // 2]
    return (end - at) // length


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


def order(found: Sequence[Repeat], n: int) -> Iterator[int | Repeat]:
    """All rows of a function, by position, and loops in place of those that are in one."""
    at = 0
    for repeat in found:
        yield from range(at, repeat.start)
        yield repeat
        at = repeat.start + repeat.length * repeat.count
    yield from range(at, n)
