"""Forward derivatives as functions on duals, whose tangents may be given as numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rose_core.language.ir import Func, is_real
from rose_core.language.types import TAN, Array, Struct, Type, dual, numbers, real, replace_scalar, scalar_of
from rose_core.tracing.declare import elements, fields_of
from rose_core.tracing.functions import Capture, Function, captured_type, function_of
from rose_core.tracing.generic import Generic
from rose_core.tracing.symbols import Value, zero


def jvp(f: Function | Generic) -> Any:
    """The forward derivative of ``f``: the same function on duals (paper, Section 4.2).

    A call in which no tangent is one has Reals in their place, and gives Reals.
    """
    if isinstance(f, Generic):
        return Generic(f"jvp_{f.__name__}", f.params, f.sizes, lambda: jvp(f.instance(f.now())))
    function = function_of(f, "jvp")
    func = _derivative(function.func, "jvp of", lambda t: t)
    return _Forward(func, _captures(function), function)


def on_numbers(f: Function) -> Function:
    """The forward derivative of ``f`` with numbers for tangents; what it captures does not vary."""
    func = _derivative(f.func, "jvp on numbers", numbers)
    captures: list[Capture] = []
    for capture in f.captures:
        t = captured_type(capture)
        if is_real(t):
            captures.append(real(t))
        captures.append(capture)
    return Function(func, captures)


class _Forward(Function):
    """The forward derivative of a function."""

    def __init__(self, func: Func, captures: list[Capture], of: Function) -> None:
        super().__init__(func, captures)
        self._of = of

    def __call__(self, *given: object, **named: object) -> object:
        args = self.ordered(given, named)
        captured = (captured_type(c) for c in self.captures if isinstance(c, tuple))
        typed = zip(self.func.param_types, args, strict=False)
        if any(scalar_of(t) is TAN for t in captured) or any(has_tangent(t, x) for t, x in typed):
            return super().__call__(*args)
        return on_numbers(self._of)(*args)


def has_tangent(t: Type, x: object) -> bool:
    """Whether ``x``, taken as a ``t``, has a tangent where that has one."""
    if t is TAN:
        return x is zero() or (isinstance(x, Value) and x._type is TAN)
    if numbers(t) == t:
        return False
    if isinstance(x, Value):
        return x._type == t
    if isinstance(t, Struct):
        fields = fields_of(x) or {}
        return any(has_tangent(u, fields.get(name)) for name, u in t.fields.items())
    return isinstance(t, Array) and any(has_tangent(t.elem, elem) for elem in elements(x) or ())


def _derivative(g: Func, key: str, typed: Callable[[Type], Type]) -> Func:
    """The place-holder of the derivative of ``g``, made once."""
    func = g.memo.get(key)
    if not isinstance(func, Func):
        params = [typed(dual(t)) for t in g.param_types]
        func = g.memo[key] = Func(f"jvp_{g.name}", params, typed(dual(g.ret)))
        func.param_names = list(g.param_names)
        func.derive_jvp(g)
    return func


def _captures(function: Function) -> list[Capture]:
    """What the forward derivative of ``function`` is passed for what that uses of enclosing functions.

    The derivative is by the arguments, so the tangents are zero; but the rule of a `functional` says
    what they are.
    """
    found: list[Capture] = []
    for capture in function.captures:
        if isinstance(capture, Type):
            t, tangent = capture, None
        else:
            owner, v = capture
            t, tangent = owner.func.type_of(v), owner.tangents.get(v)
        if is_real(t):
            found.append(replace_scalar(t, TAN) if tangent is None else (owner, tangent))
        found.append(capture)
    return found
