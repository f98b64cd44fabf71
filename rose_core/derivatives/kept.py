"""What an iteration keeps of arrays that change: the elements that it reads, where these are fewer than all.

Such an array need not be there for the backward pass, and can be updated in its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from rose_core.language.ir import COND, ENDLESS, GET, INDEX, LOOP, PARAM, SET, Func, operands
from rose_core.language.types import Array, Fin, Type, is_tape


def kept_elements(f: Func, limits: Mapping[int, int], is_there: Callable[[int], bool]) -> set[int]:
    """The elements, numbers or rows, that are to be kept of a forward function, which may grow still.

    ``limits``: of parameters that change with every iteration, how many numbers may be kept at most.
    ``is_there``: whether an array is known without being kept.
    """
    if not limits and {ins[0] for ins in f.code}.isdisjoint((SET, LOOP, COND)):
        return set()
    return _Elements(f, limits, is_there).found


class _Elements:
    """What is read of the arrays of a function."""

    def __init__(self, f: Func, limits: Mapping[int, int], is_there: Callable[[int], bool]) -> None:
        self.func = f
        self.found: set[int] = set()
        self.of: dict[int, list[int]] = {}
        """Array → its elements that are read."""
        given: dict[int, int] = {}
        for v, ins in enumerate(f.code):
            if ins[0] == INDEX:
                self.of.setdefault(ins[1], []).append(v)
            elif ins[0] == PARAM and ins[1] in limits:
                given[v] = limits[ins[1]]
        roots = given | {x: numbers_in(f.types[x]) for x in _updated(f)}
        roots = {x: n for x, n in roots.items() if x in self.of and not f.home[x] and not is_there(x)}
        if not roots:
            return
        self.uses = Counter(x for ins in f.code for x in operands(ins, f.blocks))
        self.uses.update(f.results)
        for x, elements in self.of.items():  # what an update writes over need not be looked at by anybody
            self.of[x] = [v for v in elements if self.uses[v]]
        for x, limit in roots.items():
            if self._read(x) < limit:
                self._keep(x)

    def _read(self, x: int) -> int:
        """How many numbers are read of the array ``x``."""
        return sum(self._numbers(v) for v in self.of.get(x, ()))

    def _numbers(self, v: int) -> int:
        """How many numbers are read of the element ``v``, in all iterations of the loops that it is in."""
        return min(numbers_of(self.func, v), self._read(v) if self._is_row(v) else ENDLESS)

    def _is_row(self, v: int) -> bool:
        """Whether ``v`` is an array of which nothing but elements is used."""
        return isinstance(self.func.types[v], Array) and self.uses[v] == len(self.of.get(v, ()))

    def _keep(self, x: int) -> None:
        for v in self.of.get(x, ()):
            if self._is_row(v) and self._read(v) < numbers_of(self.func, v):
                self._keep(v)
            else:
                self.found.add(v)


def numbers_in(t: Type) -> int:
    """How many numbers there are in an array."""
    n = 1
    while isinstance(t, Array):
        n *= t.size if isinstance(t.index, Fin) and not is_tape(t) else ENDLESS
        t = t.elem
    return n


def numbers_of(f: Func, v: int) -> int:
    """How many numbers there are of ``v``, in all iterations of the loops that it is in."""
    return numbers_in(f.types[v]) * f.trips_of(f.home[v])


def _updated(f: Func) -> Iterator[int]:
    """Arrays that are updated, or that updates make."""
    for v, ins in enumerate(f.code):
        if ins[0] == SET:
            yield from (x for x in (ins[1], v) if x >= 0)
        elif ins[0] == GET and f.code[ins[1]][0] in (LOOP, COND):
            yield v
