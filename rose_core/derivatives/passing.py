"""Elements of arrays whose update passes their cotangent on: ``a[i] + x``, put in the place of ``a[i]``.

    backward from a.set(i, a[i] * 2 + x):     da' = da.set(i, da[i] * 2);  dx = da[i]

The cotangent of the old element is that of the new one, by a factor, and stands where it has to be already.
So the backward pass leaves it there, and need not put 0 in its place and add to that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rose_core.language.builder import Builder
from rose_core.language.ir import INDEX, SET, Func
from rose_core.language.ops import code
from rose_core.language.queries import only_users, remembered

_ADD, _SUB, _NEG, _MUL, _DIV = map(code, ("add", "sub", "neg", "mul", "div"))


def passing(f: Func, v: int, is_known: Callable[[int], bool]) -> Sequence[int]:
    """From the old element to the new one of the update ``v``, the values by which the cotangent is passed.

    Nothing if the old element, or one of these, is used for something else, too. ``is_known``: of a factor,
    whether the backward pass knows it by then.
    """
    _, whole, at, new = f.code[v]
    users = only_users(f)
    found = [_old(f, whole, at)]
    while found[-1] != new:
        user = users.get(found[-1], -1)
        if user < 0 or f.home[user] != f.home[v] or not _passes(f, found[-1], user, is_known):
            return []
        found.append(user)
    return found if users.get(new) == v else []


def _passes(f: Func, x: int, user: int, is_known: Callable[[int], bool]) -> bool:
    """Whether what uses ``x`` is a sum, or a product by what is known."""
    op, *given = f.code[user]
    if op in (_ADD, _SUB, _NEG):
        return True
    return (op == _MUL or (op == _DIV and x == given[0])) and is_known(_other(given, x))


def passed_on(f: Func, path: Sequence[int], c: int, b: Builder, value: Callable[[int], int]) -> int:
    """What the old element gets of the cotangent ``c`` of the new one; ``value`` gives that of a factor."""
    for x, user in zip(path[-2::-1], path[:0:-1], strict=True):
        op, *given = f.code[user]
        if op in (_MUL, _DIV):
            c = b.binary(op, c, value(_other(given, x)))
        elif op == _NEG or (op == _SUB and x == given[1]):
            c = b.unary(_NEG, c)
    return c


def _other(given: Sequence[int], x: int) -> int:
    """The operand besides ``x``, of two."""
    return given[x == given[0]]


_MOST_BETWEEN = 16
"""Behind how many updates of other elements an old one is looked for: in long rows that would take long."""


def _old(f: Func, v: int, at: int) -> int:
    """The element at ``at`` of the array ``v``, if it is read: perhaps ahead of updates of other elements."""
    code, pool, elements = f.code, f.pool, _elements(f)
    for _ in range(_MOST_BETWEEN):
        if (v, at) in elements:
            return elements[v, at]
        op, *given = code[v] if v >= 0 else (-1,)
        if op == SET and at < 0 and given[1] < 0 and pool[~at][0] != pool[~given[1]][0]:
            v = given[0]
        elif op == INDEX and given[0] >= 0 and code[given[0]][0] == SET and code[given[0]][2] == given[1]:
            v = code[given[0]][3]  # the row that was put there
        else:
            break
    return -1


@remembered
def _elements(f: Func) -> Mapping[tuple[int, ...], int]:
    """The elements that are read, by array and index."""
    return {ins[1:]: v for v, ins in enumerate(f.code) if ins[0] == INDEX}
