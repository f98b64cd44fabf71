"""What a recording makes of functions by name: derivatives, and solutions of equations.

The bridge checks what they are given, and knows the types; what they do is said here, and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rose_core.language.ir import Func
from rose_core.language.types import Array, Struct, Type, leaves
from rose_core.operators.gradients import grad, hvp, linearize, value_and_grad
from rose_core.operators.jacobian import hessian, jacobian
from rose_core.operators.sparse import Sparse, sparse_hessian, sparse_jacobian
from rose_core.operators.taylor import jet
from rose_core.solvers.minimum import minimize
from rose_core.solvers.ode import odeint
from rose_core.solvers.quadrature import quad
from rose_core.solvers.roots import fixed_point, root
from rose_core.tracing.functions import Function
from rose_core.tracing.lifting import lift, parameters
from rose_core.tracing.trace import Trace


def declare(func: Func, name: str, f: Func) -> None:
    """Give ``func`` the signature of what ``name`` makes of ``f``.

    It takes what ``f`` takes besides its declared parameters after its own.
    """
    func.params = [*(leaf for t in func.param_types for leaf in leaves(t)), *_captured(f)]
    func.effects = f.effects
    if name == "jvp":
        func.derive_jvp(f)


def make(func: Func, name: str, f: Func, options: Mapping[str, Any]) -> Sparse | None:
    """Give ``func``, which was declared, its body.

    Of a sparse matrix that gives the elements, and what else there is to say of it is the result.
    """
    sparse = None
    func.params = []
    with Trace(func) as trace:  # which uses nothing from around it but what it is passed
        args = parameters(trace, func.param_types)
        given = Function(f, [(trace, trace.builder.param(t)) for t in _captured(f)])
        if name in _SPARSE:
            types = [*f.param_types, f.ret]
            written = [_written(t, order) for t, order in zip(types, options["written"], strict=True)]
            sparse = _SPARSE[name](given, options["argnums"], written)
            value, func.ret = sparse.values(*args), sparse.values.func.ret
        elif name in _SOLVERS:
            value = _SOLVERS[name](given, *args, **options)
        else:
            value = _OPERATORS[name](given, **options)(*args)
        func.blocks[0].results = lift(trace, value, func.ret, name)
    return sparse


def _captured(f: Func) -> list[Type]:
    """What a function takes besides its declared parameters."""
    return f.params[sum(len(leaves(t)) for t in f.param_types) :]


def _written(t: Type, order: Sequence[Any]) -> Type:
    """``t`` with the fields of its structs in this order: names, each with the order in that field."""
    if isinstance(t, Array):
        # not the one array that there is of equal types
        return Array(t.index, _written(t.elem, order))
    if isinstance(t, Struct):
        return Struct({name: _written(t.fields[name], inner) for name, inner in order})
    return t


def _push(f: Function) -> Callable[..., Any]:
    """The change of ``f`` along directions, which are as many more arguments."""
    count = len(f.func.param_types)
    return lambda *args: linearize(f)(*args[:count]).push(*args[count:])


def _quad(f: Function, a: Any, b: Any, *, signs: Sequence[int] = (0, 0), **options: Any) -> Any:
    """The integral of ``f``; of infinite bounds, which arguments of a function cannot be, there are signs."""
    low, high = (sign * math.inf if sign else x for sign, x in zip(signs, (a, b), strict=True))
    return quad(f, low, high, **options)


_OPERATORS: dict[str, Callable[..., Any]] = {
    "grad": grad,
    "valueAndGrad": value_and_grad,
    "hvp": hvp,
    "push": _push,
    "jacobian": jacobian,
    "hessian": hessian,
    "jet": jet,
}
_SOLVERS: dict[str, Callable[..., Any]] = {
    "root": root,
    "fixedPoint": fixed_point,
    "minimize": minimize,
    "quad": _quad,
    "odeint": odeint,
}
_SPARSE: dict[str, Callable[..., Sparse]] = {
    "sparseJacobian": sparse_jacobian,
    "sparseHessian": sparse_hessian,
}
