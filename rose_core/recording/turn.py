"""A turn of a loop that is being written, and what is in it."""

from __future__ import annotations

from collections.abc import Sequence

from rose_core.language.builder import COUNT, Builder
from rose_core.language.indices import MOST
from rose_core.language.ir import INDEX, Func
from rose_core.language.ops import OPS, code
from rose_core.language.types import BOOL, REAL, TAN, Fin, Type, fin

_IADD, _IMUL, _NARROW = map(code, ("iadd", "imul", "narrow"))


class Turn:
    """A turn of a loop that is being written: its builder, its number, and of how many it is one."""

    def __init__(self, b: Builder, i: int, size: Fin) -> None:
        self.b, self.i, self.size = b, i, size

    def outer(self, v: int) -> int:
        """In the turn, a value from outside."""
        return v


class Step(Turn):
    """A turn of a loop with a state: a function of its number, the state, and values from outside."""

    def __init__(self, b: Builder, size: Fin, outside: Func, state: Sequence[Type]) -> None:
        super().__init__(b, b.param(size), size)
        self.outside = outside
        self.state = [b.param(t) for t in state]
        self.given: dict[int, int] = {}

    @property
    def args(self) -> list[int]:
        """The values from outside."""
        return [*self.given]

    def outer(self, v: int) -> int:
        if v < 0:
            return self.b.const(*self.outside.pool[~v])
        if v not in self.given:
            self.given[v] = self.b.param(self.outside.type_of(v))
        return self.given[v]


def affine(turn: Turn, numbers: Sequence[float], t: Fin) -> int | None:
    """Of indices that go up in equal steps, the one whose turn it is."""
    b = turn.b
    first, second, last = int(numbers[0]), int(numbers[1]), int(numbers[-1])
    step = second - first
    if step <= 0 or list(numbers) != list(range(first, last + 1, step)):
        return None
    turns = b.binary(_IMUL, turn.i, b.const(step, COUNT), COUNT)
    at = b.binary(_IADD, turns, b.const(first, COUNT), COUNT)
    return b.binary(_NARROW, at, b.const(t.size, COUNT), t)


def operation(b: Builder, op: int, args: Sequence[int]) -> int:
    """An operation of the table, or an element; its type follows from the operands."""
    if op == INDEX:
        return b.index(*args)
    row = OPS[op]
    type_of = b.func.type_of
    if row.out == "a":
        return b.op(op, *args)
    if row.out == "R":
        t: Type = TAN if any(type_of(a) is TAN for a in args) else REAL
    else:
        t = BOOL if row.out == "B" else fin(int(b.pool[~args[1]][0]) if row.sized else MOST + 1)
    return b.op(op, *args, type=t)
