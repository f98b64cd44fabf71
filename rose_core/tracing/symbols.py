"""Symbolic values, which write down what is done with them.

A symbolic scalar is one id of the function being built; vectors and structs are bundles of the ids of
their leaves, which live on this side only and cost the program nothing. Every mistake raises on the
author's line, in the author's terms.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, NoReturn

from rose_core.errors import OUT_OF_RANGE
from rose_core.language import ops
from rose_core.language.types import REAL, Array, Fin, Pair, Struct, Type
from rose_core.tracing.declare import describe, whole
from rose_core.tracing.trace import ANY, Trace, check_scope, current

if TYPE_CHECKING:
    from rose_core.tracing.updates import Updates


class Value:
    """A symbolic value: its type and where it may be used. Other names are left to the fields of structs."""

    __slots__ = ("_block", "_trace", "_type")
    _type: Type
    _trace: Trace
    _block: int

    def _described(self) -> str:
        return f"a symbolic {self._type}"

    def __repr__(self) -> str:
        return f"<symbolic {self._type}>"

    def __bool__(self) -> bool:
        raise TypeError(
            "a symbolic value has no truth value while its function is traced; use select or cond, "
            "& | ~ in place of and, or, not, (a < x) & (x < b) for a < x < b, and min and max of rose_core"
        )

    def __float__(self) -> NoReturn:
        raise TypeError(
            f"{self._described()} has no value while its function is traced; "
            "write sin(x) for math.sin(x), f for compile(f), fori or vec for a loop over range(x), and so on"
        )

    __int__ = __index__ = __float__

    def __round__(self, digits: int | None = None) -> NoReturn:
        self.__float__()

    def __format__(self, spec: str) -> str:
        return self.__float__() if spec else f"{self!r}"

    # operators stand here, and not with scalars, so that vectors and structs are refused by name

    __hash__ = object.__hash__

    def __copy__(self) -> Value:
        return self

    def __deepcopy__(self, memo: object) -> Value:
        return self  # it never changes, and a copy would belong to a copy of the function

    def __neg__(self) -> Var:
        return operations.neg(self)

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Var:
        return operations.absolute(self)

    def __add__(self, other: object) -> Var:
        if isinstance(self._type, Fin):
            return indices.iadd(self._type, self, other)
        return operations.add(self, other)

    def __radd__(self, other: object) -> Var:
        if isinstance(self._type, Fin):
            return indices.iadd(self._type, other, self)
        return operations.add(other, self)

    def __sub__(self, other: object) -> Var:
        if isinstance(self._type, Fin):
            return indices.isub(self._type, self, other)
        return operations.sub(self, other)

    def __rsub__(self, other: object) -> Var:
        if isinstance(self._type, Fin):
            return indices.isub(self._type, other, self)
        return operations.sub(other, self)

    def __mul__(self, other: object) -> Var:
        if isinstance(self._type, Fin):
            return indices.imul(self._type, self, other)
        return operations.mul(self, other)

    def __rmul__(self, other: object) -> Var:
        # a tangent is written first in a product, whichever side the author put it on
        return self * other

    def __truediv__(self, other: object) -> Var:
        return operations.div(self, other)

    def __rtruediv__(self, other: object) -> Var:
        return operations.div(other, self)

    def __pow__(self, other: object) -> Var:
        return operations.power(self, other)

    def __rpow__(self, other: object) -> Var:
        return operations.power(other, self)

    def __mod__(self, other: int) -> Var:
        if self._type is REAL:
            raise TypeError("a symbolic Real has no %; write x - y * floor(x / y) for x % y")
        return indices.imod(other, self)

    def __floordiv__(self, other: int) -> Var:
        if not isinstance(self._type, Fin):
            raise TypeError(f"{describe(self)} has no //; for Reals, write floor(x / y)")
        by = indices.as_size(other, "idiv", least=1).size
        return indices.idiv(max(-(-self._type.size // by), 1), self, by)

    def __divmod__(self, other: int) -> tuple[Var, Var]:
        return self // other, self % other

    def __rfloordiv__(self, other: object) -> Var:
        if isinstance(self._type, Fin):
            raise TypeError("indices are divided by numbers that are known, as in i // 3 and i % 3")
        return self // 1  # which says what to write

    def __rmod__(self, other: object) -> Var:
        return self.__rfloordiv__(other) if isinstance(self._type, Fin) else self % 1

    __rdivmod__ = __rfloordiv__

    def __floor__(self) -> Var:
        return operations.apply(ops.by_name["floor"], self)

    def __ceil__(self) -> Var:
        return operations.apply(ops.by_name["ceil"], self)

    def __trunc__(self) -> Var:
        return operations.apply(ops.by_name["trunc"], self)

    def __eq__(self, other: object) -> Var:  # type: ignore[override]
        return operations.compare(self, other, "eq")

    def __ne__(self, other: object) -> Var:  # type: ignore[override]
        return operations.compare(self, other, "neq")

    def __lt__(self, other: object) -> Var:
        return operations.compare(self, other, "lt")

    def __le__(self, other: object) -> Var:
        return operations.compare(self, other, "leq")

    def __gt__(self, other: object) -> Var:
        return operations.compare(self, other, "gt")

    def __ge__(self, other: object) -> Var:
        return operations.compare(self, other, "geq")

    def __and__(self, other: object) -> Var:
        return operations.apply(ops.by_name["and"], self, other)

    __rand__ = __and__

    def __or__(self, other: object) -> Var:
        return operations.apply(ops.by_name["or"], self, other)

    __ror__ = __or__

    def __xor__(self, other: object) -> Var:
        return operations.apply(ops.by_name["xor"], self, other)

    __rxor__ = __xor__

    def __invert__(self) -> Var:
        return operations.apply(ops.by_name["not"], self)


class Var(Value):
    """A symbolic scalar."""

    __slots__ = ("id",)

    def __init__(self, trace: Trace, id: int, type: Type) -> None:
        self._trace = trace
        self._block = trace.builder.open[-1]
        self.id = id
        self._type = type

    @property
    def type(self) -> Type:
        return self._type


class Loose(Var):
    """A whole number that is to be an index, which is checked where it is used as one."""

    __slots__ = ("high", "low", "name", "number")
    _type: Fin

    def __init__(self, trace: Trace, number: int, type: Fin, low: int, high: int, name: str) -> None:
        self._trace, self._block, self._type = trace, trace.builder.open[-1], type
        self.number, self.low, self.high, self.name = number, low, high, name

    def checked(self, trace: Trace, t: Fin) -> int:
        """The id of the index, as a ``t``, in the function being defined.

        Raises:
            IndexError: it is none whatever the arguments are, and is needed whatever they are.
        """
        if (self.high < 0 or self.low >= t.size) and not trace.may_be_idle:
            found = f"{self.low}" if self.low == self.high else f"{self.low} to {self.high}"
            raise IndexError(f"{self.name}: {found} is out of range, expected an index below {t.size}")
        if self.low >= 0 and self.high < t.size:
            return trace.builder.narrow(self.unchecked(), t)
        return trace.check("bound", self.unchecked(), t, self.name, OUT_OF_RANGE)

    def unchecked(self) -> int:
        """The id of the number itself, in the function being defined."""
        trace, owner = current(), self._trace
        check_scope(owner, self._block, self._described)
        return self.number if owner is trace else trace.capture(owner, self.number)


class VecValue(Value):
    """A symbolic vector: indexed by ints and symbolic indices, sliced, iterated, unpacked, measured with len.

    ``m[i, j]`` is ``m[i][j]``; the bounds of a slice are ints.
    """

    __slots__ = ("ids",)

    def __init__(self, trace: Trace, ids: Sequence[int], type: Array) -> None:
        self._trace = trace
        self._block = trace.builder.open[-1]
        self.ids = ids
        self._type = type

    @property
    def type(self) -> Type:
        return self._type

    def __len__(self) -> int:
        return self._type.size  # type: ignore[attr-defined, no-any-return]

    def __getitem__(self, i: object) -> Any:
        if isinstance(i, tuple):
            return reduce(operator.getitem, i, self)
        if isinstance(i, slice):
            return self._slice(range(len(self))[i])
        trace, ids = current(), lifting.use(self)
        t = self._type
        assert isinstance(t, Array)
        at = self._position(trace, i)
        return lifting.wrap(trace, [trace.builder.index(v, at) for v in ids], t.elem)

    def __setitem__(self, i: object, x: object) -> None:
        raise TypeError(f"{self._described()} cannot be changed; v = v.set(i, x) has x at i")

    def __iter__(self) -> Iterator[object]:
        return (self[i] for i in range(len(self)))

    def set(self, i: object, x: object) -> VecValue:
        """The vector with ``x`` at ``i``; it takes the old one's place where that is not used any more."""
        trace, ids = current(), lifting.use(self)
        t = self._type
        assert isinstance(t, Array)
        at = self._position(trace, i)
        values = lifting.lift(trace, x, t.elem, f"an element of {t}")
        new = [trace.builder.set(v, at, y) for v, y in zip(ids, values, strict=True)]
        return VecValue(trace, new, t)

    @property
    def at(self) -> Updates:
        """``v.at[i].set(x)``: as ``v.set(i, x)``; ``v.at[i, j].set(x)`` goes further down; ``add`` adds."""
        from rose_core.tracing.updates import Updates

        return Updates(self)

    def _slice(self, at: range) -> object:
        """The vector of the elements with these numbers."""
        from rose_core.tracing.constructs import vec

        t = self._type
        assert isinstance(t, Array)

        def element(k: Var) -> object:
            return self[indices.iadd(t.index, indices.imul(ANY, k, at.step), at.start)]

        return vec(len(at), t.elem, element)

    def _position(self, trace: Trace, i: object) -> int:
        t = self._type
        assert isinstance(t, Array)
        k = whole(i)
        if k is not None and -t.size <= k < 0:
            i = k + t.size
        (at,) = lifting.lift(trace, i, t.index, f"index of {t}")
        return at


class StructValue(Value):
    """A symbolic struct: its fields are attributes."""

    __slots__ = ("_fields",)

    def __init__(self, trace: Trace, fields: dict[str, object], type: Struct | Pair) -> None:
        self._trace = trace
        self._block = trace.builder.open[-1]
        self._fields = fields
        self._type = type

    def __setattr__(self, name: str, x: object) -> None:
        try:
            super().__setattr__(name, x)
        except AttributeError:
            raise TypeError(f"{self._described()} cannot be changed; build a new one") from None

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or name == "_fields":
            raise AttributeError(name)
        # as of the dict that it is outside
        if name in ("keys", "values", "items") and name not in self._fields:
            return getattr(self._fields, name)
        return self[name]

    def __getitem__(self, name: str | int) -> object:
        try:
            return self._fields[str(name)]
        except KeyError:
            keys = ", ".join(self._fields)
            raise AttributeError(f"this struct has no field {name!r}; its fields are {keys}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def __iter__(self) -> Iterator[object]:
        numbers = [str(k) for k in range(len(self._fields))]
        if self._fields.keys() != set(numbers):
            names = ", ".join(self._fields)
            raise TypeError(f"a struct is taken apart by the names of its fields, which are {names}")
        return iter([self._fields[k] for k in numbers])


# as Python calls them where something cannot be done with them
Var.__name__ = Loose.__name__ = "symbolic scalar"
VecValue.__name__, StructValue.__name__ = "symbolic vector", "symbolic struct"


class Zero:
    """The zero tangent, as `zero` gives it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "zero()"


ZERO = Zero()


def zero() -> Zero:
    """The tangent of what does not vary, for custom derivatives."""
    return ZERO


# They make symbols, and are what the operators of symbols call: here, when the classes are there for them.
from rose_core.tracing import indices, lifting, operations  # noqa: E402
