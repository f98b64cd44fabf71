"""Which instructions a function needs, and how often each value is used: one sweep, last to first.

What nobody demands is left out. A value used once, in its own block, may be computed in the middle of
the expression that uses it; the others are *rooted*: computed once, before that, and kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    CALL,
    COND,
    FOR,
    GET,
    IDX,
    LOOP,
    PARAM,
    RESOLVE,
    Func,
    callees,
    operands,
)
from rose_core.language.ops import BINARY_END, UNARY_END
from rose_core.language.queries import accumulators, among, places, takes_accumulators
from rose_core.language.types import Ref

_TOUCHING = among((ADD_TO, CALL, COND, LOOP))

TALLEST = 24
"""The height of an expression tree above which a part of it is rooted, to bound the operand stack."""


class Demand:
    """The demand on the values of a function.

    ``uses[v]`` counts the needed users of ``v`` (its last entries, for constants, mean nothing), and
    ``rooted[v]`` says whether it must be computed ahead of them.
    """

    def __init__(self, func: Func, results: Sequence[int] | None = None) -> None:
        """``results``: those that are needed of the function, if that is not all."""
        self.func = func
        n = len(func.code)
        self.uses = [0] * (n + len(func.pool))
        self.rooted = bytearray(n + len(func.pool))
        self.columns: dict[int, dict[int, int]] = {}
        """What has several results → number of a used one → its ``GET``."""
        self.anchors: list[list[int]] = [[] for _ in func.blocks]
        """For each block, the needed instructions that must keep their order."""
        self._accumulators: dict[int, list[int]] = {}
        for v in func.results if results is None else results:
            self._use(v, 0)
        if func.straight:
            self._straight()
        else:
            self._structured()

    def _use(self, x: int, block: int) -> None:
        self.uses[x] += 1
        if x >= 0 and self.func.home[x] != block:
            self.rooted[x] = 1

    def _straight(self) -> None:
        """The sweep for a function of nothing but operations on scalars, and reads of arrays."""
        code, uses, rooted = self.func.code, self.uses, self.rooted
        height = [0] * len(uses)
        for v in range(len(code) - 1, -1, -1):
            used = uses[v]
            if not used:
                continue
            ins = code[v]
            op = ins[0]
            h = 1
            if used > 1:
                rooted[v] = 1
            else:
                h = height[v] + 1
                if h > TALLEST:
                    rooted[v] = h = 1
            if len(ins) == 3:
                _, x, y = ins
                uses[x] += 1
                uses[y] += 1
                height[x] = height[y] = h
            elif op != PARAM:
                for x in ins[1:]:
                    uses[x] += 1
                    height[x] = h

    def _structured(self) -> None:
        func, uses, rooted = self.func, self.uses, self.rooted
        code, home = func.code, func.home
        height = [0] * len(uses)
        touched = self._touched()
        read = {-1}
        """Accumulators whose value someone needs; -1 for the world outside."""
        if takes_accumulators(func):
            read.update(v for v, ins in enumerate(code) if ins[0] == PARAM and isinstance(func.types[v], Ref))
        for v in range(len(code) - 1, -1, -1):
            ins = code[v]
            op = ins[0]
            used = uses[v]
            effect = op >= BINARY_END and v in touched and not read.isdisjoint(touched[v])
            if not (used or effect):
                continue
            h = 1
            if used > 1 or effect:
                rooted[v] = 1
            elif not rooted[v]:
                h = height[v] + 1
                if h > TALLEST:
                    rooted[v] = h = 1
            block = home[v]
            if op < BINARY_END:
                x = ins[1]
                if x >= 0:
                    uses[x] += 1
                    height[x] = h
                    if home[x] != block:
                        rooted[x] = 1
                if op >= UNARY_END:
                    x = ins[2]
                    if x >= 0:
                        uses[x] += 1
                        height[x] = h
                        if home[x] != block:
                            rooted[x] = 1
                continue
            if effect or op in (ACCUM, RESOLVE):
                self.anchors[block].append(v)
            if op in (PARAM, IDX):
                continue
            if op == RESOLVE:
                read.update(self.accumulators(ins[1]))
            elif op == GET:
                self._get(v, ins)
                continue
            elif op == FOR:
                if (count := func.blocks[ins[1]].count) is not None:
                    self._use(count, block)
                    rooted[count] = 1
                for k in self.columns.get(v, ()):
                    r = func.blocks[ins[1]].results[k]
                    if r > v and not uses[r]:  # taped after the loop was closed, so the sweep missed it
                        self._get(r, code[r])
                    self._use(r, ins[1])
                continue
            settled = op in (COND, LOOP)  # what is taken where more than one thing may happen
            for x in operands(ins, func.blocks):
                if x >= 0:
                    uses[x] += 1
                    height[x] = h
                    if settled or home[x] != block:
                        rooted[x] = 1
        for anchors in self.anchors:
            anchors.reverse()

    def _get(self, v: int, ins: tuple[int, ...]) -> None:
        self.columns.setdefault(ins[1], {})[ins[2]] = v
        self.uses[ins[1]] += 1

    def accumulators(self, r: int) -> list[int]:
        """The whole accumulators that ``r`` may be a part of."""
        found = self._accumulators.get(r)
        if found is None:
            found = self._accumulators[r] = accumulators(self.func, r)
        return found

    def _touched(self) -> dict[int, set[int]]:
        """Instruction → the accumulators that it adds to; -1 where an opaque function runs."""
        func = self.func
        touched: dict[int, set[int]] = {}
        for v in places(func, _TOUCHING):
            ins = func.code[v]
            if ins[0] == ADD_TO:
                roots = self.accumulators(ins[1])
            else:
                roots = [
                    r
                    for x in operands(ins, func.blocks)
                    if x >= 0 and isinstance(func.types[x], Ref)
                    for r in self.accumulators(x)
                ]
                if any(func.callees[k].effects for k in callees(ins)):
                    roots.append(-1)
            if roots:
                touched[v] = set(roots)
                block = func.blocks[func.home[v]]
                while block.owner >= 0:
                    touched.setdefault(block.owner, set()).update(roots)
                    block = func.blocks[func.home[block.owner]]
        return touched
