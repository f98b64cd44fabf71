"""Values of any type of Reals as the vectors they are: sums, multiples, norms."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from rose_core.language.types import REAL, Array, Struct, Type
from rose_core.tracing.constructs import sum, vec
from rose_core.tracing.control import fori
from rose_core.tracing.operations import operation
from rose_core.tracing.symbols import zero

_max, _abs = operation("max"), operation("abs")


def each(t: Type, out: Callable[[Type], Type], f: Callable[..., object], *values: Any) -> Any:
    """``f`` of the Reals at every place of ``values``, which are of type ``t``; the result of ``out(t)``."""
    if isinstance(t, Array):
        return vec(t.index, out(t.elem), lambda i: each(t.elem, out, f, *(v[i] for v in values)))
    if isinstance(t, Struct):
        return {name: each(field, out, f, *(v[name] for v in values)) for name, field in t.fields.items()}
    return f(*values)


def combined(t: Type, f: Callable[..., object], *values: Any) -> Any:
    """`each` for results that are Reals again."""
    return each(t, lambda u: u, f, *values)


def norm(t: Type, x: Any) -> Any:
    """The largest absolute value in ``x``; NaN if one is."""
    if isinstance(t, Array):
        return fori(t.index, REAL, 0.0, lambda i, most: _max(most, norm(t.elem, x[i])))
    if isinstance(t, Struct):
        parts: list[Any] = [norm(field, x[name]) for name, field in t.fields.items()]
        return reduce(_max, parts)
    return _abs(x)


def product(t: Type, x: Any, y: Any) -> Any:
    """The sum of the products at all places, of which one may be a tangent."""
    if isinstance(t, Array):
        return sum(t.index, lambda i: product(t.elem, x[i], y[i]))
    if isinstance(t, Struct):
        parts = [product(field, x[name], y[name]) for name, field in t.fields.items()]
        return reduce(operation("add"), parts)
    return y * x


def still(x: Any) -> dict[str, Any]:
    """The dual of a Real that does not vary."""
    return {"re": x, "du": zero()}
