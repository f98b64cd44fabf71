"""The gradient and the Hessian of a function as functions of the same arguments."""

from __future__ import annotations

from typing import Any

from rose_core.language.types import REAL, Array, Struct, Type
from rose_core.tracing.constructs import select, vec
from rose_core.tracing.declare import Vec
from rose_core.tracing.functions import Function, fn, vjp
from rose_core.tracing.indices import real
from rose_core.tracing.operations import operation
from rose_core.tracing.places import count
from rose_core.tracing.values import names_of

_equal = operation("eq")


def gradient(f: Function) -> Function:
    """The gradient of ``f``, which gives a Real.

    It is a value of the parameter's type; of several parameters, a struct of those that hold Reals, by
    their names. What is not Real has no derivative, and stands there as it is.

    Raises:
        TypeError: ``f`` gives something else, or takes no Reals.
    """
    func = f.func
    if func.ret is not REAL:
        raise TypeError(
            f"{func.name} gives {func.ret}; only what gives a Real has a gradient: use jacobian({func.name})"
        )
    if not _by_name(f):
        raise TypeError(f"{func.name} takes no Real, so it has no gradient")
    return _like(f, "gradient", _gradient_type(f), lambda *args: _named(f, vjp(f)(*args).grad(1)))


def hessian(f: Function) -> Function:
    """The Hessian of ``f``: a vector of the derivatives of its gradient by each Real of its arguments.

    The Reals count in the order in which they are written: arguments from left to right, fields as
    declared, elements from the first on.
    """
    g = gradient(f)
    types = f.func.param_types
    row = g.func.ret
    size = sum(map(count, types))

    def body(*args: Any) -> object:
        pullback = vjp(g)(*args)

        def derivative(k: Any) -> object:
            units, start = [], 0
            for x, t in zip(args, types, strict=True):
                units.append(_unit(x, t, start, real(k)))
                start += count(t)
            # of a symmetric matrix, a row is a column
            return _named(f, pullback.grad(_named(f, units[0] if len(units) == 1 else tuple(units))))

        return vec(size, row, derivative)

    return _like(f, "hessian", Vec(size, row), body)


def _like(f: Function, name: str, ret: Type, body: Any) -> Function:
    """A function with the parameters of ``f``."""
    made: Function = fn(f.func.param_types, ret, body)
    made.func.name = name
    made.func.param_names = names_of(f.func)
    made.defaults = f.defaults
    return made


def _by_name(f: Function) -> dict[str, int]:
    """The numbers of the parameters that hold Reals, by name."""
    types = f.func.param_types
    return {name: k for k, name in enumerate(names_of(f.func)) if count(types[k])}


def _gradient_type(f: Function) -> Type:
    types = f.func.param_types
    return types[0] if len(types) == 1 else Struct({name: types[k] for name, k in _by_name(f).items()})


def _named(f: Function, values: Any) -> object:
    """A value per parameter, as `gradient` gives them."""
    if len(f.func.param_types) == 1:
        return values
    return {name: values[k] for name, k in _by_name(f).items()}


def _unit(x: Any, t: Type, start: Any, k: Any) -> object:
    """A value of the type of ``x`` whose Real number ``k`` is 1 and whose others are 0.

    Its own Reals count from ``start``; what is not Real is as in ``x``.
    """
    if t is REAL:
        return select(_equal(k, start), REAL, 1, 0)
    if isinstance(t, Array):
        elem, width = t.elem, count(t.elem)
        return vec(t.size, elem, lambda i: _unit(x[i], elem, real(i) * width + start, k))
    if isinstance(t, Struct):
        found = {}
        for name, field in t.fields.items():
            found[name] = _unit(x[name], field, start, k)
            start = start + count(field)
        return found
    return x
