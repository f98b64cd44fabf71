"""`jet`: the Taylor series of a function."""

from __future__ import annotations

from typing import Any

from rose_core.language.ir import Func
from rose_core.language.types import array, fin
from rose_core.operators.gradients import of_any_size
from rose_core.tracing.declare import describe, whole
from rose_core.tracing.functions import Function
from rose_core.tracing.generic import Generic
from rose_core.tracing.sizes import OpenVec


def jet(f: Function | Generic, order: int) -> Any:
    """``f`` on Taylor series up to ``order``.

    It takes for each argument, and gives, a vector of ``order + 1`` coefficients, each of the type that the
    value has: ``x[0] + x[1] t + x[2] t² + …``. So the derivative of order ``k`` is ``k!`` times
    ``jet(f, k)([x, 1, 0, …])[k]``. What is not Real is taken from the first, and given in each.
    """
    degree = whole(order)
    if degree is None or not 0 <= degree < 1000:
        raise ValueError(f"jet: expected an order from 0 to 999, got {describe(order)}")
    terms = fin(degree + 1)

    def make(f: Function) -> Function:
        g = f.func
        key = ("jet", degree)
        func = g.memo.get(key)
        if not isinstance(func, Func):
            params = [array(terms, t) for t in g.param_types]
            func = g.memo[key] = Func(f"jet_{g.name}", params, array(terms, g.ret))
            func.param_names = list(g.param_names)
            func.derive_jet(g, degree)
        return Function(func, f.captures)

    return of_any_size(f, "jet", make, lambda params: [OpenVec(terms, t) for t in params])
