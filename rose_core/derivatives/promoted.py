"""What every iteration of a backward loop adds to one element, added up in the loop's state instead.

    loop i, state s:  w[2] += f(s)     →     loop i, state s, t = 0.0:  t + f(s);   w[2] += t

That is the cotangent of a parameter that a simulation reads in every step. In the state it is in a local
variable (register promotion); and as the loop has no accumulator in common with others, such loops may run
side by side in lanes (`wasm.recurrences`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rose_core.language.builder import Builder
from rose_core.language.ir import ADD_TO, PARAM, REF_INDEX, Func
from rose_core.language.ops import by_name
from rose_core.language.queries import among, places
from rose_core.language.replay import Replay
from rose_core.language.types import REAL
from rose_core.optimise.other_loops import with_sums

_ADD = by_name["add"].code
_ADDITIONS = among([ADD_TO])

_MOST = 12
"""The most numbers that a state gets."""

Element = tuple[int, ...]
"""An accumulator, by the number of the body's parameter, and indices: parameters, or literals (< 0)."""


@dataclass(frozen=True, slots=True)
class Promoted:
    """The body of a backward loop that adds up in its state."""

    body: Func
    """With the sums after the state."""
    elements: list[Element]
    """What each of them is of."""
    of: Func
    """The body that adds to these."""

    def places(self, b: Builder, args: Sequence[int]) -> list[int]:
        """The elements, where ``args`` are the body's parameters."""
        found = []
        for k, *indices in self.elements:
            r = args[k]
            for i in indices:
                r = b.ref_index(r, args[i] if i >= 0 else b.const(*self.of.pool[~i]))
            found.append(r)
        return found


def promoted(body: Func, carries: int, has_trips: bool) -> Promoted | None:
    """The body of a loop with so many leaves of state that adds up what it can; None if that is nothing.

    ``has_trips``: whether it is known to run. Else an index need not be one of the accumulator's.
    """
    sites: dict[int, Element] = {}
    for v in places(body, _ADDITIONS):
        element = None if body.home[v] else _element(body, v, carries)
        if element and (has_trips or max(element[1:], default=-1) < 0):
            sites[v] = element
    elements = list(dict.fromkeys(sites.values()))
    if not elements or len(elements) > _MOST:
        return None
    b, args, sums = with_sums(body, carries, len(elements))
    replay = _Adding(body, b, args, sites)
    results = replay.run()
    # the terms of a step first, so that the next one waits for one addition
    ends = [b.binary(_ADD, x, replay.terms[element]) for x, element in zip(sums, elements, strict=True)]
    b.func.blocks[0].results = [*results[:carries], *ends, *results[carries:]]
    return Promoted(b.func, elements, body)


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
