"""atan2, by a table: atan b/a = atan c + atan s, where s = (b - c·a) / (a + c·b) and c = j/32 is near b/a.

The smaller absolute value is b, so that b/a is at most 1; the other octants follow by multiples of π/2. Up
to 3/64 c is 0, since beside a smaller angle the error of s would count.
"""

from __future__ import annotations

from rose_core.libm.constants import ATAN, ATAN_HIGH, ATAN_LOW, CENTERS, OCTANT, OCTANT_LOW
from rose_core.libm.floats import (
    INFINITY,
    ROUNDER,
    bits,
    copysign,
    entry,
    estrin,
    from_bits,
    leading,
    wrap,
)

SMALL, GREAT = 2.0**-900, 2.0**1000
TWO_200, TWO_MINUS_200 = 2.0**200, 2.0**-200


def atan2(y: float, x: float) -> float:
    n = bits(abs(y))
    m = bits(abs(x))
    steep = (m - n) >> 63
    exchanged = (m ^ n) & steep
    a = from_bits(m ^ exchanged)
    b = from_bits(n ^ exchanged)
    if not (a > SMALL and a < GREAT):
        return atan2_at_ends(y, x)
    j = bits(b / a * 32.0 + ROUNDER) & 63
    c = entry(CENTERS, j)
    head = leading(a)
    s = ((b - c * head) - c * (a - head)) / (a + c * b)
    z = s * s
    angle = entry(ATAN_HIGH, j) + (s + (entry(ATAN_LOW, j) + s * z * estrin(z, ATAN)))
    octant = (bits(x) >> 63 & 1) + (steep & 2)
    turned = from_bits(bits(angle) ^ wrap((octant + 1 & 2) << 62))
    return copysign(entry(OCTANT, octant) + (entry(OCTANT_LOW, octant) + turned), y)


def atan2_at_ends(y: float, x: float) -> float:
    """For coordinates of which the larger is 0, infinite, NaN, or so small or large that it is scaled."""
    if x != x or y != y:
        return x + y
    a = abs(x)
    b = abs(y)
    if a == INFINITY or b == INFINITY:
        return atan2(copysign(1.0 if b == INFINITY else 0.0, y), copysign(1.0 if a == INFINITY else 0.0, x))
    if a == 0.0 and b == 0.0:
        return atan2(y, copysign(1.0, x))
    if a > 1.0 or b > 1.0:
        return atan2(y * TWO_MINUS_200, x * TWO_MINUS_200)
    return atan2(y * TWO_200, x * TWO_200)
