"""Loops of very few iterations around sums, whose iterations run side by side: unroll and jam.

    for c < 2:  for j:  s[c] += x[j][c]     →     for j:  s[0] += x[j][0];  s[1] += x[j][1]

Each channel of a picture, or each coordinate of a point, has a sum of its own. One after the other, every
addition of a sum waits for the one before it. So the iterations of the loop around the sums are unrolled, and
the loops in it run once for all of them: the sums go on in turn, what they have in common is computed once,
and each still adds up the same numbers in the same order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    CALL,
    COND,
    FOR,
    IDX,
    LOOP,
    PARAM,
    RESOLVE,
    SET,
    ZEROS,
    Func,
    operands,
)
from rose_core.language.ops import FAILS
from rose_core.language.queries import path_of
from rose_core.language.replay import Replay
from rose_core.language.types import REAL, TAN

MOST_TRIPS = 4
"""So many additions go on while one of them waits for the one before it."""

MOST_ROWS = 256
"""The most instructions that the iterations may be unrolled to."""

_ALONE = frozenset((CALL, COND, LOOP, SET, ZEROS))
"""Structural instructions that are not done side by side."""


def can_jam(f: Func, number: int, inside: Sequence[int]) -> bool:
    """Whether the iterations of a loop can run side by side, the results being the same to the bit.

    ``inside``: its block and those of the loops in it that stay loops or are unrolled.
    """
    code, blocks, home = f.code, f.blocks, f.home
    within = set(inside)
    if any(f.type_of(r) not in (REAL, TAN) for r in blocks[number].results):
        return False
    if any(blocks[n].results for n in inside if n != number):
        return False  # vectors of what is in them
    varying = {blocks[number].index}
    sites: dict[int, list[int]] = {}
    """Accumulator from outside → what adds to it."""
    for v in sorted(v for n in inside for v in blocks[n].order):
        ins = code[v]
        op = ins[0]
        if op in _ALONE or (op == RESOLVE and home[ins[1]] not in within):
            return False
        if not varying.isdisjoint(operands(ins, blocks)):
            varying.add(v)
            if op in FAILS:
                return False  # of several failures, the first one is to be told
        if op == ADD_TO:
            root = path_of(f, ins[1])[1]
            if code[root][0] not in (ACCUM, PARAM):
                return False
            if v in varying:
                varying.add(root)
            if home[root] not in within:
                sites.setdefault(root, []).append(v)
    return sum(code[root][0] == PARAM for root in sites) <= 1 and all(
        (len(added) == 1 and home[added[0]] == number) or _are_apart(f, number, added)
        for added in sites.values()
    )


def _are_apart(f: Func, number: int, added: Sequence[int]) -> bool:
    """Whether each iteration of a loop adds to elements of its own, all by the same index."""
    iteration = f.blocks[number].index
    paths = [path_of(f, f.code[v][1])[0] for v in added]
    return bool(set.intersection(*({k for k, i in enumerate(path) if i == iteration} for path in paths)))


Strand = dict[int, int]
"""What the values of one of the iterations that run side by side became."""


class SideBySide(Replay):
    """Copies a function, some of whose loops are unrolled."""

    short: Collection[int]
    """The loops to unroll, by block."""

    def side_by_side(self, number: int) -> list[list[int]]:
        """Write the iterations of a loop out, instruction by instruction; the results of each."""
        block = self.func.blocks[number]
        strands = [{block.index: self.b.const(k, block.size)} for k in range(block.trips)]
        self._block(number, strands)
        return [[strand.get(r, self.env[r]) for r in block.results] for strand in strands]

    def _block(self, number: int, strands: Sequence[Strand]) -> None:
        func, env = self.func, self.env
        for v in func.blocks[number].order:
            ins = func.code[v]
            op = ins[0]
            if op == FOR:
                self._loop(ins[1], strands)
            elif op != IDX:
                given = operands(ins, func.blocks)
                for strand in strands:
                    for x in given:
                        env[x] = strand.get(x, env[x])
                    self.instruction(v)
                    strand[v] = env[v]

    def _loop(self, number: int, strands: Sequence[Strand]) -> None:
        block = self.func.blocks[number]
        stays = number not in self.short
        for iteration in range(1 if stays else block.trips):
            index = self.b.open_for(block.size) if stays else self.b.const(iteration, block.size)
            for strand in strands:
                strand[block.index] = index
            self._block(number, strands)
        if stays:
            self.b.close_for([])
