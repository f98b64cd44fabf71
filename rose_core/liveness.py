"""Who uses a value, how often and until when: a sweep over a schedule, last to first."""

from __future__ import annotations

from rose_core.ir import CALL, FOR, GET, IDX, INDEX, PARAM, REF_INDEX, RESOLVE, Func
from rose_core.layout import is_memory
from rose_core.ops import OPS
from rose_core.schedule import Schedule

TABLE_END = len(OPS)


class Liveness:
    """Uses and lifetimes of the values of a scheduled function.

    Positions count instructions in execution order; a loop's own position is its end. ``last[v]`` is
    where the code of the last user of ``v`` is really emitted, which for a user that waits inside an
    expression is where that expression ends up.
    """

    def __init__(self, func: Func, schedule: Schedule) -> None:
        self.func = func
        self.schedule = schedule
        n = len(func.code)
        self.uses = [0] * n
        self.last = [-1] * n
        self.escapes = bytearray(n)
        """Whether a value is used in an inner block too."""
        self.position = [0] * n
        self._end_of_loop: dict[int, int] = {}
        self._next = sum(map(len, schedule.order))
        for v in func.results:
            self._use(v, self._next, 0)
        self._sweep(0)

    def _use(self, x: int, position: int, block: int) -> None:
        """Note a use of ``x`` in ``block``."""
        if x < 0:
            return
        self.uses[x] += 1
        home = self.func.home[x]
        if home != block:
            self.escapes[x] = 1
            while block != home:  # the value must outlive the loop it is used in
                position = max(position, self._end_of_loop[block])
                block = self.func.blocks[block].parent
        if position > self.last[x]:
            self.last[x] = position

    def _sweep(self, number: int) -> None:
        func, uses, last, escapes = self.func, self.uses, self.last, self.escapes
        code, home, positions = func.code, func.home, self.position
        flat = len(func.blocks) == 1
        for v in reversed(self.schedule.order[number]):
            self._next -= 1
            ins = code[v]
            op = ins[0]
            position = positions[v] = self._next
            if op < TABLE_END or op in (INDEX, REF_INDEX):
                if uses[v] == 1 and not escapes[v]:
                    position = last[v]
                elif op >= TABLE_END and ins[2] < 0 and is_memory(func.types[v]):
                    position = max(position, last[v])  # a part of an array is another name for it
                if flat:
                    for x in ins[1:]:
                        if x >= 0:
                            uses[x] += 1
                            if position > last[x]:
                                last[x] = position
                else:
                    for x in ins[1:]:
                        self._use(x, position, home[v])
            elif op in (GET, RESOLVE):  # another name for what it is of
                self._use(ins[1], max(position, last[v]), home[v])
            elif op == FOR:
                self._end_of_loop[ins[1]] = position
                for k in self.schedule.columns.get(v, ()):
                    self._use(func.blocks[ins[1]].results[k], position, ins[1])
                self._sweep(ins[1])
            elif op not in (PARAM, IDX):
                for x in ins[2:] if op == CALL else ins[1:]:
                    self._use(x, position, home[v])
