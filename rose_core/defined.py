"""Numbers that must be defined: what the interpreter evaluates, and the same as WebAssembly."""

from __future__ import annotations

from rose_core.encode import IF, Helper, f64_const, i32_const, local_get
from rose_core.errors import UNDEFINED, failure


def defined(x: float, note: int) -> float:
    """``x``, which is NaN if there is no such number; then the note with this number is the error."""
    if x != x:
        raise failure(UNDEFINED, note, 0)
    return x


_X, _NOTE, _F64_CONVERT_U, _F64_NE = local_get(0), local_get(1), b"\xb8", b"\x62"

_FAIL = i32_const(UNDEFINED) + _NOTE + _F64_CONVERT_U + f64_const(0.0)
DEFINED = Helper("defined", "fi", "f", "", _X + _X + _F64_NE + IF + _FAIL, after=_X)
