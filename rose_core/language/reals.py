"""Arithmetic on floats as IEEE 754 and JavaScript's ``Math`` define it: no exceptions, ever.

Python raises where these give an infinity or NaN (``1 / 0``, ``sqrt(-1)``, ``pow(10, 400)``), and C's
``pow`` differs from JavaScript's at ``1 ** nan``. The interpreter evaluates with these functions and
those of `rose_core.libm`. What compiled modules import is one of these under wasmtime, and in a browser
``Math``'s own.
"""

from __future__ import annotations

import math
from math import copysign, inf, isinf, isnan, nan


def div(x: float, y: float) -> float:
    if y:
        return x / y
    if x == 0 or isnan(x) or isnan(y):
        return nan
    return copysign(inf, x) * copysign(1.0, y)


def sqrt(x: float) -> float:
    return math.sqrt(x) if x >= 0 else x if x == 0 else nan


def sign(x: float) -> float:
    """1 or -1 by the sign bit, so that ``sign(-0) = -1``; NaN of NaN. Both as in rose 0.4.10."""
    return copysign(1.0, x) if x == x else x


def side(x: float) -> float:
    """-1 below zero and of -0, and else 1, of NaN as well, whose own sign differs between machines."""
    return copysign(1.0, x) if x == x else 1.0


def ceil(x: float) -> float:
    return copysign(float(math.ceil(x)), x) if abs(x) < 2.0**52 else x


def floor(x: float) -> float:
    return copysign(float(math.floor(x)), x) if abs(x) < 2.0**52 else x


def trunc(x: float) -> float:
    return copysign(float(math.trunc(x)), x) if abs(x) < 2.0**52 else x


def minimum(x: float, y: float) -> float:
    """The smaller; NaN if either is NaN; ``-0 < +0``."""
    if x < y or isnan(x):
        return x
    if x == y == 0:
        return x if copysign(1.0, x) < 0 else y
    return y


def maximum(x: float, y: float) -> float:
    """The larger; NaN if either is NaN; ``-0 < +0``."""
    if x > y or isnan(x):
        return x
    if x == y == 0:
        return y if copysign(1.0, x) < 0 else x
    return y


def tan(x: float) -> float:
    return nan if isinf(x) else math.tan(x)


def asin(x: float) -> float:
    return math.asin(x) if -1 <= x <= 1 else nan


def acos(x: float) -> float:
    return math.acos(x) if -1 <= x <= 1 else nan
