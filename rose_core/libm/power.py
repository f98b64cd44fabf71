"""pow: e^(y · log x), where the logarithm and the product have two parts, together some 14 bits more than a
double.

The logarithm is that of `libm.logarithm`, but for its square term, which is exact; the product's first
part is exact as well, of numbers of 26 bits.
"""

from __future__ import annotations

from rose_core.libm.constants import LN2_HIGH, LN2_LOW, LOG_CUBIC, LOG_HIGH, LOG_LOW
from rose_core.libm.exponential import reduced, scaled, scaled_at_ends
from rose_core.libm.floats import INFINITY, NAN, bits, copysign, entry, estrin, inline, leading, sqrt
from rose_core.libm.logarithm import LARGEST, LESS_54, NORMAL, TWO_54, fraction


@inline
def logarithm(n: int) -> tuple[float, float]:
    """The logarithm of the normal number with the bits n, in two parts."""
    j, k, r = fraction(n)
    base = k * LN2_HIGH + entry(LOG_HIGH, j)
    head = leading(r)
    square = -0.5 * (head * head)
    # r² less that of its head, halved
    rest = 0.5 * ((r - head) * (r + head))
    near = base + r
    sum = near + square
    lost = ((base - near) + r) + ((near - sum) + square)
    cubic = (r * r) * r * estrin(r, LOG_CUBIC)
    low = lost + ((k * LN2_LOW + entry(LOG_LOW, j)) + (cubic - rest))
    high = sum + low
    return high, (sum - high) + low


@inline
def product(y: float, high: float, low: float) -> tuple[float, float]:
    """y times a number in two parts, in two."""
    y_head = leading(y)
    head = leading(high)
    return y_head * head, (y_head * ((high - head) + low)) + (y - y_head) * (high + low)


@inline
def short(x: float, y: float) -> float:
    """x to the powers that are written most often."""
    product = x * x * (x if y == 3.0 else 1.0)
    return 1.0 / x if y < 0.0 else (sqrt(x) if y < 1.0 else product)


def pow(x: float, y: float) -> float:
    if (y == 2.0 or y == 3.0) or ((y == -1.0 and x != 0.0) or (y == 0.5 and x > 0.0)):
        return short(x, y)
    if not (x >= NORMAL and x <= LARGEST):
        return pow_at_ends(x, y)
    high, low = logarithm(bits(x))
    p, q = product(y, high, low)
    if not abs(p) < 708.0:
        return pow_at_ends(x, y)
    n, r = reduced(p)
    return scaled(n, r + q)


def pow_at_ends(x: float, y: float) -> float:
    """x^y where either is no positive normal number, or the result is none."""
    if y == 0.0:
        return 1.0
    a = abs(x)
    is_far = abs(y) == INFINITY
    if a != a or y != y or (a == 1.0 and is_far):
        return NAN
    sign = 1.0
    if bits(x) < 0:
        sign = sign_of_power(y)
    if a == 0.0 or a == INFINITY or is_far:
        large = INFINITY if y > 0.0 else 0.0
        small = 0.0 if y > 0.0 else INFINITY
        return copysign(small if a < 1.0 else large, sign)
    n = bits(a)
    if a < NORMAL:
        n = bits(a * TWO_54) - LESS_54
    high, low = logarithm(n)
    p, q = product(y, high, low)
    if not p < 710.0:
        return sign * INFINITY
    if p < -746.0:
        return sign * 0.0
    n, r = reduced(p)
    return sign * scaled_at_ends(n, r + q, p)


def sign_of_power(y: float) -> float:
    """Of a negative number to the power y, which is not 0; NaN where that is not whole."""
    n = bits(abs(y))
    exponent = n >> 52
    if exponent < 1023:
        return NAN
    if exponent > 1075:
        return 1.0
    unit = 1 << (1075 - exponent)
    if (n & (unit - 1)) != 0:
        return NAN
    return -1.0 if (n & unit) != 0 else 1.0
