"""The little algebra in which derivative rules are written.

A rule such as ``lambda y, x, d: (d[0] - d[1] * y) / x[1]`` is run once for every set of operands that
vary, on symbolic values. `Primal` values may be combined freely; `Linear` ones, the tangents, only
linearly, so a rule that is not linear in its tangents fails when the table is read and never later.
The tangent of an operand that does not vary is `ZERO`, which vanishes from every formula.
"""

from __future__ import annotations

from collections.abc import Callable


class Primal:
    """An ordinary real (or, from a comparison, a Bool): operation name and operands."""

    __slots__ = ("args", "op")

    def __init__(self, op: str, *args: Primal | float) -> None:
        self.op = op
        self.args = args

    def __neg__(self) -> Primal:
        return Primal("neg", self)

    def __add__(self, other: Primal | float) -> Primal:
        return Primal("add", self, other)

    def __radd__(self, other: float) -> Primal:
        return Primal("add", other, self)

    def __sub__(self, other: Primal | float) -> Primal:
        return Primal("sub", self, other)

    def __rsub__(self, other: float) -> Primal:
        return Primal("sub", other, self)

    def __mul__(self, other: Primal | float) -> Primal:
        if isinstance(other, Linear):
            return NotImplemented
        return Primal("mul", self, other)

    def __rmul__(self, other: float) -> Primal:
        return Primal("mul", other, self)

    def __truediv__(self, other: Primal | float) -> Primal:
        return Primal("div", self, other)

    def __rtruediv__(self, other: float) -> Primal:
        return Primal("div", other, self)

    def __gt__(self, other: Primal | float) -> Primal:
        return Primal("gt", self, other)

    def __lt__(self, other: Primal | float) -> Primal:
        return Primal("lt", self, other)


class Linear:
    """A tangent, or a linear combination of tangents."""

    __slots__ = ("args", "op")

    def __init__(self, op: str, *args: Primal | Linear | float) -> None:
        self.op = op
        self.args = args

    def __neg__(self) -> Linear:
        return Linear("neg", self)

    def __add__(self, other: Linear) -> Linear:
        return self if other is ZERO else Linear("add", self, other)

    def __sub__(self, other: Linear) -> Linear:
        return self if other is ZERO else Linear("sub", self, other)

    def __mul__(self, other: Primal | float) -> Linear:
        if isinstance(other, Linear):
            raise TypeError("a product of two tangents is not linear")
        return Linear("mul", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Primal | float) -> Linear:
        if isinstance(other, Linear):
            raise TypeError("a quotient by a tangent is not linear")
        return Linear("div", self, other)


class Zero(Linear):
    """The tangent of what does not vary."""

    __slots__ = ()

    def __neg__(self) -> Linear:
        return self

    def __add__(self, other: Linear) -> Linear:
        return other

    def __sub__(self, other: Linear) -> Linear:
        return -other

    def __mul__(self, other: Primal | float) -> Linear:
        return self

    __rmul__ = __mul__

    def __truediv__(self, other: Primal | float) -> Linear:
        return self


ZERO = Zero("zero")


def select(p: Primal, a: Linear, b: Linear) -> Linear:
    """``a`` where ``p`` holds, else ``b``: both tangents."""
    return ZERO if a is ZERO and b is ZERO else Linear("select", p, a, b)


def preferred(p: Primal, a: Linear, q: Primal, b: Linear) -> Linear:
    """``a`` where ``p`` holds, ``b`` where ``q`` does, and their mean where neither: both tangents.

    ``p`` and ``q`` never hold at once.
    """
    return ZERO if a is ZERO and b is ZERO else Linear("preferred", p, a, q, b, 0.5)


def choose(p: Primal, a: Primal | float, b: Primal | float) -> Primal:
    """``a`` where ``p`` holds, else ``b``: both ordinary numbers."""
    return Primal("select", p, a, b)


def function(name: str) -> Callable[..., Primal]:
    """The operation ``name`` of the table, to be applied inside a formula."""
    return lambda *args: Primal(name, *args)
