"""Library functions of the same elements in several loops, computed once.

    for i:  y[i] = exp(x[i])
    for i:  z[i] = a[i] * exp(x[i])     →     for i:  z[i] = a[i] * y[i]

A function like exp costs more than to keep its result. So where a loop computes one of what a loop before it
has computed it of, the first loop gives its results as a vector. The same goes for what is computed together:
reverse mode asks for sin in a loop after the one with cos, and both cost little more than one.
"""

from __future__ import annotations

from dataclasses import dataclass

from rose_core.language.builder import Builder
from rose_core.language.demand import Demand
from rose_core.language.ir import Func
from rose_core.language.ops import LIBRARY, TOGETHER, computation
from rose_core.language.queries import opcodes
from rose_core.language.replay import Replacing, copied
from rose_core.optimise.numbering import numbers

MOST_TRIPS = 1 << 17
"""Of how many iterations results are kept: a megabyte."""

_FAMILY = {code: min(codes) for codes in TOGETHER.values() for code in codes}
"""Opcode → the first one of those that are computed together."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value is computed first: in which block, by which op, of what there."""

    block: int
    op: int
    operands: tuple[int, ...]


def computed_once(f: Func) -> Func:
    """``f``, or a copy in which no two loops compute a library function of the same."""
    if len(f.blocks) < 3 or LIBRARY.isdisjoint(opcodes(f)):
        return f
    repeated = _repeated(f)
    if not repeated:
        return f
    return copied(f, _Once, repeated)


def _repeated(f: Func) -> dict[int, Source]:
    """The values that another loop can give."""
    siblings: dict[tuple[int, int], list[int]] = {}
    for number, block in enumerate(f.blocks[1:], 1):
        if block.trips <= MOST_TRIPS and any(f.code[v][0] in LIBRARY for v in block.order):
            siblings.setdefault((block.parent, block.trips), []).append(number)
    several = [alike for alike in siblings.values() if len(alike) > 1]
    if not several:
        return {}
    uses, known = Demand(f).uses, numbers(f)
    found: dict[int, Source] = {}
    for alike in several:
        first: dict[tuple[int, ...], Source] = {}
        for number in sorted(alike, key=lambda k: f.blocks[k].owner):
            for v in f.blocks[number].order:
                op, *operands = f.code[v]
                if op in LIBRARY and uses[v]:
                    here = Source(number, op, tuple(operands))
                    key = computation(op, [known.get(x, x) for x in operands])
                    source = first.setdefault((_FAMILY.get(op, op), *key[1:]), here)
                    if source.block != number:
                        found[v] = Source(source.block, op, source.operands)
    return found


class _Once(Replacing):
    """Copies a function, and takes what is repeated from the loop that had it first."""

    def __init__(self, func: Func, b: Builder, args: list[int], repeated: dict[int, Source]) -> None:
        super().__init__(func, b, args)
        self.others = self.repeated = repeated
        self.given: dict[int, list[Source]] = {}
        """Block → what it is to give, after its results."""
        for source in dict.fromkeys(repeated.values()):
            self.given.setdefault(source.block, []).append(source)
        self.columns: dict[Source, int] = {}
        """The vectors of what is given."""

    def instead(self, v: int) -> int:
        iteration = self.func.blocks[self.func.home[v]].index
        return self.b.index(self.columns[self.repeated[v]], self.env[iteration])

    def loop(self, v: int, number: int) -> None:
        block, b, env = self.iteration(number), self.b, self.env
        given = self.given.get(number, [])
        values = [b.op(source.op, *[env[x] for x in source.operands]) for source in given]
        env[v] = b.close_for([*(env[r] for r in block.results), *values])
        for k, source in enumerate(given, len(block.results)):
            self.columns[source] = b.get(env[v], k)
