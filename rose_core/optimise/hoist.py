"""Loops inside of loops that do the same in every iteration, moved out of them, before anything is
differentiated.

A softmax may be written as in a book, where each share has the sum of all in it:

    for i:  y[i] = x[i] / sum(x)     →     s = sum(x);  for i:  y[i] = x[i] / s

The builder puts an operation where its operands are; this does so with whole loops, and the accumulators that
they add to. It comes before the derivatives, where each iteration would have a share of its own in the
cotangent of such a sum. Columns are read ahead in the same way: a loop around sums of ``a[k][i] * b[k][j]``
runs two iterations at a time if one of these is a vector. And so is what an iteration computes again and
again for iterations of a loop around it (`optimise.invariants`).
"""

from __future__ import annotations

from collections.abc import Sequence

from rose_core.language.builder import Builder
from rose_core.language.ir import FOR, GET, IDX, INDEX, RESOLVE, Func, operands
from rose_core.language.ops import TABLE_END
from rose_core.language.queries import remembered, users_of_accumulators
from rose_core.language.replay import Replacing, Verbatim, copied
from rose_core.language.types import REAL, Array
from rose_core.optimise.copies import stays
from rose_core.optimise.invariants import MOST, Invariants, invariants
from rose_core.optimise.movable import PURE, Loop, cannot_fail
from rose_core.optimise.numbering import numbered

_MOST_ROUNDS = 6
"""How often loops are looked at."""

_FEWEST = 6
"""The fewest elements of a column that is read by itself."""


def hoisted(f: Func) -> Func:
    """``f``, or a copy with such loops moved; the functions that it calls are left."""
    return _hoisted(f) if _inner_loops(f) and not stays(f) else numbered(f)


@remembered
def _hoisted(f: Func) -> Func:
    left = MOST
    # what was moved out of a loop may be the same in all iterations of another one around it
    for _ in range(_MOST_ROUNDS):
        before = f
        f, left = _once(f, left)
        if f is before:
            break
    return f


def _inner_loops(f: Func) -> list[int]:
    return [block.owner for block in f.blocks if block.parent > 0]


def _once(f: Func, left: int) -> tuple[Func, int]:
    """One round: ``f`` or a copy, and how many of so many elements `Invariants` have left."""
    loops = _inner_loops(f)
    nested = [Loop(f, v, f.home) for v in loops]
    moving = {f.code[loop.id][1] for loop in nested if loop.fits()}
    ahead = invariants(f, moving, _sums(f, nested), left)
    found = _moved(f, ahead, False) if moving or ahead.nests else f
    if found is f:
        found = numbered(f)
    if found is f and any(_columns(f, f.code[v][1]) for v in loops):
        found = _moved(f, Invariants({}, 0), True)
    return found, ahead.left


def _moved(f: Func, ahead: Invariants, columns: bool) -> Func:
    """``f`` with this computed ahead, and all in the outermost loop that it can be in."""
    copy = copied(f, _Reading, ahead, columns)
    homes = _homes(copy)
    if homes == copy.home:
        return f
    copy.home[:] = homes
    for block in copy.blocks:
        block.order.clear()
        if block.owner >= 0:
            block.parent = homes[block.owner]
    for v, number in enumerate(homes):
        copy.blocks[number].order.append(v)
    return copy


def _sums(f: Func, loops: Sequence[Loop]) -> dict[int, Loop]:
    """``RESOLVE`` of a sum → the loop that alone adds it up, and does nothing else."""
    users, found = users_of_accumulators(f), {}
    for loop in loops:
        reading = loop.others(users)
        is_one = len(reading) == len(loop.accumulators) == 1 and not f.blocks[f.code[loop.id][1]].results
        for v in reading if is_one and loop.may_move() else ():
            if f.code[v][0] == RESOLVE and f.types[v] is REAL and f.home[v] == loop.here:
                found[v] = loop
    return found


def _columns(f: Func, number: int) -> dict[int, tuple[int, int]]:
    """What a loop ``k`` reads as ``a[k][i]``, invariant in one around it → ``a`` and ``i``."""
    block, home = f.blocks[number], f.home
    around = block.parent
    rows: dict[int, int] = {}
    found: dict[int, tuple[int, int]] = {}
    for v in block.order if around > 0 and block.trips >= _FEWEST else ():
        if f.code[v][0] == INDEX:
            _, of, i = f.code[v]
            # what is outside of both loops is in a block with a lower number
            if i == block.index and (of < 0 or home[of] < around):
                rows[v] = of
            elif of in rows and i >= 0 and home[i] < around and not isinstance(f.types[v], Array):
                found[v] = rows[of], i
    return found


class _Reading(Replacing, Verbatim):
    """Copies a function, computes what it can ahead of loops, and if wanted, reads columns by themselves."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], ahead: Invariants, columns: bool) -> None:
        super().__init__(func, b, args)
        self.ahead = ahead
        self.others = ahead.nests.keys() | ahead.dropped
        self.columns = columns
        self.arrays: dict[int, int] = {}
        """Value → the array that has it."""

    def instead(self, v: int) -> int:
        if v in self.ahead.dropped:
            return self.env[v]  # which nobody needs here
        found = self.arrays[v]
        for number in self.ahead.nests[v]:
            found = self.b.index(found, self.env[self.func.blocks[number].index])
        return found

    def _compute(self, values: Sequence[int], nest: Sequence[int]) -> None:
        """Make the arrays of these values, in loops of their own."""
        func, b = self.func, self.b
        for number in nest:
            block = func.blocks[number]
            self.env[block.index] = b.open_for(block.size)
        needed, ways = {*values}, [*values]
        while ways:
            v = ways.pop()
            loop = self.ahead.sums.get(v)
            more = (loop.id, *loop.needed) if loop else ()
            for x in (*operands(func.code[v], func.blocks), *more):
                is_here = x >= 0 and (func.home[x] in nest or x in self.ahead.dropped)
                if is_here and x not in needed and func.code[x][0] != IDX:
                    needed.add(x)
                    ways.append(x)
        self.sequence(sorted(needed))
        found = [self.env[v] for v in values]
        for _ in nest:
            made = b.close_for(found)
            found = [b.get(made, k) for k in range(len(found))]
        self.arrays.update(zip(values, found, strict=True))

    def loop(self, v: int, number: int) -> None:
        b, env = self.b, self.env
        for nest, values in self.ahead.before.get(number, {}).items():
            self._compute(values, nest)
        for x, (of, i) in _columns(self.func, number).items() if self.columns else ():
            k = b.open_for(self.func.blocks[number].size)
            self.replaced[x] = [b.get(b.close_for([b.index(b.index(env[of], k), env[i])]), 0)]
        super().loop(v, number)

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        if v in self.replaced:
            iteration = self.func.blocks[self.func.home[v]].index
            self.env[v] = self.b.index(self.replaced[v][0], self.env[iteration])
        else:
            super().structural(v, ins)


def _homes(f: Func) -> list[int]:
    """The block that each instruction belongs to."""
    code, home = f.code, f.home
    found = list(home)
    users = users_of_accumulators(f)
    # what an instruction needs has lower numbers, and so have the blocks around a block
    for v, ins in enumerate(code):
        op = ins[0]
        if op == FOR and home[v]:
            loop = Loop(f, v, found)
            if loop.fits() and loop.is_alone(users):
                for r in (v, *loop.accumulators):
                    found[r] = loop.target
        elif op in (GET, RESOLVE):
            if home[v] == home[ins[1]]:
                found[v] = found[ins[1]]
        elif (op < TABLE_END or op in PURE) and cannot_fail(f, ins):
            given = [x for x in operands(ins, f.blocks) if x >= 0]
            if home[v] == max((home[x] for x in given), default=0):
                found[v] = max((found[x] for x in given), default=0)
    return found
