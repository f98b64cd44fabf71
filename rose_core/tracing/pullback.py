"""Reverse derivatives as an author has them: a value, and what takes a cotangent of it back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rose_core.language.ir import Func, is_real
from rose_core.language.types import leaves
from rose_core.tracing.functions import Function, function_of, lift_args, results_of
from rose_core.tracing.generic import Generic
from rose_core.tracing.lifting import lift, wrap
from rose_core.tracing.trace import Trace, current


class Pullback:
    """What `vjp` gives: the value ``ret``, and ``grad`` from a cotangent of it to one of the arguments."""

    __slots__ = ("_args", "_call", "_func", "_trace", "ret")

    def __init__(self, trace: Trace, func: Func, args: list[int]) -> None:
        self._trace = trace
        self._func = func
        self._args = args
        self._call = trace.builder.vjp(func, args)
        self.ret = results_of(trace, func, self._call)

    def grad(self, cotangent: object) -> object:
        """The vector-Jacobian product with ``cotangent``, which has the type of ``ret``.

        One value for a function of one parameter, else a tuple. What is not Real has no derivative;
        in its place stands the argument's own value.
        """
        values = self.grad_of(cotangent, range(len(self._func.param_types)))
        return values[0] if len(values) == 1 else tuple(values)

    def grad_of(self, cotangent: object, numbers: Sequence[int]) -> list[object]:
        """As `grad`, of the arguments with these numbers."""
        trace, f = self._trace, self._func
        if current() is not trace and current().reaches(trace):
            raise RuntimeError(
                f"the grad of {f.name} cannot be used in a function or a side of a cond, or in a loop with a "
                "state, that is inside of the one where vjp was called; use it before"
            )
        if current() is not trace or trace.builder.home[self._call] not in trace.builder.open:
            raise RuntimeError(f"the grad of {f.name} was used outside of the function or loop it belongs to")
        b = trace.builder
        cotangents = lift(trace, cotangent, f.ret, f"the cotangent of {f.name}")
        reals = [c for c, t in zip(cotangents, leaves(f.ret), strict=True) if is_real(t)]
        pull = b.pull(self._call, reals)
        given: list[list[int]] = []
        at = real = 0
        for number, t in enumerate(f.param_types):
            ids = []
            for leaf in leaves(t):
                ids.append(b.get(pull, real) if is_real(leaf) and number in numbers else self._args[at])
                real += is_real(leaf)
                at += 1
            given.append(ids)
        return [wrap(trace, given[number], f.param_types[number]) for number in numbers]

    def __iter__(self) -> Iterator[object]:
        return iter((self.ret, self.grad))


def vjp(f: Function | Generic) -> Callable[..., Pullback]:
    """The reverse derivative of ``f``: called on arguments, gives its value and its pullback."""
    if not isinstance(f, Generic):
        function_of(f, "vjp")

    def pullback(*given: object, **named: object) -> Pullback:
        trace = current()
        args = f.ordered(given, named)
        g = f.at_args(args) if isinstance(f, Generic) else f
        return Pullback(trace, g.func, lift_args(trace, g, args))

    return pullback
