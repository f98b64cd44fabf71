"""Which instructions a function needs, and in what order they are best executed.

Instructions are ordered by demand: each value is computed as late as possible before its first use,
depth first from the results. In a gradient this puts the backward part of every term next to its
forward part, so few values are alive at a time. Only accumulators and opaque calls keep their places.
What nobody demands is left out.
"""

from __future__ import annotations

from rose_core.ir import ACCUM, ADD_TO, CALL, FOR, GET, IDX, PARAM, REF_INDEX, RESOLVE, VEC, Func
from rose_core.ops import OPS
from rose_core.types import Ref

TABLE_END = len(OPS)

_DONE = 1 << 40
"""Added to an id on the stack whose operands have been visited."""


class Schedule:
    """The order of execution: for each block, its needed instructions."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self.order: list[list[int]] = [[] for _ in func.blocks]
        self.columns: dict[int, list[int]] = {}
        """``FOR`` → the numbers of its results that are used."""
        self._anchors: list[list[int]] = [[] for _ in func.blocks]
        """For each block, the needed instructions that must stay in order."""
        if any(ins[0] in _ANCHORED or (ins[0] == CALL and _has_effects(func, ins)) for ins in func.code):
            self._find_anchors()
        self._order()

    def _root(self, r: int) -> list[int]:
        """The accumulators that ``r`` may be a part of."""
        ins = self.func.code[r]
        if ins[0] == REF_INDEX:
            return self._root(ins[1])
        return [*self._root(ins[2]), *self._root(ins[3])] if ins[0] < TABLE_END else [r]

    def _find_anchors(self) -> None:
        """Mark what is needed, last to first, and collect what among it has effects."""
        func, code = self.func, self.func.code
        touched: list[set[int]] = [set() for _ in func.blocks]
        """For each block, the accumulators that it adds to; -1 for an opaque function."""
        for v, ins in enumerate(code):
            roots: list[int] = []
            if ins[0] == ADD_TO:
                roots = self._root(ins[1])
            elif ins[0] == CALL:
                roots = [r for x in ins[2:] if x >= 0 and isinstance(func.types[x], Ref) for r in self._root(x)]
                if func.callees[ins[1]].effects:
                    roots.append(-1)
            block = func.home[v]
            while block >= 0 and roots:
                touched[block].update(roots)
                block = func.blocks[block].parent
        needed = [False] * (len(code) + len(func.pool))
        read: set[int] = {-1}
        """Accumulators whose value someone needs."""
        for v in func.results:
            needed[v] = True
        for v, ins in enumerate(code):
            if ins[0] == PARAM and isinstance(func.types[v], Ref):
                read.add(v)
        for v in range(len(code) - 1, -1, -1):
            ins = code[v]
            op = ins[0]
            if op == ADD_TO:
                effect = not read.isdisjoint(self._root(ins[1]))
            elif op == FOR:
                effect = not read.isdisjoint(touched[ins[1]])
            elif op == CALL:
                callee = func.callees[ins[1]]
                effect = callee.effects or any(
                    not read.isdisjoint(self._root(x)) for x in ins[2:] if x >= 0 and isinstance(func.types[x], Ref)
                )
            else:
                effect = False
            if not (needed[v] or effect):
                continue
            needed[v] = True
            if effect or op in (ACCUM, RESOLVE):
                self._anchors[func.home[v]].append(v)
            if op == RESOLVE:
                read.update(self._root(ins[1]))
                needed[ins[1]] = True
            elif op == GET:
                needed[ins[1]] = True
                if code[ins[1]][0] == FOR:
                    self.columns.setdefault(ins[1], []).append(ins[2])
            elif op == FOR:
                for k in self.columns.get(v, ()):
                    needed[func.blocks[ins[1]].results[k]] = True
            else:
                for x in ins[2:] if op == CALL else () if op in (PARAM, IDX) else ins[1:]:
                    needed[x] = True
        for anchors in self._anchors:
            anchors.reverse()

    def _order(self) -> None:
        func, order = self.func, self.order
        code, home = func.code, func.home
        done = bytearray(len(code))
        stack = [*reversed(func.results), *reversed(self._anchors[0])]
        push, pop = stack.append, stack.pop
        while stack:
            v = pop()
            if v >= _DONE:  # all operands are in place
                v -= _DONE
                order[home[v]].append(v)
                continue
            if v < 0 or done[v]:
                continue
            done[v] = 1
            ins = code[v]
            op = ins[0]
            push(v + _DONE)
            if op < TABLE_END or op == VEC:
                if len(ins) == 3:
                    push(ins[2])
                    push(ins[1])
                else:
                    stack.extend(ins[:0:-1])
            elif op == FOR:
                results = func.blocks[ins[1]].results
                stack.extend(results[k] for k in self.columns.get(v, ()))
                stack.extend(reversed(self._anchors[ins[1]]))
            elif op == GET:
                push(ins[1])
            elif op == CALL:
                stack.extend(ins[:1:-1])
            elif op not in (PARAM, IDX):
                stack.extend(ins[:0:-1])


_ANCHORED = frozenset((ACCUM, ADD_TO, RESOLVE, FOR))


def _has_effects(func: Func, ins: tuple[int, ...]) -> bool:
    callee = func.callees[ins[1]]
    return callee.effects or any(isinstance(t, Ref) for t in callee.params)
