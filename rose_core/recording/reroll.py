"""Loops that an author's language has unrolled: found again in the rows of a recording.

    s + 2 * sin(v[0]) + 7 * sin(v[1]) + …     →     for k:  s += [2, 7, …][k] * sin(v[k])

A page's own ``for`` loop around symbolic operations leaves the same rows over and over, which differ in
literals, in elements of vectors, and in results of earlier rows. A long run of such copies becomes a
loop: what differs stands in tables, and a sum that goes on from copy to copy is an accumulator, which
adds in the same order and so gives the same bits. What else a copy has from those before is a loop's
state.

Copies are found by comparing opcodes as bytes, and checked as `recording.copies` says. Nothing here makes
a Python object for each row.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence

from rose_core.language.ir import ACCUM, ADD_TO, CALL, FOR, GET, INDEX, RESOLVE, SET, VEC, Func
from rose_core.language.ops import EFFORT, TABLE_END, code
from rose_core.recording.copies import Copies
from rose_core.recording.operands import CALLED, END, operands_of
from rose_core.recording.repeat import Repeat
from rose_core.recording.roll import FEWEST as FEWEST_CALLS
from rose_core.recording.share import Entry, places
from rose_core.recording.totals import Columns, totals

FEWEST_ROWS = 256
"""Rows that are worth a loop: fewer run faster as they are, with everything in local variables."""

FEWEST_COPIES = 16
FEWEST_LARGE_COPIES = 6
"""Copies that are worth a loop: fewer will do where each is long, or has a loop in it, or calls."""

LONG = 32
LONG_NEXT = 48
LONG_STEP = 192
"""Rows of a copy that is long; of one that reads what others do; of one that needs another before it."""

FEWEST_ROWS_OF_STEPS = 512
"""Rows that are worth a loop with a state, which has to keep that of every iteration for its derivative."""

FEWEST_ROWS_OF_ONE = 2048
"""The same where a step is one operation: fewer have powers in them that are computed once."""

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

_ADD, _POW, _SELECT = map(code, ("add", "pow", "select"))
_OTHER = 255
_OTHERS = bytes([_OTHER])
_NO_OTHERS = re.compile(b"[^%b]{%d}" % (_OTHERS, _PROBE))
"""What is in no copy would be in each of these, too."""
_IN_COPIES = frozenset((*range(_SELECT + 1), INDEX, VEC, FOR, END, GET, ACCUM, ADD_TO, RESOLVE, SET))
_TOKENS = bytes(op if op in _IN_COPIES else _OTHER for op in range(256))
_TOKENS_WITH_CALLS = bytes(op if op in _IN_COPIES or op in CALLED else _OTHER for op in range(256))

_LARGE = bytes((FOR, *CALLED))
"""Rows that are many: loops, and what calls functions."""

_SIZE = 32
"""As how many rows such a one counts."""

_SIZES = bytes(_SIZE if op in _LARGE else 1 for op in range(256))
_EFFORTS = bytes(EFFORT[op] if op < TABLE_END and op != _POW else _SIZES[op] for op in range(256))
"""By opcode, as how many rows one counts; and that where operations count for more that take longer.

Next to these, what a loop adds is little. Most powers are squares, and do not take long.
"""


def repeats(
    entry: Entry, callee: Callable[..., Func] | None = None, are_in_rows: Callable[[], bool] | None = None
) -> list[Repeat]:
    """The runs of copies in the rows of a function, in their order.

    Args:
        entry: the function.
        callee: gives the functions that it calls by number, as they are built; without it, there are no calls
            in copies.
        are_in_rows: whether calls are rows of calls, in place of loops that leave many outside
            (`FEWEST_CALLS`).
    """
    tokens = entry.ops.translate(_TOKENS_WITH_CALLS if callee else _TOKENS)
    if not any(map(_is_enough, tokens.split(_OTHERS))):
        return []
    search = _Search(entry, tokens, callee)
    if len(search.calls) < FEWEST_CALLS:
        are_in_rows = None
    at = 0
    while run := _NO_OTHERS.search(tokens, at):
        if run.start() > at:
            at -= (at - run.start()) // _STEP * _STEP
            continue
        if are_in_rows and search.calls_outside(at) >= FEWEST_CALLS:
            if are_in_rows():
                return []
            are_in_rows = None
        end = search.copies(at)
        # a run is looked at once, whether there are loops in it or not
        at = max(at + _STEP, end, search.free)
    if search.there:
        search.forget_terms()
    return search.found


class _Search(Copies):
    def __init__(self, entry: Entry, tokens: bytes, callee: Callable[..., Func] | None) -> None:
        super().__init__(entry, callee)
        self.tokens = tokens
        self.found: list[Repeat] = []
        self.columns = Columns()
        """Of the loops, what is used in all iterations."""
        self.homes: list[tuple[Repeat, int]] = []
        """The loop of each, and which row of a copy."""
        self.calls = [*places(entry.ops, CALL)]
        self.calls_inside = 0
        """How many of these are in loops."""
        self._samples: dict[tuple[int, int, int], Repeat | None] = {}
        self.there: dict[int, int] = {}
        """Total → where the loop starts that makes it."""

    @property
    def free(self) -> int:
        """The first row after all loops that have been found."""
        return self.found[-1].end if self.found else 0

    def calls_outside(self, at: int) -> int:
        """How many calls before a row are in no loop that has been found."""
        return bisect_left(self.calls, at) - self.calls_inside

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
                first = self._run_start(at)
                if last := self._totals(first, first + _copies(tokens, first, 1)):
                    return last
            # most differ in what would be the last of so many already
            if not tokens.startswith(copy, at + (FEWEST_LARGE_COPIES - 1) * length):
                continue
            count = _copies(tokens, at, length)
            if count < FEWEST_LARGE_COPIES:
                continue
            if count >= _fewest(copy):
                end = max(end, at + count * length)
            found = list(self._within(at, length, count, is_run=True))
            if not found and (several := self._period(at, length, count)) > 1:
                found = list(self._within(at, several * length, count // several, is_run=True))
            if found:
                several = len(found) > 1
                found[0] = self._longer(found[0], self.free, found[1].start if several else len(tokens))
                found[-1] = self._longer(found[-1], found[-2].end if several else self.free, len(tokens))
                self.found += found
                for repeat in found:
                    self.calls_inside += self.ops.count(CALL, repeat.start, repeat.end)
                    for row, column in repeat.columns():
                        self.columns.add(column)
                        self.homes.append((repeat, row))
                break
        return end

    def _totals(self, start: int, end: int) -> int:
        """Let loops add up what their iterations give; the end of such rows, or 0 if there are none."""
        last = 0
        for total in totals(self, start, end, self.columns, self._is_there):
            loop, row = self.homes[total.column]
            loop.totals.append((row, total))
            self.there[total.at] = loop.start
            last = total.at + 1
            self.found.append(Repeat(total.start, 1, last - total.start, [], {}, {}, {}, is_total=True))
        return last

    def _is_there(self, x: int, column: int) -> bool:
        return self.there.get(x, x) < self.homes[column][0].start

    def forget_terms(self) -> None:
        """Forget what of loops is used by totals only, which are made in them."""
        needed = set(self.entry.results)
        for item in order(self.found, len(self.ops)):
            if not isinstance(item, Repeat):
                needed.update(operands_of(self.ops[item], self.xs[item], self.ys[item], self.entry.extra))
                continue
            needed.update(
                item.sums.values(), *((x.of, *x.ids) for _, operands in item.rows for x in operands)
            )
            needed.update(*(carry.first for carry in item.carries), (self.xs[row] for row in item.reads))
            needed.update(total.first or 0 for _, total in item.totals)
        for loop in self.found:
            for row in dict.fromkeys(row for row, _ in loop.totals):
                at = loop.start + row
                left = [copy for copy in loop.used.pop(row) if at + copy * loop.length in needed]
                if left:
                    loop.used[row] = left

    def _run_start(self, at: int) -> int:
        """The first row of those that are like this one, up to it."""
        free, tokens = self.free, self.tokens
        while at > free and tokens[at - 1] == tokens[at]:
            at -= 1
        return at

    def _longer(self, repeat: Repeat, first: int, last: int) -> Repeat:
        """A loop with the copies right before and after it, between these rows.

        A run that is found where a copy has begun already lacks that one, and a part of the last.
        """
        length = repeat.length
        start, end = self._whole(repeat.start, repeat.end, length, first, last)
        for a, b in ((start, end), (repeat.start, end), (start, repeat.end)):
            if (a, b) != (repeat.start, repeat.end):
                longer = self.used(a, length, (b - a) // length)
                if longer is not None:
                    return longer
        return repeat

    def _whole(self, start: int, end: int, length: int, first: int, last: int) -> tuple[int, int]:
        """From where to where there are copies like these, between two rows."""
        tokens = self.tokens
        copy = tokens[start : start + length]
        while start - length >= first and tokens.startswith(copy, start - length):
            start -= length
        while end + length <= last and tokens.startswith(copy, end):
            end += length
        return start, end

    def _longest(self, start: int, length: int, count: int) -> Repeat | None:
        """As `used`, with the copies right before and after if they can be in a loop that is one anyway."""
        found = None
        if count >= _fewest(self.tokens[start : start + length]):
            first, end = self._whole(start, start + count * length, length, self.free, len(self.tokens))
            longer = (end - first) // length
            found = self.used(first, length, longer) if longer > count else None
        return found or self.used(start, length, count)

    def _within(self, at: int, length: int, count: int, is_run: bool = False) -> Iterator[Repeat]:
        """The loops in a run, or a part of one: one for all of it, else those in its halves."""
        copy = self.tokens[at : at + length]
        fewest = _fewest(copy)
        if count < fewest:
            return
        sample = self._sample(at, length, min(count, _SAMPLE))
        if sample is not None and not self._is_worth_it(sample, count):
            return
        found = sample and self.check(at, length, count, self._longest if is_run else self.used)
        if found is not None:
            # a sum may turn out to be a state
            if len(found.live) >= fewest and (not found.carries or self._is_worth_it(found, count)):
                yield found
        else:
            half = count // 2
            least = max(FEWEST_ROWS, FEWEST_COPIES * length if _is_flat(copy) else 0)
            for start, part in ((at, half), (at + half * length, count - half)):
                if part * length >= least:
                    yield from self._within(start, length, part)

    def _sample(self, at: int, length: int, count: int) -> Repeat | None:
        """The loop of a few copies, which both a run and its first half begin with."""
        key = at, length, count
        if key not in self._samples:
            self._samples[key] = self.check(at, length, count, self.loop)
        return self._samples[key]

    def _period(self, at: int, length: int, count: int) -> int:
        """How many copies after it one is like another, where they look all alike; 0 if that is not clear.

        The cells of a row are computed alike, but those at its ends have other neighbours.
        """
        if count < 2 * _fewest(self.tokens[at : at + length]):
            return 0
        count = min(count, _MOST_ALIKE)
        first = count // 4  # the first ones may need what is before all of them
        found = 1
        for row in range(length):
            for column in self.columns_of(at, row, length, count):
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
        ops = self.ops[loop.start : loop.start + loop.length]
        size = count * _size(ops)
        if not loop.carries:
            if not self._reads_again(loop):
                size = count * _effort(ops)
            elif count < FEWEST_COPIES and len(ops) < LONG_NEXT and _is_flat(ops):
                return False
            return size >= FEWEST_ROWS or self._goes_on(loop)
        copy = self.tokens[loop.start : loop.start + loop.length]
        if count < FEWEST_COPIES and len(copy) < LONG_STEP and _is_flat(copy):
            return False
        if loop.chooses():  # of such a loop, reverse mode keeps nothing: see `derivatives.extremes`
            return True
        copy = copy[: (copy + copy).find(copy, 1)]  # several copies may look like one
        is_one = len(copy) - copy.count(INDEX) < 2
        return size >= (FEWEST_ROWS_OF_ONE if is_one else FEWEST_ROWS_OF_STEPS)

    def _reads_again(self, loop: Repeat) -> bool:
        """Whether copies read elements that others read, too, so that cotangents are added up in memory."""
        elements = loop.elements(self.entry.values)
        columns = {(vector, *ks) for _, vector, ks in elements if ks.count(ks[0]) < len(ks)}
        read = [(vector, k) for vector, *ks in columns for k in ks]
        return len({*read}) < len(read)

    def _goes_on(self, loop: Repeat) -> bool:
        """Whether copies take what the iterations of a loop give, which would have to be kept for them."""
        ids = (x.ids for _, operands in loop.rows for x in operands if isinstance(x.ids, range))
        return any(
            column[0] <= taken[0] < column[-1] and taken.step == column.step
            for taken in ids
            for _, column in self._columns_at(taken[0])
            if isinstance(column, range)
        )

    def _columns_at(self, row: int) -> Iterator[tuple[int, Sequence[int]]]:
        """The columns of the loop in which a row is, if it is in one."""
        k = bisect_right(self.found, row, key=lambda loop: loop.start) - 1
        return self.found[k].columns() if k >= 0 else iter(())


def _fewest(copy: bytes) -> int:
    return FEWEST_COPIES if _effort(copy) < LONG and _is_flat(copy) else FEWEST_LARGE_COPIES


def _is_flat(copy: bytes) -> bool:
    """Whether there are no loops in it, and no calls."""
    return _size(copy) == len(copy)


def _size(rows: bytes) -> int:
    """How many rows these count as."""
    return sum(rows.translate(_SIZES))


def _effort(rows: bytes) -> int:
    """As `_size`, where those count for more that take longer."""
    return sum(rows.translate(_EFFORTS))


def _is_enough(rows: bytes) -> bool:
    """Whether these could be worth a loop, if all were in it and no other came before it."""
    n = len(rows)
    return n >= FEWEST_ROWS or (n * _SIZE >= FEWEST_ROWS and _effort(rows) >= FEWEST_ROWS)


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


def order(found: Sequence[Repeat], n: int) -> Iterator[int | Repeat]:
    """All rows of a function, by position, and loops in place of those that are in one."""
    at = 0
    for repeat in found:
        yield from range(at, repeat.start)
        yield repeat
        at = repeat.end
    yield from range(at, n)
