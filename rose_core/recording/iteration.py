"""An iteration of a loop while that is being built from copies of rows or calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rose_core.language.builder import COUNT, Builder
from rose_core.language.indices import MOST
from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    CALL,
    COND,
    FOR,
    GET,
    INDEX,
    LOOP,
    RESOLVE,
    SET,
    VEC,
    Func,
    Spec,
)
from rose_core.language.ops import OPS, code
from rose_core.language.types import BOOL, REAL, TAN, Fin, Type, fin
from rose_core.recording.operands import END

_IADD, _IMUL, _NARROW = map(code, ("iadd", "imul", "narrow"))


class Iteration:
    """An iteration of a loop that is being written: its builder, its number, and of how many it is one."""

    def __init__(self, b: Builder, i: int, size: Fin) -> None:
        self.b, self.i, self.size = b, i, size

    def outer(self, v: int) -> int:
        """In the iteration, a value from outside."""
        return v


class Step(Iteration):
    """An iteration of a loop with a state: a function of its number, the state, and values from outside."""

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


def affine(iteration: Iteration, numbers: Sequence[float], t: Fin) -> int | None:
    """Of indices that go up in equal steps, the one whose iteration it is."""
    b = iteration.b
    first, second, last = int(numbers[0]), int(numbers[1]), int(numbers[-1])
    step = second - first
    if step <= 0 or list(numbers) != list(range(first, last + 1, step)):
        return None
    steps = b.binary(_IMUL, iteration.i, b.const(step, COUNT), COUNT)
    at = b.binary(_IADD, steps, b.const(first, COUNT), COUNT)
    return b.narrow(at, t)


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


class Called(NamedTuple):
    """A function that a row calls, and the values of its literals, which it gets at the end."""

    f: Func
    literals: Sequence[int]


def given(
    op: int, head: Sequence[int], args: Sequence[int], arity: int
) -> Iterator[tuple[Sequence[int], int]]:
    """What each of the functions gets that a row calls, but for literals; ``arity``: how many the first gets.

    And how many of these a loop gives in each iteration; what it starts from stands in their place.
    """
    if op == CALL:
        yield args, 0
    elif op == COND:
        count = head[0]
        yield args[1 : 1 + count], 0
        yield args[1 + count :], 0
    else:
        state = head[0]
        yield args[:arity], 1 + state
        yield [*args[1 : 1 + state], *args[arity:]], state


def structure(
    b: Builder,
    op: int,
    head: Sequence[int],
    types: Sequence[Type],
    args: Sequence[int],
    called: Sequence[Called] = (),
) -> int:
    """A row of structure.

    Args:
        b: where it is written.
        op: its opcode.
        head: what stands before its operands in a recording, but for the functions that it calls.
        types: those that this may refer to.
        args: the values of its operands.
        called: the functions.
    """
    if op == FOR:
        return b.open_for(types[head[0]])
    if op == END:
        return b.close_for(args)
    if op == GET:
        return b.get(args[0], head[0])
    if op == VEC:
        return b.vec(args, types[head[0]])
    if op == ACCUM:
        return b.accum(*args)
    if op == ADD_TO:
        return b.add_to(*args)
    if op == RESOLVE:
        return b.resolve(*args)
    if op == SET:
        return b.set(*args)
    if op not in (CALL, COND, LOOP):
        raise ValueError(f"not an opcode of a recording: {op}")
    f, literals = called[0]
    (first, state), *others = given(op, head, args, len(f.params) - len(literals))
    if op == CALL:
        return b.call(f, [*first, *literals])
    if op == COND:
        no, _ = others[0]
        return b.cond(args[0], f, [*first, *literals], called[1].f, [*no, *called[1].literals])
    carries, index, outputs, must_end, checkpoint = head[:5]
    spec = Spec(
        carries,
        types[index],
        outputs,
        must_end=bool(must_end),
        note=must_end - 1,
        checkpoint=checkpoint,
    )
    count, rest = first[0], [*first[state:], *literals]
    if len(called) == 1:
        return b.loop(spec, count, f, first[1:state], rest)
    (test, more), (tested, _) = called[1], others[0]
    return b.loop(spec, count, f, first[1:state], rest, test, [*tested[carries:], *more])
