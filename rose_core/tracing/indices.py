"""Arithmetic and comparisons on indices, which are whole numbers until they are used as indices."""

from __future__ import annotations

import operator
from collections.abc import Callable

from rose_core.errors import NO_INDEX, OUT_OF_RANGE
from rose_core.language import ops
from rose_core.language.types import BOOL, LARGEST, REAL, Fin, fin
from rose_core.tracing.declare import as_type, describe, exact, whole
from rose_core.tracing.lifting import lift, use
from rose_core.tracing.symbols import Loose, Value, Var
from rose_core.tracing.trace import ANY, Trace, current


def as_size(index: object, what: str, least: int = 0) -> Fin:
    """The index type that an author means by an argument of ``what``, a size of at least ``least``."""
    t = None if isinstance(index, Value) else as_type(index)
    if not isinstance(t, Fin) or t.size < least:
        of_least = f" of {least} or more" if least else ""
        raise TypeError(f"{what}: expected a size{of_least}, got {describe(index)}")
    return t


def index_operation(name: str) -> Callable[..., Var]:
    """The Python function that compares indices, of any types, and whole numbers.

    A literal may be any, as in ``i < 3`` where a size, which only a call tells, is 2.
    """
    op = ops.by_name[name]

    def function(index: object, i: object, j: object) -> Var:
        as_size(index, name)
        trace = current()
        a, b = (_whole_number(trace, x, name)[0] for x in (_near(i, j), _near(j, i)))
        return Var(trace, trace.builder.binary(op.code, a, b, BOOL), BOOL)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}(n, i, j)``, a Bool: ``{name[1:]}`` of two indices, of any types."
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
        t = as_size(index, name)
        trace = current()
        (a, low_i, high_i), (b, low_j, high_j) = (_whole_number(trace, x, name) for x in (i, j))
        ends = [on(x, y) for x in (low_i, high_i) for y in (low_j, high_j)]
        low, high = min(ends), max(ends)
        if low < -LARGEST and name in ("iadd", "isub"):
            b = _limited(trace, name, a, b)
        return _narrowed(trace, trace.builder.binary(op.code, a, b, ANY), t, low, high, name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"``{name}(n, i, j)``, an index below ``n``: ``{name[1:]}`` of two indices, of any types."
    )
    return function


def _limited(trace: Trace, name: str, a: int, b: int) -> int:
    """``b``, or else as much as leaves of ``a``, a sum or difference, the least number that there is.

    A smaller one would come out as a large one, and might be an index.
    """
    least = trace.builder.const(-LARGEST, ANY)

    def of(op: str, x: int, y: int) -> int:
        return trace.builder.binary(ops.code(op), x, y, ANY)

    if name == "iadd":
        return of("imax", b, of("isub", least, of("imin", a, trace.builder.const(0, ANY))))
    return of("imin", b, of("isub", of("imin", a, trace.builder.const(-1, ANY)), least))


iadd, isub, imul, imin, imax = map(arithmetic, ("iadd", "isub", "imul", "imin", "imax"))


def imod(index: object, i: object) -> Var:
    """The index ``i``, of any type, modulo the size of ``index``."""
    t = as_size(index, "imod")
    trace = current()
    v, low, _ = _whole_number(trace, i, "imod")
    size = max(t.size, 1)
    a = _plus(trace, v, -min(low // size, 0) * size)  # of a multiple more, not negative, the rest is the same
    rest = trace.builder.binary(ops.code("imod"), a, trace.builder.const(size, ANY), t if t.size else ANY)
    # no index is below 0, but in a loop that never runs one may be asked for
    return Var(trace, rest, t) if t.size else _narrowed(trace, rest, t, 0, 0, "imod")


def idiv(index: object, i: object, by: object) -> Var:
    """How many times the whole number ``by`` goes into the index ``i``, of any type, rounded down.

    The result is an index of the type that is the first argument, as of `arithmetic`.
    """
    t = as_size(index, "idiv")
    size = as_size(by, "idiv", least=1).size
    trace = current()
    v, low, high = _whole_number(trace, i, "idiv")
    more = -min(low // size, 0)
    raised = _plus(trace, v, more * size)  # as the instruction is for what is not negative
    quotient = trace.builder.binary(ops.code("idiv"), raised, trace.builder.const(size, ANY), ANY)
    return _narrowed(trace, _plus(trace, quotient, more, "isub"), t, low // size, high // size, "idiv")


def index(size: object, x: object) -> Var:
    """The number ``x`` (a Real, or an index of any type) as an index below ``size``.

    It is an error, found when it runs, if it is not a whole number or out of range.
    """
    t = as_size(size, "index")
    trace = current()
    if isinstance(x, Var) and isinstance(x._type, Fin):
        v, low, high = _whole_number(trace, x, "index")
        return _narrowed(trace, v, t, low, high, "index")
    if not isinstance(x, Value):
        (v,) = lift(trace, exact(x), t, "index")
        return Var(trace, v, t)
    (v,) = lift(trace, x, REAL, "index")
    return Var(trace, trace.check("index", v, t, "index", NO_INDEX), t)


def real(i: object) -> Var:
    """The index ``i``, of any type, as a Real."""
    trace = current()
    v, _, _ = _whole_number(trace, i, "real")
    return Var(trace, trace.builder.unary(ops.code("real"), v), REAL)


def chosen(trace: Trace, p: int, t: Fin, x: object, y: object) -> Var:
    """One of two indices or whole numbers, to be an index of type ``t``: only that one is checked."""
    (a, low_a, high_a), (b, low_b, high_b) = (_whole_number(trace, z, "select") for z in (x, y))
    a, b = (v if trace.func.type_of(v) is ANY else trace.builder.narrow(v, ANY) for v in (a, b))
    v = trace.builder.ternary(ops.code("select"), p, a, b, ANY)
    return _narrowed(trace, v, t, min(low_a, low_b), max(high_a, high_b), "select")


Whole = tuple[int, int, int]
"""The id of a whole number, and the least and largest that it can be."""


def _whole_number(trace: Trace, x: object, what: str) -> Whole:
    """An index of any type, a literal, or a number that is to be an index."""
    if isinstance(x, Loose) and x.low >= -LARGEST:
        if x.high < LARGEST:
            return x.unchecked(), x.low, x.high
        if x.low >= 0:  # products and sums that are too large are as large as an index can be
            small = fin(LARGEST - 1)
            return trace.check("bound", x.unchecked(), small, x.name, OUT_OF_RANGE), x.low, LARGEST - 2
    if isinstance(x, Var) and isinstance(x._type, Fin):
        return *use(x), 0, max(x._type.size - 1, 0)  # type: ignore[return-value]
    value = whole(x)
    if value is None:
        advice = "; real(i) is an index as a Real" if isinstance(x, Var) and x._type is REAL else ""
        raise TypeError(f"{what}: expected an index, got {describe(x)}{advice}")
    if not -LARGEST <= value < LARGEST:
        raise IndexError(f"{what}: {value} is out of range, expected -{LARGEST} <= i < {LARGEST}")
    return trace.builder.const(value, ANY), value, value


def _plus(trace: Trace, v: int, more: int, op: str = "iadd") -> int:
    """The whole number with the id ``v``, and so much more; less for ``isub``."""
    return trace.builder.binary(ops.code(op), v, trace.builder.const(more, ANY), ANY) if more else v


def _narrowed(trace: Trace, v: int, t: Fin, low: int, high: int, name: str) -> Var:
    """The number ``v`` as an index of type ``t``: checked where it is used, unless it is known to be one."""
    if low < 0 or high >= t.size:
        return Loose(trace, v, t, low, high, name)
    return Var(trace, trace.builder.narrow(v, t), t)
