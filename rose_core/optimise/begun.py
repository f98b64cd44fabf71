"""Loops with a state whose first and last iterations are written out, where choices go another way.

    loop i < n, state y:  y.set(i, cond(i < 1, x[i], f(y[i - 1])))
        →     y.set(0, x[0]);  loop i < n - 1, state y:  y.set(i + 1, f(y[i]))

A recurrence begins in another way than it goes on. Without the choice, what it needs of the iteration before
is known to be that, and need not be read again (`optimise.carried`). It is as `optimise.peel`, but before
anything is differentiated: a state passes through its iterations in order, backwards, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from rose_core.language.builder import COUNT, Builder
from rose_core.language.ir import COND, INDEX, LOOP, PARAM, Func, LoopSite
from rose_core.language.ops import by_name
from rose_core.language.queries import among, opcodes, param_ids, places, remembered
from rose_core.language.replay import copied
from rose_core.language.types import UNIT, Fin, fin
from rose_core.optimise.copies import stays
from rose_core.optimise.ends import at_ends, between, followed, is_short
from rose_core.optimise.other_loops import OtherLoops
from rose_core.optimise.pieces import Piece, Pieces, at
from rose_core.optimise.ranges import Assuming

_IADD, _IMIN, _IMAX = (by_name[name].code for name in ("iadd", "imin", "imax"))

_LOOPS, _CHOICES, _READS = among([LOOP]), among([COND]), among([INDEX])


@dataclass(frozen=True, slots=True)
class _Ends:
    """The iterations of a loop that stay in it."""

    first: int
    last: int
    """The first one after them."""
    known: dict[int, bool]
    """Comparisons in its body → what they are in these."""


def begun(f: Func) -> Func:
    """``f``, or a copy with such loops; the functions that it calls are left."""
    return f if LOOP not in opcodes(f) or stays(f) else _begun(f)


@remembered
def _begun(f: Func) -> Func:
    found = {v: ends for v in places(f, _LOOPS) if (ends := _ends(LoopSite(f, f.code[v])))}
    return copied(f, _Beginning, found) if found else f


def _ends(site: LoopSite) -> _Ends | None:
    """The iterations that stay in a loop, if some are to be written out."""
    body, spec = site.body, site.spec
    is_plain = site.is_whole and not (spec.checkpoint or spec.down) and len(body.results) == spec.carries
    if not is_plain or stays(body) or opcodes(body).isdisjoint((COND, _IMIN, _IMAX)):
        return None
    pieces = Pieces(body, 0, param_ids(body)[0], spec.trips)
    conditions: dict[int, list[Piece]] = {}
    for v in places(body, _CHOICES):
        conditions |= followed(body, v, partial(at_ends, pieces))
    read = [body.code[v][2] for v in places(body, _READS) if _is_state(body, v, spec.carries)]
    indices = [found for i in read if (found := at_ends(pieces, i))]
    ends = between(spec.trips, [*conditions.values(), *indices])
    if not ends or ends == (0, spec.trips):
        return None
    first, last = ends
    if not is_short(body, range(len(body.code)), spec.trips - (last - first)):
        return None
    return _Ends(first, last, {c: bool(at(found, first)[2]) for c, found in conditions.items()})


def _is_state(body: Func, v: int, carries: int) -> bool:
    """Whether what is read is an element of the state before."""
    x = body.code[v][1]
    return x >= 0 and body.code[x][0] == PARAM and 0 < body.code[x][1] <= carries


class _Beginning(OtherLoops):
    """Copies a function with the first and last iterations of loops before and after them."""

    def other_loop(self, v: int, site: LoopSite, found: _Ends, state: list[int], args: list[int]) -> None:
        b, spec = self.b, site.spec
        count = found.last - found.first
        for k in range(found.first):
            state = self.alone(site, k, state, args)
        body = _later(site, found)
        loop = b.loop(replace(spec, index=fin(count)), b.const(count, COUNT), body, state, args)
        state = [b.get(loop, k) for k in range(spec.carries)]
        for k in range(found.last, spec.trips):
            state = self.alone(site, k, state, args)
        self.replaced[v] = [*state, self.env[site.count]]

    def alone(self, site: LoopSite, k: int, state: Sequence[int], args: Sequence[int]) -> list[int]:
        """Emit one iteration; the state after it."""
        iteration = self.b.const(k, site.spec.index)
        return Assuming(site.body, self.b, [iteration, *state, *args], {}).run()


def _later(site: LoopSite, ends: _Ends) -> Func:
    """The body of a loop that begins later."""
    body, index = site.body, site.spec.index
    assert isinstance(index, Fin)
    copy = Func(body.name, [], UNIT)
    b = Builder(copy)
    iteration, *others = [b.param(t) for t in (fin(ends.last - ends.first), *body.params[1:])]
    later = b.binary(_IADD, iteration, b.const(ends.first, COUNT), COUNT)
    copy.blocks[0].results = Assuming(body, b, [b.narrow(later, index), *others], ends.known).run()
    return copy
