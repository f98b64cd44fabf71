"""Powers that are products: those with a whole or half exponent that is short, and that a program names.

    x ** 2.5     →     x * x * sqrt(x)

The function takes ten times as long as a product. The products differ from it in the last digits only:
``x**n`` by n roundings at most, and those below 1e-308. What is not defined stays so. A program that is to be
precise keeps its powers, but for those that are as near to the exact value as the function is.

This comes after derivatives, since that of a power is another one, also where that of the product is not
defined: the derivative of ``x**1.5`` at 0 is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from rose_core.language.builder import Builder
from rose_core.language.ir import Func
from rose_core.language.ops import by_name
from rose_core.language.queries import among, callees_first, places
from rose_core.language.replay import Replacing, copied
from rose_core.language.types import BOOL, REAL
from rose_core.optimise.single import calling

_POW, _ADD, _MUL, _DIV, _SQRT, _EQ, _SELECT = (
    by_name[name].code for name in ("pow", "add", "mul", "div", "sqrt", "eq", "select")
)
_POWERS = among([_POW])

MOST_WHOLE, MOST_HALF = 16, 4.5
"""The largest exponents of products."""

_PRECISE = (0.5, 1.5)
"""Those of which the product is as near to the exact value as the function."""


def is_short(exponent: float) -> bool:
    """Whether powers with this exponent are products; those to 0 and 1 are not."""
    size = abs(exponent)
    if size % 1:
        return size <= MOST_HALF and size % 1 == 0.5
    return 0 < size <= MOST_WHOLE and exponent != 1


def is_precise(exponent: float) -> bool:
    """Whether they are even where the program is to be precise."""
    return exponent in _PRECISE


def is_product(f: Func, ins: tuple[int, ...], is_one: Callable[[float], bool] = is_short) -> bool:
    """Whether an instruction of ``f`` is a power with an exponent of which ``is_one``."""
    return ins[0] == _POW and ins[2] < 0 and is_one(f.pool[~ins[2]][0])


def as_products(root: Func, precise: bool = False) -> Func:
    """``root``, whose derivatives are made, and what it calls, with products in place of such powers."""
    key = "products", precise
    is_one = is_precise if precise else is_short
    made: dict[Func, Func] = {}
    for f in callees_first(root, lambda f: f.callees):
        found = f.memo.get(key)
        if found is None:
            own = _with_products(f, {v for v in places(f, _POWERS) if is_product(f, f.code[v], is_one)})
            found = calling(own, [made[g] for g in own.callees])
            if found is not f:
                f.memo[key] = found
        assert isinstance(found, Func)
        made[f] = found
    return made[root]


def _with_products(f: Func, powers: set[int]) -> Func:
    return copied(f, _Products, powers) if powers else f


class _Products(Replacing):
    def __init__(self, func: Func, b: Builder, args: Sequence[int], others: set[int]) -> None:
        super().__init__(func, b, args)
        self.others = others

    def instead(self, v: int) -> int:
        _, x, exponent = self.func.code[v]
        return _power(self.b, self.env[x], float(self.func.pool[~exponent][0]))


def _power(b: Builder, x: int, exponent: float) -> int:
    """``x`` to a short exponent."""
    whole, half = divmod(abs(exponent), 1)
    n = int(whole)
    # the power of -0 to a half is 0, and that of -infinity is infinite
    square = b.binary(_ADD, x, b.real(0.0)) if half else x
    found = b.unary(_SQRT, square) if half else None
    while n:
        if n & 1:
            found = square if found is None else b.binary(_MUL, found, square)
        n >>= 1
        if n:
            square = b.binary(_MUL, square, square)
    assert found is not None
    if half:
        found = b.ternary(_SELECT, b.binary(_EQ, x, b.real(-inf), BOOL), b.real(inf), found, REAL)
    return b.binary(_DIV, b.real(1.0), found) if exponent < 0 else found
