"""Types of the Rose IR: what a variable can hold (paper, Figures 3 and 10).

``()``, ``Bool``, ``Real``, a bounded index ``n`` (the integers ``0 <= i < n``), arrays ``[n]t``,
pairs, structs and references ``&t``; beyond the paper, ``Tan``, the type of tangents, which makes
linearity a matter of typing: a ``Tan`` may be scaled by a ``Real`` but never by another ``Tan``.

Leaf types are interned, and compare with ``is``. Structs with the same fields in another order are the
same type.

A *leaf* is a type without structure of its own: a scalar, or an array (of arrays) of scalars. Every
value is a bundle of leaves: `leaves` takes a type apart, a vector of structs into a struct of vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

TYPE, VALUE, INDEX = "Type", "Value", "Index"
"""The kinds of Figure 10, from widest to narrowest: every index type is a value type, every value
type can be the type of a variable."""


class Type:
    """A type; use the constructors below rather than this class."""

    __slots__ = ()

    def kind(self) -> str:
        """The narrowest kind this type has (Figure 10)."""
        return VALUE

    def __repr__(self) -> str:
        return str(self)


class Scalar(Type):
    """``()``, ``Bool``, ``Real``, ``Tan`` or the index type ``?``: one instance of each."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def kind(self) -> str:
        return INDEX if self.name == "?" else VALUE

    def __str__(self) -> str:
        return self.name


class Fin(Type):
    """The bounded index type ``n``: integers ``0 <= i < size``."""

    __slots__ = ("size",)

    def __init__(self, size: int) -> None:
        self.size = size

    def kind(self) -> str:
        return INDEX

    def __str__(self) -> str:
        return str(self.size)


class Array(Type):
    """``[index]elem``: one element for each value of the index type."""

    __slots__ = ("cell", "elem", "index")

    def __init__(self, index: Type, elem: Type) -> None:
        self.index = index
        self.elem = elem
        self.cell = self if index is RUN else cell_of(elem)

    @property
    def size(self) -> int:
        """The number of elements, of an array whose size is known."""
        assert isinstance(self.index, Fin), f"{self} has no fixed size"
        return self.index.size

    def __str__(self) -> str:
        return _text(self)


class StructArray(Array):
    """An array of structs, or of such arrays; like structs, equal in whatever order the fields are."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, StructArray) and (self.index, self.elem) == (other.index, other.elem)

    def __hash__(self) -> int:
        return hash((self.index, self.elem))


class Pair(Type):
    """``(t, t')``, taken apart by ``fst`` and ``snd``."""

    __slots__ = ("fst", "snd")

    def __init__(self, fst: Type, snd: Type) -> None:
        self.fst = fst
        self.snd = snd

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pair) and (self.fst, self.snd) == (other.fst, other.snd)

    def __hash__(self) -> int:
        return hash((self.fst, self.snd))

    def __str__(self) -> str:
        return _text(self)


class Struct(Type):
    """``{name: t, …}``. ``fields`` keeps the author's order; identity and leaves go by sorted name."""

    __slots__ = ("fields",)

    def __init__(self, fields: dict[str, Type]) -> None:
        self.fields = fields

    def sorted_fields(self) -> list[tuple[str, Type]]:
        return sorted(self.fields.items())

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Struct) and self.fields == other.fields)

    def __hash__(self) -> int:
        return hash(frozenset(self.fields))

    def __str__(self) -> str:
        return _text(self)


class Ref(Type):
    """``&t``, an accumulator: it can be added to, and read only after its scope has ended."""

    __slots__ = ("cell", "inner")

    def __init__(self, inner: Type) -> None:
        self.inner = inner
        self.cell = cell_of(inner)

    def kind(self) -> str:
        return TYPE

    def __str__(self) -> str:
        return _text(self)


class TypeVar(Type):
    """A type parameter ``t: κ`` of a generic function."""

    __slots__ = ("bound", "name")

    def __init__(self, name: str, bound: str) -> None:
        self.name = name
        self.bound = bound

    def kind(self) -> str:
        return self.bound

    def __str__(self) -> str:
        return self.name


def _text(t: Type) -> str:
    """Without recursion: what reverse mode keeps of calls in each other is nested as deep as they are."""
    out: list[str] = []
    waiting: list[Type | str] = [t]
    while waiting:
        x = waiting.pop()
        if isinstance(x, Pair):
            waiting += [")", x.snd, ", ", x.fst, "("]
        elif isinstance(x, Struct):
            parts = [part for k, field in x.fields.items() for part in (f"{k}: ", field, ", ")][:-1]
            waiting += ["}", *reversed(parts), "{"]
        elif isinstance(x, Array):
            waiting += [x.elem, f"[{x.index}]"]
        elif isinstance(x, Ref):
            waiting += [x.inner, "&"]
        else:
            out.append(str(x))
    return "".join(out)


UNIT = Scalar("()")
BOOL = Scalar("Bool")
RUN = Scalar("?")
"""The index type of an array whose size is known only when it is made: what a loop keeps of each of its
iterations, for the backward pass. Its elements are read at the counter of a loop, of any index type."""
REAL = Scalar("Real")
TAN = Scalar("Tan")

_fins: dict[int, Fin] = {}
_arrays: dict[tuple[Type, Type], Array] = {}
_refs: dict[Type, Ref] = {}


LARGEST = 2**31
"""The largest size of an index type: indices are 32-bit integers."""


def fin(size: int) -> Fin:
    """The index type of the integers below ``size``."""
    found = _fins.get(size)
    if found is None:
        found = _fins[size] = Fin(size)
    return found


def array(index: Type, elem: Type) -> Array:
    """The array type ``[index]elem``."""
    if isinstance(elem, (Struct, StructArray)):
        return StructArray(index, elem)  # each author's order of fields is kept
    found = _arrays.get((index, elem))
    if found is None:
        found = _arrays[index, elem] = Array(index, elem)
    return found


def ref(inner: Type) -> Ref:
    """The accumulator type ``&inner``."""
    found = _refs.get(inner)
    if found is None:
        found = _refs[inner] = Ref(inner)
    return found


@cache
def is_tape(leaf: Type) -> bool:
    """Whether this is an array of a size that is known at run time only."""
    return isinstance(leaf, Array) and leaf.index is RUN


def cell_of(leaf: Type) -> Type:
    """What a leaf is made of in memory: numbers, or tapes, of which there are the addresses."""
    return leaf.cell if isinstance(leaf, (Array, Ref)) else leaf


@cache
def has_tape(leaf: Type) -> bool:
    """Whether there are arrays in a value whose size is known only at run time."""
    return is_tape(cell_of(leaf))


@cache
def is_memory(leaf: Type) -> bool:
    """Whether values of this leaf type live in memory, rather than in a local variable."""
    return isinstance(leaf, (Array, Ref)) and not is_tape(leaf)


@cache
def scalar_of(leaf: Type) -> Type:
    """The scalar at the bottom of a leaf type: ``Real`` for ``&[3][2]Real``."""
    while True:
        if isinstance(leaf, Array):
            leaf = leaf.elem
        elif isinstance(leaf, Ref):
            leaf = leaf.inner
        else:
            return leaf


def shape_of(leaf: Type) -> tuple[int, ...]:
    """The sizes of a leaf's dimensions, outermost first; ``()`` for a scalar."""
    if isinstance(leaf, Ref):
        leaf = leaf.inner
    shape = []
    while isinstance(leaf, Array):
        shape.append(leaf.size)
        leaf = leaf.elem
    return tuple(shape)


def replace_scalar(leaf: Type, scalar: Type) -> Type:
    """``leaf`` with another scalar at its bottom."""
    if isinstance(leaf, Array):
        return array(leaf.index, replace_scalar(leaf.elem, scalar))
    if isinstance(leaf, Ref):
        return ref(replace_scalar(leaf.inner, scalar))
    return scalar


def real(leaf: Type) -> Type:
    """As `numbers`, of a leaf: what passes ask for again and again."""
    return replace_scalar(leaf, REAL) if scalar_of(leaf) is TAN else leaf


def map_scalars(t: Type, f: Callable[[Type], Type]) -> Type:
    """``t`` with ``f`` of every scalar in its place."""
    if isinstance(t, Pair):
        return Pair(map_scalars(t.fst, f), map_scalars(t.snd, f))
    if isinstance(t, Struct):
        return Struct({name: map_scalars(field, f) for name, field in t.fields.items()})
    if isinstance(t, Array):
        return array(t.index, map_scalars(t.elem, f))
    if isinstance(t, Ref):
        return ref(map_scalars(t.inner, f))
    return f(t)


def numbers(t: Type) -> Type:
    """``t`` with a number in place of every tangent."""
    return map_scalars(t, lambda scalar: REAL if scalar is TAN else scalar)


def leaves(t: Type) -> list[Type]:
    """The leaf types of ``t``, in the order in which every part of the compiler passes them."""
    if isinstance(t, Pair):
        return leaves(t.fst) + leaves(t.snd)
    if isinstance(t, Struct):
        return [leaf for _, field in t.sorted_fields() for leaf in leaves(field)]
    if isinstance(t, Array):
        return [array(t.index, leaf) for leaf in leaves(t.elem)]
    if isinstance(t, Ref):
        return [ref(leaf) for leaf in leaves(t.inner)]
    return [] if t is UNIT else [t]


def paths(t: Type) -> list[str]:
    """How an author would name each leaf of a value of type ``t``: ``["[].x", "[].y"]`` and so on."""
    if isinstance(t, Pair):
        return [f".{k}{p}" for k, u in (("fst", t.fst), ("snd", t.snd)) for p in paths(u)]
    if isinstance(t, Struct):
        return [f".{name}{p}" for name, field in t.sorted_fields() for p in paths(field)]
    if isinstance(t, Array):
        nested = [p for p in paths(t.elem) if p]
        return [f"[]{p}" for p in nested] if nested else [""] * len(leaves(t))
    if isinstance(t, Ref):
        return paths(t.inner)
    return [] if t is UNIT else [""]


DUAL = Struct({"re": REAL, "du": TAN})
"""A number with its tangent, ``re + du ε`` (paper, Section 2.2)."""


def dual(t: Type) -> Type:
    """D[t] of Figure 11: every ``Real`` becomes a ``Dual``.

    A ``Tan`` becomes one too: differentiating a derivative again treats its tangents as numbers.
    """
    return map_scalars(t, lambda scalar: DUAL if scalar in (REAL, TAN) else scalar)
