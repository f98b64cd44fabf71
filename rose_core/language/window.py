"""Windows: vectors of elements that stand in a row in another vector.

A function that is shared gets one in place of many elements (`recording.share`). Where it is inlined, its
elements are read where they are.
"""

from __future__ import annotations

from typing import NamedTuple

from rose_core.language.builder import COUNT, Builder
from rose_core.language.ir import FOR, GET, INDEX
from rose_core.language.ops import code
from rose_core.language.types import Array, Fin, fin

_IADD, _NARROW = map(code, ("iadd", "narrow"))


class Window(NamedTuple):
    """Elements of ``vector``, from number ``start`` on."""

    vector: int
    start: int


def window(b: Builder, vector: int, start: int, size: int) -> int:
    """The vector of so many elements, from an index on; outside of loops it is made once."""
    key, is_outside = (FOR, vector, start, size), len(b.open) == 1
    found = b.table.get(key) if is_outside else None
    if found is None:
        element = b.index(vector, _index(b, vector, b.open_for(fin(size)), start))
        found = b.get(b.close_for([element]), 0)
        if is_outside:
            b.table[key] = found
    return found


def window_of(b: Builder, v: int) -> Window | None:
    """What a vector is a window of, if it is one that starts at a constant."""
    if v < 0 or b.code[v][0] != GET or b.code[b.code[v][1]][0] != FOR:
        return None
    _, loop, result = b.code[v]
    block = b.blocks[b.code[loop][1]]
    read = block.results[result]
    if read < 0 or b.code[read][0] != INDEX:
        return None
    _, vector, at = b.code[read]
    if vector < 0 or at < 0 or b.home[vector] == b.home[at]:
        return None
    at = b.code[at][1] if b.code[at][0] == _NARROW else at
    if at == block.index:
        return Window(vector, 0)
    op, *terms = b.code[at]
    if op != _IADD or max(terms) != block.index or min(terms) >= 0:
        return None
    return Window(vector, int(b.pool[~min(terms)][0]))


def element(b: Builder, of: Window, i: int) -> int:
    """An element of a window."""
    return b.index(of.vector, _index(b, of.vector, i, b.const(of.start, COUNT)))


def _index(b: Builder, vector: int, i: int, start: int) -> int:
    t = b.func.type_of(vector)
    assert isinstance(t, Array) and isinstance(t.index, Fin)
    if i < 0 and start < 0:
        return b.const(int(b.pool[~i][0]) + int(b.pool[~start][0]), t.index)
    at = b.binary(_IADD, i, start, COUNT)
    return b.narrow(at, t.index)
