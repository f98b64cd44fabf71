"""x to the y, as e^(y · log x), of which the logarithm has 68 bits.

The exponent's digits after the point are the result's, so that a logarithm up to 745 is needed to 2^-58, and
in proportion where y is large. It is a sum of two parts: what the reduction gives exactly (`logarithm`),
less r²/2, of which the square of r's leading digits is exact, too; and all that is small beside that.
"""

from __future__ import annotations

from rose_core.libm.constants import PER_STEP, POWER, STEP_HIGH, STEP_LOW
from rose_core.libm.exponential import TWO_64, TWO_MINUS_128, growth_by, scale_of
from rose_core.libm.floats import INFINITY, NAN, ROUNDER, bits, copysign, inline, leading
from rose_core.libm.logarithm import LARGEST, LESS_54, NORMAL, TWO_54, reduced

TWO_52 = 2.0**52


@inline
def exponent(n: int, y: float) -> tuple[float, float]:
    """y times the logarithm of the normal number with the bits n, in two parts."""
    base, tail, r = reduced(n)
    near = base + r
    head = leading(r)
    half = 0.5 * head * head
    nearer = near - half
    rest = ((base - near) + r) + ((near - nearer) - half)
    z = r * r
    cubic = (POWER[0] + r * POWER[1]) + z * (
        (POWER[2] + r * POWER[3]) + z * (POWER[4] + r * POWER[5] + z * POWER[6])
    )
    low = rest + (tail + (z * r * cubic - (r - head) * (0.5 * (r + head))))
    high = leading(nearer + low)
    low = (nearer - high) + low
    front = leading(y)
    product = front * high
    return product, (y - front) * high + y * low


@inline
def growth_of_both(high: float, low: float) -> tuple[int, float]:
    """n in the low bits, and e^(high + low) / scale - 1."""
    shifted = high * PER_STEP + ROUNDER
    k = shifted - ROUNDER
    r = (high - k * STEP_HIGH) + (low - k * STEP_LOW)
    n = bits(shifted)
    return n, growth_by(n, r)


def pow(x: float, y: float) -> float:
    if not (x >= NORMAL and x <= LARGEST):
        return pow_at_ends(x, y)
    high, low = exponent(bits(x), y)
    if not abs(high) < 707.0:
        return pow_at_ends(x, y)
    n, p = growth_of_both(high, low)
    scale = scale_of(n)
    return scale + scale * p


@inline
def is_whole(a: float) -> bool:
    """Of a number that is not negative."""
    return a >= TWO_52 or (a + TWO_52) - TWO_52 == a


def pow_at_ends(x: float, y: float) -> float:
    """Where the base is no positive normal number, or the power may be none, as ECMAScript has it."""
    if y == 0.0:
        return 1.0
    if x != x or y != y:
        return NAN
    a = abs(x)
    b = abs(y)
    if b == INFINITY:
        if a == 1.0:
            return NAN
        return INFINITY if (a - 1.0) * y > 0.0 else 0.0
    whole = is_whole(b)
    sign = copysign(1.0, x) if whole and not is_whole(0.5 * b) else 1.0
    if a == 0.0 or a == INFINITY:
        inverse = INFINITY if a == 0.0 else 0.0
        return copysign(a if y > 0.0 else inverse, sign)
    if x < 0.0 and not whole:
        return NAN
    m = bits(a)
    if a < NORMAL:
        m = bits(a * TWO_54) - LESS_54
    high, low = exponent(m, y)
    if not high < 710.0:
        return copysign(INFINITY, sign)
    if high < -746.0:
        return copysign(0.0, sign)
    n, p = growth_of_both(high, low)
    if high > 0.0:
        scale = scale_of(n - 4096)
        return copysign((scale + scale * p) * TWO_64, sign)
    scale = scale_of(n + 8192)
    return copysign((scale + scale * p) * TWO_MINUS_128, sign)
