"""Accumulators of which each iteration of a loop adds to an element of its own: results of the loop.

    r = accum(a);  for i:  r[i] += f(i)     →     r = [for i: a[i] + f(i)]

Reverse mode collects all cotangents in accumulators, also those to whose elements nothing is ever added in
two iterations. As results of the loop they are written once, without being read, and a loop that takes
element by element what this one makes may become one with it (`tapeless`). The same for rows, to which an
iteration adds number by number, or in a loop of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rose_core.language.builder import Builder
from rose_core.language.ir import ACCUM, ADD_TO, COND, FOR, GET, INDEX, REF_INDEX, RESOLVE, SET, VEC, Func
from rose_core.language.ops import BINARY_END, by_name
from rose_core.language.queries import among, places, users_of
from rose_core.language.replay import Replay, copied
from rose_core.language.types import REAL, TAN, Array, is_tape
from rose_core.optimise.ranges import is_zero

_ADD = by_name["add"].code
_PLACES, _CHOICES = among([REF_INDEX]), among([COND])
_OF_ACCUMULATORS = among({*range(BINARY_END, 256)} - {INDEX, GET, VEC, SET, FOR})
"""What may be done with one."""

_ROWS_PER_ITERATION = 64
"""A function is left as it is if it has more instructions than this for each iteration of such loops."""

_MOST_IN_ROW = 16
"""The most numbers of a row that are added to one by one."""


@dataclass(frozen=True, slots=True)
class _Own:
    """What the iterations of a loop add to."""

    whole: int
    """An accumulator, or an iteration's own part of one."""
    part: int
    """An iteration's own part of that."""
    elements: Mapping[int, int]
    """Where numbers of the part are added to: the number's place in it → its accumulator."""


def mapped(f: Func) -> Func:
    """``f``, about to be lowered, or a copy with such results."""
    own = _own_parts(f) if len(f.blocks) > 1 else {}
    iterations = sum(f.trips_of(f.home[part]) for part in own.values())
    if len(f.code) > _ROWS_PER_ITERATION * iterations:
        return f
    users = users_of(f, _OF_ACCUMULATORS)
    found: dict[int, list[_Own]] = {}
    for r in own:
        for part in _levels(f, r, own, users) if f.code[r][0] == ACCUM else ():
            found.setdefault(f.home[part.part], []).append(part)
    return copied(f, _Mapping, found) if found else f


def _own_parts(f: Func) -> dict[int, int]:
    """Accumulators, and parts of some, of which only one part is taken, by each iteration of a loop beside
    them: that part. The loop is without choices: of those with choices, `peel` writes out ends."""
    choosing = {f.home[v] for v in places(f, _CHOICES)}
    found: dict[int, int] = {}
    several: set[int] = set()
    for v in places(f, _PLACES):
        _, r, i = f.code[v]
        block = f.blocks[f.home[v]]
        is_own = block.index == i >= 0 and block.parent == f.home[r] and block.is_whole
        if is_own and f.home[v] not in choosing and r not in found:
            found[r] = v
        else:
            several.add(r)
    return {r: v for r, v in found.items() if r not in several}


def _levels(f: Func, r: int, own: Mapping[int, int], users: Mapping[int, Sequence[int]]) -> list[_Own]:
    """The parts in each other of an accumulator, from the outermost in, one for each loop; none if anything
    else is done with it than to add there."""
    t, start = f.inner_type_of(r), f.code[r][1]
    number, whole = f.home[r], r
    found: list[_Own] = []
    while isinstance(t, Array) and whole in own and not is_tape(t):
        part, t = own[whole], t.elem
        resolved = [v for v in users[whole] if v != part]
        if any(whole != r or f.code[v][0] != RESOLVE or f.home[v] != number for v in resolved):
            return []
        number, whole = f.home[part], part
        elements = _elements(f, part, users) if isinstance(t, Array) else {}
        found.append(_Own(f.code[part][1], part, elements))
        if elements:
            is_full = isinstance(t, Array) and len(elements) == t.size
            return found if is_full or is_zero(f, start) else []
    return found if t in (REAL, TAN) and _is_added_to(f, whole, users, number) else []


def _elements(f: Func, part: int, users: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Where numbers of a row are added to, if nothing else is done with it."""
    t, number = f.inner_type_of(part), f.home[part]
    assert isinstance(t, Array)
    if t.elem not in (REAL, TAN) or t.size > _MOST_IN_ROW:
        return {}
    found: dict[int, int] = {}
    for v in users.get(part, ()):
        if f.code[v][0] != REF_INDEX or f.code[v][2] >= 0 or not _is_added_to(f, v, users, number):
            return {}
        found[int(f.pool[~f.code[v][2]][0])] = v
    return found


def _is_added_to(f: Func, r: int, users: Mapping[int, Sequence[int]], number: int) -> bool:
    """Whether what is done with ``r`` is to add to it, in this block."""
    return all(f.code[v][0] == ADD_TO and f.home[v] == number for v in users.get(r, ()))


class _Mapping(Replay):
    """Copies a function whose loops have accumulators as results."""

    def __init__(
        self, func: Func, b: Builder, args: Sequence[int], found: Mapping[int, Sequence[_Own]]
    ) -> None:
        super().__init__(func, b, args)
        self.found = found
        own = [own for of in found.values() for own in of]
        self.gone = {r for o in own for r in (o.whole, o.part, *o.elements.values())}
        """The accumulators, and parts of them."""
        self.value: dict[int, int] = {}
        """These → what they start from, and then what they come to."""

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        op, *given = ins
        if v in self.gone:
            start = self.value[given[0]] if op == REF_INDEX else self.env[given[0]]
            self.value[v] = self.b.index(start, self.env[given[1]]) if op == REF_INDEX else start
        elif op == ADD_TO and given[0] in self.gone:
            r, x = given
            self.value[r] = self.b.binary(_ADD, self.value[r], self.env[x], self.func.type_of(x))
        elif op == RESOLVE and given[0] in self.gone:
            self.env[v] = self.value[given[0]]
        else:
            super().structural(v, ins)

    def loop(self, v: int, number: int) -> None:
        if number not in self.found:
            super().loop(v, number)
            return
        block, b = self.iteration(number), self.b
        results = [self.env[r] for r in block.results]
        results += self.totals(number)
        self.env[v] = b.close_for(results)
        for k, own in enumerate(self.found[number], len(block.results)):
            self.value[own.whole] = b.get(self.env[v], k)

    def totals(self, number: int) -> Iterator[int]:
        """What the parts of an iteration come to."""
        b = self.b
        for own in self.found[number]:
            if own.elements:
                t = self.func.inner_type_of(own.part)
                assert isinstance(t, Array)
                start = self.value[own.part]
                yield b.vec(
                    [
                        self.value[own.elements[k]]
                        if k in own.elements
                        else b.index(start, b.const(k, t.index))
                        for k in range(t.size)
                    ],
                    t,
                )
            else:
                yield self.value[own.part]
