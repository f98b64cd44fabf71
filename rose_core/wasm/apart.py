"""What is known of two indices while a loop runs: which is more, and whether they are ever the same."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from rose_core.language.ir import PARAM
from rose_core.language.ops import by_name

if TYPE_CHECKING:
    from rose_core.wasm.lower import Body

_IADD, _ISUB, _IMOD, _NARROW = (by_name[name].code for name in ("iadd", "isub", "imod", "narrow"))


def beside(body: Body, number: int, index: int) -> tuple[int, int] | None:
    """Of an index that is the sum of the iteration, an index from outside and a constant: these two.

    Neither is negative, for the reason that `Body.affine` gives.
    """
    func, iteration = body.func, body.func.blocks[number].index
    outside: list[int] = []
    times, more, waiting = 0, 0, [index]
    while waiting and times < 2 and len(outside) < 2:
        v = waiting.pop()
        op, *given = func.code[v] if v >= 0 else (-1,)
        if v < 0:
            more += int(func.pool[~v][0])
        elif v == iteration:
            times += 1
        elif func.home[v] != number:
            outside.append(v)
        elif op in (_IADD, _NARROW):
            waiting += given[: 2 if op == _IADD else 1]
        elif op == _ISUB and given[1] < 0:
            waiting.append(given[0])
            more -= int(func.pool[~given[1]][0])
        else:
            return None
    if times != 1 or len(outside) != 1 or more < 0:
        return None
    (x,) = outside
    return (x, more) if func.code[x][0] in (PARAM, _NARROW) or body.affine(x) else None


def is_beyond(body: Body, number: int, i: int, j: int) -> bool:
    """Whether an index from outside of a loop is beyond all that ``j`` is in it, or before all."""
    block = body.func.blocks[number]
    if body.affine(j) == (block.index, 1, 0):
        more = None if block.count is None else _more(body, i, block.count)
        return more is not None and more >= 0
    found = beside(body, number, j)
    more = _more(body, found[0], i) if found else None
    return found is not None and more is not None and more + found[1] > 0


def _more(body: Body, i: int, j: int) -> int | None:
    """By how much an index is always more than another one, if that is known."""
    i, j = _unnarrowed(body, i), _unnarrowed(body, j)
    if i == j or min(i, j) < 0:
        return 0 if i == j else None
    line, other = body.affine(i), body.affine(j)
    return line[2] - other[2] if line and other and line[:2] == other[:2] else None


def _unnarrowed(body: Body, i: int) -> int:
    code = body.func.code
    while i >= 0 and code[i][0] == _NARROW and code[i][1] >= 0:
        i = code[i][1]
    return i


def differ(body: Body, i: int, j: int) -> bool:
    """Whether two indices are always different: a constant from each other, round an edge, too."""
    if min(i, j) < 0:
        return max(i, j) < 0 and body.func.pool[~i][0] != body.func.pool[~j][0]
    (line, edge), (other, other_edge) = _round(body, i), _round(body, j)
    if line is None or other is None or line[:2] != other[:2]:
        return False
    # each is its line but for multiples of its edge, so their difference is known but for multiples of both
    apart, edges = line[2] - other[2], gcd(edge, other_edge)
    return apart % edges != 0 if edges else apart != 0


def _round(body: Body, i: int) -> tuple[tuple[int, int, int] | None, int]:
    """An index as `Body.affine` has it, and by what number it goes round; 0 if it does not."""
    code = body.func.code
    i = _unnarrowed(body, i)
    op, *given = code[i]
    if op != _IMOD or given[0] < 0 or given[1] >= 0:
        return body.affine(i), 0
    return body.affine(given[0]), int(body.func.pool[~given[1]][0])
