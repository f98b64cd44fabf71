"""Functions that are one operation: a call of one is that operation.

    f(x) = exp(x):  f(y) + 1     →     exp(y) + 1

An author's own function, such as one that has a derivative set by hand, is often no more than a name for a
built-in one. As long as derivatives are to be taken, it must stay a function. Thereafter its operation stands
in place of each call, and loops of it run as those of any other operation.
"""

from __future__ import annotations

from rose_core.language.ir import CALL, CALLEES, GET, INDEX, PARAM, VEC, Func, callees
from rose_core.language.ops import TABLE_END
from rose_core.language.queries import among, opcodes, places
from rose_core.language.types import Type, is_memory

_STRAIGHT = frozenset((*range(TABLE_END), PARAM, INDEX, VEC))
_CALLING, _CALLED = among(CALLEES), among((CALL, GET))


def relinked(f: Func, functions: list[Func]) -> Func:
    """``f``, whose derivatives are made, with calls of these functions in place of its own."""
    single = [_operation(g) for g in functions]
    if not any(single):
        return calling(f, functions)
    code, types = list(f.code), list(f.types)
    for v in places(f, _CALLED):
        ins = f.code[v]
        if ins[0] == CALL and (operation := single[ins[1]]):
            # what the call gives is the operation; the call's own row is one that nobody needs
            code[v] = (operation[0], *(ins[2 + k] for k in operation[1:]))
            types[v] = functions[ins[1]].result_types[0]
        elif ins[0] == GET and f.code[ins[1]][0] == CALL and single[f.code[ins[1]][1]]:
            code[v] = code[ins[1]]
    calls = [v for v in places(f, _CALLING) if code[v][0] in CALLEES]
    used = sorted({k for v in calls for k in callees(code[v])})
    number = {k: n for n, k in enumerate(used)}
    for v in calls:
        ins = code[v]
        at = CALLEES[ins[0]]
        code[v] = (*ins[: at.start], *(number.get(k, k) for k in ins[at]), *ins[at.stop :])
    return _like(f, code, types, [functions[k] for k in used])


def calling(f: Func, functions: list[Func]) -> Func:
    """``f``, which calls these functions in place of its own."""
    return f if functions == f.callees else _like(f, f.code, f.types, functions)


def _operation(g: Func) -> tuple[int, ...] | None:
    """The opcode and the numbers of its parameters if ``g`` is one operation on numbers."""
    if g.host or len(g.results) != 1 or len(g.code) != len(g.params) + 1 or any(map(is_memory, g.types)):
        return None
    op, *operands = g.code[-1]
    if op >= TABLE_END or g.results[0] != len(g.params) or min(operands) < 0:
        return None
    return op, *(g.code[x][1] for x in operands)


def _like(f: Func, code: list[tuple[int, ...]], types: list[Type], callees: list[Func]) -> Func:
    """``f`` with these instructions."""
    copy = Func(f.name, f.param_types, f.ret)
    copy.param_names, copy.params, copy.effects = f.param_names, f.params, f.effects
    copy.home, copy.blocks, copy.pool, copy.specs = f.home, f.blocks, f.pool, f.specs
    copy.code, copy.types, copy.callees = code, types, callees
    copy.straight = opcodes(copy) <= _STRAIGHT
    return copy
