"""Choices that indices make, before they are differentiated in reverse.

Reverse mode multiplies by the derivative of what is not chosen, too, with a cotangent of 0: where that is
infinite, the product is no number. In a sum over pairs, ``select(i == j, 0, 1 / distance)``, this would be so
for every ``i``. Which side is chosen is known here without a look at any number, so what only that side needs
is computed of something harmless wherever it is not chosen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from rose_core.derivatives.turns import stays_as_it_is
from rose_core.language.builder import Builder
from rose_core.language.ir import IDX, INDEX, PARAM, VEC, Func, opcodes, operands
from rose_core.language.ops import FAILS, REGULAR, TABLE_END, code
from rose_core.language.replay import Replacing, copied
from rose_core.language.types import BOOL, Fin

_SELECT, _AND, _OR, _NOT = map(code, ("select", "and", "or", "not"))

Case = frozenset[tuple[int, bool]]
"""Conditions, and what each is."""

Cases = frozenset[Case]
"""Where somebody needs a value: in any of these."""

_ALWAYS: Cases = frozenset([frozenset()])

_MOST_CASES = 4
"""The most that are told apart."""


def by_choices(f: Func) -> Func:
    """``f``, in which what indices do not choose has no infinite derivative."""
    if stays_as_it_is(f):
        return f
    key = "choices", f.extent
    found = f.memo.get(key)
    if found is None:
        chosen = chosen_by_indices(f)
        found = f.memo[key] = copied(f, lambda b, args: _Harmless(f, b, args, chosen)) if chosen else f
    assert isinstance(found, Func)
    return found


def chosen_by_indices(f: Func) -> Mapping[int, Cases]:
    """What may have an infinite derivative and is not always needed, with the cases in which it is."""
    used = opcodes(f)
    if _SELECT not in used or used.isdisjoint(REGULAR):
        return {}
    conditions = of_indices(f)
    by_indices = any(ins[0] == _SELECT and ins[1] in conditions for ins in f.code)
    return dict(_chosen(f, conditions)) if by_indices else {}


def of_indices(f: Func) -> set[int]:
    """Indices, and conditions on these alone, that cannot fail."""
    found: set[int] = set()
    for v, ins in enumerate(f.code):
        t = f.types[v]
        if ins[0] in (PARAM, IDX):
            is_one = isinstance(t, Fin)
        else:
            plain = ins[0] < TABLE_END and ins[0] not in FAILS and (t is BOOL or isinstance(t, Fin))
            is_one = plain and found.issuperset(x for x in ins[1:] if x >= 0)
        if is_one:
            found.add(v)
    return found


def _chosen(f: Func, conditions: set[int]) -> Iterator[tuple[int, Cases]]:
    """What may have an infinite derivative, and where that is needed, if not always."""
    needed: dict[int, Cases] = {}
    for block in f.blocks:
        needed.update(dict.fromkeys(block.results, _ALWAYS))

    def need(x: int, where: Cases) -> None:
        if x >= 0:
            needed[x] = _ALWAYS if where is _ALWAYS else _in_any(needed.get(x, where) | where)

    for v in range(len(f.code) - 1, -1, -1):
        (op, *given), where = f.code[v], needed.get(v)
        if op >= TABLE_END and op not in (INDEX, VEC):
            for x in operands(f.code[v], f.blocks):
                need(x, _ALWAYS)
        elif where is not None and op == _SELECT:
            p, *sides = given
            need(p, where)
            for x, side in zip(sides, (True, False), strict=True):
                need(x, frozenset(case | {(p, side)} for case in where) if p in conditions else where)
        elif where is not None:
            for x in given:
                need(x, where)
            if op in REGULAR:
                there = _in_any({frozenset(c for c in case if _is_there(f, c[0], v)) for case in where})
                if there != _ALWAYS:
                    yield v, there


def _in_any(cases: Collection[Case]) -> Cases:
    """The cases without those that others contain."""
    found = frozenset(case for case in cases if not any(other < case for other in cases))
    return found if len(found) <= _MOST_CASES and found != _ALWAYS else _ALWAYS


def _is_there(f: Func, p: int, v: int) -> bool:
    """Whether the condition ``p`` can be told where ``v`` is computed."""
    number = f.home[v]
    while number > f.home[p]:
        number = f.blocks[number].parent
    return number == f.home[p]


class _Harmless(Replacing):
    def __init__(self, func: Func, b: Builder, args: Sequence[int], chosen: Mapping[int, Cases]) -> None:
        super().__init__(func, b, args)
        self.chosen = chosen
        """What may have an infinite derivative → where its value matters."""
        self.choice = {ins[1]: v for v, ins in enumerate(func.code) if ins[0] == _SELECT}
        """Condition → the last choice by it."""
        self.told: dict[int, int] = {}
        """Conditions and indices that are computed ahead."""

    def instead(self, v: int) -> int | None:
        if v not in self.chosen:
            return None
        op, *given = self.func.code[v]
        args = [self.env[x] for x in given]
        k, x = REGULAR[op]
        args[k] = self.b.ternary(_SELECT, self._is_in(self.chosen[v]), args[k], self.b.real(x))
        return self.b.op(op, *args, type=self.func.types[v])

    def _is_in(self, cases: Cases) -> int:
        """Whether it is one of these cases."""
        found = self.b.const(False, BOOL)
        # the outermost choices first: what is inside of them has these in common
        for case in sorted(sorted(case, key=self._depth) for case in cases):
            holds = self.b.const(True, BOOL)
            for condition in case:
                holds = self.b.binary(_AND, holds, self._holds(condition), BOOL)
            found = self.b.binary(_OR, found, holds, BOOL)
        return found

    def _depth(self, condition: tuple[int, bool]) -> tuple[int, bool]:
        p, side = condition
        return -self.choice[p], side

    def _holds(self, condition: tuple[int, bool]) -> int:
        p, side = condition
        found = self._told(p)
        return found if side else self.b.unary(_NOT, found, BOOL)

    def _told(self, v: int) -> int:
        """A condition on indices, or an index, which may be further on."""
        op, *given = self.func.code[v] if v >= 0 else (IDX,)
        if op == PARAM:
            return self.args[given[0]]
        if op == IDX:
            return self.env[v]
        if v not in self.told:
            args = [self._told(x) for x in given]  # `map` would use the machine's stack
            self.told[v] = self.b.op(op, *args, type=self.func.types[v])
        return self.told[v]
