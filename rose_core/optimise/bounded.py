"""Loops with a state that run only where something happens, before anything is differentiated.

A triangle of a matrix is written as a loop over all indices with a choice in it:

    loop k < n, state a:  cond(k < i, step(a, k), a)     →     loop k < i, state a:  step(a, k)

Where the state stays as it is unless the number of the iteration is in a range that is known before the loop,
the loop runs over that range: its count is the length of the range, its number counts from there, and the
choice is gone. So a derivative keeps no other iterations, and goes back through no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rose_core.language import simplify
from rose_core.language.builder import COUNT, Builder
from rose_core.language.ir import COND, LOOP, PARAM, SET, Func, LoopSite, Spec
from rose_core.language.ops import code
from rose_core.language.queries import opcodes, remembered
from rose_core.language.replay import copied
from rose_core.language.types import UNIT, Fin, fin
from rose_core.optimise.copies import stays
from rose_core.optimise.other_loops import OtherLoops
from rose_core.optimise.outside import Same
from rose_core.optimise.ranges import Assuming, Range, Term, range_of, starts_from_zero
from rose_core.optimise.unchanged import Unchanged, unchanged

_ADD, _SUB, _IADD, _ISUB, _IMIN, _IMAX, _NARROW, _SELECT = map(
    code, ("add", "sub", "iadd", "isub", "imin", "imax", "narrow", "select")
)

_CHOICES = frozenset((COND, SET, _SELECT))
"""Without any of these, a body does the same in all iterations."""


def bounded(f: Func) -> Func:
    """``f``, or a copy whose loops run over ranges; the functions that it calls are left."""
    return f if LOOP not in opcodes(f) or stays(f) else _bounded(f)


@remembered
def _bounded(f: Func) -> Func:
    while ranges := _ranges(f):  # in what is left there may be choices that were in choices
        f = copied(f, _Bounding, ranges)
    return f


def _ranges(f: Func) -> dict[int, Range]:
    """Loop → where it has something to do."""
    return {v: found for v, ins in enumerate(f.code) if ins[0] == LOOP and (found := _range(f, ins))}


def _range(f: Func, ins: tuple[int, ...]) -> Range | None:
    """Where a loop has something to do, if that is not in all iterations."""
    site = LoopSite(f, ins)
    body, spec = site.body, site.spec
    plain = not (site.test or spec.checkpoint or spec.down) and len(body.results) == spec.carries
    if not plain or opcodes(body).isdisjoint(_CHOICES):
        return None
    return range_of(body, [k for k, x in enumerate(site.state) if _adds_up(f, x, body, k)])


def _adds_up(f: Func, start: int, body: Func, k: int) -> bool:
    """Whether a number of the state starts from 0.0, and iterations only add to it or take away."""
    if not starts_from_zero(f, start):
        return False
    result = body.results[k]
    ins = body.code[result] if result >= 0 else (PARAM, -1)
    state = [x for x in ins[1:] if x >= 0 and body.code[x] == (PARAM, k + 1)]
    return bool(state) and (ins[0] == _ADD or (ins[0] == _SUB and ins[1] in state))


class _Bounding(OtherLoops):
    """Copies a function whose loops run over ranges."""

    def other_loop(self, v: int, site: LoopSite, found: Range, state: list[int], args: list[int]) -> None:
        self.env[v] = over_range(self.b, site.spec, site.body, self.env[site.count], state, args, found)


def over_range(
    b: Builder, spec: Spec, body: Func, count: int, state: Sequence[int], args: Sequence[int], found: Range
) -> int:
    """The loop over the iterations in which something happens, on a state and arguments."""
    same = Same(body, spec.carries)

    def innermost(op: int, end: int, bounds: Sequence[tuple[Term, int]]) -> int:
        for bound, more in bounds:
            x = b.const(more, COUNT)
            for change, ids in ((_IADD, bound.plus), (_ISUB, bound.minus)):
                for y in same.ahead(b, args, ids):
                    x = b.binary(change, x, y, COUNT)
            end = b.binary(op, end, x, COUNT)
        return end

    zero = b.const(0, COUNT)
    low, high = innermost(_IMAX, zero, found.low), innermost(_IMIN, count, found.high)
    count = b.binary(_IMAX, b.binary(_ISUB, high, low, COUNT) if found.low else high, zero, COUNT)
    t = b.func.type_of(count)
    for condition, p in zip(found.when, same.ahead(b, args, found.when), strict=True):
        sides = (count, b.const(0, t)) if found.assumed[condition] else (b.const(0, t), count)
        count = b.ternary(_SELECT, p, *sides, t)
    numbers = spec.index
    assert isinstance(numbers, Fin)
    if count < 0 and b.pool[~count][0]:
        spec = replace(spec, index=fin(int(b.pool[~count][0])))
    first: int | Fin = int(b.pool[~low][0]) if low < 0 else 0
    if low >= 0:
        _, largest = simplify.range_of(b, low)
        first = fin(largest + 1)
        args = [*args, b.narrow(low, first)]
    once = _once(spec, body, numbers, found, first)
    given = list(args)
    for k, path in once.elements:
        x = state[k]
        for i in path:
            size = b.func.array_type_of(x).index
            x = b.index(x, given[i - 1 - spec.carries] if i >= 0 else b.const(~i, size))
        args = [*args, x]
    return b.loop(spec, count, once.body, state, args)


def _once(spec: Spec, body: Func, numbers: Fin, found: Range, first: int | Fin) -> Unchanged:
    """The body of a loop that runs over a range of ``numbers`` from ``first`` on, or from an index of that
    type, which it gets after its arguments.

    Thereafter it gets numbers that it does not change.
    """
    copy = Func(body.name, [], UNIT)
    b = Builder(copy)
    iteration, *others = [b.param(t) for t in (spec.index, *body.params[1:])]
    low = b.const(first, COUNT) if isinstance(first, int) else b.param(first)
    iteration = b.narrow(b.binary(_IADD, iteration, low, COUNT), numbers)
    replay = Assuming(body, b, [iteration, *others], found.assumed)
    copy.blocks[0].results = replay.run()
    return unchanged(copy, spec.carries, iteration, {replay.env[x] for x in found.apart()})
