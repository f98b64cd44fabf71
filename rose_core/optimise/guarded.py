"""Sums over indices that a condition chooses, as loops over a range, before anything is differentiated.

A sum over pairs is written ``sum(n, j => select(j < i, x[j], 0))``, whose loop ``FOR`` runs over all indices:

    for j < n:  s += select(j < i, x[j], 0)     →     loop j < i, state s:  s + x[j]

If a loop does nothing but add up numbers that are 0 outside of a range, and the range depends on what is
around the loop, then it becomes a loop ``LOOP`` over that range (`optimise.bounded`). The sums are the same
to the bit, and what is not in the range is not computed, so that it need not have a derivative either.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from rose_core.language.builder import COUNT, Builder
from rose_core.language.ir import ACCUM, ADD_TO, FOR, GET, RESOLVE, Func, Spec, operands
from rose_core.language.ops import code
from rose_core.language.queries import BEYOND_BINARY, contents, opcodes, places, remembered
from rose_core.language.replay import Verbatim, copied
from rose_core.language.types import REAL, UNIT, Ref
from rose_core.optimise.bounded import over_range
from rose_core.optimise.copies import stays
from rose_core.optimise.ranges import COMPARISONS, LONGEST, Range, range_of, starts_from_zero

_ADD = code("add")


@dataclass(frozen=True, slots=True)
class _Sums:
    """A loop that adds up."""

    body: Func
    """It takes the number of the iteration, the sums so far, and the other arguments; it gives the sums."""
    accumulators: list[int]
    args: list[int]
    """What it needs of what is around the loop."""
    range: Range


def guarded(f: Func) -> Func:
    """``f``, or a copy in which such sums are loops over ranges; the functions that it calls are left."""
    used = opcodes(f)
    if not (FOR in used and ACCUM in used) or used.isdisjoint(COMPARISONS) or stays(f):
        return f
    return _guarded(f)


@remembered
def _guarded(f: Func) -> Func:
    sums = _all_sums(f)
    return copied(f, _Guarding, sums) if sums else f


def _all_sums(f: Func) -> dict[int, _Sums]:
    """Block → the sums that it adds up."""
    users: dict[int, list[int]] = {}
    """Of accumulators, and of loops."""
    for v in places(f, BEYOND_BINARY):
        ins = f.code[v]
        given = [ins[1]] if ins[0] == GET else operands(ins, f.blocks)
        for x in given:
            if x >= 0 and f.code[x][0] in (ACCUM, FOR):
                users.setdefault(x, []).append(v)
    found: dict[int, _Sums] = {}
    inside: set[int] = set()
    for number, block in enumerate(f.blocks[1:], 1):
        if block.parent in inside or block.parent in found:
            inside.add(number)
        elif any(f.code[v][0] in COMPARISONS for v in block.order) and block.owner not in users:
            sums = _sums(f, number, users)
            if sums:
                found[number] = sums
    return found


def _sums(f: Func, number: int, users: Mapping[int, Sequence[int]]) -> _Sums | None:
    """What a loop adds up, if it does nothing else, and that within a range that depends on anything."""
    content = contents(f, number)
    inside = set(content)
    added: dict[int, int] = {}
    """Accumulator → what is added to it in each iteration."""
    args: dict[int, None] = {}
    for v in content:
        ins = f.code[v]
        for x in operands(ins, f.blocks):
            if x < 0 or x in inside or x == f.blocks[number].index:
                continue
            if not isinstance(f.types[x], Ref):
                args[x] = None
            elif ins[0] == ADD_TO and f.home[v] == number and _is_sum(f, number, x, users.get(x, ())):
                added[x] = ins[2]
            else:
                return None
    if not added or len(content) > LONGEST:
        return None
    body = Func("body", [], UNIT)
    b = Builder(body)
    iteration = b.param(f.blocks[number].size)
    before = [b.param(REAL) for _ in added]
    given = {f.blocks[number].index: iteration} | {x: b.param(f.types[x]) for x in args}
    replay = _Iteration(f, b, given, added, content)
    replay.block(number)
    values = zip(before, added.values(), strict=True)
    body.blocks[0].results = [b.binary(_ADD, s, replay.env[x]) for s, x in values]
    found = range_of(body, range(len(added)))
    return _Sums(body, list(added), list(args), found) if found and found.varies else None


def _is_sum(f: Func, number: int, r: int, users: Sequence[int]) -> bool:
    """Whether an accumulator is a number that starts from 0.0 before the loop, which alone adds to it."""
    op, start, *_ = f.code[r]
    is_here = op == ACCUM and f.home[r] == f.blocks[number].parent
    return is_here and starts_from_zero(f, start) and [f.code[v][0] for v in users] == [ADD_TO, RESOLVE]


class _Iteration(Verbatim):
    """Copies an iteration of a loop, but for what it adds up."""

    def __init__(
        self, func: Func, b: Builder, given: Mapping[int, int], sums: Container[int], content: Sequence[int]
    ) -> None:
        self.content = content
        """The instructions of the loop."""
        super().__init__(func, b, [])
        self.sums = sums
        for x, v in given.items():
            self.env[x] = v

    def constants(self) -> list[int]:
        """Only those that the loop has: others are many, where there are many such loops."""
        code, pool, blocks = self.func.code, self.func.pool, self.func.blocks
        found = [0] * len(pool)
        for k in sorted({~x for v in self.content for x in operands(code[v], blocks) if x < 0}):
            found[k] = self.b.const(*pool[k])
        return found

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        if ins[0] != ADD_TO or ins[1] not in self.sums:
            super().structural(v, ins)


class _Guarding(Verbatim):
    """Copies a function with loops over ranges in place of such sums."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], sums: Mapping[int, _Sums]) -> None:
        super().__init__(func, b, args)
        self.sums = sums
        self.totals = {r: 0 for s in sums.values() for r in s.accumulators}

    def loop(self, v: int, number: int) -> None:
        sums = self.sums.get(number)
        if sums is None:
            super().loop(v, number)
            return
        b, block = self.b, self.func.blocks[number]
        spec = Spec(len(sums.accumulators), block.size)
        count = b.const(block.trips, COUNT)
        state = [b.real(0.0)] * spec.carries
        args = [self.env[x] for x in sums.args]
        loop = over_range(b, spec, sums.body, count, state, args, sums.range)
        for k, r in enumerate(sums.accumulators):
            self.totals[r] = b.get(loop, k)

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        if ins[0] == RESOLVE and ins[1] in self.totals:
            self.env[v] = self.totals[ins[1]]
        elif v not in self.totals:
            super().structural(v, ins)
