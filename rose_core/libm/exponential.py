"""exp, expm1, sinh, cosh and tanh, by a table of powers of 2 (Tang, ACM TOMS 15:2, 1989).

The argument is n·ln 2 / 64 + r with |r| ≤ ln 2 / 128, in two steps as Cody and Waite do it. The double
nearest to 2^(n/64) is ``scale``, what that lacks ``tail``, and e^r - 1 a polynomial.

The sums of the other functions start with numbers that are exact and go on to smaller ones; what the
first sum rounds off is found as Dekker and Knuth do it, and added with those.
"""

from __future__ import annotations

from rose_core.libm.constants import EXP, EXPM1, PER_STEP, SCALE, STEP_HIGH, STEP_LOW, TAIL, TANH
from rose_core.libm.floats import (
    INFINITY,
    ROUNDER,
    bits,
    copysign,
    entry,
    estrin,
    from_bits,
    horner,
    inline,
    wrap,
)

TINY = 2.0**-54
"""Below, an odd function whose derivative at 0 is 1 gives its argument."""


TWO_63, TWO_64, TWO_MINUS_128 = 2.0**63, 2.0**64, 2.0**-128


@inline
def scale_of(n: int) -> float:
    """2^(n/64); only the low bits of n matter, as many as there are of exponents."""
    return from_bits(wrap(entry(SCALE, n & 63) + (n << 46)))


@inline
def growth(x: float) -> tuple[int, float]:
    """n in the low bits, and e^x / scale - 1."""
    shifted = x * PER_STEP + ROUNDER
    k = shifted - ROUNDER
    r = (x - k * STEP_HIGH) - k * STEP_LOW
    n = bits(shifted)
    return n, growth_by(n, r)


@inline
def growth_by(n: int, r: float) -> float:
    """2^(n/64) · e^r / scale - 1."""
    z = r * r
    return (entry(TAIL, n & 63) + r) + z * (EXP[0] + r * EXP[1] + z * (EXP[2] + r * EXP[3]))


def exp(x: float) -> float:
    if not abs(x) < 708.0:
        return exp_at_ends(x)
    n, p = growth(x)
    scale = scale_of(n)
    return scale + scale * p


def exp_at_ends(x: float) -> float:
    """e^x where that, or the scale, may be no normal number."""
    if not x < 710.0:
        return x * INFINITY
    if x < -746.0:
        return 0.0
    n, p = growth(x)
    if x > 0.0:
        scale = scale_of(n - 4096)
        return (scale + scale * p) * TWO_64
    scale = scale_of(n + 8192)
    return (scale + scale * p) * TWO_MINUS_128


def expm1(x: float) -> float:
    if abs(x) < TINY:
        return x
    if not abs(x) < 40.0:
        return exp(x) - 1.0
    shifted = x * PER_STEP + ROUNDER
    k = shifted - ROUNDER
    high = x - k * STEP_HIGH
    low = k * STEP_LOW
    n = bits(shifted)
    r = high - low
    q = r * r * horner(r, EXPM1)
    scale = scale_of(n)
    whole = scale - 1.0
    back = whole - scale
    lost = (scale - (whole - back)) - (1.0 + back)
    near = whole + high
    rest = (whole - near) + high
    return near + (rest + (((whole * (high + (q - low)) + q) - low) + (lost + scale * entry(TAIL, n & 63))))


@inline
def halves(x: float) -> tuple[float, float, float, float, float, float, float]:
    """For 0 ≤ x: half the scales of e^x and e^-x, times their tails too; r in two parts, and e^r - 1 - r
    as a sum of an even and an odd function, since this at -r goes with e^-x."""
    shifted = x * PER_STEP + ROUNDER
    k = shifted - ROUNDER
    high = x - k * STEP_HIGH
    low = k * STEP_LOW
    n = bits(shifted)
    r = high - low
    z = r * r
    even = z * (EXPM1[0] + z * (EXPM1[2] + z * EXPM1[4]))
    odd = (r * z) * (EXPM1[1] + z * EXPM1[3])
    m = 0 - n
    return (
        0.5 * scale_of(n),
        0.5 * scale_of(m),
        entry(TAIL, n & 63),
        entry(TAIL, m & 63),
        high,
        even,
        odd - low,
    )


@inline
def even_part(
    up: float, down: float, tail: float, tail_down: float, r: float, even: float, odd: float
) -> float:
    """The sum of the halves."""
    whole = up + down
    lost = (up - whole) + down
    return whole + (lost + (whole * even + ((up - down) * (r + odd) + (up * tail + down * tail_down))))


@inline
def odd_part(
    up: float, down: float, tail: float, tail_down: float, r: float, even: float, odd: float
) -> float:
    """The difference of the halves."""
    whole = up - down
    lost = (up - whole) - down
    near = whole + r
    rest = (whole - near) + r
    # cosh - 1, of differences that are exact where it is small
    more = (up - 0.5) + (down - 0.5)
    small = more * (r + odd) + (whole * even + (up * tail - down * tail_down))
    return near + (rest + (odd + (lost + small)))


def cosh(x: float) -> float:
    a = abs(x)
    if not a < 22.0:
        return half_exp(a)
    up, down, tail, tail_down, r, even, odd = halves(a)
    return even_part(up, down, tail, tail_down, r, even, odd)


def sinh(x: float) -> float:
    a = abs(x)
    if not a < 22.0:
        return copysign(half_exp(a), x)
    up, down, tail, tail_down, r, even, odd = halves(a)
    return copysign(odd_part(up, down, tail, tail_down, r, even, odd), x)


def sinhcosh(x: float) -> tuple[float, float]:
    a = abs(x)
    if not a < 22.0:
        half = half_exp(a)
        return copysign(half, x), half
    up, down, tail, tail_down, r, even, odd = halves(a)
    y = even_part(up, down, tail, tail_down, r, even, odd)
    return copysign(odd_part(up, down, tail, tail_down, r, even, odd), x), y


def half_exp(x: float) -> float:
    """e^x / 2, for 22 ≤ x; the other half of a hyperbolic function is nothing beside that."""
    if not x < 711.0:
        return x * INFINITY
    n, p = growth(x)
    scale = scale_of(n - 4096)
    return (scale + scale * p) * TWO_63


def tanh(x: float) -> float:
    a = abs(x)
    if a < 0.625:
        z = a * a
        return copysign(a + a * (z * estrin(z, TANH)), x)
    if a >= 22.0:
        return copysign(1.0, x)
    n, p = growth(2.0 * a)
    scale = scale_of(n)
    e = scale + scale * p
    sum = e + 1.0
    rest = ((e - sum) + 1.0) + ((scale - e) + scale * p)
    inverse = 1.0 / sum
    # 1 - 2 / (e + 1)
    near = 1.0 - 2.0 * inverse
    lost = (1.0 - near) - 2.0 * inverse
    return copysign(near + (lost + (2.0 * inverse) * (rest * inverse)), x)
