"""Short loops unrolled before anything is differentiated, where something comes of it.

Most are left for later (`optimise.unroll`), since a derivative of few instructions is made in less time. Here
it is a step towards something else: numbers can be compared, or loops put together.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rose_core.language.builder import Builder
from rose_core.language.ir import ACCUM, ADD_TO, REF_INDEX, RESOLVE, Func, operands
from rose_core.language.ops import code
from rose_core.language.queries import BEYOND_BINARY, among, inner_first, places
from rose_core.language.replay import Verbatim, copied
from rose_core.language.types import REAL, array

_ADD = code("add")
_ACCUMULATORS = among([ACCUM])


def written_out(f: Func, short: Collection[int]) -> Func:
    """``f`` with the loops of these numbers unrolled; numbers that only these add up are sums.

    The terms are in the same order as before, so that sums are the same to the bit.
    """
    sums = sums_of(f, short)
    return copied(f, WrittenOut, short, sums) if short else f


def short_sums(f: Func, numbers: Collection[int], most_trips: int, most_rows: int) -> set[int]:
    """The loops of few iterations in these blocks that have no results, and those that are in them."""
    short: set[int] = set()
    rows = [len(block.order) for block in f.blocks]
    for number, block in inner_first(f):
        written = block.trips * rows[number]
        is_short = block.trips <= most_trips and written <= most_rows and not block.results
        if is_short and number not in numbers:
            short.add(number)
        rows[block.parent] += written
    for number in sorted(short):
        if f.blocks[number].parent not in numbers and f.blocks[number].parent not in short:
            short.discard(number)
    return short


def sums_of(f: Func, short: Collection[int], vectors: Collection[int] = ()) -> set[int]:
    """The accumulators of numbers, and those of ``vectors``, to which nothing but these loops adds, and the
    block that they are in. To the vectors, of which each element is one, these may add elements."""
    numbers = {v for v in places(f, _ACCUMULATORS) if f.inner_type_of(v) is REAL}
    sums = numbers.union(vectors)
    for v in places(f, BEYOND_BINARY) if sums else ():
        ins = f.code[v]
        if ins[0] == REF_INDEX and ins[1] in sums:
            continue
        taken = [_whole(f, x) for x in operands(ins, f.blocks)]
        is_sum = (
            (ins[0] == ADD_TO or (ins[0] == RESOLVE and taken[0] == ins[1]))
            and taken[0] in sums
            and _becomes_part(f, v, f.home[taken[0]], short)
        )
        sums.difference_update(taken[1:] if is_sum else taken)
    return sums


def _whole(f: Func, x: int) -> int:
    """Of an element of an accumulator, the accumulator."""
    return f.code[x][1] if x >= 0 and f.code[x][0] == REF_INDEX else x


def _becomes_part(f: Func, v: int, number: int, short: Collection[int]) -> bool:
    """Whether an instruction is in this block, once these loops are unrolled."""
    home = f.home[v]
    while home != number and home in short:
        home = f.blocks[home].parent
    return home == number


class WrittenOut(Verbatim):
    """Copies a function with some of its loops unrolled."""

    def __init__(
        self, func: Func, b: Builder, args: Sequence[int], short: Collection[int], sums: Collection[int]
    ) -> None:
        super().__init__(func, b, args)
        self.short = short
        self.sums = sums
        """What is added to these is an addition."""

    def loop(self, v: int, number: int) -> None:
        if number not in self.short:
            super().loop(v, number)
            return
        block, iterations = self.func.blocks[number], list[list[int]]()
        for iteration in range(block.trips):
            self.env[block.index] = self.b.const(iteration, block.size)
            self.block(number)
            iterations.append([self.env[r] for r in block.results])
        self.give(v, iterations)

    def give(self, v: int, iterations: Sequence[Sequence[int]]) -> None:
        """Have vectors of what the iterations of a loop give for its results."""
        block = self.func.blocks[self.func.code[v][1]]
        types = [array(block.size, self.func.type_of(r)) for r in block.results]
        self.replaced[v] = [self.b.vec(elems, t) for *elems, t in zip(*iterations, types, strict=True)]

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        env = self.env
        if v in self.sums or (ins[0] == RESOLVE and ins[1] in self.sums):
            env[v] = env[ins[1]]
        elif ins[0] == ADD_TO and ins[1] in self.sums:
            env[ins[1]] = self.b.binary(_ADD, env[ins[1]], env[ins[2]])
        else:
            super().structural(v, ins)
