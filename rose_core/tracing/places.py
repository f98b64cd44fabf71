"""The places of the Reals in values of any type, and values that differ from place to place.

A place is the way to a Real from outside in: the names of fields, and indices, symbolic ones too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rose_core.language.types import REAL, TAN, Array, Pair, Struct, Type, leaves, map_scalars, scalar_of
from rose_core.tracing.constructs import select, vec
from rose_core.tracing.declare import describe
from rose_core.tracing.indices import index_operation
from rose_core.tracing.operations import operation

Place = tuple[Any, ...]

_and = operation("and")
_ieq = index_operation("ieq")


def over(t: Type, elem: Type) -> Type:
    """``t`` with ``elem`` in place of every Real."""
    return map_scalars(t, lambda scalar: elem if scalar is REAL else scalar)


def count(t: Type) -> int:
    """How many Reals a value has."""
    if isinstance(t, Array):
        return t.size * count(t.elem)
    if isinstance(t, Struct):
        return sum(map(count, t.fields.values()))
    return int(t is REAL)


def need_reals(t: Type, what: str) -> None:
    """Raise unless ``t`` is a type of Reals, and of no tangents, which have no place in derivatives.

    There may be none of them: in a vector without elements.
    """
    if has_tangents(t) or not any(scalar_of(leaf) is REAL for leaf in leaves(t)):
        raise TypeError(f"{what}: expected a type with Reals in it, and no tangents, got {describe(t)}")


def has_tangents(t: Type) -> bool:
    """Whether there are tangents in values of type ``t``."""
    if isinstance(t, Array):
        return has_tangents(t.elem)
    if isinstance(t, Struct):
        return any(map(has_tangents, t.fields.values()))
    return t is TAN or isinstance(t, Pair)


def each(t: Type, elem: Type, f: Callable[[Place], object], x: Any, place: Place = ()) -> Any:
    """The value of ``over(t, elem)`` with ``f(place)`` at every place, and what is not Real from ``x``."""
    if isinstance(t, Array):
        return vec(t.index, over(t.elem, elem), lambda i: each(t.elem, elem, f, x[i], (*place, i)))
    if isinstance(t, Struct):
        return {name: each(u, elem, f, x[name], (*place, name)) for name, u in t.fields.items()}
    return f(place) if t is REAL else x


def at(x: Any, place: Place) -> Any:
    """What ``x`` has at a place."""
    for step in place:
        x = x[step]
    return x


def unit(t: Type, place: Place, x: Any) -> Any:
    """1 at ``place`` and 0 at all others, and what is not Real from ``x``."""
    return _ones(t, place, True, x)


def _ones(t: Type, place: Place | None, here: Any, x: Any) -> Any:
    """As `unit`, if ``here`` holds; else, or without a place, there are zeros only."""
    if isinstance(t, Array):
        if place is None:
            return vec(t.index, t.elem, lambda j: _ones(t.elem, None, False, x[j]))
        i, *rest = place

        def element(j: Any) -> Any:
            same = _ieq(t.index, i, j)
            return _ones(t.elem, tuple(rest), same if here is True else _and(here, same), x[j])

        return vec(t.index, t.elem, element)
    if isinstance(t, Struct):
        return {
            name: _ones(u, place[1:] if place and place[0] == name else None, here, x[name])
            for name, u in t.fields.items()
        }
    if t is not REAL:
        return x
    return 0.0 if place is None else 1.0 if here is True else select(here, 1.0, 0.0)
