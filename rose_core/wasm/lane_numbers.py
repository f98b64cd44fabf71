"""What iterations side by side compute of numbers, one operation after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from rose_core.encode import (
    F64X2_ADD,
    F64X2_NE,
    F64X2_PMAX,
    F64X2_PMIN,
    IN_LANES,
    SIDE_IN_LANES,
    V128_AND,
    V128_ANDNOT,
    V128_OR,
    local_get,
    local_set,
)
from rose_core.language.ops import OPS, TABLE_END, by_name
from rose_core.language.types import REAL, TAN, Type
from rose_core.optimise.ranges import is_zero

if TYPE_CHECKING:
    from rose_core.language.demand import Demand
    from rose_core.language.ir import Func
    from rose_core.wasm.context import Codes
    from rose_core.wasm.expressions import Expressions, Mates

_SELECT, _OR, _MIN, _MAX, _LT, _GT = (by_name[name].code for name in "select or min max lt gt".split())

_INSTRUCTIONS = {op.code: IN_LANES[op.wasm] for op in OPS if isinstance(op.wasm, int) and op.wasm in IN_LANES}
_INSTRUCTIONS[by_name["side"].code] = SIDE_IN_LANES

COMPARISONS = {
    by_name[f"i{name}"].code: IN_LANES[by_name[name].wasm]  # type: ignore[index]
    for name in ("eq", "neq", "lt", "leq", "gt", "geq")
}
"""Of indices, as numbers."""


_CHOICES = {by_name["min"].code: 4, by_name["max"].code: 4, by_name["select"].code: 1}
"""Operations that choose, and how long they take. An iteration by itself has branches in their place: where
the processor foretells them, it goes on at once, and else it has to begin again."""


_LEAST_READ = len(local_get(0) + V128_OR)
"""The fewest bytes of more than to get a local variable."""


def is_number(t: Type) -> bool:
    return t is REAL or t is TAN


@dataclass(frozen=True, slots=True)
class Operations:
    """A function all of which is computed in lanes."""

    func: Func
    demand: Demand
    codes: Codes
    mates: Mates


def in_lanes_of(body: Operations | Expressions, v: int) -> bytes:
    """The code that computes ``v``, after its operands, in lanes; none if there is none."""
    op = body.func.code[v][0]
    if op in _INSTRUCTIONS or op >= TABLE_END:
        return _INSTRUCTIONS.get(op, b"")
    code = body.mates[v][1] if v in body.mates else body.codes.single[op]
    return body.codes.in_lanes.get(code, b"")


def choices(func: Func, values: Iterable[int]) -> dict[int, int]:
    """For each of these values, how long those choices take that need each other and go into it."""
    time: dict[int, int] = {}
    for v in values:
        op, *given = func.code[v]
        time[v] = max((time[x] for x in given if x in time), default=0) + _CHOICES.get(op, 0)
    return time


def _is_constant(f: Func, x: int) -> bool:
    """Whether a value is a number that is known, and no NaN."""
    return x < 0 and f.type_of(x) is REAL and not isnan(f.pool[~x][0])


class Numbers:
    """Writes operations of a function in lanes."""

    def __init__(self, body: Operations | Expressions) -> None:
        self.body = body
        self.func = body.func
        self.answers: dict[int, bool] = {}
        """Bools that are the same in all iterations that are being written."""

    def new_local(self) -> int:
        """A local variable of two lanes."""
        raise NotImplementedError

    def operation(self, v: int, known: dict[int, bytes], out: list[bytes], got: bytes = b"") -> None:
        """Compute ``v``, of what is ``known``, or by code that reads it."""
        ins = self.func.code[v]
        if v in known:
            return
        if v in self.body.mates:
            mates, _ = self.body.mates[v]
            places = [self.new_local() for _ in mates]
            out += [known[ins[1]], in_lanes_of(self.body, v), *map(local_set, reversed(places))]
            known.update(zip(mates, map(local_get, places), strict=True))
            return
        push = got
        if ins[0] == _SELECT and ins[1] in self.answers:
            push = known[ins[2] if self.answers[ins[1]] else ins[3]]
        elif not got:
            push = self._choice(ins, known, out)
            if not push:
                # of three operands the first is on top of the stack
                first, *others = [known[x] for x in ins[1:]]
                push = b"".join([first, *others] if len(others) < 2 else [*others, first])
                push += in_lanes_of(self.body, v)
        if self.body.demand.uses[v] > 1 or self.body.demand.rooted[v]:
            n = self.new_local()
            out += [push, local_set(n)]
            push = local_get(n)
        known[v] = push

    def _choice(self, ins: tuple[int, ...], known: Mapping[int, bytes], out: list[bytes]) -> bytes:
        """What chooses between numbers, in fewer instructions than engines take for it; none for others."""
        if ins[0] == _SELECT:
            return self._or_zero(ins, known) or self._better(ins, known)
        return self._extreme(ins, known, out) if ins[0] in (_MIN, _MAX) else b""

    def _extreme(self, ins: tuple[int, ...], known: Mapping[int, bytes], out: list[bytes]) -> bytes:
        """A minimum or maximum, of the same bits as the instruction of that name besides those in a NaN.

        On x86-64 that instruction is seven to nine, which the next one waits for (on ARM one, and this five).
        """
        op, x, y = ins
        if _is_constant(self.func, x):
            x, y = y, x
        better = F64X2_PMIN if op == _MIN else F64X2_PMAX
        if _is_constant(self.func, y):
            constant = self.func.pool[~y][0]
            push = known[x] + known[y] + better
            # the first is kept where it is a NaN, and where both are zero
            if constant or (is_zero(self.func, y) and op == _MIN):
                return push
            if is_zero(self.func, y):
                return push + known[y] + F64X2_ADD
        first, second = (self._repeatable(known[v], out) for v in (x, y))
        either, other = first + second + better, second + first + better
        if op == _MIN:
            return either + other + V128_OR  # which differ in the sign of zero, or where one is a NaN
        p, q = self.new_local(), self.new_local()
        out += [either, local_set(p), other, local_set(q)]
        # the mask of what is not equal is a NaN
        return local_get(p) + local_get(q) + V128_AND + local_get(p) + local_get(q) + F64X2_NE + V128_OR

    def _repeatable(self, push: bytes, out: list[bytes]) -> bytes:
        """Code that may be there twice, of what is as good once."""
        if len(push) < _LEAST_READ:
            return push
        n = self.new_local()
        out += [push, local_set(n)]
        return local_get(n)

    def _better(self, ins: tuple[int, ...], known: Mapping[int, bytes]) -> bytes:
        """A choice of the less or the greater of two numbers as one instruction; none for others."""
        _, p, x, y = ins
        op, *compared = self.func.code[p] if p >= 0 else (-1,)
        if op not in (_LT, _GT) or sorted(compared) != sorted((x, y)):
            return b""
        is_less = (compared[0] == x) == (op == _LT)
        return known[y] + known[x] + (F64X2_PMIN if is_less else F64X2_PMAX)

    def _or_zero(self, ins: tuple[int, ...], known: Mapping[int, bytes]) -> bytes:
        """A choice between a number and zero as one instruction, where it would be three; none for others."""
        _, p, x, y = ins
        if is_zero(self.func, y):
            return known[x] + known[p] + V128_AND
        if is_zero(self.func, x):
            return known[y] + known[p] + V128_ANDNOT
        # both sides of a minimum in reverse: what is chosen otherwise is zero where the condition holds
        other = self.func.code[y] if y >= 0 else ()
        if other and other[0] == _SELECT and is_zero(self.func, other[2]) and other[1] >= 0:
            either = self.func.code[other[1]]
            if either[0] == _OR and p in either[1:]:
                return known[x] + known[p] + V128_AND + known[y] + V128_OR
        return b""
