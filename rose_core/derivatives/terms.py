"""Sums of a few terms, written out: a loop of two turns that adds up a squared distance, say."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rose_core.language.builder import Builder
from rose_core.language.ir import ACCUM, ADD_TO, RESOLVE, Func, operands
from rose_core.language.ops import code
from rose_core.language.replay import Replay, copied
from rose_core.language.types import REAL, Fin

MOST_TERMS = 8

MOST_ROWS = 64
"""The most instructions that a loop may become."""

_ADD = code("add")


def terms(f: Func, numbers: Collection[int]) -> Func:
    """``f``, or a copy with the short sums in the blocks of these numbers written out, in the same order."""
    short = _short(f, numbers)
    sums = _sums(f, short.union(numbers)) if short else set()
    return copied(f, lambda b, args: _WrittenOut(f, b, args, short, sums)) if sums else f


def _short(f: Func, numbers: Collection[int]) -> set[int]:
    """The loops of few turns that are in these blocks, and those that are in them."""
    short: set[int] = set()
    rows = [len(block.order) for block in f.blocks]
    # a loop's block has a higher number than the blocks around it
    for number in range(len(f.blocks) - 1, 0, -1):
        block = f.blocks[number]
        assert isinstance(block.size, Fin)
        written = block.size.size * rows[number]
        is_short = block.size.size <= MOST_TERMS and written <= MOST_ROWS and not block.results
        if is_short and number not in numbers:
            short.add(number)
        rows[block.parent] += written
    for number in sorted(short):
        if f.blocks[number].parent not in numbers and f.blocks[number].parent not in short:
            short.discard(number)
    return short


def _sums(f: Func, blocks: Collection[int]) -> set[int]:
    """The accumulators of numbers that are used in these blocks only."""
    sums = {v for v, ins in enumerate(f.code) if ins[0] == ACCUM and f.types[v].inner is REAL}  # type: ignore[attr-defined]
    for v, ins in enumerate(f.code):
        if ins[0] not in (ADD_TO, RESOLVE) or f.home[v] not in blocks:
            sums.difference_update(operands(ins, f.blocks))
    return {v for v in sums if f.home[v] in blocks}


class _WrittenOut(Replay):
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
        block = self.func.blocks[number]
        for turn in range(block.size.size):  # type: ignore[attr-defined]
            self.env[block.index] = self.b.const(turn, block.size)
            self.block(number)

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        env = self.env
        if v in self.sums or (ins[0] == RESOLVE and ins[1] in self.sums):
            env[v] = env[ins[1]]
        elif ins[0] == ADD_TO and ins[1] in self.sums:
            env[ins[1]] = self.b.binary(_ADD, env[ins[1]], env[ins[2]])
        else:
            super().structural(v, ins)
