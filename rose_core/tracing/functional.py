"""Functions of functions with a derivative of their own, which closes over what those close over.

The derivative of an integral, of a root or of a minimum by what the given function uses from around it
is a formula, and no loop. `functional` defines such a thing by its value and by that formula, a
forward rule. What the given functions use from enclosing functions becomes arguments of it, so every
mode sees it, to any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rose_core.language.ir import Func, is_real
from rose_core.language.types import TAN, Array, Type, dual, leaves, map_scalars, replace_scalar
from rose_core.optimise.narrow import narrowed_from
from rose_core.tracing.declare import describe
from rose_core.tracing.functions import Capture, Function, captured, captured_type, function_of, signature
from rose_core.tracing.lifting import lift, parameters, wrap
from rose_core.tracing.trace import Trace, current


def functional(
    functions: Sequence[object],
    params: Sequence[object],
    ret: object,
    body: Callable[..., object],
    rule: Callable[..., object],
) -> Function:
    """``functional([f], [Real], Real, body, rule)``: ``body(f, x)``, with the derivative ``rule``.

    ``body`` gets the functions and then symbolic arguments, as the body of `fn` does. ``rule(y, f, x)``
    gets the value that ``body`` gives, the functions, and duals for the arguments; it gives the tangent of
    ``y``. In it `jvp` of one of the functions, or of one that is made of them, is a derivative along its
    arguments *and* along all that they use from around them, whose tangents it passes on by itself.

    Raises:
        TypeError: the result is not of Reals, or ``body`` or ``rule`` use values from around them.
    """
    fs = [_of_elements(function_of(f, "functional")) for f in functions]
    name = getattr(body, "__name__", "functional")
    types, result = signature(name, params, ret)
    tangents = tangent(result)
    captures = [c for f in fs for c in f.captures]
    of_captures = [captured_type(c) for c in captures]

    func = Func(name, types, result)
    # a trace of its own: what the functions use from around them, it gets as arguments
    with Trace(func) as trace:
        args = parameters(trace, types)
        params_of_f = iter([(trace, trace.builder.param(t)) for t in of_captures])
        inner = [Function(f.func, [next(params_of_f) for _ in f.captures]) for f in fs]
        func.blocks[0].results = lift(trace, body(*inner, *args), result, f"the result of {name}")
    func.jvp = _derivative(func, fs, tangents, rule)
    return Function(func, captures)


def _derivative(func: Func, fs: Sequence[Function], tangents: Type, rule: Callable[..., object]) -> Func:
    """The forward derivative of ``func``, a `functional` of these, by its ``rule``."""
    result = func.ret
    derivative = Func(f"jvp_{func.name}", [dual(t) for t in func.param_types], dual(result))
    first = len(func.params) - sum(len(f.captures) for f in fs)
    with Trace(derivative) as trace:
        b = trace.builder
        args = parameters(trace, derivative.param_types)
        for t in func.params[first:]:
            if is_real(t):
                b.param(replace_scalar(t, TAN))
            b.param(t)
        pairs: list[tuple[int | None, int]] = []  # the parameters are the first ids, one after the other
        at = 0
        for t in func.params:
            varies = is_real(t)
            pairs.append((at if varies else None, at + varies))
            at += 1 + varies
        given = pairs[first:]
        trace.tangents = {re: du for du, re in given if du is not None}
        rest = iter([(trace, re) for _, re in given])
        inner = [Function(f.func, [next(rest) for _ in f.captures]) for f in fs]
        primals = [re for _, re in pairs]
        call = b.call(func, primals)
        y = [b.get(call, k) for k in range(len(leaves(result)))]
        dy = lift(trace, rule(wrap(trace, y, result), *inner, *args), tangents, f"the tangent of {func.name}")
        derivative.blocks[0].results = [v for pair in zip(dy, y, strict=True) for v in pair]
    return derivative


def tangent(t: Type, what: str = "functional") -> Type:
    """The type of the tangents of a type of Reals."""

    def of(scalar: Type) -> Type:
        if not is_real(scalar):
            raise TypeError(f"{what}: expected a result of Reals, got {describe(scalar)}")
        return TAN

    return map_scalars(t, of)


def _of_elements(f: Function) -> Function:
    """``f``, or the same that closes over elements of vectors of which it reads no others.

    So a rule is as long as what is used, and not as what it is used of.
    """
    while f.captures and not f.jvp and not any(isinstance(c, Type) for c in f.captures):
        declared = len(f.func.params) - len(f.captures)
        narrow = narrowed_from(f.func, declared)
        if narrow is None:
            break
        trace = current()
        given = dict(enumerate(captured(trace, f), declared))
        kept: list[Capture] = [f.captures[k - declared] for k in narrow.kept if k >= declared]
        for number, i in narrow.rows:
            of = f.func.params[number]
            assert isinstance(of, Array)
            index = given[i] if i >= 0 else trace.builder.const(~i, of.index)
            kept.append((trace, trace.builder.index(given[number], index)))
        f = Function(narrow.func, kept)
    return f
