"""Elementary functions whose result is the same, to the bit, in the interpreter and in every browser.

Each gives the double nearest to the exact value, or one next to it. What is not here is imported from
JavaScript's ``Math``.
"""

from __future__ import annotations

from rose_core.libm.arctangent import atan2
from rose_core.libm.circular import cos, sin, sincos
from rose_core.libm.exponential import cosh, exp, expm1, sinh, sinhcosh, tanh
from rose_core.libm.logarithm import log, log1p, log2, log10
from rose_core.libm.power import pow
from rose_core.libm.root import cbrt, hypot

__all__ = [
    "atan2",
    "cbrt",
    "cos",
    "cosh",
    "exp",
    "expm1",
    "hypot",
    "log",
    "log1p",
    "log2",
    "log10",
    "pow",
    "sin",
    "sincos",
    "sinh",
    "sinhcosh",
    "tanh",
]
