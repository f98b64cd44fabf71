"""Polynomials that approximate functions, and constants in parts, for `tests.libm.constants`.

A polynomial is the best approximation in the sense of Chebyshev, found by Remez' exchange in 60 digits, of
which the coefficients are rounded one after the other: when one has become a double, the ones after it
are fitted anew to what is left. Constants in several parts are cut so that products with whole numbers
of so many bits are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath

mp = mpmath.MPContext()
mp.dps = 60

Number = Any
"""An mpf."""


def remez(
    f: Callable[[Number], Number],
    weight: Callable[[Number], Number],
    low: Number,
    high: Number,
    powers: Sequence[int],
) -> tuple[list[Number], Number]:
    """Coefficients of ``powers`` with the smallest weighted error, and that error."""
    n = len(powers)
    points = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * k / n) for k in range(n + 1)]
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * k / (24 * n)) for k in range(24 * n + 1)]
    values = [(x, f(x), weight(x)) for x in grid]
    for _ in range(12):
        rows = [[x**p for p in powers] + [(-1) ** k / weight(x)] for k, x in enumerate(points)]
        *coefficients, level = mp.lu_solve(mp.matrix(rows), mp.matrix([f(x) for x in points]))
        errors = [(y - _value(coefficients, powers, x)) * w for x, y, w in values]
        peaks = _peaks(errors)
        if len(peaks) < n + 1:
            break
        while len(peaks) > n + 1:
            peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
        points = [grid[k] for k in peaks]
        worst = max(map(abs, errors))
        if worst < abs(level) * mp.mpf("1.001"):
            break
    return coefficients, max(map(abs, errors))


def _value(coefficients: Sequence[Number], powers: Sequence[int], x: Number) -> Number:
    return mp.fsum(c * x**p for c, p in zip(coefficients, powers, strict=True))


def _peaks(errors: Sequence[Number]) -> list[int]:
    """The index of the largest error in each run of errors of one sign."""
    peaks: list[int] = []
    for k, e in enumerate(errors):
        if peaks and (e > 0) == (errors[peaks[-1]] > 0):
            if abs(e) > abs(errors[peaks[-1]]):
                peaks[-1] = k
        else:
            peaks.append(k)
    return peaks


def fit(
    f: Callable[[Number], Number],
    low: Number,
    high: Number,
    terms: int,
    weight: Callable[[Number], Number] = lambda x: mp.one,
    fixed: Sequence[float] = (),
) -> tuple[list[float], Number]:
    """Coefficients of 1, x, x², … as doubles, the first of them ``fixed``; log2 of the weighted error."""
    low, high = mp.mpf(low), mp.mpf(high)
    n = len(fixed)
    tiny = mp.mpf(2) ** -40

    def rest(x: Number) -> Number:
        x = x or tiny**2
        return (f(x) - _value(fixed, range(n), x)) / x**n

    def weight_of_rest(x: Number) -> Number:
        return max(abs(x), tiny) ** n * max(weight(x), tiny)

    coefficients, _ = remez(rest, weight_of_rest, low, high, range(terms - n))
    found = [*fixed, *map(float, coefficients)]
    step = (high - low) / 500
    points = (low + step * k + tiny**2 for k in range(501))
    error = max(abs(f(x) - _value(found, range(terms), x)) * weight(x) for x in points)
    return found, mp.log(error, 2)


def cut(x: Number, bits: int) -> float:
    """``x`` without all but its highest ``bits`` bits."""
    mantissa, exponent = mp.frexp(x)
    return float(mp.ldexp(mp.floor(mp.ldexp(mantissa, bits)), exponent - bits))


def parts(x: Number, *sizes: int) -> list[float]:
    """``x`` as a sum: numbers of so many bits, then a double."""
    found: list[float] = []
    for size in sizes:
        found.append(cut(x - mp.fsum(found), size))
    return [*found, float(x - mp.fsum(found))]
