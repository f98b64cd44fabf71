"""Which values with an infinite derivative are needed in some cases only, and in which, as indices tell.

``select(i == j, 0, 1 / x)`` needs the quotient where ``i`` is not ``j``, which is known without a look at any
number. In the other cases it has no part in a derivative (`derivatives.chosen`), so it is not moved out of
the choice (`optimise.outside`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from rose_core.language.ir import IDX, INDEX, PARAM, VEC, Func, operands
from rose_core.language.ops import FAILS, OPS, REGULAR, TABLE_END, code
from rose_core.language.queries import among, opcodes, places, remembered
from rose_core.language.types import BOOL, Fin

_SELECT = code("select")

_MAY_BE_ONE = among((PARAM, IDX, *(op.code for op in OPS if op.out != "R" and op.code not in FAILS)))
"""Operations that may be an index, or a condition."""

Case = frozenset[tuple[int, bool]]
"""Conditions, and what each is."""

Cases = frozenset[Case]
"""Where somebody needs a value: in any of these."""

_ALWAYS: Cases = frozenset([frozenset()])

_MOST_CASES = 4
"""The most that are told apart."""


def chosen_by_indices(f: Func) -> Mapping[int, Cases]:
    """What may have an infinite derivative and is not always needed, with the cases in which it is."""
    used = opcodes(f)
    if _SELECT not in used or used.isdisjoint(REGULAR):
        return {}
    conditions = of_indices(f)
    by_indices = any(ins[0] == _SELECT and ins[1] in conditions for ins in f.code)
    return dict(_chosen(f, conditions)) if by_indices else {}


@remembered
def of_indices(f: Func) -> set[int]:
    """Indices, and conditions on these alone, that cannot fail."""
    found: set[int] = set()
    for v in places(f, _MAY_BE_ONE):
        ins, t = f.code[v], f.types[v]
        if ins[0] in (PARAM, IDX):
            is_one = isinstance(t, Fin)
        else:
            plain = t is BOOL or isinstance(t, Fin)
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
