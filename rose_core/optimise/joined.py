"""A loop that reads what one with a state before it keeps, as a part of that: loop fusion.

    loop i, state s:  f(s), keep y[i] = g(s)
    for i:  t += (y[i] - d[i])²                  →     loop i, state s, t:  f(s), t + (g(s) - d[i])²

A simulation keeps its course, of which a sum says how far it is from data. As part of the simulation, the sum
takes hardly any time, since every step waits for the one before it anyway, and nothing has to be kept for it.
The same numbers are added in the same order, so values are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rose_core.language.builder import Builder
from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    ALL,
    FOR,
    GET,
    IDX,
    INDEX,
    LOOP,
    RESOLVE,
    Func,
    LoopSite,
    operands,
    result_count,
)
from rose_core.language.ops import EFFORT, TABLE_END, by_name
from rose_core.language.queries import among, opcodes, places, remembered, uses_of
from rose_core.language.replay import Verbatim, copied
from rose_core.language.types import REAL
from rose_core.optimise.copies import stays
from rose_core.optimise.movable import cannot_fail
from rose_core.optimise.other_loops import OtherLoops, with_sums

_ADD = by_name["add"].code
_LOOPS = among([LOOP])

_MOST_EFFORT = 24
"""The most that an iteration does which becomes part of another loop: by itself it may run in lanes."""

_MOST_EARLY = 32
"""The most instructions that are done before the loop that have been after it."""


@dataclass(slots=True)
class _Joined:
    """What a loop with a state becomes."""

    loops: list[int] = field(default_factory=list)
    """The loops that become part of it."""
    reads: dict[int, int] = field(default_factory=dict)
    """What these read of what it keeps → the number of the body's result."""
    captured: dict[int, None] = field(default_factory=dict)
    """The values from outside that they need."""
    early: set[int] = field(default_factory=set)
    """Those that have to be computed before it, which are not yet."""
    sums: dict[int, int] = field(default_factory=dict)
    """Their accumulators → what these begin with."""
    kept: list[int] = field(default_factory=list)
    """The numbers of what is still kept, among the body's results."""
    made: list[tuple[int, int]] = field(default_factory=list)
    """What they make: the loop and the number of its result."""


def joined(f: Func) -> Func:
    """``f``, or a copy with such loops in it; the functions that it calls are left."""
    return f if not opcodes(f).issuperset((LOOP, FOR)) or stays(f) else _joined(f)


@remembered
def _joined(f: Func) -> Func:
    uses, taken = uses_of(f), set[int]()
    found: dict[int, _Joined] = {}
    for v in places(f, _LOOPS):
        join = _Join(f, v, uses)
        for w in join.readers():
            if w not in taken and join.take(w):
                taken.add(w)
        if join.found.loops:
            found[v] = join.finish()
    return copied(f, _Joining, found) if found else f


class _Join:
    """Finds what becomes part of a loop with a state."""

    def __init__(self, f: Func, v: int, uses: Mapping[int, Sequence[int]]) -> None:
        self.f = f
        self.v = v
        self.uses = uses
        self.site = LoopSite(f, f.code[v])
        self.found = _Joined()
        spec, kept = self.site.spec, len(self.site.body.results) - self.site.spec.carries
        gets = {w: f.code[w][2] for w in uses.get(v, ()) if w >= 0 and f.code[w][0] == GET}
        self.arrays = {w: k - 1 for w, k in gets.items() if k > spec.carries}
        """What it keeps → the number of the body's result."""
        self.can_join = bool(
            self.arrays
            and self.site.is_whole
            and spec.trips
            and not (spec.down or spec.checkpoint or stays(self.site.body))
            and (spec.outputs == ALL or kept <= spec.outputs)
        )

    def readers(self) -> list[int]:
        """The loops that read what it keeps, in order."""
        f = self.f
        numbers = {
            f.home[x] for w in self.arrays for x in self.uses.get(w, ()) if x >= 0 and f.code[x][0] == INDEX
        }
        return sorted(f.blocks[n].owner for n in numbers if n) if self.can_join else []

    def take(self, w: int) -> bool:
        """Note that the loop ``w`` becomes part of it, if it can."""
        f, block = self.f, self.f.blocks[self.f.code[w][1]]
        if f.home[w] != f.home[self.v] or block.size is not self.site.spec.index or not block.is_whole:
            return False
        more = _Joined([w])
        effort = 0
        for x in block.order:
            op, *given = f.code[x]
            if op == IDX:
                continue
            if op == INDEX and given[0] in self.arrays and given[1] == block.index:
                more.reads[x] = self.arrays[given[0]]
                continue
            if op == ADD_TO:
                r, *given = given
                if not self._take_sum(r, w, more):
                    return False
            elif (op < TABLE_END or op == INDEX) and cannot_fail(f, f.code[x]):
                effort += EFFORT[op] if op < TABLE_END else 0
            else:
                return False
            if not all(self._take_value(y, w, more) for y in given):
                return False
        if not more.reads or effort > _MOST_EFFORT or any(f.type_of(r) is not REAL for r in block.results):
            return False
        if not all(self._take_value(r, w, more) for r in block.results):
            return False
        found = self.found
        found.loops.append(w)
        found.reads |= more.reads
        found.captured |= more.captured
        found.early |= more.early
        found.sums |= more.sums
        return True

    def _take_sum(self, r: int, w: int, more: _Joined) -> bool:
        """Note an accumulator of the loop ``w``; False if others have to do with it, too."""
        f, here = self.f, self.f.home[self.v]
        if f.code[r][0] != ACCUM or f.home[r] != here or f.inner_type_of(r) is not REAL:
            return False
        number = f.code[w][1]
        for x in self.uses.get(r, ()):
            is_own = x >= 0 and (
                (f.code[x][0] == ADD_TO and f.home[x] == number)
                or (f.code[x][0] == RESOLVE and f.home[x] == here)
            )
            if not is_own:
                return False
        start = f.code[r][1]
        more.sums[r] = start
        return self._take_value(start, w, more, is_captured=False)

    def _take_value(self, x: int, w: int, more: _Joined, is_captured: bool = True) -> bool:
        """Note a value that the loop ``w`` needs; False if it is not there before the loop with a state."""
        f = self.f
        number, here = f.code[w][1], f.home[self.v]
        if x < 0 or f.home[x] == number:
            return True
        if is_captured:
            more.captured[x] = None
        waiting = [x]
        while waiting:
            y = waiting.pop()
            if y < 0 or y < self.v or f.home[y] != here or y in more.early:
                continue
            ins = f.code[y]
            is_pure = ins[0] < TABLE_END or ins[0] == INDEX
            if not is_pure or not cannot_fail(f, ins) or len(more.early) >= _MOST_EARLY:
                return False
            more.early.add(y)
            waiting += operands(ins, f.blocks)
        return True

    def finish(self) -> _Joined:
        """What it becomes, when all have been asked."""
        f, found = self.f, self.found
        kept = {k for w, k in self.arrays.items() if any(x not in found.reads for x in self.uses.get(w, ()))}
        found.kept = sorted(kept)
        for x in self.site.args:
            found.captured.pop(x, None)  # the body has it already
        for w in found.loops:
            gets = (x for x in self.uses.get(w, ()) if x >= 0 and f.code[x][0] == GET)
            found.made += [(w, k) for k in sorted({f.code[x][2] for x in gets})]
        return found


class _Joining(OtherLoops):
    """Copies a function some of whose loops have become part of others."""

    found: Mapping[int, _Joined]

    def __init__(self, func: Func, b: Builder, args: Sequence[int], found: Mapping[int, _Joined]) -> None:
        super().__init__(func, b, args, found)
        self.gone = {w for join in found.values() for w in join.loops}
        self.sums = dict[int, int]()
        """Accumulators that are no more → what was added up."""
        self.accumulators = {r for join in found.values() for r in join.sums}

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        if ins[0] == RESOLVE and ins[1] in self.sums:
            self.env[v] = self.sums[ins[1]]
        elif v not in self.gone and v not in self.accumulators:
            super().structural(v, ins)

    def other_loop(self, v: int, site: LoopSite, found: _Joined, state: list[int], args: list[int]) -> None:
        b, spec, f = self.b, site.spec, self.func
        for x in sorted(found.early):
            self.instruction(x)
        carries = spec.carries + len(found.sums)
        kept = len(found.kept) + len(found.made)
        outputs = ALL if spec.outputs == ALL else kept
        starts = [*state, *(self.env[x] for x in found.sums.values())]
        given = [*args, *(self.env[x] for x in found.captured)]
        spec = replace(spec, carries=carries, outputs=outputs)
        loop = b.loop(spec, self.env[site.count], self._body(site, found), starts, given)
        self.env[v] = loop
        old = {k: carries + 1 + n for n, k in enumerate(found.kept)}
        ends = [b.get(loop, k) for k in range(site.spec.carries)]
        arrays = range(site.spec.carries, len(site.body.results))
        self.replaced[v] = [
            *ends,
            b.get(loop, carries),
            *(b.get(loop, old[k]) if k in old else 0 for k in arrays),
        ]
        for n, r in enumerate(found.sums, site.spec.carries):
            self.sums[r] = b.get(loop, n)
        for w in found.loops:
            self.replaced[w] = [0] * result_count(f, w)
        for n, (w, k) in enumerate(found.made, carries + 1 + len(found.kept)):
            self.replaced[w][k] = b.get(loop, n)

    def _body(self, site: LoopSite, found: _Joined) -> Func:
        """The body of the loop with those that become part of it."""
        f, body, carries = self.func, site.body, site.spec.carries
        b, args, numbers = with_sums(body, carries, len(found.sums))
        sums = dict(zip(found.sums, numbers, strict=True))
        env = dict(zip(site.args, args[1 + carries :], strict=True))
        env |= {x: b.param(f.type_of(x)) for x in found.captured}
        results = Verbatim(body, b, args).run()

        def known(x: int) -> int:
            return env[x] if x >= 0 else b.const(*f.pool[~x])

        for w in found.loops:
            for x in f.blocks[f.code[w][1]].order:
                op, *given = f.code[x]
                if op == IDX:
                    env[x] = args[0]
                elif x in found.reads:
                    env[x] = results[found.reads[x]]
                elif op == ADD_TO:
                    sums[given[0]] = b.binary(_ADD, sums[given[0]], known(given[1]))
                elif op == INDEX:
                    env[x] = b.index(*map(known, given))
                else:
                    env[x] = b.op(op, *map(known, given), type=f.types[x])
        made = [known(f.blocks[f.code[w][1]].results[k]) for w, k in found.made]
        kept = [results[k] for k in found.kept]
        b.func.blocks[0].results = [*results[:carries], *sums.values(), *kept, *made]
        return b.func
