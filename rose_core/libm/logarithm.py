"""log, log1p, log2 and log10, by a table (Tang, ACM TOMS 16:4, 1990) whose reduction is exact.

x = 2^k · m with m around 1, and c is m rounded to 6 bits of fraction. The table has 1/c to 7 bits, which
makes r = m/c - 1 a sum of exact products, exact itself; and log c in two parts, the first of them with
42 bits of fraction like that of ln 2, so that k·ln 2 + log c is a sum of two parts without an error, too.
Where c or its inverse is 1 they are 0 and no digit is lost, however near to 1 the argument may be.
"""

from __future__ import annotations

from rose_core.libm.constants import INVERSE, LN2_HIGH, LN2_LOW, LOG, LOG2_E, LOG10_E, LOG_HIGH, LOG_LOW
from rose_core.libm.exponential import TINY
from rose_core.libm.floats import INFINITY, NAN, bits, entry, from_bits, inline, leading

LEAST = 0x3FE6200000000000
"""The bits of 177/256: m is from here to twice that."""

CENTER = 0x3FE6400000000000
"""The bits of 178/256, the first c."""

EXPONENT, STEP = -1 << 52, 63 << 46
"""Masks: k, and which c it is."""

NORMAL, LARGEST = 2.0**-1022, 1.7976931348623157e308
TWO_54, LESS_54 = 2.0**54, 54 << 52


@inline
def reduced(n: int) -> tuple[float, float, float]:
    """Of the normal number with the bits n: log c + k·ln 2 in two parts, and r."""
    above = n - LEAST
    m = from_bits(n - (above & EXPONENT))
    step = above & STEP
    j = step >> 46
    c = from_bits(step + CENTER)
    inverse = entry(INVERSE, j)
    r = (m - c) * inverse + (c * inverse - 1.0)
    k = float(above >> 52)
    return k * LN2_HIGH + entry(LOG_HIGH, j), k * LN2_LOW + entry(LOG_LOW, j), r


@inline
def parts(n: int) -> tuple[float, float]:
    """The logarithm of the normal number with the bits n, in two parts."""
    base, low, r = reduced(n)
    near = base + r
    return near, ((base - near) + r) + (low + less_linear(r, r * r))


@inline
def less_linear(r: float, z: float) -> float:
    """log(1 + r) - r, where z = r²."""
    high = (LOG[4] + r * LOG[5]) + z * LOG[6]
    return z * ((LOG[0] + r * LOG[1]) + z * ((LOG[2] + r * LOG[3]) + z * high))


@inline
def product(high: float, low: float, factor_high: float, factor_low: float) -> float:
    """A number in two parts times another such, whose first part has 26 bits."""
    head = leading(high)
    return head * factor_high + ((((high - head) + low) * factor_high) + (high + low) * factor_low)


def log(x: float) -> float:
    if x > LARGEST:
        return x
    n = bits(x)
    if not x >= NORMAL:
        if not x > 0.0:
            return -INFINITY if x == 0.0 else NAN
        n = bits(x * TWO_54) - LESS_54
    high, low = parts(n)
    return high + low


def log2(x: float) -> float:
    if x > LARGEST:
        return x
    n = bits(x)
    if not x >= NORMAL:
        if not x > 0.0:
            return -INFINITY if x == 0.0 else NAN
        n = bits(x * TWO_54) - LESS_54
    high, low = parts(n)
    return product(high, low, LOG2_E[0], LOG2_E[1])


def log10(x: float) -> float:
    if x > LARGEST:
        return x
    n = bits(x)
    if not x >= NORMAL:
        if not x > 0.0:
            return -INFINITY if x == 0.0 else NAN
        n = bits(x * TWO_54) - LESS_54
    high, low = parts(n)
    return product(high, low, LOG10_E[0], LOG10_E[1])


def log1p(x: float) -> float:
    if abs(x) < TINY:
        return x
    if not x > -1.0:
        return -INFINITY if x == -1.0 else NAN
    if x > LARGEST:
        return x
    sum = 1.0 + x
    back = sum - 1.0
    lost = (1.0 - (sum - back)) + (x - back)
    high, low = parts(bits(sum))
    return high + (low + lost / sum)
