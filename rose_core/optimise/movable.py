"""What can be done elsewhere, or once in place of every iteration: instructions, and loops as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    CALL,
    COND,
    FOR,
    GET,
    IDX,
    INDEX,
    LOOP,
    PARAM,
    REF_INDEX,
    RESOLVE,
    SET,
    VEC,
    ZEROS,
    Func,
    callees,
    operands,
)
from rose_core.language.ops import FAILS, TABLE_END
from rose_core.language.queries import remembered, takes_accumulators
from rose_core.language.types import Fin, Ref

PURE = frozenset((INDEX, VEC, REF_INDEX, SET, ZEROS, CALL))
"""Structural instructions that stand where their operands do."""
_PLAIN = PURE | {PARAM, FOR, GET, IDX, ACCUM, ADD_TO, RESOLVE, COND, LOOP}
"""Structural instructions that cannot fail, if nothing that they call can."""


class Loop:
    """A loop ``FOR``, and where it may move."""

    def __init__(self, f: Func, v: int, home: list[int]) -> None:
        """``v``: the loop; ``home``: where the instructions before it are."""
        self.f = f
        self.id = v
        self.home = home
        blocks, number = f.blocks, f.code[v][1]
        inside = {number}
        nest = [number]
        for k in range(number + 1, len(blocks)):
            if blocks[k].owner > v:
                break
            nest.append(k)
            if home[blocks[k].owner] in inside:
                inside.add(k)
        self.here = home[v]
        self.content = {w for k in nest for w in blocks[k].order if home[w] in inside}
        self.is_finished = max(self.content) < v
        """Whether nothing has been put into it afterwards, as reverse mode does for its tape."""
        given = {x for w in (v, *self.content) for x in operands(f.code[w], blocks) if x >= 0} - self.content
        self.accumulators = {x for x in given if isinstance(f.types[x], Ref)}
        """What it adds to."""
        starts = [f.code[x][1] for x in self.accumulators if f.code[x][0] == ACCUM]
        self.needed = [*(given - self.accumulators), *(x for x in starts if x >= 0)]
        """What it is computed of."""
        self.target = max((home[x] for x in self.needed), default=0)
        """The outermost block in which there is all that it needs."""

    def fits(self) -> bool:
        """Whether it could run there, once, and do the same."""
        f = self.f
        if self.target == self.here or not self.may_move():
            return False
        around = self.here
        while around > self.target:
            size = f.blocks[around].size
            if not isinstance(size, Fin) or not size.size:
                return False  # it would not run at all
            around = f.blocks[around].parent
        return True

    def may_move(self) -> bool:
        """Whether it does nothing but give values, and add to accumulators beside it."""
        return self.adds_beside() and all(cannot_fail(self.f, self.f.code[w]) for w in self.content)

    def adds_beside(self) -> bool:
        """Whether it is finished, and adds to nothing but accumulators beside it."""
        beside = [self.f.code[r][0] == ACCUM and self.home[r] == self.here for r in self.accumulators]
        return self.is_finished and all(beside)

    def others(self, users: Mapping[int, Sequence[int]]) -> list[int]:
        """What else uses what it adds to; ``users``: what uses each accumulator, but those from outside."""
        return [w for r in self.accumulators for w in users.get(r, ()) if w not in self.content]

    def is_alone(self, users: Mapping[int, Sequence[int]]) -> bool:
        """Whether nothing else adds to what it adds to."""
        return all(self.f.code[w][0] == RESOLVE for w in self.others(users))


def cannot_fail(f: Func, ins: tuple[int, ...]) -> bool:
    """Whether an instruction can be done ahead of others: it ends, and does nothing but give a value."""
    op = ins[0]
    if op < TABLE_END:
        return op not in FAILS
    if op == LOOP and f.specs[ins[1]].must_end:
        return False
    found = op in _PLAIN
    for k in callees(ins):  # no generator: see `deep.py`
        found = found and _is_harmless(f.callees[k])
    return found


def _is_harmless(f: Func) -> bool:
    return not takes_accumulators(f) and only_adds(f)


@remembered
def only_adds(f: Func) -> bool:
    """Whether a function ends, and does nothing but give values, and add to accumulators."""
    found = not (f.host or f.origin or f.instance or f.effects or f.structured)
    for ins in f.code:
        found = found and cannot_fail(f, ins)
    return found
