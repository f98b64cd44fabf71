"""In which iterations of a loop anything happens: those in a range that is known before the loop."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from rose_core.language.builder import Builder
from rose_core.language.ir import PARAM, CondSite, Func
from rose_core.language.ops import code
from rose_core.language.queries import takes_accumulators
from rose_core.language.types import BOOL, REAL, UNIT, Fin
from rose_core.optimise.copies import stays
from rose_core.optimise.movable import cannot_fail
from rose_core.optimise.outside import Knowing

_MOST_CONDITIONS = 4
"""The most comparisons of a body that are tried."""

LONGEST = 300
"""The most instructions of a body, or of the side of a choice in it, that are tried out."""

LARGEST = 1 << 24
"""Indices up to this can be added and subtracted as they come."""

_DEEPEST = 8
"""The most operations in each other in a bound."""

_IADD, _ISUB, _IMUL, _IMIN, _IMAX = map(code, ("iadd", "isub", "imul", "imin", "imax"))
_NARROW, _ADD = map(code, ("narrow", "add"))
_ILT, _ILEQ, _IGT, _IGEQ, _IEQ, _INEQ = map(code, ("ilt", "ileq", "igt", "igeq", "ieq", "ineq"))

_MIRRORED = {_ILT: _IGT, _ILEQ: _IGEQ, _IGT: _ILT, _IGEQ: _ILEQ, _IEQ: _IEQ, _INEQ: _INEQ}
"""Comparison → the same one with its operands exchanged."""

COMPARISONS = _MIRRORED.keys()
"""Of indices."""

_OPPOSITE = {_ILT: _IGEQ, _ILEQ: _IGT, _IGT: _ILEQ, _IGEQ: _ILT, _IEQ: _INEQ, _INEQ: _IEQ}
"""Comparison → the one that holds where it does not."""

_FIXED = frozenset(map(code, ("iadd", "isub", "imul", "imin", "imax", "imod", "idiv", "narrow")))
"""What a bound may be computed by: it cannot fail."""


@dataclass(slots=True)
class Term:
    """An index as a sum: perhaps the iteration's number, values that are added, and values subtracted."""

    has_iteration: bool = False
    plus: list[int] = field(default_factory=list)
    minus: list[int] = field(default_factory=list)

    @property
    def is_one(self) -> bool:
        """Whether it is a value by itself."""
        return len(self.plus) == 1 and not self.minus


@dataclass(slots=True)
class Range:
    """Where a loop has something to do, in values of its body that are the same in all iterations."""

    assumed: dict[int, bool] = field(default_factory=dict)
    """Comparisons in the body → what they are where it does something."""
    low: list[tuple[Term, int]] = field(default_factory=list)
    """What the number of the iteration may not be below, each with a number added."""
    high: list[tuple[Term, int]] = field(default_factory=list)
    """What it must be below."""
    when: list[int] = field(default_factory=list)
    """Those of the comparisons that are the same in all iterations."""

    @property
    def varies(self) -> bool:
        """Whether it depends on anything."""
        bounds = [*self.low, *self.high]
        return bool(self.when) or any(x >= 0 for bound, _ in bounds for x in (*bound.plus, *bound.minus))

    def apart(self) -> Iterator[int]:
        """Values that the number of the iteration never is."""
        for bounds, strict in ((self.low, 1), (self.high, 0)):
            yield from (bound.plus[0] for bound, more in bounds if more == strict and bound.is_one)


def range_of(body: Func, sums: Collection[int]) -> Range | None:
    """The range of iterations in which the body of a loop changes the state, if it is one that comparisons
    say.

    All results of the body are state. Those of number ``sums`` start from 0.0 and are never -0.0 as long as
    the body only adds to them, so that nothing changes where it adds 0.0.
    """
    if stays(body) or body.effects or takes_accumulators(body):
        return None
    found = Range()
    for v, terms in islice(_comparisons(body), _MOST_CONDITIONS):
        for value in (True, False):
            if _is_idle(body, sums, {v: not value}):
                op = body.code[v][0]
                _note(found, v, op if value else _OPPOSITE[op], terms, value)
                break
    return found if found.assumed else None


def _comparisons(body: Func) -> Iterator[tuple[int, list[Term]]]:
    """Comparisons with the number of the iteration, or of what is the same in all iterations."""
    if len(body.code) > LONGEST:
        return
    for v, ins in enumerate(body.code):
        if ins[0] in COMPARISONS and not body.home[v]:
            terms = [t for x in ins[1:] if (t := _term(body, x, len(body.results)))]
            if len(terms) == 2:
                yield v, terms


def _note(found: Range, v: int, op: int, terms: Sequence[Term], value: bool) -> None:
    """Take the comparison ``v`` into the range, if it can be: ``op`` must hold of these terms."""
    left, right = terms
    if right.has_iteration:
        left, right, op = right, left, _MIRRORED[op]
    if right.has_iteration or (op == _INEQ and left.has_iteration):
        return
    found.assumed[v] = value
    if not left.has_iteration:
        found.when.append(v)
        return
    bound = Term(False, [*right.plus, *left.minus], [*right.minus, *left.plus])
    if op in (_IGT, _IGEQ, _IEQ):
        found.low.append((bound, int(op == _IGT)))
    if op in (_ILT, _ILEQ, _IEQ):
        found.high.append((bound, int(op != _ILT)))


def _term(body: Func, x: int, carries: int) -> Term | None:
    """What the index ``x`` is in the body of a loop, if it is invariant but for the iteration's number."""
    found = Term()
    for _ in range(_DEEPEST):
        if _is_fixed(body, x, carries):
            found.plus.append(x)
            return found
        if x < 0:
            return None
        op, *given = body.code[x]
        if op == PARAM and not given[0]:
            found.has_iteration, t = True, body.types[x]
            return found if isinstance(t, Fin) and t.size <= LARGEST else None
        if op in (_IADD, _ISUB):
            if op == _IADD and _is_fixed(body, given[0], carries):
                given.reverse()
            if not _is_fixed(body, given[1], carries):
                return None
            (found.plus if op == _IADD else found.minus).append(given[1])
        elif op != _NARROW:
            return None
        x = given[0]
    return None


def _is_fixed(body: Func, x: int, carries: int) -> bool:
    """Whether ``x`` is an index that is the same in all iterations, and can be computed ahead of them."""
    return _farthest(body, x, carries, _DEEPEST) <= LARGEST


def _farthest(body: Func, x: int, carries: int, depth: int) -> float:
    """How far from 0 a loop-invariant index can be; infinite if it is not known to be one."""
    t = body.type_of(x)
    if not isinstance(t, Fin) or not depth:
        return math.inf
    if x < 0:
        return float(abs(body.pool[~x][0]))
    op, *given = body.code[x]
    if op == PARAM:
        return t.size - 1 if given[0] > carries else math.inf
    if op not in _FIXED:
        return math.inf
    first, second = (_farthest(body, y, carries, depth - 1) for y in given)
    if op in (_IADD, _ISUB):
        return first + second
    if op in (_IMIN, _IMAX):
        return max(first, second)
    return first * second if op == _IMUL else first


def is_zero(f: Func, x: int) -> bool:
    """Whether a value is 0.0, or an array of that, and not -0.0, which a sum that starts from it never is."""
    return x < 0 and str(f.pool[~x][0]) == "0.0"


def starts_from_zero(f: Func, x: int) -> bool:
    """The same, of a Real."""
    return is_zero(f, x) and f.type_of(x) is REAL


def _is_idle(body: Func, sums: Collection[int], assumed: Mapping[int, bool]) -> bool:
    """Whether an iteration does nothing where conditions are as ``assumed``."""
    scratch = Func(body.name, [], UNIT)
    b = Builder(scratch)
    params = [b.param(t) for t in body.params]
    results = _Trying(body, b, params, assumed).run()
    for k, result in enumerate(results):
        before = params[k + 1]
        if result != before and not (k in sums and result == b.binary(_ADD, before, b.real(0.0))):
            return False
    return all(cannot_fail(scratch, ins) for ins in scratch.code)


class Assuming(Knowing):
    """Copies a function in which some conditions are known, and choices that are known with them."""

    longest = math.inf
    """The most instructions of a side that takes the place of a choice."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], assumed: Mapping[int, bool]) -> None:
        super().__init__(func, b, args, {v: b.const(value, BOOL) for v, value in assumed.items()})

    def cond(self, v: int, ins: tuple[int, ...]) -> None:
        site = CondSite(self.func, ins)
        p = self.env[site.p]
        side = int(p < 0 and not self.b.pool[~p][0])
        f, args = site.functions[side], [self.env[a] for a in site.args[side]]
        if p >= 0 or len(f.code) > self.longest:
            super().cond(v, ins)
        else:
            self.replaced[v] = type(self)(f, self.b, args, {}).run()


class _Trying(Assuming):
    """Finds out whether an iteration does anything, but does not copy long sides for that."""

    longest = LONGEST
