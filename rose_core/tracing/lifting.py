"""Between values and the ids of their leaves in the function being defined."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from rose_core.errors import counted
from rose_core.language import tables
from rose_core.language.types import (
    BOOL,
    REAL,
    TAN,
    UNIT,
    Array,
    Fin,
    Pair,
    Struct,
    Type,
    array,
    fin,
    leaves,
    scalar_of,
    shape_of,
)
from rose_core.tracing.declare import describe, elements, fields_of, mismatch, number, truth, whole
from rose_core.tracing.symbols import ZERO, Loose, StructValue, Value, Var, VecValue
from rose_core.tracing.trace import Trace, check_scope, current


def use(x: Value) -> list[int]:
    """The ids of the leaves of ``x`` in the function being defined, which is its own or one inside it.

    Raises:
        RuntimeError: ``x`` belongs to another function, or to a loop that has ended.
    """
    trace = current()
    owner = x._trace
    check_scope(owner, x._block, x._described)
    if isinstance(x, Loose):
        return [x.checked(trace, x._type)]
    ids = _ids(x)
    return ids if owner is trace else [trace.capture(owner, v) for v in ids]


def _ids(x: object) -> list[int]:
    """The leaves of a symbolic value."""
    if isinstance(x, Var):
        return [x.id]
    if isinstance(x, VecValue):
        return list(x.ids)
    if isinstance(x, StructValue):
        names = sorted(x._fields) if isinstance(x._type, Struct) else list(x._fields)
        return [v for name in names for v in _ids(x._fields[name])]
    return []


def wrap(trace: Trace, ids: Sequence[int], t: Type) -> object:
    """The symbolic value of type ``t`` whose leaves are ``ids``."""
    if isinstance(t, Array):
        return VecValue(trace, ids, t)
    if isinstance(t, (Struct, Pair)):
        names = sorted(t.fields) if isinstance(t, Struct) else ("fst", "snd")
        types = t.fields if isinstance(t, Struct) else {"fst": t.fst, "snd": t.snd}
        fields, at = {}, 0
        for name in names:
            count = len(leaves(types[name]))
            fields[name] = wrap(trace, ids[at : at + count], types[name])
            at += count
        return StructValue(trace, {name: fields[name] for name in types}, t)
    return None if t is UNIT else Var(trace, ids[0], t)


def parameters(trace: Trace, types: Sequence[Type]) -> list[object]:
    """Symbolic values for further parameters of these types."""
    return [wrap(trace, [trace.builder.param(leaf) for leaf in leaves(t)], t) for t in types]


def symbolic(x: object, t: Type, what: str) -> Any:
    """``x``, which may be made of numbers, as a symbolic ``t``; it raises as `lift` does."""
    trace = current()
    return wrap(trace, lift(trace, x, t, what), t)


def lift(trace: Trace, x: object, t: Type, what: str) -> list[int]:
    """The ids of the leaves of ``x``, taken as a ``t``.

    Raises:
        TypeError: ``x`` is not a ``t``; the message begins with ``what``.
        ValueError: a vector of another size; IndexError: an index out of range.
    """
    b = trace.builder
    if isinstance(x, Value):
        if x._type is t or x._type == t:
            return use(x)
        if isinstance(t, Fin) and isinstance(x, Var) and isinstance(x._type, Fin):
            if x._type.size <= t.size:  # as in v[i], where there are more elements than iterations
                return [x.checked(trace, t) if isinstance(x, Loose) else trace.builder.narrow(use(x)[0], t)]
            raise TypeError(
                f"{what}: expected an index below {t}, got one below {x._type}; index({t}, i) makes it one"
            )
        raise TypeError(f"{what}: {mismatch(t, x)}")
    if t is REAL:
        if type(x) is float:
            return [b.real(x)]
        if (real := number(x)) is not None:
            return [b.real(real)]
    elif t is BOOL:
        if (p := truth(x)) is not None:
            return [b.const(p, BOOL)]
    elif t is TAN:
        if x is ZERO or number(x) == 0:
            return [b.const(0.0, TAN)]
    elif t is UNIT:
        if x is None:
            return []
    elif isinstance(t, Fin):
        if (i := whole(x)) is not None:
            if not 0 <= i < t.size:
                raise IndexError(f"{what}: {i} is out of range, expected 0 <= i < {t.size}")
            return [b.const(i, t)]
    elif isinstance(t, Array):
        if (elems := elements(x)) is not None:
            return _lift_vec(trace, elems, t, what)
    elif isinstance(t, Struct) and (fields := fields_of(x)) is not None:
        if fields.keys() != t.fields.keys():
            got, expected = ", ".join(sorted(map(str, fields.keys()))), ", ".join(sorted(t.fields))
            raise TypeError(f"{what}: expected a struct with the fields {expected}, got {got}")
        return [v for name, u in t.sorted_fields() for v in lift(trace, fields[name], u, f"{what}.{name}")]
    raise TypeError(f"{what}: {mismatch(t, x)}")


def _lift_vec(trace: Trace, elems: Sequence[Any], t: Array, what: str) -> list[int]:
    if len(elems) != t.size:
        raise ValueError(f"{what}: expected {counted(t.size, 'element')}, got {len(elems)}")
    if content := _table(elems, t):
        return [trace.builder.data(content, t)]
    ids = [lift(trace, x, t.elem, f"{what}[{i}]") for i, x in enumerate(elems)]
    return [trace.builder.vec([row[k] for row in ids], u) for k, u in enumerate(leaves(t))]


def _table(elems: Sequence[Any], t: Array) -> bytes | None:
    """The numbers of long data, as they are in memory, without a value for each; nothing of other vectors."""
    if len(elems) < tables.FEWEST or scalar_of(t) is not REAL:
        return None
    numbers = elems
    for size in shape_of(t)[1:]:
        rows = [() if isinstance(row, Value) else elements(row) or () for row in numbers]
        if any(len(row) != size for row in rows):
            return None
        numbers = [*chain.from_iterable(rows)]
    try:
        return tables.packed([*map(float, numbers)], REAL) if {*map(type, numbers)} <= {float, int} else None
    except OverflowError:  # an int is too large
        return None


def type_of(x: object, what: str) -> Type:
    """The type that a value has by itself."""
    if isinstance(x, Value):
        return x._type
    if x is None:
        return UNIT
    if truth(x) is not None:
        return BOOL
    if number(x) is not None:
        return REAL
    if elems := None if hasattr(x, "_fields") else elements(x):
        return array(fin(len(elems)), type_of(elems[0], what))
    if (fields := fields_of(x)) is not None and not callable(x):
        return Struct({name: type_of(y, what) for name, y in fields.items()})
    raise TypeError(f"{what}: expected a value, got {describe(x)}")
