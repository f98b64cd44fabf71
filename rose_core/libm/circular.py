"""sin and cos: a multiple of π/2 is taken off, and a polynomial has the rest (Cody and Waite, 1980).

π/2 is a sum of three numbers of which the first two have few digits, so that their products with a
quadrant's number below 2^18 are exact. The rest r is too large by its ``excess``. Larger arguments go by
Payne and Hanek (SIGNUM 18:1, 1983): only those digits of 2/π count which do not give whole turns.
"""

from __future__ import annotations

from rose_core.libm.constants import (
    COS,
    PER_QUADRANT,
    QUADRANT,
    QUADRANT_LOW,
    QUADRANT_MIDDLE,
    QUADRANT_SUM,
    SIN,
    TWO_OVER_PI,
)
from rose_core.libm.floats import (
    INFINITY,
    NAN,
    ROUNDER,
    bits,
    entry,
    estrin,
    from_bits,
    inline,
    leading,
    wrap,
)

MODERATE = 2.0**18
"""Below, a multiple is taken off as by Cody and Waite."""

MANTISSA, ONE = (1 << 52) - 1, 1 << 52
DIGIT = (1 << 28) - 1
"""A digit of 28 bits, as ``TWO_OVER_PI`` has them."""

TWO_MINUS_28, TWO_MINUS_80, TWO_MINUS_132 = 2.0**-28, 2.0**-80, 2.0**-132


@inline
def reduced(x: float) -> tuple[int, float, float]:
    """The number of the quadrant, in the lowest bits, and the angle from its middle: a number, and by what
    that is too large."""
    shifted = x * PER_QUADRANT + ROUNDER
    k = shifted - ROUNDER
    n = bits(shifted)
    near = x - k * QUADRANT
    middle = k * QUADRANT_MIDDLE
    r = near - middle
    excess = ((r - near) + middle) + k * QUADRANT_LOW
    if not abs(x) < MODERATE:
        n, r, excess = reduced_large(x)
    return n, r, excess


@inline
def sine(r: float, excess: float, z: float, n: int) -> float:
    """sin (r - excess), or its negative if bit 1 of n says so; z = r². That of -0 is -0."""
    y = r - (r * z * estrin(z, SIN) + excess * (1.0 - 0.5 * z))
    return from_bits(bits(y) ^ wrap((n & 2) << 62))


@inline
def cosine(r: float, excess: float, z: float, n: int) -> float:
    """cos (r - excess), or its negative if bit 1 of n says so; z = r²."""
    half = 0.5 * z
    near = 1.0 - half
    y = near + (((1.0 - near) - half) + (z * z * estrin(z, COS) + r * excess))
    return from_bits(bits(y) ^ wrap((n & 2) << 62))


def sin(x: float) -> float:
    n, r, excess = reduced(x)
    z = r * r
    if n & 1 == 1:
        return cosine(r, excess, z, n)
    return sine(r, excess, z, n)


def cos(x: float) -> float:
    n, r, excess = reduced(x)
    z = r * r
    if n & 1 == 1:
        return sine(r, excess, z, n + 1)
    return cosine(r, excess, z, n)


def sincos(x: float) -> tuple[float, float]:
    n, r, excess = reduced(x)
    z = r * r
    odd = n & 1
    s = sine(r, excess, z, n + odd)
    c = cosine(r, excess, z, n)
    return (c if odd == 1 else s), (s if odd == 1 else c)


def reduced_large(x: float) -> tuple[int, float, float]:
    """As `reduced`, for any angle of more than 2^17; of infinities and NaN the rest is NaN."""
    if not abs(x) < INFINITY:
        return 0, NAN, 0.0
    b = bits(abs(x))
    mantissa = b & MANTISSA | ONE
    low = mantissa & DIGIT
    high = mantissa >> 28
    # |x| = mantissa · 2^e, and the digits of 2/π before the first here give multiples of 4 quadrants
    e = (b >> 52) - 1075
    first = ((e + 54) * 2341) >> 16
    c6 = column(first + 6, low, high, 0)
    c5 = column(first + 5, low, high, c6)
    c4 = column(first + 4, low, high, c5)
    c3 = column(first + 3, low, high, c4)
    c2 = column(first + 2, low, high, c3)
    c1 = column(first + 1, low, high, c2)
    c0 = column(first, low, high, c1)
    # the point is after c0; a quadrant is 2^shift in the last place of c1
    shift = first * 28 - e
    top = (c0 & DIGIT) << 28 | c1 & DIGIT
    n = (top + (1 << (shift - 1))) >> shift
    next = (c2 & DIGIT) << 24 | (c3 & DIGIT) >> 4
    last = (c3 & 15) << 48 | (c4 & DIGIT) << 20 | (c5 & DIGIT) >> 8
    whole = float(top - (n << shift)) * TWO_MINUS_28
    fraction = float(next) * TWO_MINUS_80
    near = whole + fraction
    rest = ((whole - near) + fraction) + float(last) * TWO_MINUS_132
    # times π/2, as Dekker multiplies
    head = leading(near)
    tail = near - head
    r = near * QUADRANT_SUM[0]
    error = head * QUADRANT_SUM[1] - r
    error = ((error + head * QUADRANT_SUM[2]) + tail * QUADRANT_SUM[1]) + tail * QUADRANT_SUM[2]
    error = error + (near * QUADRANT_SUM[3] + rest * QUADRANT_SUM[0])
    scale = from_bits((1051 - shift) << 52)
    if x < 0.0:
        return 0 - n, r * -scale, error * scale
    return n, r * scale, error * -scale


def column(place: int, low: int, high: int, carry: int) -> int:
    """A digit of the product of 2/π with a mantissa of two digits, and what goes over from the next one."""
    return entry(TWO_OVER_PI, place) * low + entry(TWO_OVER_PI, place + 1) * high + (carry >> 28)
