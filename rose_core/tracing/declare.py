"""Types as authors write them in Python, and their annotations."""

from __future__ import annotations

import dataclasses
import operator
import sys
from collections.abc import Mapping, Sequence
from types import GenericAlias
from typing import Any, get_origin

from rose_core.language.types import BOOL, LARGEST, REAL, UNIT, Array, Fin, Struct, Type, array, fin
from rose_core.tracing.sizes import OpenVec, Size, sizes_in


def as_type(t: object) -> Type:
    """The type an author means: a Rose type, a size ``n`` for the indices below it, a dict for a struct.

    Of Python's own, ``float`` and ``bool`` are Real and Bool, and a class with types of its fields, such as a
    dataclass or a named tuple, is a struct.

    Raises:
        TypeError: ``t`` is none of these.
    """
    if isinstance(t, Type):
        return t
    if t is None:
        return UNIT
    if isinstance(t, OpenVec):
        return array(index_type(t.index), as_type(t.elem))
    size = t.__index__() if isinstance(t, Size) else whole(t)
    if size is not None:
        if not 0 <= size <= LARGEST:
            raise ValueError(f"an index type needs a size from 0 to {LARGEST}, not {size}")
        return fin(size)
    if isinstance(t, dict):
        for name in t:
            if not isinstance(name, str):
                raise TypeError(f"the name of a struct's field must be a string, not {name!r}")
        return Struct({name: as_type(field) for name, field in t.items()})
    if isinstance(t, type) and not isinstance(t, GenericAlias):
        if t in (float, bool):
            return REAL if t is float else BOOL
        if fields := _annotations(t, vars(sys.modules[t.__module__])):
            return as_type(fields)
    raise TypeError(f"expected a type such as Real, Vec(3, Real) or a size, got {describe(t)}{_hint(t)}")


def _hint(t: object) -> str:
    """What may help who gave ``t`` for a type."""
    kind = get_origin(t) or t
    if kind is int:
        return "; a number is a float, and an index has its size for a type"
    if kind is list:
        return "; all numbers of a list are a Vec(Size(), Real)"
    if kind is tuple or isinstance(t, (tuple, list)):
        return "; of several values the type is a dict, {'x': Real, 'n': 3}"
    return ""


def type_for(what: str, t: object) -> Type:
    """The type that an author gives for ``what``, which is told where it is none."""
    try:
        return as_type(t)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{what}: {error}") from None


def index_type(t: object) -> Fin:
    """The index type an author means by ``t``, the size of a vector."""
    size = as_type(t)
    if not isinstance(size, Fin):
        raise TypeError(f"the size of a Vec must be a whole number, got {describe(t)}")
    return size


def Vec(index: object, elem: object) -> Any:
    """The type of vectors with one ``elem`` for each value of ``index``, a size, which may be a `Size`."""
    if sizes_in((index, elem)):
        return OpenVec(index, elem)
    return array(index_type(index), as_type(elem))


def struct(fields: object = None, /, **named: object) -> Any:
    """A struct type, from a dict, from keywords, or as a decorator from a class's annotations."""
    if isinstance(fields, type):
        here = sys._getframe(1)
        fields = _annotations(fields, {**here.f_globals, **here.f_locals})
    elif fields is None:
        fields = named
    if isinstance(fields, dict) and sizes_in(fields):
        return fields
    t = as_type(fields)
    if not isinstance(t, Struct):
        raise TypeError(f"expected the fields of a struct, got {describe(fields)}")
    return t


def _annotations(of: type, scope: dict[str, object]) -> dict[str, object]:
    """The types of a class's fields, of those too that it inherits."""
    if dataclasses.is_dataclass(of):
        found = {field.name: field.type for field in dataclasses.fields(of)}
    else:
        bases = [getattr(base, "__annotations__", {}) for base in reversed(of.__mro__)]
        found = {name: t for written in bases for name, t in written.items()}
    return {name: annotated(t, scope) for name, t in found.items()}


def annotated(t: object, scope: dict[str, object]) -> object:
    """An annotation, which is text where it is postponed, and in named tuples wrapped."""
    t = getattr(t, "__forward_arg__", t)
    return eval(t, scope) if isinstance(t, str) else t


def number(x: object) -> float | None:
    """``x`` as a Real, of whatever library it is; None if it is no number, or a complex one."""
    if isinstance(x, (bool, complex)) or _kind(x) in _NO_NUMBERS or not hasattr(x, "__float__") or _shape(x):
        return None
    try:
        return float(x)
    except (TypeError, ValueError, OverflowError):  # a symbolic value, or an int that is too large
        return None


_NO_NUMBERS = ("b", "c", "S", "U")
"""The kinds of Bools, complex numbers and texts, all of which libraries make floats of."""


def _kind(x: object) -> str | None:
    return getattr(getattr(x, "dtype", None), "kind", None)


def _shape(x: object) -> tuple[int, ...]:
    found = getattr(x, "shape", ())
    return found if isinstance(found, tuple) else ()


def whole(x: object) -> int | None:
    """``x`` as a whole number, of whatever library it is; None if it is none, a Bool, or not known."""
    if type(x) is int:
        return x
    if truth(x) is not None or not hasattr(x, "__index__"):
        return None
    try:
        return operator.index(x)
    except TypeError:  # an array, or a symbolic value
        return None


def exact(x: object) -> object:
    """A Real that is a whole number as an int: operations on numbers alone give Reals."""
    return int(x) if isinstance(x, float) and x.is_integer() else x


def truth(x: object) -> bool | None:
    """``x`` as a Bool, of whatever library it is; None if it is none."""
    is_bool = isinstance(x, bool) or (_kind(x) == "b" and not _shape(x))
    return bool(x) if is_bool else None


def elements(x: object) -> Sequence[Any] | None:
    """The elements of ``x`` by number, of whatever library it is; None if it has none.

    Arrays and series give them all at once as numbers of Python, in their order whatever they call them.
    """
    if isinstance(x, (list, tuple)):
        return x
    if not hasattr(x, "__len__") or not hasattr(x, "__getitem__") or isinstance(x, (str, bytes, Mapping)):
        return None
    if not hasattr(x, "tolist"):
        return [x[i] for i in range(len(x))]
    found = x.tolist()
    return found if isinstance(found, list) else None  # a number is what an array without dimensions gives


def fields_of(x: object) -> Mapping[Any, Any] | None:
    """The fields of ``x`` by name: of a mapping, a named tuple, or an object; None if it has none."""
    if isinstance(x, (dict, Mapping)):
        return x
    if isinstance(x, tuple):
        return dict(zip(x._fields, x, strict=True)) if hasattr(x, "_fields") else None
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return {field.name: getattr(x, field.name) for field in dataclasses.fields(x)}
    return getattr(x, "__dict__", None)


def mismatch(t: Type, x: object) -> str:
    """What is said where ``x`` is no ``t``."""
    what = f"an index below {t}" if isinstance(t, Fin) else t
    return f"expected {what}, got {describe(x)}{_advice(t, x)}"


def _advice(t: Type, x: object) -> str:
    """What may help who gave ``x`` for a ``t``."""
    if x is None:
        return "; a return may be missing"
    given = getattr(x, "_type", None)
    if t is REAL and isinstance(given, Fin):
        return "; real(i) makes it one"
    if t is REAL and isinstance(given, Array):
        return f"; vec({given.size}, Real, lambda i: …) does something with each element"
    return ""


def describe(x: object) -> str:
    """What ``x`` is, in an author's words."""
    if isinstance(x, Type):
        return f"the type {x}"
    if isinstance(x, type) and not isinstance(x, GenericAlias):
        return f"the class {x.__name__}"
    described = getattr(x, "_described", None)
    return described() if callable(described) else f"{type(x).__name__} {x!r:.60}"
