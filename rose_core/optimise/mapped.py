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
from rose_core.language.queries import OF_ACCUMULATORS, among, places, users_of
from rose_core.language.replay import Replay, copied
from rose_core.language.types import REAL, TAN, Array, Fin, is_tape

_ADD = by_name["add"].code
_PLACES, _CHOICES = among([REF_INDEX]), among([COND])

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
    iterations = sum(f.trips_of(f.home[part]) for parts in own.values() for part in parts)
    if len(f.code) > _ROWS_PER_ITERATION * iterations:
        return f
    users = users_of(f, OF_ACCUMULATORS)
    found: dict[int, list[_Own]] = {}
    for r in own:
        for part in _parts_of(f, r, own, users) if f.code[r][0] == ACCUM else ():
            found.setdefault(f.home[part.part], []).append(part)
    return copied(f, _Mapping, found) if found else f


def _own_parts(f: Func) -> dict[int, list[int]]:
    """Accumulators, and parts of some, of which each iteration of loops beside them takes one part of its
    own: those parts. The loops are without choices: of those with choices, `peel` writes out ends."""
    choosing = {f.home[v] for v in places(f, _CHOICES)}
    found: dict[int, list[int]] = {}
    for v in places(f, _PLACES):
        _, r, i = f.code[v]
        block = f.blocks[f.home[v]]
        if block.index == i >= 0 and block.parent == f.home[r] and f.home[v] not in choosing:
            found.setdefault(r, []).append(v)
    return found


def _parts_of(
    f: Func, r: int, own: Mapping[int, Sequence[int]], users: Mapping[int, Sequence[int]]
) -> list[_Own]:
    """All parts of an accumulator, of loops in each other from the outermost in; none if anything else is
    done with it than to add there."""
    found: list[_Own] = []
    wholes = [r]
    for whole in wholes:
        t, parts = f.inner_type_of(whole), own.get(whole, ())
        if not (isinstance(t, Array) and isinstance(t.index, Fin)) or is_tape(t) or not parts:
            return []
        rest = {*users[whole]}.difference(parts)
        if any(whole != r or f.code[v][0] != RESOLVE or f.home[v] != f.home[r] for v in rest):
            return []
        for part in parts:
            elements = _elements(f, part, users) if isinstance(t.elem, Array) else {}
            found.append(_Own(whole, part, elements))
            if isinstance(t.elem, Array) and not elements:
                wholes.append(part)
            elif not elements and not _is_added_to(f, part, users):
                return []
    return found


def _elements(f: Func, part: int, users: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Where numbers of a row are added to, if that is done with each of them, and nothing else."""
    t = f.inner_type_of(part)
    assert isinstance(t, Array)
    if not isinstance(t.index, Fin) or t.size > _MOST_IN_ROW:
        return {}
    found: dict[int, int] = {}
    for v in users.get(part, ()):
        op, _, *k = f.code[v]
        if op != REF_INDEX or k[0] >= 0 or f.home[v] != f.home[part] or not _is_added_to(f, v, users):
            return {}
        found[int(f.pool[~k[0]][0])] = v
    return found if len(found) == t.size else {}


def _is_added_to(f: Func, r: int, users: Mapping[int, Sequence[int]]) -> bool:
    """Whether all that is done with a number's accumulator is to add to it, in its block."""
    added = all(f.code[v][0] == ADD_TO and f.home[v] == f.home[r] for v in users.get(r, ()))
    return added and f.inner_type_of(r) in (REAL, TAN)


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
        if v in self.gone and op == ACCUM:
            self.value[v] = self.env[given[0]]
        elif v in self.gone:
            self.value[v] = self.b.index(self.value[given[0]], self.env[given[1]])
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
        for own in self.found[number]:
            if own.elements:
                numbers = [self.value[r] for _, r in sorted(own.elements.items())]
                yield self.b.vec(numbers, self.func.inner_type_of(own.part))
            else:
                yield self.value[own.part]
