"""Whole numbers as indices: what the interpreter evaluates, and the same as WebAssembly.

An index is a 32-bit integer, with a sign, as differences of indices have one. What would leave its type is
an error, found at run time by `bound` where it cannot be excluded before.
"""

from __future__ import annotations

import math

from rose_core.encode import (
    F64_CONVERT_S,
    I32_ADD,
    I32_GE_U,
    IF,
    SELECT,
    Helper,
    InPlace,
    f64_const,
    i32_const,
    local_get,
    local_set,
    local_tee,
)
from rose_core.errors import NOTED, failure

MOST = 2**31 - 1
"""The largest index there can be."""


def product(i: int, j: int) -> int:
    """i × j, or the number nearest to it that there is, which is out of any range."""
    return max(-MOST - 1, min(i * j, MOST))


def bound(i: int, size: int, note: int) -> int:
    """``i`` as an index below ``size``; where it is none, the note with this number is the error."""
    if not 0 <= i < size:
        raise failure(NOTED + note, i, size - 1)
    return i


def index(x: float, size: int, note: int) -> int:
    """The number ``x`` as an index below ``size``; likewise."""
    if not (0 <= x < size) or x != math.floor(x):
        raise failure(NOTED + note, x, size - 1)
    return int(x)


_F64_CONVERT_U, _F64_MUL, _F64_SUB = b"\xb8", b"\xa2", b"\xa1"
_TO_I32, _TO_U32 = b"\xfc\x02", b"\xfc\x03"
_I32_LT_S, _F64_NE, _OR = b"\x48", b"\x62", b"\x72"
_F64_ADD, _I64_REINTERPRET, _I32_WRAP = b"\xa0", b"\xbd", b"\xa7"


def _product(_i: int, j: int) -> bytes:
    return local_set(j) + F64_CONVERT_S + local_get(j) + F64_CONVERT_S + _F64_MUL + _TO_I32


def _smaller(i: int, j: int) -> bytes:
    return local_set(j) + local_tee(i) + local_get(j) + _is_less(i, j) + SELECT


def _larger(i: int, j: int) -> bytes:
    return local_set(j) + local_set(i) + local_get(j) + local_get(i) + _is_less(i, j) + SELECT


def _is_less(i: int, j: int) -> bytes:
    return local_get(i) + local_get(j) + _I32_LT_S


# a call of a function would take several times as long
PRODUCT, SMALLER, LARGER = InPlace(_product), InPlace(_smaller), InPlace(_larger)


def _is_out_of_range(size: bytes, i: int, _x: int) -> bytes:
    return local_tee(i) + size + I32_GE_U


def _is_no_index(size: bytes, i: int, x: int) -> bytes:
    # 2^52 + x has a whole number x below in its last bits, at once; engines truncate with branches
    bits = local_tee(x) + f64_const(2.0**52) + _F64_ADD + _I64_REINTERPRET + _I32_WRAP
    differs = bits + local_tee(i) + F64_CONVERT_S + local_get(x) + _F64_NE
    return differs + local_get(i) + size + I32_GE_U + _OR


_SIZE, _NOTE, _X = local_get(0), local_get(1), local_get(2)  # of three operands the first is on top
_LAST = _SIZE + _F64_CONVERT_U + f64_const(1.0) + _F64_SUB
_NOTED = _NOTE + i32_const(NOTED) + I32_ADD
_OUT_OF_RANGE = _NOTED + _X + F64_CONVERT_S + _LAST
_BOUND = _X + _SIZE + I32_GE_U + IF + _OUT_OF_RANGE
BOUND = Helper("bound", "iii", "i", "", _BOUND, after=_X, fails=_is_out_of_range)

_DIFFERS = _X + _X + _TO_U32 + local_tee(3) + _F64_CONVERT_U + _F64_NE
_TOO_LARGE = local_get(3) + _SIZE + I32_GE_U
_NO_INDEX = _DIFFERS + _TOO_LARGE + _OR + IF + _NOTED + _X + _LAST
INDEX = Helper("index", "iif", "i", "i", _NO_INDEX, after=local_get(3), fails=_is_no_index)
"""Fails unless the number is what it is as an unsigned integer, and that is below the size."""
