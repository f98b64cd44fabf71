"""Loops whose first and last iterations are written out, where choices go another way: loop peeling.

    for i < n:  y[i] = cond(i < 1, 0, x[i - 1])
        →     for i < n:  y[i] = x[max(i, 1) - 1];  y[0] = 0

At the ends of a grid cells have other neighbours, and programs say so by choices that ask for the index. In
between these always go the same way, so there is nothing to choose, and iterations may run two at a time
(`wasm.lanes`). A loop that only adds to others runs over those in between, and the iterations at its ends
stand before and after it. Of a loop that makes vectors, these are set after it; it computes in their place
what the iteration next to them does, but adds nothing then. All numbers are the same to the bit, and errors
come in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rose_core.language.builder import COUNT, Builder
from rose_core.language.ir import ADD_TO, COND, REF_INDEX, Block, Func, callees, operands
from rose_core.language.ops import TABLE_END, by_name
from rose_core.language.queries import accumulators, among, contents, places, users_of
from rose_core.language.replay import copied
from rose_core.language.types import BOOL, REAL, Fin, Ref, fin, is_tape
from rose_core.optimise.ends import at_ends, between, followed, is_short
from rose_core.optimise.pieces import Piece, Pieces, at
from rose_core.optimise.ranges import Assuming

_IADD, _IMIN, _IMAX, _IEQ, _SELECT = (
    by_name[name].code for name in ("iadd", "imin", "imax", "ieq", "select")
)
_CHOICES = among([COND])

_MOST_ROUNDS = 6
"""How often loops are looked at."""


@dataclass(slots=True)
class _Peeled:
    """A loop of which the iterations at its ends are written out."""

    first: int
    """The first of those in between."""
    last: int
    """The first one after these."""
    known: dict[int, bool]
    """Comparisons of its index → what they are in between."""
    results: list[int]
    """The numbers of those of its results that are used."""
    added: list[int]
    """What it adds to others, if it has such results."""


def peeled(f: Func) -> Func:
    """``f``, about to be lowered, or a copy with such loops."""
    for _ in range(_MOST_ROUNDS):  # then choices in sides of choices, and those of loops in loops
        found = _peeled_loops(f)
        if not found:
            break
        f = copied(f, _Peeling, found)
    return f


def _peeled_loops(f: Func) -> dict[int, _Peeled]:
    """The outermost ones: block → how it is peeled."""
    conditions = _conditions(f)
    users = users_of(f) if conditions else {}
    used = users.keys() | set(f.results)
    loops: dict[int, _Peeled] = {}
    for number, compared in sorted(conditions.items()):
        if loops.keys().isdisjoint(_around(f, number)):
            gets = [v for v in users.get(f.blocks[number].owner, ()) if v in used]
            peeled = _peeled_loop(f, number, compared, sorted(f.code[v][2] for v in gets))
            if peeled:
                loops[number] = peeled
    return loops


def _conditions(f: Func) -> dict[int, dict[int, list[Piece]]]:
    """Block → the comparisons of its index on which choices depend that go another way only at ends of loops,
    and how they follow it.
    """
    found: dict[int, dict[int, list[Piece]]] = {}
    for v in places(f, _CHOICES) if len(f.blocks) > 1 else ():
        for c, pieces in followed(f, v, partial(_pieces, f)).items():
            found.setdefault(f.home[c], {})[c] = pieces
    return found


def only_at_ends(f: Func, v: int) -> bool:
    """Whether a choice always goes the same way but in iterations that may be written out."""
    return bool(followed(f, v, partial(_pieces, f)))


def _pieces(f: Func, c: int) -> list[Piece] | None:
    """How a comparison follows its loop, if it changes only at the ends of that."""
    number = f.home[c]
    return at_ends(Pieces.of_block(f, number), c) if number else None


def _around(f: Func, number: int) -> Iterator[int]:
    """The blocks around one, from the inside out."""
    while (number := f.blocks[number].parent) > 0:
        yield number


def _peeled_loop(
    f: Func, number: int, conditions: Mapping[int, Sequence[Piece]], results: list[int]
) -> _Peeled | None:
    """How a loop is peeled, if it gains by that; ``results``: the numbers of those that are used."""
    trips = f.blocks[number].trips
    ends = between(trips, conditions.values())
    if not ends:
        return None
    first, last = ends
    added = _added(f, number, results) if results else []
    if added is None or not is_short(f, contents(f, number), trips - (last - first)):
        return None
    known = {c: bool(at(found, first)[2]) for c, found in conditions.items()}
    return _Peeled(first, last, known, results, added)


def _added(f: Func, number: int, results: Sequence[int]) -> list[int] | None:
    """What an iteration adds to others, if it may be run in the place of another one but for that."""
    inside = contents(f, number)
    made = set(inside)
    added = []
    for v in inside:
        op, *_ = ins = f.code[v]
        given = [x for x in operands(ins, f.blocks) if isinstance(f.type_of(x), Ref)]
        is_outside = not all(made.issuperset(accumulators(f, x)) for x in given)
        if op == ADD_TO and is_outside:
            if f.type_of(ins[2]) is not REAL:
                return None
            added.append(v)
        elif is_outside and op != REF_INDEX and op >= TABLE_END:
            return None  # what it calls may add to these
        elif any(f.callees[k].effects for k in callees(ins)):
            return None
    return None if any(is_tape(f.type_of(f.blocks[number].results[k])) for k in results) else added


class _Peeling(Assuming):
    """Copies a function with the iterations at the ends of its loops written out."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], found: Mapping[int, _Peeled]) -> None:
        super().__init__(func, b, args, {})
        self.found = found
        self.added: dict[int, int] = {}
        """What is added to others → whether the iteration is not one in the place of another."""

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        if v in self.added:
            b = self.b
            x = b.ternary(_SELECT, self.added[v], self.env[ins[2]], b.real(-0.0), REAL)  # x + -0.0 is x
            self.env[v] = b.add_to(self.env[ins[1]], x)
        else:
            super().structural(v, ins)

    def cond(self, v: int, ins: tuple[int, ...]) -> None:
        self.replaced.pop(v, None)  # what became of it in another iteration
        super().cond(v, ins)

    def loop(self, v: int, number: int) -> None:
        peeled = self.found.get(number)
        if peeled is None:
            super().loop(v, number)
            return
        b, block, results = self.b, self.func.blocks[number], peeled.results
        alone = {k: self.alone(number, k) for k in range(peeled.first)}
        size = block.size if results else fin(peeled.last - peeled.first)
        i = b.open_for(size)
        index = self.env[block.index] = self.between(peeled, i, block)
        if peeled.added:
            self.added = dict.fromkeys(peeled.added, b.binary(_IEQ, i, index))
        self.known = {c: b.const(value, BOOL) for c, value in peeled.known.items()}
        self.block(number)
        self.known, self.added = {}, {}
        self.env[v] = b.close_for([self.env[block.results[k]] for k in results])
        alone |= {k: self.alone(number, k) for k in range(peeled.last, block.trips)}
        self.replaced[v] = [-1] * len(block.results)
        for n, k in enumerate(results):
            made = b.get(self.env[v], n)
            for iteration, values in alone.items():
                made = b.set(made, b.const(iteration, block.size), values[k])
            self.replaced[v][k] = made

    def alone(self, number: int, iteration: int) -> list[int]:
        """Emit one iteration; what it gives."""
        block = self.func.blocks[number]
        self.env[block.index] = self.b.const(iteration, block.size)
        self.block(number)
        return [self.env[r] for r in block.results]

    def between(self, peeled: _Peeled, iteration: int, block: Block) -> int:
        """The index of the source in a loop that makes vectors, or that runs over those in between alone."""
        b, size = self.b, block.size
        assert isinstance(size, Fin)
        if not peeled.results:
            return b.narrow(b.binary(_IADD, iteration, b.const(peeled.first, COUNT), COUNT), size)
        i = b.binary(_IMAX, iteration, b.const(peeled.first, COUNT), COUNT)
        return b.narrow(b.binary(_IMIN, i, b.const(peeled.last - 1, COUNT), COUNT), size)
