"""cbrt and hypot: an approximation, corrected by what its power, taken exactly, falls short of."""

from __future__ import annotations

from rose_core.libm.constants import CBRT, ROOTS
from rose_core.libm.floats import (
    INFINITY,
    bits,
    copysign,
    entry,
    from_bits,
    horner,
    larger,
    leading,
    smaller,
    sqrt,
)

NORMAL, LARGEST = 2.0**-1022, 1.7976931348623157e308
TWO_54 = 2.0**54

MANTISSA, ONE = (1 << 52) - 1, 1023 << 52

SHORT = -1 << 36
"""A mask: the cube of a number of 17 bits is exact."""

THIRD = (1 / 3, -1 / 9, 5 / 81)
"""Of (1 + w)^(1/3), after the 1."""

SMALL, GREAT = 2.0**-400, 2.0**500
TWO_600, TWO_MINUS_600 = 2.0**600, 2.0**-600


def cbrt(x: float) -> float:
    a = abs(x)
    n = bits(a)
    bias = 341
    if a < NORMAL:
        if a == 0.0:
            return x
        n = bits(a * TWO_54)
        bias = 359
    if not a <= LARGEST:
        return x
    exponent = n >> 52
    third = (exponent * 43691) >> 17
    left = exponent - third * 3
    mantissa = n & MANTISSA
    guess = horner(from_bits(mantissa | ONE), CBRT) * entry(ROOTS, left)
    root = from_bits(bits(guess) & SHORT)
    cube = root * root * root
    w = (from_bits(mantissa + ((left + 1023) << 52)) - cube) / cube
    y = root + root * (w * horner(w, THIRD))
    return copysign(from_bits(bits(y) + ((third - bias) << 52)), x)


def hypot(x: float, y: float) -> float:
    a = larger(abs(x), abs(y))
    b = smaller(abs(x), abs(y))
    if not (a > SMALL and a < GREAT):
        return hypot_at_ends(x, y)
    h = sqrt(a * a + b * b)
    a1 = leading(a)
    b1 = leading(b)
    h1 = leading(h)
    squares = (a1 * a1 - h1 * h1) + b1 * b1
    rest = (a - a1) * (a + a1) + ((b - b1) * (b + b1) - (h - h1) * (h + h1))
    return h + (squares + rest) / (h + h)


def hypot_at_ends(x: float, y: float) -> float:
    """√(x² + y²) where squares overflow or vanish."""
    a = abs(x)
    b = abs(y)
    if a == INFINITY or b == INFINITY:
        return INFINITY
    if not (a + b > 0.0):
        return a + b
    if a > 1.0 or b > 1.0:
        return hypot(x * TWO_MINUS_600, y * TWO_MINUS_600) * TWO_600
    return hypot(x * TWO_600, y * TWO_600) * TWO_MINUS_600
