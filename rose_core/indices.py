"""Whole numbers as indices: what the interpreter evaluates, and the same as WebAssembly.

An index is a 32-bit integer. What would leave its type is an error, found at run time by `bound` where
it cannot be excluded before.
"""

from __future__ import annotations

import math

from rose_core.encode import (
    I32_GE_U,
    IF,
    SELECT,
    Helper,
    f64_const,
    i32_const,
    local_get,
    local_tee,
)
from rose_core.errors import NO_COUNT, NO_INDEX, OUT_OF_RANGE, failure

MOST = 2**31 - 1
"""The largest index there can be."""


def product(i: int, j: int) -> int:
    """i × j, or the largest index: a product beyond it is out of any range."""
    return min(i * j, MOST)


def bound(i: int, size: int) -> int:
    """``i`` as an index below ``size``."""
    if not 0 <= i < size:
        raise failure(OUT_OF_RANGE, i, size - 1)
    return i


def _whole(x: float, size: int, code: int) -> int:
    if not (0 <= x < size) or x != math.floor(x):
        raise failure(code, x, size - 1)
    return int(x)


def index(x: float, size: int) -> int:
    """The number ``x`` as an index below ``size``."""
    return _whole(x, size, NO_INDEX)


def turns(x: float, size: int) -> int:
    """The number ``x`` as a number of turns, below ``size``."""
    return _whole(x, size, NO_COUNT)


_I, _J = local_get(0), local_get(1)
_F64_CONVERT_S, _F64_CONVERT_U, _F64_MUL, _F64_SUB = b"\xb7", b"\xb8", b"\xa2", b"\xa1"
_TO_I32, _TO_U32 = b"\xfc\x02", b"\xfc\x03"
_I32_LT_U, _F64_NE, _OR = b"\x49", b"\x62", b"\x72"

_LAST = _J + _F64_CONVERT_U + f64_const(1.0) + _F64_SUB

PRODUCT = Helper("imul", "ii", "i", "", _I + _F64_CONVERT_U + _J + _F64_CONVERT_U + _F64_MUL + _TO_I32)
SMALLER = Helper("imin", "ii", "i", "", _I + _J + _I + _J + _I32_LT_U + SELECT)
LARGER = Helper("imax", "ii", "i", "", _J + _I + _I + _J + _I32_LT_U + SELECT)

_FAIL = i32_const(OUT_OF_RANGE) + _I + _F64_CONVERT_S + _LAST
BOUND = Helper("bound", "ii", "i", "", _I + _J + I32_GE_U + IF + _FAIL, after=_I)


def _number_to_index(name: str, code: int) -> Helper:
    """Fails unless the number is what it is as an unsigned integer, and that is below the size."""
    differs = _I + _I + _TO_U32 + local_tee(2) + _F64_CONVERT_U + _F64_NE
    too_large = local_get(2) + _J + I32_GE_U
    check = differs + too_large + _OR + IF + i32_const(code) + _I + _LAST
    return Helper(name, "fi", "i", "i", check, after=local_get(2))


INDEX, TURNS = _number_to_index("index", NO_INDEX), _number_to_index("turns", NO_COUNT)
