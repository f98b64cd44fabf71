"""Powers with a short exponent, as the products that they are (`language.powers`), ahead of lowering.

Before that they stay powers, since the derivative of a power is another one, also where the derivative of
the product were not defined: that of ``x**1.5`` at 0 is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rose_core.language.builder import Builder
from rose_core.language.ir import Func, among, places
from rose_core.language.ops import by_name
from rose_core.language.powers import is_short, power
from rose_core.language.replay import Replacing, copied
from rose_core.language.types import BOOL, REAL

_POW, _ADD, _MUL, _DIV, _SQRT, _EQ, _SELECT = (
    by_name[name].code for name in ("pow", "add", "mul", "div", "sqrt", "eq", "select")
)
_POWERS = among([_POW])


def as_products(f: Func) -> Func:
    """``f``, whose derivatives are made, or a copy in which such powers are products."""
    found = {v for v in places(f, _POWERS) if is_product(f, f.code[v])}
    return copied(f, lambda b, args: _Products(f, b, args, found)) if found else f


def is_product(f: Func, ins: tuple[int, ...]) -> bool:
    """Whether an instruction of ``f`` is such a power."""
    return ins[0] == _POW and ins[2] < 0 and is_short(f.pool[~ins[2]][0])


@dataclass(frozen=True)
class _Instructions:
    """The `Arithmetic` that emits instructions."""

    b: Builder

    def real(self, x: float) -> int:
        return self.b.real(x)

    def add(self, x: int, y: int) -> int:
        return self.b.binary(_ADD, x, y)

    def mul(self, x: int, y: int) -> int:
        return self.b.binary(_MUL, x, y)

    def div(self, x: int, y: int) -> int:
        return self.b.binary(_DIV, x, y)

    def sqrt(self, x: int) -> int:
        return self.b.unary(_SQRT, x)

    def either(self, x: int, is_this: int, then: int, otherwise: int) -> int:
        return self.b.ternary(_SELECT, self.b.binary(_EQ, x, is_this, BOOL), then, otherwise, REAL)


class _Products(Replacing):
    def __init__(self, func: Func, b: Builder, args: Sequence[int], others: set[int]) -> None:
        super().__init__(func, b, args)
        self.others = others

    def instead(self, v: int) -> int:
        _, x, exponent = self.func.code[v]
        return power(self.env[x], float(self.func.pool[~exponent][0]), _Instructions(self.b))
