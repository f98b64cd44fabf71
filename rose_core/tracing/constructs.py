"""Choices, vectors and sums of symbolic values, which stay loops and choices."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from rose_core.language import ops
from rose_core.language.types import BOOL, REAL, TAN, UNIT, Fin, Type, array, leaves
from rose_core.tracing.control import fori
from rose_core.tracing.declare import describe, type_for
from rose_core.tracing.indices import chosen, iadd
from rose_core.tracing.lifting import lift, symbolic, type_of, wrap
from rose_core.tracing.operations import operation
from rose_core.tracing.symbols import Loose, Value, Var, VecValue, zero
from rose_core.tracing.trace import current


def select(p: object, *choice: object) -> object:
    """``select(p, T, a, b)``: ``a`` where ``p`` holds, else ``b``, both of type ``T``.

    ``select(p, a, b)`` finds the type out: that of the symbolic one of the two, of indices the larger type.
    """
    if len(choice) == 2:
        choice = (_common(*choice), *choice)
    if len(choice) != 3:
        raise TypeError("select takes a Bool, a type and two values")
    t = type_for("select", choice[0])
    trace = current()
    (c,) = lift(trace, p, BOOL, "the condition of select")
    if isinstance(t, Fin) and any(isinstance(x, Loose) for x in choice[1:]):
        return chosen(trace, c, t, choice[1], choice[2])
    a, b = [lift(trace, choice[k], t, f"side {k} of select") for k in (1, 2)]
    code = ops.code("select")
    ids = [trace.builder.ternary(code, c, x, y, u) for x, y, u in zip(a, b, leaves(t), strict=True)]
    return wrap(trace, ids, t)


def _common(a: object, b: object) -> Type:
    """The type of two values, of which an author says none."""
    known = [x._type for x in (a, b) if isinstance(x, Value)]
    if len(known) == 2 and isinstance(known[0], Fin) and isinstance(known[1], Fin):
        return max(known, key=lambda t: t.size)  # type: ignore[attr-defined]
    return known[0] if known else type_of(a, "select")


def vec(index: object, elem: object, body: Callable[[Var], object] | Sequence[object]) -> object:
    """The vector of ``body(i)`` for every ``i`` of the index type, where ``body`` runs once, ``i`` symbolic;
    or the elements of a sequence as a vector, which can be read at symbolic indices."""
    size, t = type_for("vec", index), type_for("vec", elem)
    if not isinstance(size, Fin):
        raise TypeError(f"vec: expected a size, got {describe(index)}")
    if not callable(body):
        return symbolic(body, array(size, t), "vec")
    trace = current()
    b = trace.builder
    i = b.open_for(size)
    depth = len(b.open)
    try:
        ids = lift(trace, body(Var(trace, i, size)), t, "the body of vec")
    except BaseException:
        del b.open[depth - 1 :]
        raise
    loop = b.close_for(ids)
    return wrap(trace, [b.get(loop, k) for k in range(len(ids))], array(size, t))


def sum(index: object, body: Callable[[Var], object] | None = None, *, start: object = None) -> Any:
    """The sum of ``body(i)`` over every ``i`` of the index type, from 0 up: of Reals, or of tangents.

    Without a body the sum of a vector's elements, or what Python's own ``sum`` gives, from a start too.
    """
    if body is None and start is None and isinstance(index, VecValue):
        return sum(len(index), index.__getitem__)
    if not callable(body):
        start = body if start is None else start
        if start is None or hasattr(index, "__iter__"):
            return builtins.sum(index, 0 if start is None else start)  # type: ignore[call-overload]
        raise TypeError(f"sum: expected a function of the index, got {describe(body)}")
    trace = current()
    b = trace.builder
    around = b.open[-1]
    totals = []

    def add_term(i: Var) -> None:
        x = body(i)
        t = TAN if x is zero() or (isinstance(x, Var) and x._type is TAN) else REAL
        (term,) = lift(trace, x, t, "the body of sum")
        totals.append((b.accum(b.const(0.0, t), around), t))
        b.add_to(totals[0][0], term)

    vec(index, UNIT, add_term)
    total, t = totals[0]
    return Var(trace, b.resolve(total), t)


def extreme(name: str) -> Callable[..., Any]:
    """``max`` or ``min``: of Reals as many as there are, of a vector's, or of those that something gives.

    Where there are neither symbols nor floats, it is Python's own.
    """
    of_two, own = operation(name), getattr(builtins, name)

    def function(*args: Any, **options: Any) -> Any:
        values = args
        if len(args) == 1:
            (v,) = args
            if isinstance(v, VecValue) and len(v) > 2 and not options:
                return fori(len(v) - 1, REAL, v[0], lambda i, x: of_two(x, v[iadd(len(v), i, 1)]))
            if isinstance(v, Var):
                raise TypeError(f"{name}: expected two Reals or more, or a vector, got {describe(v)}")
            values = tuple(v)
            args = (values,)
        if "key" in options or not any(isinstance(x, (Value, float)) for x in values):
            return own(*args, **options)
        return reduce(of_two, values)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The {name} of some Reals, or of the elements of a vector or a list."
    return function
