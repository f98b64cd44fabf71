"""What every iteration of a loop with a state adds to one element, added up in the state instead.

    loop i, state s:  w[2] += f(s)     →     loop i, state s, t = 0.0:  t + f(s);   w[2] += t

So reverse mode collects the cotangent of a parameter that a simulation reads in every step. In the state the
sum is in a local variable; and as the loop has no accumulator in common with others, such loops may run side
by side in lanes (`wasm.recurrences`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rose_core.language.builder import Builder
from rose_core.language.ir import ADD_TO, LOOP, PARAM, REF_INDEX, Func, LoopSite
from rose_core.language.ops import by_name
from rose_core.language.queries import among, callees_first, opcodes, places
from rose_core.language.replay import Replay, copied
from rose_core.language.types import REAL, UNIT
from rose_core.optimise.other_loops import OtherLoops
from rose_core.optimise.single import calling

_ADD = by_name["add"].code
_LOOPS, _ADDITIONS = among([LOOP]), among([ADD_TO])

_MOST = 12
"""The most numbers that a state gets."""

Element = tuple[int, ...]
"""An accumulator, by the number of the body's parameter, and indices: parameters, or literals (< 0)."""


@dataclass(frozen=True, slots=True)
class _Promoted:
    body: Func
    """With the sums after the state."""
    elements: list[Element]
    """What each of them is of."""


def promoted(root: Func) -> Func:
    """``root``, whose derivatives are made, and what it calls, with such loops."""
    made: dict[Func, Func] = {}
    for f in callees_first(root, lambda f: f.callees):
        found = f.memo.get("promoted")
        if found is None:
            own = calling(f, [made[g] for g in f.callees])
            found = _promoted(own) if LOOP in opcodes(own) else own
            if found is not f:
                f.memo["promoted"] = found
        assert isinstance(found, Func)
        made[f] = found
    return made[root]


def _promoted(f: Func) -> Func:
    """The same of a function that calls what has become of others."""
    found: dict[int, _Promoted] = {}
    for v in places(f, _LOOPS):
        site = LoopSite(f, f.code[v])
        has_trips = site.count < 0 and f.pool[~site.count][0] > 0
        if not site.test and (made := _made(site.body, site.spec.carries, has_trips)):
            found[v] = made
    return copied(f, _Promoting, found) if found else f


def _made(body: Func, carries: int, has_trips: bool) -> _Promoted | None:
    """The body of a loop with so many leaves of state that adds up what it can; None if that is nothing."""
    key = "promoted", carries, has_trips
    if key not in body.memo:
        body.memo[key] = _with_sums(body, carries, has_trips)
    found = body.memo[key]
    assert found is None or isinstance(found, _Promoted)
    return found


def _with_sums(body: Func, carries: int, has_trips: bool) -> _Promoted | None:
    sites: dict[int, Element] = {}
    for v in places(body, _ADDITIONS):
        element = None if body.home[v] else _element(body, v, carries)
        # where there may be no iteration, an index need not be one of the accumulator's
        if element and (has_trips or max(element[1:], default=-1) < 0):
            sites[v] = element
    elements = list(dict.fromkeys(sites.values()))
    if not elements or len(elements) > _MOST:
        return None
    copy = Func(body.name, [], UNIT)
    copy.effects = body.effects
    b = Builder(copy)
    first = 1 + carries
    args = [b.param(t) for t in body.params[:first]]
    sums = [b.param(REAL) for _ in elements]
    args += [b.param(t) for t in body.params[first:]]
    replay = _Adding(body, b, args, sites)
    results = replay.run()
    # the terms of a step first, so that the next one waits for one addition
    ends = [b.binary(_ADD, x, replay.terms[element]) for x, element in zip(sums, elements, strict=True)]
    copy.blocks[0].results = [*results[:carries], *ends, *results[carries:]]
    return _Promoted(copy, elements)


def _element(body: Func, v: int, carries: int) -> Element | None:
    """What ``v`` adds to, if that is a number that is the same one in every iteration."""
    _, r, x = body.code[v]
    indices: list[int] = []
    while body.code[r][0] == REF_INDEX:
        _, r, index = body.code[r]
        op, k = body.code[index][:2] if index >= 0 else (PARAM, index)
        if op != PARAM or 0 <= k <= carries:
            return None
        indices.append(k)
    op, k = body.code[r][:2]
    is_given = op == PARAM and k > carries and body.type_of(x) is REAL
    return (k, *reversed(indices)) if is_given else None


class _Adding(Replay):
    """Copies a body that adds up terms in place of adding them to elements."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], sites: Mapping[int, Element]) -> None:
        super().__init__(func, b, args)
        self.sites = sites
        self.terms: dict[Element, int] = {}

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        if v not in self.sites:
            super().structural(v, ins)
            return
        element, x = self.sites[v], self.env[ins[2]]
        terms = self.terms.get(element)
        self.terms[element] = x if terms is None else self.b.binary(_ADD, terms, x)


class _Promoting(OtherLoops):
    """Copies a function whose loops add up in their state."""

    def other_loop(self, v: int, site: LoopSite, found: _Promoted, state: list[int], args: list[int]) -> None:
        b, carries, more = self.b, site.spec.carries, len(found.elements)
        spec = replace(site.spec, carries=carries + more)
        start = [*state, *(b.real(0.0) for _ in found.elements)]
        loop = b.loop(spec, self.env[site.count], found.body, start, args)
        self.env[v] = loop
        count = len(site.body.results) + 1
        self.replaced[v] = [b.get(loop, k if k < carries else k + more) for k in range(count)]
        for k, (of, *indices) in enumerate(found.elements, carries):
            r = args[of - 1 - carries]
            for i in indices:
                literal = site.body.pool[~i] if i < 0 else None
                r = b.ref_index(r, b.const(*literal) if literal else args[i - 1 - carries])
            b.add_to(r, b.get(loop, k))
