"""Loops that add to many neighbours of each iteration: what each element gets is gathered in another loop.

    for i:  e = f(i);  g[i] += a * e;  g[i + 1] += b * e
        →     e = [for i: f(i)];  for i:  g[i + 1] += b * e[i] + a * e[i + 1]

The gradient of a convolution with a short kernel, as that of any wide stencil, adds to as many neighbours as
the kernel has numbers. In local variables from iteration to iteration (`wasm.windows`) these are more than
processors have registers. So what an iteration computes for them is kept in a vector, and in each iteration
of a second loop one element is made of that. At the ends, where elements get less, that is written out. Every
element gets what it got, in the same order, that of the iterations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rose_core.language.builder import COUNT, Builder
from rose_core.language.ir import ACCUM, ADD_TO, REF_INDEX, RESOLVE, Func
from rose_core.language.ops import FAILS, TABLE_END, by_name
from rose_core.language.queries import users_of
from rose_core.language.replay import Replay, copied
from rose_core.language.simplify import base_of, source_of
from rose_core.language.types import REAL, TAN, Fin, fin
from rose_core.optimise.ranges import is_zero

_ADD, _IADD = (by_name[name].code for name in ("add", "iadd"))

_FEWEST = 5
"""The fewest neighbours: what is added to fewer stays in registers."""

_MOST_KEPT = 2
"""The most numbers of an iteration that are kept in vectors."""

_MOST_WRITTEN = 256
"""The most additions at the ends."""

_LONGER = 4
"""So many times as many elements are in between, at least."""


@dataclass(frozen=True, slots=True)
class _Gather:
    """What a loop adds to a vector."""

    vector: int
    """An accumulator, or a row of one."""
    terms: list[tuple[int, int]]
    """What an element gets, in order: its distance from the iteration that adds it, and the value there."""
    kept: list[int]
    """The numbers of an iteration of which the terms are computed."""


def gathered(f: Func) -> Func:
    """``f``, about to be lowered, or a copy with such loops."""
    loops = enumerate(f.blocks[1:], 1)
    gathers = {k: of for k, block in loops if len(block.order) > _FEWEST and (of := [*_gathers(f, k)])}
    users = users_of(f) if gathers else {}
    found = {k: own for k, of in gathers.items() if (own := [x for x in of if _is_all(f, k, x, users)])}
    return copied(f, _Gathering, found) if found else f


def _gathers(f: Func, number: int) -> Iterator[_Gather]:
    """What a loop adds to many neighbours in vectors."""
    code, block = f.code, f.blocks[number]
    added: dict[int, list[tuple[int, int]]] = {}
    """Vector → how far ahead of the iteration elements are that are added to, and what adds."""
    for v in block.order:
        if code[v][0] == ADD_TO and code[code[v][1]][0] == REF_INDEX:
            _, r, i = code[code[v][1]]
            of, ahead = base_of(f, i)
            if source_of(f, of) == block.index and ahead >= 0 and f.type_of(code[v][2]) in (REAL, TAN):
                added.setdefault(r, []).append((-ahead, v))
    for r, sites in added.items():
        # what iterations add later comes from lower ones of the places
        terms = [(-n, code[v][2]) for n, v in sorted(sites)]
        ends = terms[0][0] - terms[-1][0]
        kept = _needed(f, number, [x for _, x in terms])
        if (
            len(dict(terms)) >= _FEWEST
            and block.trips >= (1 + _LONGER) * ends
            and ends * len(terms) <= _MOST_WRITTEN
            and len(kept) <= _MOST_KEPT
            and block.trips + terms[0][0] <= f.types[r].inner.size  # type: ignore[attr-defined]
        ):
            yield _Gather(r, terms, kept)


def _needed(f: Func, number: int, terms: Sequence[int]) -> list[int]:
    """The numbers of an iteration of which another loop can compute the terms, each by one operation."""
    found: dict[int, None] = {}
    for x, times in Counter(terms).items():
        if f.home_of(x) == number:
            op, *given = f.code[x]
            is_plain = op < TABLE_END and op not in FAILS and all(f.type_of(y) in (REAL, TAN) for y in given)
            given = given if is_plain and times == 1 else [x]
            found |= dict.fromkeys(y for y in given if f.home_of(y) == number)
    return [*found]


def _is_all(f: Func, number: int, gather: _Gather, users: Mapping[int, Sequence[int]]) -> bool:
    """Whether what one run of a loop adds to a vector is all that the vector ever gets."""
    code, r = f.code, gather.vector
    if len(users[r]) > len(gather.terms) + 1:  # places, and what reads it in the end: others add to it, too
        return False
    elements = [v for v in users[r] if code[v][0] != RESOLVE]
    added = [code[v][0] for element in elements for v in users.get(element, ())]
    if added != [ADD_TO] * len(gather.terms) or any(code[v][0] != REF_INDEX for v in elements):
        return False
    number = f.blocks[number].parent
    while code[r][0] == REF_INDEX:
        _, whole, i = code[r]
        if i != f.blocks[number].index or any(v != r and code[v][0] != RESOLVE for v in users[whole]):
            return False
        r, number = whole, f.blocks[number].parent
    start = code[r][1]
    return code[r][0] == ACCUM and f.home[r] == number and is_zero(f, start)


class _Gathering(Replay):
    """Copies a function, and after its loops makes what their neighbours get."""

    def __init__(
        self, func: Func, b: Builder, args: Sequence[int], found: Mapping[int, Sequence[_Gather]]
    ) -> None:
        super().__init__(func, b, args)
        self.found = found
        """Block → what is gathered after it."""
        self.gone = {(n, (REF_INDEX, gather.vector)) for n, gathers in found.items() for gather in gathers}
        self.kept: dict[int, int] = {}
        """Number of an iteration → the vector in which it is kept."""

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        if ins[0] != ADD_TO or (self.func.home[v], self.func.code[ins[1]][:2]) not in self.gone:
            super().structural(v, ins)

    def loop(self, v: int, number: int) -> None:
        if number not in self.found:
            super().loop(v, number)
            return
        block, b = self.iteration(number), self.b
        kept = [*dict.fromkeys(x for gather in self.found[number] for x in gather.kept)]
        self.env[v] = b.close_for([self.env[x] for x in (*block.results, *kept)])
        self.kept |= {x: b.get(self.env[v], k) for k, x in enumerate(kept, len(block.results))}
        for gather in self.found[number]:
            high, low, trips = gather.terms[0][0], gather.terms[-1][0], block.trips
            iteration = b.open_for(fin(trips + low - high))
            self.add(gather, number, iteration, high)
            b.close_for([])
            for k in (*range(low, high), *range(trips + low, trips + high)):
                self.add(gather, number, -1, k)

    def add(self, gather: _Gather, number: int, iteration: int, k: int) -> None:
        """Add to element ``k`` what it gets, or to the one so far after an iteration, which gets all."""
        b, r, size = self.b, self.env[gather.vector], self.func.blocks[number].size
        assert isinstance(size, Fin)
        total = None
        for n, x in gather.terms:
            if iteration >= 0 or 0 <= k - n < size.size:
                term = self.term(x, number, self.after(iteration, k - n, size))
                total = term if total is None else b.binary(_ADD, total, term, b.func.type_of(term))
        assert total is not None
        b.add_to(b.ref_index(r, self.after(iteration, k, b.types[r].inner.index)), total)  # type: ignore[attr-defined]

    def after(self, iteration: int, k: int, size: Fin) -> int:
        """The index ``k``, or the one so far after an iteration."""
        b = self.b
        if iteration < 0:
            return b.const(k, size)
        i = b.binary(_IADD, b.const(k, COUNT), iteration, COUNT) if k else iteration
        return b.narrow(i, size)

    def term(self, x: int, number: int, iteration: int) -> int:
        """A value of the source in an iteration of a loop, which is over."""
        if x in self.kept:
            return self.b.index(self.kept[x], iteration)
        if self.func.home_of(x) != number:
            return self.env[x]
        op, *given = self.func.code[x]
        return self.b.op(op, *[self.term(y, number, iteration) for y in given], type=self.func.types[x])
