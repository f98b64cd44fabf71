"""Jacobians and Hessians: a loop over unit vectors, along each of which goes one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rose_core.language.types import REAL
from rose_core.operators.gradients import Selection, derived, of_any_size, push
from rose_core.tracing.declare import describe
from rose_core.tracing.functions import Function, vjp
from rose_core.tracing.generic import Generic
from rose_core.tracing.places import at, count, each, need_reals, over, unit

MODES = ("auto", "forward", "reverse")


def jacobian(f: Function | Generic, argnums: int | Sequence[int] = 0, *, mode: str = "auto") -> Any:
    """The Jacobian of ``f``: in place of every Real of the result, its gradient.

    So ``jacobian(f)(x)[i][j]`` is by how much element ``i`` changes with element ``j`` of the argument. In
    ``"forward"`` mode there is a pass for each Real of the argument, in ``"reverse"`` one for each of the
    result; otherwise the fewer decide.
    """
    if mode not in MODES:
        raise ValueError(f'jacobian: expected "auto", "forward" or "reverse" as mode, got {describe(mode)}')

    return of_any_size(f, "jacobian", lambda f: _jacobian(f, argnums, mode, "jacobian"))


def hessian(f: Function | Generic, argnums: int | Sequence[int] = 0) -> Any:
    """The Hessian of ``f``: in place of every Real of its gradient, the gradient of that.

    Of a function that gives more than a Real, there is one for each Real.
    """

    def make(f: Function) -> Function:
        made = _jacobian(_jacobian(f, argnums, "reverse", "hessian"), argnums, "forward", "hessian")
        made.func.name = made.__name__ = f"hessian_{f.func.name}"
        return made

    return of_any_size(f, "hessian", make)


def _jacobian(f: Function, argnums: int | Sequence[int], mode: str, what: str) -> Function:
    by = Selection(f, argnums, what)
    ret = f.func.ret
    need_reals(ret, f"{what}: the result of {f.func.name}")
    forward = mode == "forward" or (mode == "auto" and count(by.type) <= count(ret))
    body = (_forward if forward else _reverse)(f, by)
    return derived(f, "jacobian", f.func.param_types, over(ret, by.type), body)


def _reverse(f: Function, by: Selection) -> Any:
    def rows(*args: Any) -> Any:
        pullback = vjp(f)(*args)
        ret, y = f.func.ret, pullback.ret
        return each(ret, by.type, lambda place: by.pulled(pullback, unit(ret, place, y)), y)

    return rows


def _forward(f: Function, by: Selection) -> Any:
    ret = f.func.ret

    def rows(*args: Any) -> Any:
        x = by.of(args)

        def column(place: Any) -> Any:
            return push(f, args, by.scattered(unit(by.type, place, x)))[1]

        columns = each(by.type, ret, column, x)
        y = f(*args)
        return each(ret, by.type, lambda i: each(by.type, REAL, lambda j: at(at(columns, j), i), x), y)

    return rows
