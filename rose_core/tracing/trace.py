"""The Python tracer: symbolic values, which write down what is done with them.

A symbolic scalar is one id of the function being built; vectors and structs are bundles of the ids of
their leaves, which live on this side only and cost the program nothing. Every mistake raises on the
author's line, in the author's terms.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import chain
from threading import local
from typing import TYPE_CHECKING, Any, NoReturn

from rose_core.errors import NO_INDEX, OUT_OF_RANGE, counted
from rose_core.language import ops, tables
from rose_core.language.builder import Builder
from rose_core.language.ir import Func
from rose_core.language.ops import Op
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
    fin,
    leaves,
    scalar_of,
    shape_of,
)
from rose_core.tracing.declare import (
    LARGEST,
    as_type,
    describe,
    elements,
    exact,
    fields_of,
    mismatch,
    number,
    truth,
    whole,
)
from rose_core.tracing.where import Construct

if TYPE_CHECKING:
    from rose_core.tracing.updates import Updates


class Trace:
    """A function under construction."""

    def __init__(self, func: Func, parent: Trace | None = None) -> None:
        self.func = func
        self.builder = Builder(func)
        self.parent = parent
        """The trace of the function in whose body this one is defined."""
        self.captures: list[tuple[Trace, int]] = []
        """Values of enclosing functions that this one uses: they are passed as further parameters."""
        self.tangents: dict[int, int] = {}
        """In the rule of a `functional`: the tangents of what the given functions use from around them."""
        self._captured: dict[tuple[Trace, int], int] = {}
        self.closed = False
        self.is_part = False
        """Whether it is a part of an author's function: a loop, or a side of a choice."""

    @property
    def may_be_idle(self) -> bool:
        """Whether what is being traced is in a side of a choice, or in a loop, that may never run."""
        b = self.builder
        return self.is_part or any(not b.blocks[k].size.size for k in b.open[1:])  # type: ignore[attr-defined]

    def reaches(self, owner: Trace) -> bool:
        """Whether this function is ``owner``'s or is defined, at some depth, in the body of that."""
        return self is owner or (self.parent is not None and self.parent.reaches(owner))

    def capture(self, owner: Trace, v: int) -> int:
        """The id here of the value ``v`` of an enclosing function."""
        if v < 0:
            return self.builder.const(*owner.builder.pool[~v])
        found = self._captured.get((owner, v))
        if found is None:
            found = self._captured[owner, v] = self.builder.param(owner.func.types[v])
            self.captures.append((owner, v))
        return found


class _Thread(local):
    def __init__(self) -> None:
        self.traces: list[Trace] = []
        """The functions being defined, each in the body of the one before."""


this_thread = _Thread()


def current() -> Trace:
    """The function being defined right now."""
    if not this_thread.traces:
        raise RuntimeError(
            "this works only in the body of an fn; compile(f) and interp(f) are functions of numbers"
        )
    return this_thread.traces[-1]


# -- symbolic values ----------------------------------------------------------------------------------


class Value:
    """A symbolic value: its type and where it may be used. Other names are left to the fields of structs."""

    __slots__ = ("_block", "_trace", "_type")
    _type: Type
    _trace: Trace
    _block: int

    def _described(self) -> str:
        return f"a symbolic {self._type}"

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

    # operators stand here, and not with scalars, so that vectors and structs are refused by name

    __hash__ = object.__hash__

    def __copy__(self) -> Value:
        return self

    def __deepcopy__(self, memo: object) -> Value:
        return self  # it never changes, and a copy would belong to a copy of the function

    def __neg__(self) -> Var:
        return neg(self)

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Var:
        return absolute(self)

    def __add__(self, other: object) -> Var:
        return iadd(self._type, self, other) if isinstance(self._type, Fin) else add(self, other)

    def __radd__(self, other: object) -> Var:
        return iadd(self._type, other, self) if isinstance(self._type, Fin) else add(other, self)

    def __sub__(self, other: object) -> Var:
        return isub(self._type, self, other) if isinstance(self._type, Fin) else sub(self, other)

    def __rsub__(self, other: object) -> Var:
        return isub(self._type, other, self) if isinstance(self._type, Fin) else sub(other, self)

    def __mul__(self, other: object) -> Var:
        return imul(self._type, self, other) if isinstance(self._type, Fin) else mul(self, other)

    def __rmul__(self, other: object) -> Var:
        # a tangent is written first in a product, whichever side the author put it on
        return self * other

    def __truediv__(self, other: object) -> Var:
        return div(self, other)

    def __rtruediv__(self, other: object) -> Var:
        return div(other, self)

    def __pow__(self, other: object) -> Var:
        return power(self, other)

    def __rpow__(self, other: object) -> Var:
        return power(other, self)

    def __mod__(self, other: int) -> Var:
        if self._type is REAL:
            raise TypeError("a symbolic Real has no %; x - y * floor(x / y) is the rest of x / y")
        return imod(other, self)

    def __floordiv__(self, other: int) -> Var:
        if not isinstance(self._type, Fin):
            raise TypeError(f"{describe(self)} has no //; of Reals floor(x / y) is that")
        by = _index_type(other, "idiv", least=1).size
        return idiv(max(-(-self._type.size // by), 1), self, by)

    def __divmod__(self, other: int) -> tuple[Var, Var]:
        return self // other, self % other

    def __floor__(self) -> Var:
        return apply(ops.by_name["floor"], self)

    def __ceil__(self) -> Var:
        return apply(ops.by_name["ceil"], self)

    def __trunc__(self) -> Var:
        return apply(ops.by_name["trunc"], self)

    def __eq__(self, other: object) -> Var:  # type: ignore[override]
        return _compare(self, other, "eq")

    def __ne__(self, other: object) -> Var:  # type: ignore[override]
        return _compare(self, other, "neq")

    def __lt__(self, other: object) -> Var:
        return _compare(self, other, "lt")

    def __le__(self, other: object) -> Var:
        return _compare(self, other, "leq")

    def __gt__(self, other: object) -> Var:
        return _compare(self, other, "gt")

    def __ge__(self, other: object) -> Var:
        return _compare(self, other, "geq")

    def __and__(self, other: object) -> Var:
        return apply(ops.by_name["and"], self, other)

    __rand__ = __and__

    def __or__(self, other: object) -> Var:
        return apply(ops.by_name["or"], self, other)

    __ror__ = __or__

    def __xor__(self, other: object) -> Var:
        return apply(ops.by_name["xor"], self, other)

    __rxor__ = __xor__

    def __invert__(self) -> Var:
        return apply(ops.by_name["not"], self)


class Var(Value):
    """A symbolic scalar."""

    __slots__ = ("id",)

    def __init__(self, trace: Trace, id: int, type: Type) -> None:
        self._trace = trace
        self._block = trace.builder.open[-1]
        self.id = id
        self._type = type

    def __repr__(self) -> str:
        return f"<symbolic {self._type}>"

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
            return _as_index(trace, _number(self), t)
        return check("bound", trace, _number(self), t, self.name, OUT_OF_RANGE)


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

    def __repr__(self) -> str:
        return f"<symbolic {self._type}>"

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
        trace, ids = current(), use(self)
        t = self._type
        assert isinstance(t, Array)
        at = self._position(trace, i)
        return wrap(trace, [trace.builder.index(v, at) for v in ids], t.elem)

    def __setitem__(self, i: object, x: object) -> None:
        raise TypeError(f"{self._described()} cannot be changed; v = v.set(i, x) has x at i")

    def __iter__(self) -> Iterator[object]:
        return (self[i] for i in range(len(self)))

    def set(self, i: object, x: object) -> VecValue:
        """The vector with ``x`` at ``i``; it takes the old one's place where that is not used any more."""
        trace, ids = current(), use(self)
        t = self._type
        assert isinstance(t, Array)
        at = self._position(trace, i)
        values = lift(trace, x, t.elem, f"an element of {t}")
        new = [trace.builder.set(v, at, y) for v, y in zip(ids, values, strict=True)]
        return VecValue(trace, new, t)

    @property
    def at(self) -> Updates:
        """``v.at[i].set(x)``: as ``v.set(i, x)``; ``v.at[i, j].set(x)`` goes further down; ``add`` adds."""
        from rose_core.tracing.updates import Updates

        return Updates(self)

    def _slice(self, at: range) -> object:
        """The vector of the elements with these numbers."""
        from rose_core.tracing.functions import vec

        t = self._type
        assert isinstance(t, Array)
        return vec(len(at), t.elem, lambda k: self[iadd(t.index, imul(_ANY, k, at.step), at.start)])

    def _position(self, trace: Trace, i: object) -> int:
        t = self._type
        assert isinstance(t, Array)
        k = whole(i)
        if k is not None and -t.size <= k < 0:
            i = k + t.size
        (at,) = lift(trace, i, t.index, f"index of {t}")
        return at


class StructValue(Value):
    """A symbolic struct: its fields are attributes."""

    __slots__ = ("_fields",)

    def __init__(self, trace: Trace, fields: dict[str, object], type: Struct | Pair) -> None:
        self._trace = trace
        self._block = trace.builder.open[-1]
        self._fields = fields
        self._type = type

    def __repr__(self) -> str:
        return f"<symbolic {self._type}>"

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


_ZERO = Zero()


def zero() -> Zero:
    """The tangent of what does not vary, for custom derivatives."""
    return _ZERO


def use(x: Value) -> list[int]:
    """The ids of the leaves of ``x`` in the function being defined, which is its own or one inside it.

    Raises:
        RuntimeError: ``x`` belongs to another function, or to a loop that has ended.
    """
    trace = current()
    owner = x._trace
    check_scope(owner, x._block, f"a symbolic {x._type}")
    if isinstance(x, Loose):
        return [x.checked(trace, x._type)]
    ids = _ids(x)
    return ids if owner is trace else [trace.capture(owner, v) for v in ids]


def check_scope(owner: Trace, block: int, what: str) -> None:
    """Raise unless a value of ``block`` of ``owner`` may be used now."""
    is_over = owner.closed or not current().reaches(owner)
    if is_over and not owner.is_part:
        raise RuntimeError(
            f"{what} of the function {owner.func.name} was used outside of it; pass it as an argument instead"
        )
    if is_over or block not in owner.builder.open:
        raise RuntimeError(
            f"{what} was used outside of the loop or the side of a cond it belongs to; "
            "only what that gives is of use"
        )


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
            if x._type.size <= t.size:  # as in v[i], where there are more elements than turns
                return [x.checked(trace, t) if isinstance(x, Loose) else _as_index(trace, use(x)[0], t)]
            raise TypeError(
                f"{what}: expected an index below {t}, got one below {x._type}; index({t}, i) makes it one"
            )
        advice = "; real(i) makes it one" if t is REAL and isinstance(x._type, Fin) else ""
        raise TypeError(f"{what}: {mismatch(t, x)}{advice}")
    if t is REAL:
        if type(x) is float:
            return [b.real(x)]
        if (real := number(x)) is not None:
            return [b.real(real)]
    elif t is BOOL:
        if (p := truth(x)) is not None:
            return [b.const(p, BOOL)]
    elif t is TAN:
        if x is _ZERO or number(x) == 0:
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


# -- operations ---------------------------------------------------------------------------------------

_TYPE_OF_LETTER = {"R": REAL, "B": BOOL}


def apply(op: Op, *args: object) -> Var:
    """An operation on Reals, Bools or (where it is linear) tangents; on plain numbers its plain value."""
    if not any(isinstance(x, (Value, Zero)) for x in args):
        return op.evaluate(*map(_plain, args, op.ins, [op.name] * len(args)))  # type: ignore[return-value]
    trace = current()
    letters = ["T" if x is _ZERO or (isinstance(x, Var) and x._type is TAN) else "" for x in args]
    tangent = "T" in letters
    if op.commutes and letters == ["", "T"]:  # a tangent is written first in a product
        args, letters = args[::-1], letters[::-1]
    if tangent and (
        len(letters) != len(op.tangent)
        or any((a == "T") != (b == "T") for a, b in zip(letters, op.tangent, strict=True))
    ):
        raise TypeError(
            f"{op.name} is not linear in {'this tangent' if letters.count('T') == 1 else 'these tangents'}"
        )
    ids = []
    for k, (x, letter) in enumerate(zip(args, op.ins, strict=True)):
        t = TAN if letters[k] else _TYPE_OF_LETTER[letter]
        if isinstance(x, Var) and x._type is t:
            ids += use(x)
        else:
            ids += lift(trace, x, t, op.name)
    out = TAN if tangent else _TYPE_OF_LETTER[op.out]
    return Var(trace, trace.builder.op(op.code, *ids, type=out), out)


def _plain(x: object, letter: str, what: str) -> object:
    """An operand that is no symbol, as its type."""
    value = truth(x) if letter == "B" else number(x) if letter == "R" else None
    if value is None:
        raise TypeError(f"{what}: {mismatch(_TYPE_OF_LETTER[letter], x)}")
    return value


def operation(name: str) -> Callable[..., Var]:
    """The Python function for the op ``name`` of the table."""
    op = ops.by_name[name]

    def function(*args: object) -> Var:
        if len(args) != len(op.ins):
            raise TypeError(f"{name} takes {counted(len(op.ins), 'argument')}, got {len(args)}")
        return apply(op, *args)

    function.__name__ = function.__qualname__ = name
    return function


add, sub, mul, div, neg = map(operation, ("add", "sub", "mul", "div", "neg"))
power, absolute = operation("pow"), operation("abs")


def _compare(x: Value, y: object, name: str) -> Var:
    if isinstance(x._type, Fin):
        return index_operation("i" + name)(x._type, x, y)
    if x._type is BOOL:
        return apply(ops.by_name[{"eq": "iff", "neq": "xor"}.get(name, name)], x, y)
    return apply(ops.by_name[name], x, y)


def index_operation(name: str) -> Callable[..., Var]:
    """The Python function that compares indices, of any types, and whole numbers.

    A literal may be any, as in ``i < 3`` where a size, which only a call tells, is 2.
    """
    op = ops.by_name[name]

    def function(index: object, i: object, j: object) -> Var:
        _index_type(index, name)
        trace = current()
        a, b = (_whole_number(trace, x, name)[0] for x in (_near(i, j), _near(j, i)))
        return Var(trace, trace.builder.binary(op.code, a, b, BOOL), BOOL)

    function.__name__ = function.__qualname__ = name
    return function


def _near(x: object, other: object) -> object:
    """The literal ``x``, or one as good to compare with ``other``, next to all that it can be; else ``x``."""
    literal = whole(x)
    if literal is None or not isinstance(other, Var) or not isinstance(other._type, Fin):
        return x
    low, high = (other.low, other.high) if isinstance(other, Loose) else (0, other._type.size - 1)
    return min(max(literal, low - 1), high + 1)


_ON_NUMBERS: dict[str, Callable[[int, int], int]] = {
    "iadd": operator.add,
    "isub": operator.sub,
    "imul": operator.mul,
    "imin": min,
    "imax": max,
}
"""What arithmetic on indices gives where no number is too large."""


def arithmetic(name: str) -> Callable[..., Var]:
    """The Python function for arithmetic on indices of any types.

    The result is an index of the type that is the first argument. It may fall outside as long as it is
    only compared, or computed with, as in ``imod(n, isub(n, i, j))``.
    """
    op, on = ops.by_name[name], _ON_NUMBERS[name]

    def function(index: object, i: object, j: object) -> Var:
        t = _index_type(index, name)
        trace = current()
        (a, low_i, high_i), (b, low_j, high_j) = (_whole_number(trace, x, name) for x in (i, j))
        ends = [on(x, y) for x in (low_i, high_i) for y in (low_j, high_j)]
        low, high = min(ends), max(ends)
        return _narrowed(trace, trace.builder.binary(op.code, a, b, _ANY), t, low, high, name)

    function.__name__ = function.__qualname__ = name
    return function


def _index_type(index: object, what: str, least: int = 0) -> Fin:
    t = None if isinstance(index, Value) else as_type(index)
    if not isinstance(t, Fin) or t.size < least:
        of_least = f" of {least} or more" if least else ""
        raise TypeError(f"{what}: expected a size{of_least}, got {describe(index)}")
    return t


Whole = tuple[int, int, int]
"""The id of a whole number, and the least and largest that it can be."""


def _whole_number(trace: Trace, x: object, what: str) -> Whole:
    """An index of any type, a literal, or a number that is to be an index."""
    if isinstance(x, Loose) and x.low >= -LARGEST:
        if x.high < LARGEST:
            return _number(x), x.low, x.high
        if x.low >= 0:  # products and sums that are too large are as large as an index can be
            small = fin(LARGEST - 1)
            return check("bound", trace, _number(x), small, x.name, OUT_OF_RANGE), x.low, LARGEST - 2
    if isinstance(x, Var) and isinstance(x._type, Fin):
        return *use(x), 0, max(x._type.size - 1, 0)  # type: ignore[return-value]
    value = whole(x)
    if value is None:
        advice = "; real(i) is an index as a Real" if isinstance(x, Var) and x._type is REAL else ""
        raise TypeError(f"{what}: expected an index, got {describe(x)}{advice}")
    if not -LARGEST <= value < LARGEST:
        raise IndexError(f"{what}: {value} is out of range, expected -{LARGEST} <= i < {LARGEST}")
    return trace.builder.const(value, _ANY), value, value


def _plus(trace: Trace, v: int, more: int, op: str = "iadd") -> int:
    """The whole number with the id ``v``, and so much more; less for ``isub``."""
    return trace.builder.binary(ops.code(op), v, trace.builder.const(more, _ANY), _ANY) if more else v


def _number(x: Loose) -> int:
    """The id of the number that is not checked yet, in the function being defined."""
    trace = current()
    check_scope(x._trace, x._block, f"a symbolic {x._type}")
    return x.number if x._trace is trace else trace.capture(x._trace, x.number)


def _narrowed(trace: Trace, v: int, t: Fin, low: int, high: int, name: str) -> Var:
    """The number ``v`` as an index of type ``t``: checked where it is used, unless it is known to be one."""
    if low < 0 or high >= t.size:
        return Loose(trace, v, t, low, high, name)
    return Var(trace, _as_index(trace, v, t), t)


def _as_index(trace: Trace, v: int, t: Fin) -> int:
    """The id of the number ``v``, which is known to be one, as a ``t``."""
    return trace.builder.binary(ops.code("narrow"), v, trace.builder.const(t.size, _ANY), t)


iadd, isub, imul, imin, imax = map(arithmetic, ("iadd", "isub", "imul", "imin", "imax"))


def chosen(trace: Trace, p: int, t: Fin, x: object, y: object) -> Var:
    """One of two indices or whole numbers, to be an index of type ``t``: only that one is checked."""
    (a, low_a, high_a), (b, low_b, high_b) = (_whole_number(trace, z, "select") for z in (x, y))
    a, b = (v if trace.func.type_of(v) is _ANY else _as_index(trace, v, _ANY) for v in (a, b))
    v = trace.builder.ternary(ops.code("select"), p, a, b, _ANY)
    return _narrowed(trace, v, t, min(low_a, low_b), max(high_a, high_b), "select")


def index(size: object, x: object) -> Var:
    """The number ``x`` (a Real, or an index of any type) as an index below ``size``.

    It is an error, found when it runs, if it is not a whole number or out of range.
    """
    t = _index_type(size, "index")
    trace = current()
    if isinstance(x, Var) and isinstance(x._type, Fin):
        v, low, high = _whole_number(trace, x, "index")
        return _narrowed(trace, v, t, low, high, "index")
    if not isinstance(x, Value):
        (v,) = lift(trace, exact(x), t, "index")
        return Var(trace, v, t)
    (v,) = lift(trace, x, REAL, "index")
    return Var(trace, check("index", trace, v, t, "index", NO_INDEX), t)


def check(op: str, trace: Trace, v: int, t: Fin, name: str, complaint: str) -> int:
    """The id of ``v`` as a ``t``; where it is none, the complaint is the error, by the construct's name."""
    b = trace.builder
    note = b.const(Construct(name).note(complaint), NOTES)
    return b.ternary(ops.code(op), v, b.const(t.size, _ANY), note, t)


def real(i: object) -> Var:
    """The index ``i``, of any type, as a Real."""
    trace = current()
    v, _, _ = _whole_number(trace, i, "real")
    return Var(trace, trace.builder.unary(ops.code("real"), v), REAL)


_ANY = fin(LARGEST)
"""Any whole number, whatever its index type."""

NOTES = _ANY
"""The type of the number of a note."""


def imod(index: object, i: object) -> Var:
    """The index ``i``, of any type, modulo the size of ``index``."""
    t = _index_type(index, "imod")
    trace = current()
    v, low, _ = _whole_number(trace, i, "imod")
    size = max(t.size, 1)
    a = _plus(trace, v, -min(low // size, 0) * size)  # of a multiple more, not negative, the rest is the same
    rest = trace.builder.binary(ops.code("imod"), a, trace.builder.const(size, _ANY), t if t.size else _ANY)
    # no index is below 0, but in a loop that never runs one may be asked for
    return Var(trace, rest, t) if t.size else _narrowed(trace, rest, t, 0, 0, "imod")


def idiv(index: object, i: object, by: object) -> Var:
    """How many times the whole number ``by`` goes into the index ``i``, of any type, rounded down.

    The result is an index of the type that is the first argument, as of `arithmetic`.
    """
    t = _index_type(index, "idiv")
    size = _index_type(by, "idiv", least=1).size
    trace = current()
    v, low, high = _whole_number(trace, i, "idiv")
    more = -min(low // size, 0)
    raised = _plus(trace, v, more * size)  # as the instruction is for what is not negative
    quotient = trace.builder.binary(ops.code("idiv"), raised, trace.builder.const(size, _ANY), _ANY)
    return _narrowed(trace, _plus(trace, quotient, more, "isub"), t, low // size, high // size, "idiv")
