"""Elements that the sides of a choice set, set after it: store sinking.

    loop i, state y:  cond(p, y.set(i, a), y.set(i, b))     →     loop i, state y:  y.set(i, cond(p, a, b))

So the choice is one between numbers, and what an iteration sets is known to be set in any case: it may be
carried to the next iteration (`optimise.carried`). Where a side leaves the array as it is, that is faster
than to set what is there already.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count

from rose_core.language.builder import Builder
from rose_core.language.ir import COND, LOOP, PARAM, SET, CondSite, Func, LoopSite
from rose_core.language.ops import FAILS, TABLE_END, by_name
from rose_core.language.queries import RESULT, among, opcodes, places, remembered, uses_of
from rose_core.language.replay import Verbatim, copied
from rose_core.language.simplify import range_of
from rose_core.language.types import REAL, Array, Fin
from rose_core.optimise.copies import stays
from rose_core.optimise.other_loops import OtherLoops
from rose_core.optimise.outside import given_values

_CHOICES, _LOOPS = among([COND]), among([LOOP])
_NARROW = by_name["narrow"].code

_MOST = 4
"""The most elements that a side sets of an array."""

_DEEPEST = 6
"""The most operations in each other in an index."""


@dataclass(frozen=True, slots=True)
class _Chain:
    """How a side changes an array."""

    param: int
    """The number of the parameter that is the array before."""
    sets: list[int]
    """What sets its elements, in order."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """A choice of which something is set after it."""

    sides: list[Func]
    """In which the same has been done to theirs."""
    chains: dict[int, tuple[_Chain, _Chain]]
    """Result → how the two sides change an array, which is the same before."""


def stored(f: Func) -> Func:
    """``f``, or a copy with such choices in its loops; the functions that it calls are left."""
    return f if LOOP not in opcodes(f) or stays(f) else _stored(f)


@remembered
def _stored(f: Func) -> Func:
    bodies = {v: body for v in places(f, _LOOPS) if (body := _body(f, v))}
    return copied(f, _Stored, bodies) if bodies else f


def _body(f: Func, v: int) -> Func | None:
    before = LoopSite(f, f.code[v]).body
    body = _choosing(before)
    return body if body is not before else None


@remembered
def _choosing(body: Func) -> Func:
    """A body or side, or a copy that sets elements after its choices."""
    if COND not in opcodes(body) or stays(body):
        return body
    found = {v: choice for v in places(body, _CHOICES) if (choice := _choice(body, v))}
    return copied(body, _Choosing, found) if found else body


def _choice(body: Func, v: int) -> _Choice | None:
    site = CondSite(body, body.code[v])
    sides = [_choosing(side) for side in site.functions]
    uses = [uses_of(side) if SET in opcodes(side) else {} for side in sides]
    chains = {}
    for k in range(len(sides[0].results)):
        one, other = (_chain(side, k, of) for side, of in zip(sides, uses, strict=True))
        if one and other and site.args[0][one.param] == site.args[1][other.param]:
            chains[k] = one, other
    return _Choice(sides, chains) if chains or sides != [*site.functions] else None


def _chain(side: Func, k: int, uses: Mapping[int, Sequence[int]]) -> _Chain | None:
    """How a side changes the array that is its result ``k``, if it only sets few numbers."""
    code, x = side.code, side.results[k]
    t = side.type_of(x)
    if not (isinstance(t, Array) and t.elem is REAL) or stays(side):
        return None
    sets: list[int] = []
    while x >= 0 and code[x][0] == SET:
        if uses[x] != (sets[-1:] or [RESULT]):
            return None  # something else needs it
        sets.append(x)
        x = code[x][1]
    is_given = x >= 0 and code[x][0] == PARAM and 0 < len(sets) <= _MOST
    return _Chain(code[x][1], sets[::-1]) if is_given else None


class _Stored(OtherLoops):
    """Copies a function whose loops have other bodies."""

    def other_loop(self, v: int, site: LoopSite, body: Func, state: list[int], args: list[int]) -> None:
        self.env[v] = self.with_body(site, body, state, args)


class _Choosing(Verbatim):
    """Copies the body of a loop, or a side of a choice, and sets elements after its choices."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], found: Mapping[int, _Choice]) -> None:
        super().__init__(func, b, args)
        self.found = found

    def cond(self, v: int, ins: tuple[int, ...]) -> None:
        choice = self.found.get(v)
        if choice is None:
            super().cond(v, ins)
            return
        b, env, site = self.b, self.env, CondSite(self.func, ins)
        args = [[env[x] for x in of] for of in site.args]
        ways: dict[int, list[int]] = {}
        """Result → where elements of it are set."""
        for k, chains in choice.chains.items():
            one, other = (
                [self.index(side, side.code[x][2], given) for x in chain.sets]
                for chain, side, given in zip(chains, choice.sides, args, strict=True)
            )
            known = [i for i in one if i is not None]
            if one == other == known:
                ways[k] = known
        kept = [k for k in range(len(choice.sides[0].results)) if k not in ways]
        f, g = choice.sides
        if ways:
            f, g = (_giving(side, [choice.chains[k][n] for k in ways], kept) for n, side in enumerate((f, g)))
        made = b.cond(env[site.p], f, args[0], g, args[1])
        numbers = map(partial(b.get, made), count())
        found = dict(zip(kept, numbers, strict=False))
        for k, way in ways.items():
            found[k] = args[0][choice.chains[k][0].param]
            for i in way:
                found[k] = b.set(found[k], i, next(numbers))
        self.replaced[v] = [found[k] for k in sorted(found)]

    def index(self, side: Func, i: int, args: Sequence[int], deepest: int = _DEEPEST) -> int | None:
        """An index in a side, computed here, if that is done in a few steps that never fail."""
        b = self.b
        if i < 0:
            return b.const(*side.pool[~i])
        op, *given = side.code[i]
        if op == PARAM:
            return args[given[0]]
        t = side.types[i]
        if not deepest or op >= TABLE_END or op in FAILS or not isinstance(t, Fin):
            return None
        ids = []
        for x in given:
            found = self.index(side, x, args, deepest - 1)
            if found is None:
                return None
            ids.append(found)
        if op == _NARROW:
            low, high = range_of(b, ids[0])
            if low < 0 or high >= t.size:
                return None
        return b.op(op, *ids, type=t)


def _giving(side: Func, chains: Collection[_Chain], kept: Sequence[int]) -> Func:
    """A side that gives these of its results, and then the numbers that it sets."""
    sets = [x for chain in chains for x in chain.sets]
    return given_values(side, [], sets, [side.results[k] for k in kept] + [side.code[x][3] for x in sets])
