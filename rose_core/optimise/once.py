"""Library functions of the same elements in several loops, computed once.

A function like exp costs more than to keep its result. So where a loop computes one of what a loop before
it has computed it of, the first loop gives its results as a vector. The same goes for what is computed
together: reverse mode asks for sin in a loop after the one with cos, and both cost little more than one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rose_core.language.builder import Builder
from rose_core.language.demand import Demand
from rose_core.language.ir import INDEX, Func, opcodes
from rose_core.language.ops import FAILS, LIBRARY, TABLE_END, TOGETHER, computation
from rose_core.language.replay import Replacing, copied
from rose_core.language.types import Fin

MOST_TURNS = 1 << 17
"""Of how many turns results are kept: a megabyte."""

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
    return copied(f, lambda b, args: _Once(f, b, args, repeated))


def _repeated(f: Func) -> dict[int, Source]:
    """The values that another loop can give."""
    siblings: dict[tuple[int, int], list[int]] = {}
    for number, block in enumerate(f.blocks[1:], 1):
        assert isinstance(block.size, Fin)
        if block.size.size <= MOST_TURNS and any(f.code[v][0] in LIBRARY for v in block.order):
            siblings.setdefault((block.parent, block.size.size), []).append(number)
    several = [numbers for numbers in siblings.values() if len(numbers) > 1]
    uses = Demand(f).uses if several else []
    found: dict[int, Source] = {}
    for numbers in several:
        first: dict[tuple[int, ...], Source] = {}
        keys: dict[tuple[int, ...], int] = {}
        for number in sorted(numbers, key=lambda k: f.blocks[k].owner):
            for v, key in _calls(f, number, keys):
                if uses[v]:
                    op, *operands = f.code[v]
                    here = Source(number, op, tuple(operands))
                    source = first.setdefault((_FAMILY.get(op, op), *key), here)
                    if source.block != number:
                        found[v] = Source(source.block, op, source.operands)
    return found


def _calls(f: Func, number: int, keys: dict[tuple[int, ...], int]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The calls of library functions in a loop, each with what is the same for the same operands.

    ``keys``: what an instruction on such keys has for one, for all loops.
    """
    code, block = f.code, f.blocks[number]
    turn = len(f.code)
    known = {block.index: turn}
    for v in block.order:
        ins = code[v]
        if ins[0] == INDEX or (ins[0] < TABLE_END and ins[0] not in FAILS):
            key = computation(ins[0], [known.get(x, x) for x in ins[1:]])
            if ins[0] in LIBRARY:
                yield v, key[1:]
            known[v] = keys.setdefault(key, turn + 1 + len(keys))


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
        turn = self.func.blocks[self.func.home[v]].index
        return self.b.index(self.columns[self.repeated[v]], self.env[turn])

    def loop(self, v: int, number: int) -> None:
        block, b, env = self.func.blocks[number], self.b, self.env
        env[block.index] = b.open_for(block.size)
        self.block(number)
        given = self.given.get(number, [])
        values = [b.op(source.op, *[env[x] for x in source.operands]) for source in given]
        env[v] = b.close_for([*(env[r] for r in block.results), *values])
        for k, source in enumerate(given, len(block.results)):
            self.columns[source] = b.get(env[v], k)
