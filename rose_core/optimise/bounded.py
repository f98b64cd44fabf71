"""Loops that turn only where something happens, before anything is differentiated.

A triangle of a matrix is written as a loop over all indices with a choice in it, ``cond(i > k, …, a)``. Where
the state stays as it is unless the number of the turn is in a range that is known before the loop, the loop
turns over that range: its count is what is in the range, its number counts from there, and the choice is
gone. A derivative keeps, and goes back through, that much only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rose_core.language.builder import COUNT, Builder
from rose_core.language.ir import COND, LOOP, PARAM, SET, CondSite, Func, LoopSite, opcodes
from rose_core.language.ops import TABLE_END, code
from rose_core.language.replay import copied
from rose_core.language.types import BOOL, UNIT, Fin, Ref
from rose_core.optimise.hoist import cannot_fail
from rose_core.optimise.inline import Verbatim, stays
from rose_core.optimise.unchanged import Unchanged, unchanged

_MOST_CONDITIONS = 4
"""The most comparisons of a body that are tried."""

_LARGEST = 1 << 24
"""Indices of sizes up to this can be added and subtracted as they come."""

_DEEPEST = 8
"""The most operations in each other in a bound."""

_IADD, _ISUB, _IMIN, _IMAX, _NARROW, _SELECT = map(code, ("iadd", "isub", "imin", "imax", "narrow", "select"))
_ILT, _ILEQ, _IGT, _IGEQ, _IEQ, _INEQ = map(code, ("ilt", "ileq", "igt", "igeq", "ieq", "ineq"))

_MIRRORED = {_ILT: _IGT, _ILEQ: _IGEQ, _IGT: _ILT, _IGEQ: _ILEQ, _IEQ: _IEQ, _INEQ: _INEQ}
"""Comparison → the same one with its operands exchanged."""

_OPPOSITE = {_ILT: _IGEQ, _ILEQ: _IGT, _IGT: _ILEQ, _IGEQ: _ILT, _IEQ: _INEQ, _INEQ: _IEQ}
"""Comparison → the one that holds where it does not."""

_FIXED = frozenset(map(code, ("iadd", "isub", "imul", "imin", "imax", "imod", "idiv", "narrow")))
"""What a bound may be computed by: it cannot fail."""


@dataclass(slots=True)
class _Term:
    """What an index is: the number of the turn or nothing, what is added, and what is taken away."""

    has_turn: bool
    plus: list[int] = field(default_factory=list)
    minus: list[int] = field(default_factory=list)

    @property
    def is_one(self) -> bool:
        """Whether it is a value by itself."""
        return len(self.plus) == 1 and not self.minus


@dataclass(slots=True)
class _Range:
    """Where a loop has something to do, in values of its body that are the same in all turns."""

    assumed: dict[int, bool] = field(default_factory=dict)
    """Comparisons in the body → what they are where it does something."""
    low: list[tuple[_Term, int]] = field(default_factory=list)
    """Numbers of which none may be above the turn's, each with a number added."""
    high: list[tuple[_Term, int]] = field(default_factory=list)
    """Numbers that the turn's must be below."""
    when: list[int] = field(default_factory=list)
    """What must hold, or there are no turns: comparisons of ``assumed``."""

    def apart(self) -> Iterator[int]:
        """Values that the number of the turn never is."""
        for bounds, strict in ((self.low, 1), (self.high, 0)):
            yield from (bound.plus[0] for bound, more in bounds if more == strict and bound.is_one)


def bounded(f: Func) -> Func:
    """``f``, or a copy whose loops turn over ranges; the functions that it calls are left."""
    if LOOP not in opcodes(f) or stays(f):
        return f
    key = "bounded", f.extent
    found = f.memo.get(key)
    if found is None:
        sites = {v: LoopSite(f, ins) for v, ins in enumerate(f.code) if ins[0] == LOOP}
        ranges = {v: r for v, site in sites.items() if (r := _range(site))}
        found = f.memo[key] = copied(f, lambda b, args: _Bounding(f, b, args, ranges)) if ranges else f
    assert isinstance(found, Func)
    return found


def _range(site: LoopSite) -> _Range | None:
    """The range of turns in which the body of a loop does something, if it is less than all that is known."""
    body, carries = site.body, site.spec.carries
    plain = not (site.test or site.spec.checkpoint or site.spec.down or stays(body) or body.effects)
    if not plain or len(body.results) != carries or opcodes(body).isdisjoint((COND, SET)):
        return None
    if any(isinstance(t, Ref) for t in body.params):
        return None
    found = _Range()
    tried = 0
    for v, ins in enumerate(body.code):
        if ins[0] in _MIRRORED and not body.home[v] and tried < _MOST_CONDITIONS:
            terms = [t for x in ins[1:] if (t := _term(body, x, carries))]
            if len(terms) < 2:
                continue
            tried += 1
            for value in (False, True):
                if _is_idle(body, carries, {v: not value}):
                    _note(found, v, ins[0] if value else _OPPOSITE[ins[0]], terms, value)
                    break
    return found if found.assumed else None


def _note(found: _Range, v: int, op: int, terms: Sequence[_Term], value: bool) -> None:
    """Take the condition ``v`` into the range: ``op`` must hold of these terms."""
    left, right = terms
    if right.has_turn:
        left, right, op = right, left, _MIRRORED[op]
    if right.has_turn or (op == _INEQ and left.has_turn):
        return
    found.assumed[v] = value
    if not left.has_turn:
        found.when.append(v)
        return
    bound = _Term(False, [*right.plus, *left.minus], [*right.minus, *left.plus])
    if op in (_IGT, _IGEQ, _IEQ):
        found.low.append((bound, int(op == _IGT)))
    if op in (_ILT, _ILEQ, _IEQ):
        found.high.append((bound, int(op != _ILT)))


def _term(body: Func, x: int, carries: int) -> _Term | None:
    """What the index ``x`` is in the body of a loop, if it is the same in all turns but for their number."""
    found = _Term(False)
    sign = 1
    for _ in range(_DEEPEST):
        if _is_fixed(body, x, carries, _DEEPEST):
            (found.plus if sign > 0 else found.minus).append(x)
            return found
        ins = body.code[x]
        if ins[0] == PARAM and not ins[1]:
            found.has_turn = True
            return found if body.types[x].size <= _LARGEST else None  # type: ignore[attr-defined]
        if ins[0] == _NARROW:
            x = ins[1]
        elif ins[0] in (_IADD, _ISUB):
            _, first, second = ins
            if ins[0] == _IADD and _is_fixed(body, first, carries, _DEEPEST):
                first, second = second, first
            if not _is_fixed(body, second, carries, _DEEPEST):
                return None
            (found.plus if ins[0] == _IADD else found.minus).append(second)
            x = first
        else:
            return None
    return None


def _is_fixed(body: Func, x: int, carries: int, depth: int) -> bool:
    """Whether ``x`` is an index that is the same in all turns, and can be computed ahead of them."""
    t = body.type_of(x)
    if not isinstance(t, Fin) or t.size > _LARGEST or not depth:
        return False
    if x < 0:
        return True
    op, *given = body.code[x]
    if op == PARAM:
        return given[0] > carries
    return op in _FIXED and all(_is_fixed(body, y, carries, depth - 1) for y in given)


def _is_idle(body: Func, carries: int, assumed: Mapping[int, bool]) -> bool:
    """Whether a turn does nothing where conditions are as ``assumed``."""
    scratch = Func(body.name, [], UNIT)
    b = Builder(scratch)
    params = [b.param(t) for t in body.params]
    results = _Assuming(body, b, params, assumed).run()
    return results == params[1 : carries + 1] and all(cannot_fail(scratch, ins) for ins in scratch.code)


class _Assuming(Verbatim):
    """Copies a function in which some conditions are known, and choices that are known with them."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], assumed: Mapping[int, bool]) -> None:
        super().__init__(func, b, args)
        self.assumed = assumed
        self.chosen: dict[int, list[int]] = {}
        """What a choice that is known gives."""

    def block(self, number: int) -> None:
        func, b, env = self.func, self.b, self.env
        for v in func.blocks[number].order:
            ins = func.code[v]
            if v in self.assumed:
                env[v] = b.const(self.assumed[v], BOOL)
            elif ins[0] < TABLE_END:
                env[v] = b.op(ins[0], *[env[x] for x in ins[1:]], type=func.types[v])
            else:
                self.structural(v, ins)

    def cond(self, v: int, ins: tuple[int, ...]) -> None:
        site = CondSite(self.func, ins)
        p = self.env[site.p]
        if p >= 0:
            super().cond(v, ins)
            return
        side = int(not self.b.pool[~p][0])
        args = [self.env[a] for a in site.args[side]]
        self.chosen[v] = _Assuming(site.functions[side], self.b, args, {}).run()

    def get(self, v: int, of: int, k: int) -> None:
        if of in self.chosen:
            self.env[v] = self.chosen[of][k]
        else:
            super().get(v, of, k)


class _Bounding(Verbatim):
    """Copies a function whose loops turn over ranges."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], ranges: Mapping[int, _Range]) -> None:
        super().__init__(func, b, args)
        self.ranges = ranges

    def control_loop(self, v: int, ins: tuple[int, ...]) -> None:
        if v not in self.ranges:
            super().control_loop(v, ins)
            return
        b, site, found = self.b, LoopSite(self.func, ins), self.ranges[v]
        state, args = ([self.env[x] for x in ids] for ids in (site.state, site.args))
        outside = _Outside(site, b, args)
        low = b.const(0, COUNT)
        for bound, more in found.low:
            low = b.binary(_IMAX, low, outside.bound(bound, more), COUNT)
        high = self.env[site.count]
        for bound, more in found.high:
            high = b.binary(_IMIN, high, outside.bound(bound, more), COUNT)
        if found.low:
            high = b.binary(_ISUB, high, low, COUNT)
        count = b.binary(_IMAX, high, b.const(0, COUNT), COUNT)
        for condition in found.when:
            p, none = outside.value(condition), b.const(0, COUNT)
            given = (count, none) if found.assumed[condition] else (none, count)
            count = b.ternary(_SELECT, p, *given, COUNT)
        if found.low:
            args.append(low)
        once = _over_range(site, found)
        first = 1 + site.spec.carries
        for k, path in once.elements:
            x = state[k]
            for i in path:
                index = args[i - first] if i >= 0 else b.const(~i, b.func.type_of(x).index)  # type: ignore[attr-defined]
                x = b.index(x, index)
            args.append(x)
        self.env[v] = b.loop(site.spec, count, once.body, state, args)


class _Outside:
    """Values of a loop's body that are the same in all turns, computed ahead of the loop."""

    def __init__(self, site: LoopSite, b: Builder, args: Sequence[int]) -> None:
        self.body = site.body
        self.first = 1 + site.spec.carries
        self.b = b
        self.args = args

    def value(self, x: int) -> int:
        if x < 0:
            return self.b.const(*self.body.pool[~x])
        op, *given = self.body.code[x]
        if op == PARAM:
            return self.args[given[0] - self.first]
        return self.b.op(op, *map(self.value, given), type=self.body.types[x])

    def bound(self, bound: _Term, more: int) -> int:
        found = self.b.const(more, COUNT)
        for op, ids in ((_IADD, bound.plus), (_ISUB, bound.minus)):
            for x in ids:
                found = self.b.binary(op, found, self.value(x), COUNT)
        return found


def _over_range(site: LoopSite, found: _Range) -> Unchanged:
    """The body of a loop that turns over a range, of which it gets the first number after its arguments, and
    then numbers that it does not change."""
    body = site.body
    copy = Func(body.name, [], UNIT)
    b = Builder(copy)
    args = [b.param(t) for t in body.params]
    if found.low:
        turn = b.binary(_IADD, args[0], b.param(COUNT), COUNT)
        size = b.const(site.spec.index.size, COUNT)  # type: ignore[attr-defined]
        args[0] = b.binary(_NARROW, turn, size, site.spec.index)
    replay = _Assuming(body, b, args, found.assumed)
    copy.blocks[0].results = replay.run()
    return unchanged(copy, site.spec.carries, args[0], {replay.env[x] for x in found.apart()})
