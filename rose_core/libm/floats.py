"""What the functions of this package are written with, besides arithmetic: bits and polynomials.

The functions have two lives. In Python they run as they stand, for the interpreter. And
`tests/libm/translate.py` makes WebAssembly of them, operation by operation, so that both give the same
bits on every machine: all they use is what IEEE 754 defines exactly. They keep to a part of Python that
means the same there:

- numbers are ``float`` (f64) or ``int`` (i64); no result may need more than 64 bits, and no divisor may
  be 0, where Python would differ. Conversions are explicit.
- ``if`` branches; a conditional expression computes both sides and selects. ``and`` and ``or`` compute
  both, too.
- names in capitals are constants; a tuple of them can be indexed by literals.
- a function marked `inline` is put where it is called, any other one is called.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from math import copysign, sqrt
from typing import TypeVar

__all__ = [
    "HIGH",
    "INFINITY",
    "INLINE",
    "NAN",
    "ROUNDER",
    "WHOLE",
    "bits",
    "copysign",
    "entry",
    "estrin",
    "from_bits",
    "horner",
    "inline",
    "larger",
    "leading",
    "smaller",
    "sqrt",
    "wrap",
]

F = TypeVar("F", bound=Callable[..., object])
T = TypeVar("T", float, int)

_DOUBLE, _INTEGER = struct.Struct("<d"), struct.Struct("<q")

ROUNDER = 6755399441055744.0
"""1.5 · 2⁵²: adding it rounds to a whole number, which then stands in the low bits of the sum."""

WHOLE = 0x4338000000000000
"""Its bits: what to subtract from those of the sum."""

HIGH = -1 << 27
"""A mask: without its low 27 bits, a double times another such is exact."""

INFINITY, NAN = float("inf"), float("nan")


INLINE: set[object] = set()


def inline(f: F) -> F:
    INLINE.add(f)
    return f


def bits(x: float) -> int:
    """The bits of a double, as a signed integer."""
    return int(_INTEGER.unpack(_DOUBLE.pack(x))[0])


def from_bits(n: int) -> float:
    return float(_DOUBLE.unpack(_INTEGER.pack(n))[0])


def wrap(n: int) -> int:
    """A number modulo 2⁶⁴, as WebAssembly computes anyway: in the range of signed integers."""
    return (n + (1 << 63)) % (1 << 64) - (1 << 63)


@inline
def leading(x: float) -> float:
    """The highest 26 bits of a number."""
    return from_bits(bits(x) & HIGH)


def horner(x: float, coefficients: Sequence[float]) -> float:
    """A polynomial, lowest coefficient first, from the highest down: the fewest operations."""
    y = coefficients[-1]
    for c in coefficients[-2::-1]:
        y = y * x + c
    return y


def estrin(x: float, coefficients: Sequence[float]) -> float:
    """A polynomial by pairs, pairs of pairs, …: a few operations more, many of them at the same time."""
    terms = list(coefficients)
    while len(terms) > 1:
        odd = [terms.pop()] if len(terms) % 2 else []
        terms = [low + high * x for low, high in zip(terms[::2], terms[1::2], strict=True)] + odd
        x = x * x
    return terms[0]


def larger(x: float, y: float) -> float:
    """The larger of two numbers; NaN if either is."""
    return x if x > y or x != x else y


def smaller(x: float, y: float) -> float:
    return x if x < y or x != x else y


def entry(table: Sequence[T], index: int) -> T:
    """An element of a table in memory."""
    return table[index]
