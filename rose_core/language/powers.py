"""Powers that are products: those with a whole or half exponent that is short.

An engine's ``pow`` takes a hundred times as long as a product. The products below differ from it in the last
digits only: ``x**n`` by n roundings at most, and those below 1e-308. What is not defined stays so.
"""

from __future__ import annotations

from math import inf
from typing import Protocol, TypeVar

MOST_WHOLE, MOST_HALF = 16, 4.5
"""The largest exponents of these."""

T = TypeVar("T")


class Arithmetic(Protocol[T]):
    """What a power is computed by."""

    def real(self, x: float) -> T: ...
    def add(self, x: T, y: T) -> T: ...
    def mul(self, x: T, y: T) -> T: ...
    def div(self, x: T, y: T) -> T: ...
    def sqrt(self, x: T) -> T: ...
    def either(self, x: T, is_this: T, then: T, otherwise: T) -> T: ...


def is_short(exponent: float) -> bool:
    """Whether powers with this exponent are products; those to 0 and 1 are not."""
    size = abs(exponent)
    if size % 1:
        return size <= MOST_HALF and size % 1 == 0.5
    return 0 < size <= MOST_WHOLE and exponent != 1


def power(x: T, exponent: float, by: Arithmetic[T]) -> T:
    """``x`` to a short exponent."""
    whole, half = divmod(abs(exponent), 1)
    n = int(whole)
    # the power of -0 to a half is 0, and that of -infinity is infinite
    square = by.add(x, by.real(0.0)) if half else x
    found = by.sqrt(square) if half else None
    while n:
        if n & 1:
            found = square if found is None else by.mul(found, square)
        n >>= 1
        if n:
            square = by.mul(square, square)
    assert found is not None
    if half:
        found = by.either(x, by.real(-inf), by.real(inf), found)
    return by.div(by.real(1.0), found) if exponent < 0 else found
