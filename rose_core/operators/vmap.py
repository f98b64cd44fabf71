"""`vmap`: a function on many arguments at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rose_core.language.types import array, fin
from rose_core.operators.gradients import derived
from rose_core.tracing.constructs import vec
from rose_core.tracing.declare import describe
from rose_core.tracing.functions import Function, function_of
from rose_core.tracing.generic import Generic
from rose_core.tracing.sizes import OpenVec, Size


def vmap(f: Function | Generic, in_axes: int | Sequence[int | None] = 0, size: str = "batch") -> Generic:
    """``f`` on a vector of each of its arguments, element by element.

    It is generic in how many there are, of the name ``size``. ``in_axes`` has for each argument 0, or None
    for one that all elements share.
    """
    generic = f if isinstance(f, Generic) else None
    params: Sequence[Any] = f.params if isinstance(f, Generic) else function_of(f, "vmap").func.param_types
    axes = [0] * len(params) if type(in_axes) is int and in_axes == 0 else in_axes
    if (
        not isinstance(axes, (list, tuple))
        or len(axes) != len(params)
        or any(axis is not None and axis != 0 for axis in axes)
        or all(axis is None for axis in axes)
    ):
        raise TypeError(
            f"vmap: expected 0, or 0 or None for each of {len(params)} arguments and not None for all, "
            f"got {describe(in_axes)}"
        )
    mapped = [axis == 0 for axis in axes]
    known = generic.sizes if generic else ()
    if not isinstance(size, str) or not size.isidentifier():
        raise TypeError(f"vmap: expected a name for the size, got {describe(size)}")
    if any(other.name == size for other in known):
        raise TypeError(f"vmap: {f.__name__} has a size {size} already; give another name")
    batch = Size(size)

    def make() -> Function:
        g = f.instance(f.now()) if isinstance(f, Generic) else f
        n, ret = fin(batch.__index__()), g.func.ret

        def body(*args: Any) -> object:
            def element(i: Any) -> object:
                return g(*(x[i] if each else x for x, each in zip(args, mapped, strict=True)))

            return vec(n, ret, element)

        types = [array(n, t) if each else t for t, each in zip(g.func.param_types, mapped, strict=True)]
        return derived(g, "vmap", types, array(n, ret), body)

    open_types = [OpenVec(batch, t) if each else t for t, each in zip(params, mapped, strict=True)]
    return Generic(f"vmap_{f.__name__}", open_types, [*known, batch], make)
