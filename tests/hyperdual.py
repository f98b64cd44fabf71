"""Numbers with their derivatives in two directions and the mixed second one, exact to rounding.

They follow Fike and Alonso (2011), whose hyper-dual numbers these are, and share nothing with the compiler.
"""

from __future__ import annotations

import math


class HyperDual:
    """``value + a·ε + b·δ + ab·εδ``, where ε² = δ² = 0."""

    __slots__ = ("a", "ab", "b", "value")

    def __init__(self, value: float, a: float = 0.0, b: float = 0.0, ab: float = 0.0) -> None:
        self.value, self.a, self.b, self.ab = value, a, b, ab

    def mapped(self, value: float, slope: float, bend: float) -> HyperDual:
        """A function of one number, by its value and its first two derivatives here."""
        ab = slope * self.ab + bend * self.a * self.b
        return HyperDual(value, slope * self.a, slope * self.b, ab)

    def __add__(self, other: HyperDual | float) -> HyperDual:
        y = lifted(other)
        return HyperDual(self.value + y.value, self.a + y.a, self.b + y.b, self.ab + y.ab)

    def __neg__(self) -> HyperDual:
        return HyperDual(-self.value, -self.a, -self.b, -self.ab)

    def __sub__(self, other: HyperDual | float) -> HyperDual:
        return self + -lifted(other)

    def __mul__(self, other: HyperDual | float) -> HyperDual:
        x, y = self, lifted(other)
        ab = x.value * y.ab + x.a * y.b + x.b * y.a + x.ab * y.value
        return HyperDual(x.value * y.value, x.value * y.a + x.a * y.value, x.value * y.b + x.b * y.value, ab)

    def __truediv__(self, other: HyperDual | float) -> HyperDual:
        x, y = self, lifted(other)
        # x/y's own value is rounded once, as the operation's is
        found = x * y.mapped(1 / y.value, -1 / y.value**2, 2 / y.value**3)
        found.value = x.value / y.value
        return found

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: float) -> HyperDual:
        return lifted(other) - self

    def __rtruediv__(self, other: float) -> HyperDual:
        return lifted(other) / self

    def __lt__(self, other: HyperDual | float) -> bool:
        return self.value < lifted(other).value


def lifted(x: HyperDual | float) -> HyperDual:
    return x if isinstance(x, HyperDual) else HyperDual(x)


def exp(x: HyperDual | float) -> HyperDual:
    y = math.exp(lifted(x).value)
    return lifted(x).mapped(y, y, y)


def sin(x: HyperDual | float) -> HyperDual:
    y, slope = math.sin(lifted(x).value), math.cos(lifted(x).value)
    return lifted(x).mapped(y, slope, -y)


def sqrt(x: HyperDual | float) -> HyperDual:
    y = math.sqrt(lifted(x).value)
    return lifted(x).mapped(y, 0.5 / y, -0.25 / y**3)
