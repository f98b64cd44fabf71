"""Loops that compute the same in each iteration, as one loop, before anything is differentiated: loop fusion.

    for j:  x += a[j] / r(j)
    for j:  y += b[j] / r(j)     →     for j:  s = r(j);  x += a[j] / s;  y += b[j] / s

The components of a force are sums of their own, in each of which all distances are computed. As one loop,
they are computed once, and so is their derivative. Every sum and every element gets what it got, in the same
order, so values are the same to the bit; in a derivative, cotangents may be added in another order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rose_core.language.builder import Builder
from rose_core.language.ir import ACCUM, ADD_TO, FOR, GET, IDX, INDEX, REF_INDEX, RESOLVE, VEC, Func, operands
from rose_core.language.ops import EFFORT, FAILS, TABLE_END
from rose_core.language.queries import BEYOND_BINARY, accumulators, contents, inner_first, places, remembered
from rose_core.language.replay import Verbatim, copied
from rose_core.language.types import REAL, Ref
from rose_core.optimise.copies import stays
from rose_core.optimise.numbering import numbered, numbers
from rose_core.optimise.written import short_sums, written_out

LEAST_SHARED = 6
"""The fewest operations, or numbers that are read, that two loops must share."""

_MOST_ROWS = 200
"""The most instructions of an iteration."""

MOST_COMPONENTS = 4
"""The most iterations of a loop that is unrolled for this."""

MOST_WRITTEN = 32
"""The most instructions that a sum in it becomes."""

_NEXT = 8
"""How many loops after it are compared with one."""

_MOST_EARLY = 64
"""The most instructions that are moved before it."""

_DEEPEST = 4
"""The most loops in each other that become one each."""

_PURE = frozenset((INDEX, VEC, REF_INDEX))
PLAIN = _PURE | {IDX, FOR, GET, ACCUM, ADD_TO, RESOLVE}
"""Structural instructions that such a loop may have."""


def fused(f: Func) -> Func:
    """``f``, or a copy in which such loops are one; the functions that it calls are left."""
    return f if len(f.blocks) < 3 or stays(f) else _fused(f)


@remembered
def _fused(f: Func) -> Func:
    found = f
    written = _written(f)
    groups = list(_groups(written))
    for _ in range(_DEEPEST):
        if not groups:
            break
        found = numbered(copied(written, _Fusing, groups))
        written, groups = found, list(_groups(found))
    return found


def _written(f: Func) -> Func:
    """``f`` with what keeps loops apart unrolled: loops of components around them, short sums in them."""
    around = _around(f)
    siblings = Counter((block.parent, block.size) for block in f.blocks[1:])
    several = {k for k, block in enumerate(f.blocks) if k and siblings[block.parent, block.size] > 1}
    several |= {k for k, block in enumerate(f.blocks) if block.parent in around}
    sums = short_sums(f, several, MOST_COMPONENTS, MOST_WRITTEN) - around if several else set()
    return written_out(f, around | sums)


def _around(f: Func) -> set[int]:
    """The short loops to be unrolled, since loops inside of them do much of the same in every iteration."""
    found: set[int] = set()
    rows = [len(block.order) for block in f.blocks]
    for number, block in inner_first(f):
        written = block.trips * rows[number]
        if block.trips <= MOST_COMPONENTS and written <= _MOST_ROWS and _is_around(f, number):
            found.add(number)
            rows[block.parent] += written
        else:
            rows[block.parent] += rows[number]
    return found


def _is_around(f: Func, number: int) -> bool:
    """Whether loops inside of a loop do much of the same in each of its iterations."""
    block = f.blocks[number]
    loops = [v for v in block.order if f.code[v][0] == FOR]
    if not loops:
        return False
    varying = {block.index}
    for v in contents(f, number):
        op, *given = f.code[v]
        if not varying.isdisjoint(operands(f.code[v], f.blocks)):
            varying.update(accumulators(f, given[0]) if op == ADD_TO else (v,))
    inside = {v for loop in loops for v in contents(f, f.code[loop][1])}
    shared = sum(EFFORT[f.code[v][0]] for v in inside - varying if f.code[v][0] < TABLE_END)
    return shared >= LEAST_SHARED


@dataclass(slots=True)
class _Group:
    """Loops that become one."""

    loops: list[int]
    """In order; the one stands where the first does."""
    early: set[int] = field(default_factory=set)
    """What the others need that is computed after the first."""


@dataclass(slots=True)
class _Loop:
    """What is in a loop."""

    owner: int
    content: list[int]
    """Its instructions, and those of the loops in it, in order."""
    outside: set[int]
    """What it needs from around it."""
    accumulators: set[int]
    """Those from around it that it adds to, or may add to."""
    work: dict[int, int]
    """The operations and reads of an iteration, by what they are of, and how long each takes."""
    can_fail: bool


def _groups(f: Func) -> Iterator[_Group]:
    """The loops that can become one."""
    touched: dict[int, list[int]] = {}
    """Accumulator → what adds to it or reads it, in order."""
    for v in places(f, BEYOND_BINARY):
        for x in operands(f.code[v], f.blocks):
            if x >= 0 and isinstance(f.types[x], Ref):
                for r in accumulators(f, x):
                    touched.setdefault(r, []).append(v)
    known = numbers(f)
    for number, block in enumerate(f.blocks):
        owners = [v for v in block.order if f.code[v][0] == FOR]
        loops = [loop for v in owners if (loop := _loop(f, v, known))] if len(owners) > 1 else []
        taken: set[int] = set()
        for k, first in enumerate(loops):
            if first.owner in taken:
                continue
            group = _Group([first.owner])
            for loop in loops[k + 1 : k + 1 + _NEXT]:
                if loop.owner in taken or not _is_worth_it(f, first, loop):
                    continue
                early = _before(f, number, first, loop, touched)
                if early is not None:
                    taken.add(loop.owner)
                    group.loops.append(loop.owner)
                    group.early |= early
                    first.accumulators |= loop.accumulators
                    first.content += loop.content
                    first.work |= loop.work
            if len(group.loops) > 1:
                yield group


def _loop(f: Func, owner: int, known: Mapping[int, int]) -> _Loop | None:
    """What is in a loop, if it can be one with another; ``known``: the numbers of values (`numbering`)."""
    content = contents(f, f.code[owner][1])
    if len(content) > _MOST_ROWS:
        return None
    inside = set(content)
    results = f.blocks[f.code[owner][1]].results
    loop = _Loop(owner, content, {x for x in results if x >= 0 and x not in inside}, set(), {}, False)
    for v in content:
        op, *given = f.code[v]
        if op >= TABLE_END and op not in PLAIN:
            return None
        loop.can_fail |= op in FAILS
        taken = [x for x in operands(f.code[v], f.blocks) if x >= 0]
        loop.outside.update(x for x in taken if x not in inside)
        if op == ADD_TO:
            loop.accumulators.update(r for r in accumulators(f, given[0]) if r not in inside)
        if op < TABLE_END:
            loop.work[known[v]] = EFFORT[op]
        elif op == INDEX and f.types[v] is REAL:
            loop.work[known[v]] = 1
    return loop


def is_movable(op: int) -> bool:
    """Whether an instruction can stand anywhere after its operands."""
    return op in _PURE or op == ACCUM or (op < TABLE_END and op not in FAILS)


def _is_worth_it(f: Func, first: _Loop, loop: _Loop) -> bool:
    sizes = {f.blocks[f.code[v][1]].size for v in (first.owner, loop.owner)}
    shared = sum(loop.work[key] for key in loop.work.keys() & first.work.keys())
    return len(sizes) == 1 and shared >= LEAST_SHARED and len(first.content) + len(loop.content) <= _MOST_ROWS


def _before(
    f: Func, number: int, first: _Loop, loop: _Loop, touched: dict[int, list[int]]
) -> set[int] | None:
    """What has to be computed before a loop can be where the first one is; None if it cannot."""
    if loop.can_fail or not loop.accumulators.isdisjoint(first.accumulators):
        return None
    inside = set(loop.content)
    for r in loop.accumulators:
        all_of_r = touched[r]
        between = all_of_r[bisect_right(all_of_r, first.owner) : bisect_left(all_of_r, loop.owner)]
        if f.code[r][0] != ACCUM or not inside.issuperset(between):
            return None
    early: set[int] = set()
    ways = [*loop.outside]
    while ways:
        v = ways.pop()
        if v < first.owner or v in early or f.home[v] != number:
            continue  # what is around the block is there before all of it
        if not is_movable(f.code[v][0]):
            return None
        early.add(v)
        if len(early) > _MOST_EARLY:
            return None
        ways += [x for x in operands(f.code[v], f.blocks) if x >= 0]
    return early


# -- the one loop ---------------------------------------------------------------------------------------


class _Fusing(Verbatim):
    def __init__(self, func: Func, b: Builder, args: Sequence[int], groups: Sequence[_Group]) -> None:
        super().__init__(func, b, args)
        self.groups = {group.loops[0]: group for group in groups}
        self.others = {v for group in groups for v in group.loops[1:]}
        self.done: set[int] = set()
        """The accumulators that are there before their place."""

    def loop(self, v: int, number: int) -> None:
        if v in self.others:
            return
        if v not in self.groups:
            super().loop(v, number)
            return
        func, group, env = self.func, self.groups[v], self.env
        self._begin(group)
        blocks = [func.blocks[func.code[loop][1]] for loop in group.loops]
        index = self.b.open_for(blocks[0].size)
        for loop, block in zip(group.loops, blocks, strict=True):
            env[block.index] = index
            self.block(func.code[loop][1])
        made = self.b.close_for([env[r] for block in blocks for r in block.results])
        at = 0
        for loop, block in zip(group.loops, blocks, strict=True):
            self.replaced[loop] = [self.b.get(made, at + k) for k in range(len(block.results))]
            at += len(block.results)

    def _begin(self, group: _Group) -> None:
        """Compute what loops of the group need that stands behind the first."""
        for v in sorted(group.early - self.done):
            self.instruction(v)
            if self.func.code[v][0] == ACCUM:
                self.done.add(v)

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        if v not in self.done:
            super().structural(v, ins)
