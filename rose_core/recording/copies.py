"""Copies of rows, as a loop: what one row has as operand in each of them, and what is handed on.

They are checked a column at a time: the operands that one row has in all copies are a slice of the
recording.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, zip_longest

from rose_core.language.ir import ACCUM, ADD_TO, FOR, GET, INDEX, LOOP, RESOLVE, SET, VEC, Func
from rose_core.language.ops import BINARY_END, OPS, TABLE_END, UNARY_END, code
from rose_core.language.types import BOOL, REAL, TAN, Array
from rose_core.recording.columns import compact, step_of
from rose_core.recording.harm import HARMFUL, is_harmful
from rose_core.recording.operands import CALLED, END, HEADS
from rose_core.recording.repeat import Carry, Head, Operand, Repeat
from rose_core.recording.rows import RESULT
from rose_core.recording.share import Entry
from rose_core.recording.typed import Typed

_FARTHEST = 3
"""How many copies before it one may need."""

_ADD, _SUB, _SELECT = map(code, ("add", "sub", "select"))

_TAKE_ANY = frozenset(
    (INDEX, VEC, END, ACCUM, SET, _SELECT, *CALLED, *(k for k, op in enumerate(OPS) if "I" in op.ins))
)
"""Operations that take values of several types, as vectors and indices are."""

_COMMUTE = frozenset(k for k, op in enumerate(OPS) if op.commutes)

_WITHOUT_HEAD = frozenset((INDEX, ACCUM, ADD_TO, RESOLVE))

_CONTINUE = frozenset((GET, ADD_TO, RESOLVE))
"""Rows that are of use in the same copy only as what their first operand is."""

_MOVES = frozenset((INDEX, VEC))
"""Rows that compute nothing."""

_NO_VALUES = frozenset((FOR, END, ACCUM, ADD_TO, *CALLED))
"""Rows that others continue."""

_BY_SIZE = frozenset(k for k, op in enumerate(OPS) if op.sized or op.name == "idiv")
"""Operations on an index whose further operands are a size, and a note."""


_MUST_END = 3
"""Which of the numbers of a loop with a state says whether it must end."""


class Copies(Typed):
    """The rows of a function, in which there may be copies."""

    def __init__(self, entry: Entry, callee: Callable[..., Func] | None = None) -> None:
        super().__init__(entry, callee)
        self._certain: set[int] = set()
        """Rows that results need, as far as that was asked."""
        self._cuts: dict[tuple[int, int], int] = {}
        """By where a run of copies was found and their length, where they start."""

    def columns_of(self, at: int, row: int, length: int, count: int) -> list[array[int]]:
        """The operands of one row in all copies, a list for each operand; none if these are not as many."""
        place = slice(at + row, at + row + length * count, length)
        op, xs = self.ops[at + row], self.xs[place]
        if op < UNARY_END or op in (GET, ACCUM, RESOLVE):
            return [xs]
        ys = self.ys[place]
        if op < BINARY_END or op in (INDEX, ADD_TO):
            if op in _COMMUTE and _is_exchanged(xs, ys):
                xs[0], ys[0] = ys[0], xs[0]
            return [xs, ys]
        if op == FOR or ys.count(ys[0]) < len(ys):
            return []
        return [self._listed(xs, k) for k in range(HEADS.get(op, 0), ys[0])]

    def _listed(self, xs: array[int], k: int) -> array[int]:
        extra = self.entry.extra
        return array("i", [extra[x + k] for x in xs])

    def _head(self, at: int, row: int, length: int, count: int) -> Head | None:
        """What stands before the operands; None if it is not the same, or may not go in another order."""
        place = slice(at + row, at + row + length * count, length)
        op, xs, ys = self.ops[at + row], self.xs[place], self.ys[place]
        if op in _WITHOUT_HEAD:
            return Head([], [])
        if op in (FOR, GET):
            columns = [xs if op == FOR else ys]
        else:
            columns = [*(self._listed(xs, k) for k in range(HEADS.get(op, 0))), ys]
        calls = CALLED.get(op, 0)
        called, columns = columns[:calls], columns[calls:]
        if any(column.count(column[0]) < len(column) for column in columns):
            return None
        numbers = [column[0] for column in columns]
        inner = (1 + numbers[0], numbers[0]) if op == LOOP else (0, 0)
        if not all(map(self._is_one, called, inner)):
            return None
        return Head(numbers, [compact(column, 0) for column in called])

    def _is_one(self, called: Sequence[int], inner: int) -> bool:
        """Whether these are one function, but for literals, which may be called in any order."""
        if self.callee is None:
            return False
        functions = (self.callee(k, inner) if k >= 0 else None for k in dict.fromkeys(called))
        f = next(functions)
        return not (f and f.effects) and all(g is f for g in functions)

    def check(
        self, at: int, length: int, count: int, loop: Callable[[int, int, int], Repeat | None]
    ) -> Repeat | None:
        """The loop of these copies, perhaps from a later row on; None if they are no loop."""
        start = self._cuts.get((at, length), -1)
        if start < 0:
            start = self._cuts[at, length] = self._cut(at, length)
        count -= start > at
        # the first copy may differ from the others, where a sum starts
        return loop(start, length, count) or loop(start + length, length, count - 1)

    def _cut(self, at: int, length: int) -> int:
        """The first row at which copies can start so that each needs the least of the one before."""
        reach: dict[int, int] = {}
        """Row → how far it is used, from the start of its copy."""
        whole: set[int] = set()
        """Rows that others continue, which are in the same copy then."""
        for row, continues, second, third in self._seconds_and_thirds(at, length):
            back = at + row + length - second
            if third == second + length and 0 < back <= row + length:
                of = row - back if back <= row else row - back + length
                reach[of] = max(reach.get(of, 0), of + back)
                if continues:
                    whole.add(of)
        # a value is handed on where copies start after its row and not after its last use
        crossed = [0] * (length + 1)
        for row, last in reach.items():
            if last - row >= length and self._is_element(at + row, at):
                continue  # it is read again
            weight = length if row in whole else 1
            crossed[row + 1] += weight
            crossed[min(last + 1, length)] -= weight
            if last >= length:
                crossed[0] += weight
                crossed[last - length + 1] -= weight
        totals = [*accumulate(crossed[:length])]
        copy = self.ops[at : at + length]
        if FOR in copy:  # copies start outside of loops
            depths = [0, *accumulate((op == FOR) - (op == END) for op in copy)]
            outside = min(depths)
            totals = [
                total + length * (depth - outside) for total, depth in zip(totals, depths, strict=False)
            ]
        return at + totals.index(min(totals))

    def _seconds_and_thirds(self, at: int, length: int) -> Iterator[tuple[int, bool, int, int]]:
        """What the second and the third copy have as operands: row, whether it continues that, and both."""
        second, third = at + length, at + 2 * length
        xs = zip(self.xs[second:third], self.xs[third : third + length], strict=True)
        ys = zip(self.ys[second:third], self.ys[third : third + length], strict=True)
        for row, (op, x, y) in enumerate(zip(self.ops[at:second], xs, ys, strict=True)):
            if op < BINARY_END or op == INDEX:
                yield row, False, *x
                if op >= UNARY_END:
                    yield row, False, *y
            else:
                continues = op in _CONTINUE
                for _, in_second, in_third in self.columns_of(at, row, length, 3):
                    yield row, continues, in_second, in_third
                    continues = False

    def loop(self, start: int, length: int, count: int, with_state: bool = False) -> Repeat | None:
        """The loop of copies; None if they are none. ``with_state``: sums are of its state, too."""
        repeat = Repeat(start, length, count, [], {}, {}, {}, range(count))
        rows = repeat.rows
        depth = 0
        for row in range(length):
            op = self.ops[start + row]
            columns = self.columns_of(start, row, length, count)
            operands = [self._operand(column, start, row, length) for column in columns]
            if None in operands or not self._are_alike(start + row, columns, operands, start):
                return None
            rows.append((op, operands))  # type: ignore[arg-type]
            if op < TABLE_END or op == INDEX:
                continue
            depth += (op == FOR) - (op == END)
            head = self._head(start, row, length, count)
            if head is None or depth < 0 or (op in _CONTINUE and not rows[row][1][0].back):
                return None
            repeat.heads[row] = head
        if depth or all(op in _MOVES for op, _ in rows):
            return None  # half a loop, or a loop that would copy vectors
        carried = [x.carry for _, operands in rows for x in operands if x.carry]
        adds = _sums(rows)
        if adds is not None and not with_state:
            for row, (sum_, k) in adds.items():
                carry = rows[row][1].pop(k).carry
                repeat.adds[row] = sum_
                if carry:
                    repeat.sums[sum_] = carry.first[0]
            return repeat
        for carry in carried:
            while carry.first and carry not in repeat.carries:
                repeat.carries.append(carry)
                carry = Carry(carry.row, carry.first[1:])
        return repeat

    def _are_alike(
        self, row: int, columns: Sequence[array[int]], operands: Sequence[Operand | None], start: int
    ) -> bool:
        """Whether operands are of one type in all copies, where an operation takes any; sizes are literals.

        A loop has no table of vectors: what it reads is one, or rows of a matrix.
        """
        op = self.ops[row]
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
        elif op == INDEX:
            columns = columns[:1]
        elif op == _SELECT:
            columns = columns[1:]
        asked = self.types_of_operands(row) if op in HEADS else ()
        for column, t in zip_longest(columns, asked[: len(columns)]):
            outside = {x for x in column if x < start}
            if len(outside) < 2:
                continue
            types = {t} if t else {self.type_of(x) for x in outside}
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

    def _operand(self, column: array[int], start: int, row: int, length: int) -> Operand | None:
        """An operand of a row, in the copies from a row on; None if it is not the same in all."""
        back, step = start + row - column[0], step_of(column)
        if 0 < back <= row and step == length:
            return Operand(back)
        ids = compact(column, step)
        if max((ids[0], ids[-1]) if step else ids) < start:
            return Operand(0, ids)
        for far in range(1, min(_FARTHEST, len(column) - 2) + 1):
            if start <= column[far] < start + length and max(column[:far]) < start:
                if step_of(column[far:]) == length:
                    again = self._read_again(column, start)
                    return again or Operand(carry=Carry(column[far] - start, tuple(column[:far])))
                return None
        return None

    def _read_again(self, column: array[int], start: int) -> Operand | None:
        """The operand whose values are these rows, if they read elements from outside, in equal steps."""
        if not all(self._is_element(row, start) for row in column):
            return None
        vectors, ids = ([of[row] for row in column] for of in (self.xs, self.ys))
        first, second, *_ = numbers = [self.entry.values[~k] for k in ids]
        is_even = numbers == [first + k * (second - first) for k in range(len(ids))]
        if not is_even or second <= first or vectors.count(vectors[0]) < len(vectors):
            return None
        return Operand(0, array("i", ids), of=vectors[0])

    def _is_element(self, row: int, start: int) -> bool:
        """Whether a row reads an element, which a literal names, of what is there before ``start``."""
        return row >= 0 and self.ops[row] == INDEX and self.ys[row] < 0 and 0 <= self.xs[row] < start

    def used(self, start: int, length: int, count: int, with_state: bool = False) -> Repeat | None:
        """As `loop`, with what is used after the loop; what is, but for their last values, is no sum."""
        repeat = self.loop(start, length, count, with_state)
        if repeat is None:
            return None
        end = start + length * count
        last = self.last_from(end)
        rows = sorted(last) if len(last) < end - start else range(start, end)
        for v in rows:
            if start <= v < end and last.get(v, -1) >= end:
                repeat.used.setdefault((v - start) % length, []).append((v - start) // length)
        if any(self.ops[start + row] in _NO_VALUES for row in repeat.used):
            return None
        for row, copies in [*repeat.used.items()]:
            if len(copies) <= _FARTHEST:
                elements = [start + row + copy * length for copy in copies]
                if all(self._is_element(v, start) for v in elements):
                    repeat.reads += elements
                    del repeat.used[row]
        if not repeat.carries and not repeat.sums and not repeat.keep_used():
            return None
        used_sums = repeat.used.keys() & repeat.adds.keys()
        if any(row not in repeat.sums or repeat.used[row] != [count - 1] for row in used_sums):
            return self.used(start, length, count, with_state=True)
        found = self._with_last(repeat) if repeat.carries else repeat
        return None if found is None or self._does_harm(found) else found

    def _does_harm(self, repeat: Repeat) -> bool:
        """Whether something does harm in an iteration in which nobody needs it."""
        done = [*repeat.used, *(carry.row for carry in repeat.carries)]
        harmful = [row for row in repeat.with_needs(done) if self._is_harmful(repeat, row)]
        if not harmful:
            return False
        certain = repeat.with_needs(row for row in repeat.used if self._is_always_needed(repeat, row))
        for row in harmful:
            if row not in certain:
                needed = self._needed[repeat.start + row : repeat.end : repeat.length]
                if not all(needed[copy] for copy in repeat.live):
                    return True
        return False

    def _is_always_needed(self, repeat: Repeat, row: int) -> bool:
        """Whether a row is certainly needed in all iterations; what is added to a sum is, if the sum is."""
        copies = repeat.used[row]
        is_in_all = row in repeat.sums or len(copies) == len(repeat.live)
        rows = (repeat.start + copy * repeat.length + row for copy in copies)
        return is_in_all and all(map(self._is_needed, rows))

    def _is_needed(self, row: int) -> bool:
        """Whether it is certain that a result needs a row, by what uses it last, and that, and so on."""
        way = []
        while row != RESULT and row not in self._certain:
            way.append(row)
            row = self.last.get(row, -1)
            if row < 0:
                return False
        self._certain.update(way)
        return True

    @cached_property
    def _needed(self) -> bytearray:
        return self.needed(lambda k: self.callee is None or self.callee(k).effects)

    def _is_harmful(self, repeat: Repeat, row: int) -> bool:
        """Whether a row of a copy does harm where nobody needs it."""
        op, operands = repeat.rows[row]
        if op == GET:  # of what a call gives, the derivative may be infinite
            op = repeat.rows[row := row - operands[0].back][0]
        if op not in CALLED:
            return op in HARMFUL
        numbers, called = repeat.heads[row]
        if op == LOOP and (numbers[_MUST_END] or called[1][0] >= 0):
            return True
        return self.callee is None or any(is_harmful(self.callee(k)) for k, *_ in called if k >= 0)

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
            fewer = count > _FARTHEST + 1
            return self.used(repeat.start, repeat.length, count, with_state=True) if fewer else None
        known = {(carry.row, count - len(carry.first)): carry for carry in repeat.carries}
        for row, copies in [*repeat.used.items()]:
            if all((row, copy) in known for copy in copies):
                del repeat.used[row]
                at = repeat.start + row
                repeat.last += [(at + copy * repeat.length, known[row, copy]) for copy in copies]
        return repeat


def _is_exchanged(xs: Sequence[int], ys: Sequence[int]) -> bool:
    """Whether the first copy has as its second operand what the others have as their first.

    Python's programs have operands in the order in which they were made: what a state starts from may come
    before a number that all copies have, and what it is later comes after that.
    """
    return len(xs) > 2 and ys[0] == xs[1] == xs[2] != xs[0]


def _sums(rows: Sequence[tuple[int, list[Operand]]]) -> dict[int, tuple[int, int]] | None:
    """The rows that add to what is handed on from copy to copy, if nothing else is done with that.

    Each with the last row that adds to the same sum in a copy, and which operand is the sum so far.
    """
    users: dict[int, list[int]] = {}
    for row, (_, operands) in enumerate(rows):
        for x in operands:
            if x.back:
                users.setdefault(row - x.back, []).append(row)
    adds: dict[int, tuple[int, int]] = {}
    for first, (_, operands) in enumerate(rows):
        for k, x in enumerate(operands):
            if not x.carry:
                continue
            row, last = first, x.carry.row
            if len(x.carry.first) > 1 or last in adds:
                return None
            while True:
                if rows[row][0] != _ADD and (rows[row][0] != _SUB or k):
                    return None
                adds[row] = last, k
                after = users.get(row, [])
                if row == last:
                    break
                if len(after) != 1:
                    return None
                (following,) = after
                k = [y.back for y in rows[following][1]].index(following - row)
                row = following
            if after:
                return None
    return adds
