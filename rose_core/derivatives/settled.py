"""Cotangents of arrays that change in few places, as of a backward loop's state: they are updated there.

    r = accum(zeros);  r[i] += x;  r += a     →     r = accum(a);  r[i] += x

In general what is added to the cotangent of an array is collected in an accumulator of its own, which takes
as long as the array is. Where a whole array is added to it but once, the accumulator starts from that array,
which is made earlier if need be, and where nobody needs that any more, in its place (`wasm.reuse`). A
function that adds a whole array to an accumulator has a result instead, for the accumulator to start from,
and so have both sides of a choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rose_core.derivatives.filled import filled
from rose_core.language.builder import Builder
from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    CALL,
    COND,
    FOR,
    GET,
    INDEX,
    PARAM,
    REF_INDEX,
    RESOLVE,
    SET,
    VEC,
    CondSite,
    Func,
    operands,
)
from rose_core.language.ops import BINARY_END, TABLE_END
from rose_core.language.queries import among, param_ids, places
from rose_core.language.replay import Replay, copied
from rose_core.language.types import UNIT, Array, Ref, is_tape
from rose_core.optimise.sunk import sunk

_NOT_OF_ACCUMULATORS = frozenset((PARAM, INDEX, VEC, GET, SET, RESOLVE))
"""Instructions that change no accumulator, and give no part of one."""

_ACCUMULATORS = among([ACCUM])
_SIMPLE = frozenset((INDEX, SET, VEC))
"""Instructions that can be run earlier, besides operations of the table."""

_MOST_EARLY = 64
"""The most of them that are."""


@dataclass(slots=True)
class _Start:
    """What an accumulator may start from."""

    by: int
    """The only instruction that adds a whole array: an ``ADD_TO``, ``CALL`` or ``COND``."""
    known: int
    """Where that array is known; what is added to elements before can be added later."""
    early: Sequence[int]
    """The instructions that make it, where they stand behind a use that cannot wait."""


def settled(f: Func) -> Func:
    """``f``, a backward function or what has one in it, or a copy that updates where it can."""
    f = sunk(f)
    zeros = [v for v in places(f, _ACCUMULATORS) if _is_zero(f, v, f.code[v])]
    starts = _starts(f, zeros) if zeros else {}
    return filled(copied(f, _Settling, starts) if starts else f)


def _is_zero(f: Func, v: int, ins: tuple[int, ...]) -> bool:
    """Whether the accumulator ``v`` is one of an array, and starts from zeros."""
    return not f.home[v] and ins[1] < 0 and _is_array(f, v) and not f.pool[~ins[1]][0]


def _is_array(f: Func, r: int) -> bool:
    t = f.inner_type_of(r)
    return isinstance(t, Array) and not is_tape(t)


def _starts(f: Func, accumulators: Sequence[int]) -> dict[int, _Start]:
    """What accumulators may start from, as far as they may."""
    wholes: dict[int, list[int]] = {r: [] for r in accumulators}
    first = dict.fromkeys(accumulators, len(f.code))
    """The first use that cannot be delayed."""
    roots = {r: r for r in accumulators}
    """Accumulators and places in them → the accumulator."""
    start = accumulators[0]
    for v, ins in enumerate(f.code[start:], start):
        op = ins[0]
        if op < BINARY_END or op in _NOT_OF_ACCUMULATORS:
            continue
        for x in {x for x in operands(ins, f.blocks) if x in roots}:
            r = roots[x]
            if x == r and not f.home[v] and (op == ADD_TO or _gives(f, ins, x)):
                wholes[r].append(v)
            elif f.home[v] or op not in (REF_INDEX, ADD_TO):
                # places that are chosen are not followed
                first[r] = min(first[r], _at_top(f, v) if op >= TABLE_END else -1)
            if op == REF_INDEX:
                roots[v] = r
    found = {}
    for r, by in wholes.items():
        if len(by) == 1:
            adds = f.code[by[0]][0] == ADD_TO
            known = f.code[by[0]][2] if adds else by[0]
            if 0 <= known < first[r]:
                found[r] = _Start(by[0], known, [])
            elif adds and (early := _early(f, known, first[r])):
                found[r] = _Start(by[0], first[r] - 1, early)
    return found


def _early(f: Func, array: int, before: int) -> list[int] | None:
    """The instructions that make an array of what is there before an instruction, if they are few updates."""
    found: set[int] = set()
    ways = [array]
    while ways:
        v = ways.pop()
        if v < before or v in found:
            continue
        ins = f.code[v]
        if f.home[v] or not (ins[0] in _SIMPLE or ins[0] < TABLE_END) or len(found) == _MOST_EARLY:
            return None
        found.add(v)
        ways += operands(ins, f.blocks)
    return sorted(found)


def _at_top(f: Func, v: int) -> int:
    """The instruction of the body itself in which ``v`` happens."""
    while f.home[v]:
        v = f.blocks[f.home[v]].owner
    return v


def _gives(f: Func, ins: tuple[int, ...], r: int) -> bool:
    """Whether a call, or both sides of a choice, could have a result for ``r`` to start from."""
    found = ins[0] in (CALL, COND)
    for g, args in _called(f, ins) if found else ():  # no generator: see `deep.py`
        found = found and args.count(r) == 1 and g.host is None and bool(_given(g, args.index(r)))
    return found


def _called(f: Func, ins: tuple[int, ...]) -> list[tuple[Func, Sequence[int]]]:
    """What is called in a call or choice, on what."""
    if ins[0] == CALL:
        return [(f.callees[ins[1]], ins[2:])]
    site = CondSite(f, ins)
    return list(zip(site.functions, site.args, strict=True))


def _given(f: Func, k: int) -> dict[int, _Start]:
    """What the accumulator that is parameter ``k`` of a function may start from, by its id."""
    found = f.memo.get("given")
    if not isinstance(found, dict):
        params = param_ids(f)
        given = [r for r in params.values() if isinstance(f.types[r], Ref) and _is_array(f, r)]
        starts = _starts(f, given)
        found = f.memo["given"] = {j: {r: starts[r]} for j, r in params.items() if r in starts}
    return found.get(k, {})


def _settled(f: Func, starts: dict[int, _Start], given: Sequence[int]) -> Func:
    """A copy of ``f`` whose accumulators start so; those that are its parameters ``given`` are results."""
    copy = Func(f.name, [], UNIT)
    b = Builder(copy)
    left_out, params = {*given}, param_ids(f)
    args = [-1 if k in left_out else b.param(t) for k, t in enumerate(f.params)]
    copy.param_names = [name for k, name in enumerate(f.param_names) if k not in left_out]
    replay = _Settling(f, b, args, starts)
    copy.blocks[0].results = [*replay.run(), *replay.totals([params[k] for k in given])]
    copy.stand_for(f)
    return copy


class _Settling(Replay):
    """Copies a function whose accumulators start from what is added to them."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], starts: dict[int, _Start]) -> None:
        super().__init__(func, b, args)
        self.starts = starts
        self.by: dict[int, list[int]] = {}
        """The accumulators that start from what a choice gives, or an addition adds."""
        for r, start in starts.items():
            self.by.setdefault(start.by, []).append(r)
        self.whole: dict[int, int] = {}
        """What choices give for them to start from."""
        self.roots = {r: r for r in starts}
        """Accumulators and places in them → the accumulator."""
        self.delayed: dict[int, list[int]] = {r: [] for r in starts}
        """Accumulators that have not begun → what is to be done then."""

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        if v in self.starts or (ins[0] == ADD_TO and v in self.by):
            return
        if ins[0] == RESOLVE and ins[1] in self.starts:
            (self.env[v],) = self.totals(ins[1:])
            return
        if ins[0] == FOR:
            used = self._used_in(ins[1])
        else:
            used = {self.roots[x] for x in operands(ins, self.func.blocks) if x in self.roots}
        if ins[0] == REF_INDEX and used:
            (self.roots[v],) = used
        for r in used - set(self.by.get(v, ())):
            if r in self.delayed and v > self.starts[r].known:
                self._begin(r)
            elif r in self.delayed:
                self.delayed[r].append(v)
                return
        super().structural(v, ins)

    def _used_in(self, number: int) -> set[int]:
        """The accumulators that are used in a loop."""
        found: set[int] = set()
        for v in self.func.blocks[number].order:
            ins = self.func.code[v]
            if ins[0] == FOR:
                found |= self._used_in(ins[1])
            else:
                found.update(self.roots[x] for x in operands(ins, self.func.blocks) if x in self.roots)
        return found

    def _begin(self, r: int) -> None:
        for v in self.starts[r].early:
            self._run(v)
        self.env[r] = self.b.accum(self._start(r))
        for v in self.delayed.pop(r):
            super().structural(v, self.func.code[v])

    def _run(self, v: int) -> None:
        """Emit an instruction that can be run earlier than it stands."""
        ins = self.func.code[v]
        if ins[0] >= TABLE_END:
            super().structural(v, ins)
            return
        self.env[v] = self.b.op(ins[0], *(self.env[x] for x in ins[1:]), type=self.func.types[v])

    def totals(self, accumulators: Sequence[int]) -> list[int]:
        """What accumulators have in the end."""
        found = []
        for r in accumulators:
            if self.delayed.get(r):
                self._begin(r)
            found.append(self._start(r) if r in self.delayed else self.b.resolve(self.env[r]))
        return found

    def _start(self, r: int) -> int:
        by = self.func.code[self.starts[r].by]
        return self.env[by[2]] if by[0] == ADD_TO else self.whole[r]

    def call(self, v: int, callee: Func, args: Sequence[int]) -> None:
        if v not in self.by:
            super().call(v, callee, args)
            return
        ((made, passed),) = self._with_results(v)
        self.env[v] = self.b.call(made, passed)
        self._take(v, len(callee.results))

    def cond(self, v: int, ins: tuple[int, ...]) -> None:
        if v not in self.by:
            super().cond(v, ins)
            return
        site = CondSite(self.func, ins)
        (f, of_f), (g, of_g) = self._with_results(v)
        self.env[v] = self.b.cond(self.env[site.p], f, of_f, g, of_g)
        self._take(v, len(site.functions[0].results))

    def _with_results(self, v: int) -> list[tuple[Func, list[int]]]:
        """What is called, with results for accumulators to start from, and what it is called on."""
        accumulators = self.by[v]
        found = []
        for f, args in _called(self.func, self.func.code[v]):
            given = tuple(args.index(r) for r in accumulators)
            made = f.memo.get(("settled", given))
            if not isinstance(made, Func):
                starts: dict[int, _Start] = {}
                for k in given:
                    starts |= _given(f, k)
                made = f.memo["settled", given] = _settled(f, starts, given)
            found.append((made, [self.env[a] for a in args if a not in accumulators]))
        return found

    def _take(self, v: int, before: int) -> None:
        """Take the results for accumulators, which come after so many others."""
        for k, r in enumerate(self.by[v], before):
            self.whole[r] = self.b.get(self.env[v], k)
