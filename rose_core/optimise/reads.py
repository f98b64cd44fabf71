"""Which iterations of a loop read the same, where tables say what each iteration reads.

A row of calls is a loop over tables (`recording.roll`): if these are for all pairs of some points, a point is
read in many iterations. So what depends on the index by tables alone is known for every iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rose_core.language import tables
from rose_core.language.builder import Builder
from rose_core.language.ir import INDEX, VEC, Func
from rose_core.language.ops import TABLE_END
from rose_core.language.types import Array, array, fin

SAME: tuple[int, ...] = ()
"""In place of the iterations: what is the same in all of them."""


class Reads:
    """What the iterations of a loop in the outermost block read."""

    def __init__(self, f: Func, number: int) -> None:
        self.func = f
        self.number = number
        self.block = f.blocks[number]
        self.trips = self.block.trips
        self._found: dict[int, Sequence[int] | None] = {}

    def of(self, v: int) -> Sequence[int] | None:
        """A number for each iteration, the same where ``v`` is the same; None if that is not known."""
        if v < 0 or self.func.home[v] != self.number:
            return SAME if self.func.home_of(v) == 0 else None
        if v not in self._found:
            self._found[v] = self._of(v)
        return self._found[v]

    def _of(self, v: int) -> Sequence[int] | None:
        ins = self.func.code[v]
        if ins[0] == INDEX and ins[2] == self.block.index:
            return _numbered(self._elements(ins[1])) if self.of(ins[1]) is SAME else None
        if ins[0] in (INDEX, VEC) or ins[0] < TABLE_END:
            return self.of_all(ins[1:])
        return None

    def of_all(self, ids: Sequence[int]) -> Sequence[int] | None:
        """The same for some values together."""
        columns = []
        for x in ids:
            column = self.of(x)
            if column is None:
                return None
            if column is not SAME:
                columns.append(column)
        if len(columns) < 2:
            return columns[0] if columns else SAME
        return _numbered([*zip(*columns, strict=True)])

    def _elements(self, v: int) -> Sequence[object]:
        """What tells the elements of a vector from each other."""
        content = tables.table_of(self.func, v) if v >= 0 else None
        if content is not None:
            step = len(content) // self.trips
            return [content[at : at + step] for at in range(0, len(content), step)]
        if v >= 0 and self.func.code[v][0] == VEC:
            return self.func.code[v][1:]
        return range(self.trips)

    def again(
        self, b: Builder, env: Sequence[int], iterations: Sequence[int], index: int
    ) -> Callable[[int], int]:
        """What makes a value in ``b``, in a loop over these iterations with this index."""
        made: dict[int, int] = {}

        def value(v: int) -> int:
            if v < 0 or self.func.home[v] != self.number:
                return env[v]
            if v not in made:
                op, *args = self.func.code[v]
                if op == INDEX and args[1] == self.block.index:
                    made[v] = b.index(_picked(b, env[args[0]], iterations), index)
                elif op == INDEX:
                    made[v] = b.index(value(args[0]), value(args[1]))
                elif op == VEC:
                    made[v] = b.vec([value(x) for x in args], self.func.types[v])
                else:
                    made[v] = b.op(op, *[value(x) for x in args], type=self.func.types[v])
            return made[v]

        return value


def _numbered(items: Sequence[object]) -> Sequence[int]:
    numbers = {x: k for k, x in enumerate(dict.fromkeys(items))}
    return [numbers[x] for x in items]


def _picked(b: Builder, v: int, places: Sequence[int]) -> int:
    """The vector of these elements of another."""
    t = b.func.type_of(v)
    assert isinstance(t, Array)
    elements = [b.index(v, b.const(k, t.index)) for k in places]
    return b.vec(elements, array(fin(len(places)), t.elem))


def indices(b: Builder, numbers: Sequence[int], size: int) -> int:
    """A table of these indices below a size."""
    of = fin(size)
    return b.vec([b.const(k, of) for k in numbers], array(fin(len(numbers)), of))
