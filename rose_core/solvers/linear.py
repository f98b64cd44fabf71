"""Dense systems of linear equations, by elimination with pivots."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rose_core.language.types import REAL, TAN, Array, Struct, Type, array, fin
from rose_core.operators.forward import jvp
from rose_core.tracing.constructs import select, sum, vec
from rose_core.tracing.control import fori
from rose_core.tracing.functional import functional
from rose_core.tracing.functions import Function
from rose_core.tracing.indices import index_operation
from rose_core.tracing.operations import operation

_abs, _max, _gt, _and = map(operation, ("abs", "max", "gt", "and"))
_ieq, _igt = map(index_operation, ("ieq", "igt"))

_SMALL = 1e-15
"""A pivot that is so small, compared with what was in its column at first, is what rounding left of 0."""


def matrix(n: int, m: int) -> Type:
    """The type of matrices of ``n`` rows and ``m`` columns."""
    return array(fin(n), array(fin(m), REAL))


def unit(n: int, i: Any) -> Any:
    """The vector of ``n`` numbers that is 1 at ``i`` and 0 elsewhere."""
    return vec(n, REAL, lambda j: select(_ieq(n, i, j), 1.0, 0.0))


def solve(n: int, m: int, a: Any, b: Any) -> Any:
    """``x`` with ``a x = b``, where ``a`` has ``n`` columns and ``b`` ``m``; NaN if ``a`` is singular."""
    state = Struct({"a": matrix(n, n), "b": matrix(n, m), "pivots": array(fin(n), REAL)})
    sizes: Any = vec(n, REAL, lambda i: fori(n, REAL, 0.0, lambda j, most: _max(most, _abs(a[i][j]))))

    def scaled(x: Any, columns: int) -> Any:
        """An equation may be written in other units than the next one."""
        return vec(n, array(fin(columns), REAL), lambda i: vec(columns, REAL, lambda j: x[i][j] / sizes[i]))

    def eliminate(k: Any, s: Any) -> dict[str, Any]:
        def better(i: Any, p: Any) -> object:
            return select(_and(_igt(n, i, k), _gt(_abs(s.a[i][k]), _abs(s.a[p][k]))), fin(n), i, p)

        p = fori(n, fin(n), k, better)
        largest: Any = fori(n, REAL, 0.0, lambda i, most: _max(most, _abs(first["a"][i][k])))
        pivot = select(_abs(s.a[p][k]) > _SMALL * largest, s.a[p][k], math.nan)

        def swapped(x: Any) -> Any:
            return x.set(p, x[k]).set(k, x[p])

        left, right = swapped(s.a), swapped(s.b)

        def without(i: Any, x: Any, columns: int) -> Any:
            """Row ``i`` less what row ``k`` takes away, which itself stays as it is."""
            factor = select(_ieq(n, i, k), 0.0, left[i][k] / pivot)
            return vec(columns, REAL, lambda j: x[i][j] - factor * x[k][j])

        return {
            "a": vec(n, array(fin(n), REAL), lambda i: without(i, left, n)),
            "b": vec(n, array(fin(m), REAL), lambda i: without(i, right, m)),
            "pivots": s.pivots.set(k, pivot),
        }

    first = {"a": scaled(a, n), "b": scaled(b, m), "pivots": vec(n, REAL, lambda _: 0.0)}
    end: Any = fori(n, state, first, eliminate)
    return vec(n, array(fin(m), REAL), lambda i: vec(m, REAL, lambda j: end.b[i][j] / end.pivots[i]))


def inverse(slopes: Function, x: Any) -> Any:
    """The inverse of ``slopes(x)``, a square matrix; NaN if it is singular.

    Its derivative, -a⁻¹ da a⁻¹, is made of the inverse, and not of what led there. As it is that of a
    function of ``x``, the inverse at one place serves the derivatives in all directions.
    """
    (t,), square = slopes.func.param_types, slopes.func.ret
    assert isinstance(square, Array)
    n = square.size

    def eliminated(slopes: Function, x: Any) -> Any:
        return solve(n, n, slopes(x), vec(n, array(fin(n), REAL), lambda i: unit(n, i)))

    def rule(back: Any, slopes: Function, x: Any) -> Any:
        row = array(fin(n), TAN)
        change: Any = jvp(slopes)(x)

        def product(term: Callable[[Any, Any, Any], Any]) -> Any:
            return vec(n, row, lambda i: vec(n, TAN, lambda k: sum(n, lambda j: term(i, j, k))))

        right = product(lambda i, j, k: change[i][j].du * back[j][k])
        return product(lambda i, j, k: right[j][k] * -back[i][j])

    return functional([slopes], [t], square, eliminated, rule)(x)
