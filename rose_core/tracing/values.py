"""Ordinary Python values in and out: numbers, lists and dicts ↔ the leaves a program works on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rose_core.errors import counted
from rose_core.language.ir import Func
from rose_core.language.types import BOOL, REAL, TAN, UNIT, Array, Fin, Pair, Struct, Type, leaves
from rose_core.tracing.declare import elements, fields_of, mismatch, number, truth, whole


class Record(dict):  # type: ignore[type-arg]
    """A struct's value: a dict whose items are attributes too; the name of a field may be a number.

    What dicts have by themselves stays what it is: a field ``items`` is ``r["items"]``.
    """

    __slots__ = ()

    def __missing__(self, key: object) -> object:
        if isinstance(key, int):
            return self[str(key)]
        raise KeyError(key)

    def __getattr__(self, name: str) -> object:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def flatten(x: object, t: Type, what: str) -> list[object]:
    """The leaves of ``x`` as a ``t``: floats, bools, ints and (nested) lists of them.

    Raises:
        TypeError: ``x`` is not a ``t``; the message starts with ``what``.
        ValueError: a vector of another size. IndexError: an index out of range.
    """
    if t is REAL or t is TAN:
        if type(x) is float:
            return [x]
        if (real := number(x)) is not None:
            return [real]
    elif t is BOOL:
        if (p := truth(x)) is not None:
            return [p]
    elif t is UNIT:
        if x is None:
            return []
    elif isinstance(t, Fin):
        if (i := whole(x)) is not None:
            if not 0 <= i < t.size:
                raise IndexError(f"{what}: {i} is out of range, expected 0 <= i < {t.size}")
            return [i]
    elif isinstance(t, Array):
        if (elems := elements(x)) is not None:
            if len(elems) != t.size:
                raise ValueError(f"{what}: expected {counted(t.size, 'element')}, got {len(elems)}")
            # as nearly always, and ten times as fast
            if t.elem is REAL and all(type(y) is float for y in elems):
                return [list(elems)]
            rows = [flatten(y, t.elem, f"{what}[{i}]") for i, y in enumerate(elems)]
            return [[row[k] for row in rows] for k in range(len(leaves(t.elem)))]
    elif isinstance(t, Struct):
        if (fields := fields_of(x)) is not None:
            if fields.keys() != t.fields.keys():
                got, expected = ", ".join(sorted(map(str, fields.keys()))), ", ".join(sorted(t.fields))
                raise TypeError(f"{what}: expected the fields {expected}, got {got or 'none'}")
            return [
                leaf for name, u in t.sorted_fields() for leaf in flatten(fields[name], u, f"{what}.{name}")
            ]
    elif isinstance(t, Pair) and isinstance(x, (tuple, list)) and len(x) == 2:
        return [*flatten(x[0], t.fst, f"{what}[0]"), *flatten(x[1], t.snd, f"{what}[1]")]
    raise TypeError(f"{what}: {mismatch(t, x)}")


def build(values: Sequence[object], t: Type) -> object:
    """The value of type ``t`` whose leaves these are: the inverse of `flatten`."""
    if isinstance(t, Array):
        columns: list[list[object]] = list(values)  # type: ignore[arg-type]
        if len(columns) == 1 and not isinstance(t.elem, (Array, Struct, Pair)):
            return list(columns[0])
        return [build([column[i] for column in columns], t.elem) for i in range(t.size)]
    if isinstance(t, Struct):
        found, at = {}, 0
        for name, u in t.sorted_fields():
            count = len(leaves(u))
            found[name] = build(values[at : at + count], u)
            at += count
        return Record({name: found[name] for name in t.fields})
    if isinstance(t, Pair):
        count = len(leaves(t.fst))
        return build(values[:count], t.fst), build(values[count:], t.snd)
    return None if t is UNIT else values[0]


def names_of(func: Func) -> list[str]:
    """The names of the parameters, or numbered ones where the author gave none."""
    given = func.param_names
    return list(given) if given else [f"x{k}" for k in range(1, len(func.param_types) + 1)]


def ordered(
    what: str,
    names: Sequence[str],
    defaults: Mapping[str, object],
    args: Sequence[object],
    named: Mapping[str, object],
) -> Sequence[object]:
    """The arguments of a call of ``what``, whose parameters have these names, in their order.

    Those that are missing by default, if they have one; what remains is told where the others are taken.

    Raises:
        TypeError: a name is none of a parameter, or of one that has its argument.
    """
    if not named and (len(args) >= len(names) or not defaults):
        return args
    found = dict(zip(names, args, strict=False))
    for name, x in named.items():
        if name not in names:
            known = f"its parameters are {', '.join(names)}" if names else "its parameters have no names"
            raise TypeError(f"{what} has no parameter {name}; {known}")
        if name in found:
            raise TypeError(f"{what} got two arguments for {name}")
        found[name] = x
    found = {**defaults, **found}
    if missing := [name for name in names if name not in found]:
        raise TypeError(f"{what} got no argument for {', '.join(missing)}")
    return [*(found[name] for name in names), *args[len(names) :]]


def flatten_args(args: Sequence[object], types: Sequence[Type], name: str) -> list[object]:
    """The leaves of a call's arguments.

    Raises:
        TypeError: there are too many or too few, or one has the wrong type.
    """
    if len(args) != len(types):
        raise TypeError(f"{name} takes {counted(len(types), 'argument')}, got {len(args)}")
    return [
        leaf
        for k, (x, t) in enumerate(zip(args, types, strict=True))
        for leaf in flatten(x, t, f"argument {k + 1} of {name}")
    ]
