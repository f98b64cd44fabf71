"""Numbers that must be defined: what the interpreter evaluates, and the same as WebAssembly."""

from __future__ import annotations

from rose_core.encode import I32_ADD, IF, Helper, f64_const, i32_const, local_get
from rose_core.errors import NOTED, failure


def defined(x: float, note: int) -> float:
    """``x``, which is NaN if there is no such number; then the note with this number is the error."""
    if x != x:
        raise failure(NOTED + note, 0, 0)
    return x


_X, _F64_NE = local_get(0), b"\x62"

_FAIL = local_get(1) + i32_const(NOTED) + I32_ADD + f64_const(0.0) + f64_const(0.0)
DEFINED = Helper("defined", "fi", "f", "", _X + _X + _F64_NE + IF + _FAIL, after=_X)
