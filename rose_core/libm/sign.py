"""The sign of a number."""

from __future__ import annotations

from rose_core.libm.floats import copysign


def sign(x: float) -> float:
    """1 or -1 by the sign bit, so that ``sign(-0) = -1``; NaN of NaN. Both as in rose 0.4.10."""
    return copysign(1.0, x) if x == x else x
