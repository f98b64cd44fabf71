"""Tables: vectors of numbers that are known, or of such vectors, as one constant.

Data that a page has in its functions are thousands of numbers, through which passes would go one by one. The
constant has them in a row, as they are in memory; a ``VEC`` of it alone is the vector.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from rose_core.language.ir import VEC, Func
from rose_core.language.types import BOOL, REAL, TAN, Array, Fin, Type, scalar_of, shape_of

FEWEST = 16
"""The fewest elements of a vector that becomes a table; shorter ones may become local variables."""


def table_of(f: Func, v: int) -> bytes | None:
    """The numbers of ``v``, if it is a table."""
    ins = f.code[v]
    if ins[0] != VEC or len(ins) != 2 or ins[1] >= 0:
        return None
    found = f.pool[~ins[1]][0]
    return found if isinstance(found, bytes) else None


def numbers_of(f: Func, v: int) -> bytes | None:
    """As `table_of`, also of a vector of constants that is none."""
    ins = f.code[v]
    if ins[0] != VEC or len(ins) == 1 or max(ins[1:]) >= 0:
        return None
    t = f.types[v]
    assert isinstance(t, Array)
    found = table_of(f, v)
    return packed([f.pool[~x][0] for x in ins[1:]], t.elem) if found is None and is_number(t.elem) else found


def is_number(t: Type) -> bool:
    """Whether tables may have elements of this type."""
    return t in (REAL, TAN, BOOL) or isinstance(t, Fin)


def packed(numbers: Sequence[float], t: Type) -> bytes:
    """Numbers of a scalar type in a row."""
    return struct.pack(f"<{len(numbers)}{_format(t)}", *numbers)


def size(t: Type) -> int:
    """How many bytes the numbers of an array take."""
    return t.size * size(t.elem) if isinstance(t, Array) else struct.calcsize(f"<{_format(t)}")


def part(content: bytes, k: int, size: int) -> bytes:
    """Element ``k`` of so many."""
    step = len(content) // size
    return content[k * step : (k + 1) * step]


def nested(content: bytes, t: Type) -> Any:
    """The value of type ``t`` with these numbers: an array in lists. The inverse of `flattened`."""
    shape = shape_of(t)
    if not content:
        return _empty(shape)
    letter = _format(scalar_of(t))
    flat: list[Any] = list(struct.unpack(f"<{len(content) // struct.calcsize(letter)}{letter}", content))
    for n in reversed(shape):
        flat = [flat[i : i + n] for i in range(0, len(flat), n)]
    return flat[0]


def flattened(x: Any, t: Type) -> bytes:
    """The numbers of a value of type ``t``, as they are in memory."""
    flat = [x]
    for _ in shape_of(t):
        flat = [y for row in flat for y in row]
    return packed(flat, scalar_of(t))


def _empty(shape: tuple[int, ...]) -> list[Any]:
    return [_empty(shape[1:]) for _ in range(shape[0])] if shape else []


def _format(t: Type) -> str:
    return "d" if t is REAL or t is TAN else "?" if t is BOOL else "i"
