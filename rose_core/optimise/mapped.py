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
from rose_core.language.ir import ACCUM, ADD_TO, COND, REF_INDEX, RESOLVE, Func
from rose_core.language.ops import by_name
from rose_core.language.queries import among, opcodes, places, users_of
from rose_core.language.replay import Replay, copied
from rose_core.language.types import REAL, TAN, Array, is_tape
from rose_core.optimise.ranges import is_zero

_ADD = by_name["add"].code
_ACCUMULATORS = among([ACCUM])

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
    if len(f.blocks) == 1 or ACCUM not in opcodes(f):
        return f
    users = users_of(f)
    found: dict[int, list[_Own]] = {}
    for r in places(f, _ACCUMULATORS):
        for number, own in _levels(f, r, users):
            found.setdefault(number, []).append(own)
    return copied(f, _Mapping, found) if found else f


def _levels(f: Func, r: int, users: Mapping[int, Sequence[int]]) -> list[tuple[int, _Own]]:
    """The loops in each other, from the outermost in, whose iterations add to their own part of ``r``; none
    if anything else is added."""
    t, start = f.inner_type_of(r), f.code[r][1]
    around, whole = f.home[r], r
    if any(f.code[v][0] == RESOLVE and f.home[v] != around for v in users.get(r, ())):
        return []
    found: list[tuple[int, _Own]] = []
    while isinstance(t, Array) and not is_tape(t):
        parts = [v for v in users.get(whole, ()) if whole != r or f.code[v][0] != RESOLVE]
        if len(parts) != 1 or f.code[parts[0]][0] != REF_INDEX:
            return []
        (part,) = parts
        number, t = f.home[part], t.elem
        block = f.blocks[number]
        if block.parent != around or f.code[part][2] != block.index or not _is_plain(f, number):
            return []
        elements = _elements(f, part, users) if isinstance(t, Array) else {}
        found.append((number, _Own(whole, part, elements)))
        if elements:
            is_full = isinstance(t, Array) and len(elements) == t.size
            return found if is_full or is_zero(f, start) else []
        around, whole = number, part
    return found if t in (REAL, TAN) and _is_added_to(f, whole, users, around) else []


def _is_plain(f: Func, number: int) -> bool:
    """Whether a loop has all its iterations, and no choices: of those, `peel` writes out ends."""
    block = f.blocks[number]
    return number > 0 and block.is_whole and all(f.code[v][0] != COND for v in block.order)


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
