"""Operators: from functions to functions that are their derivatives, by one argument or by several.

Each gives a function like any other, to be called, compiled and differentiated again. What it is to
be differentiated by is told by the numbers of the arguments: a number, or several, whose derivatives
come in a struct with these numbers as names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from rose_core.errors import counted
from rose_core.language.ir import is_real
from rose_core.language.types import REAL, Struct, Type, leaves
from rose_core.operators.forward import on_numbers
from rose_core.tracing.declare import describe, whole
from rose_core.tracing.functions import Function, captured, fn, function_of, lift_args, vjp
from rose_core.tracing.generic import Generic
from rose_core.tracing.lifting import lift, wrap
from rose_core.tracing.places import need_reals
from rose_core.tracing.trace import current


def grad(f: Function | Generic, argnums: int | Sequence[int] = 0) -> Any:
    """The gradient of ``f``, which gives a Real: a function of the same arguments.

    It has the type of the argument, and what is not Real in that is as it was.
    """

    def make(f: Function) -> Function:
        by = Selection(f, argnums, "grad")
        _need_real(f, "grad")
        return derived(f, "grad", f.func.param_types, by.type, lambda *args: by.pulled(vjp(f)(*args), 1.0))

    return of_any_size(f, "grad", make)


def value_and_grad(f: Function | Generic, argnums: int | Sequence[int] = 0) -> Any:
    """The struct of the ``value`` of ``f`` and of its gradient ``grad``, computed together."""

    def make(f: Function) -> Function:
        by = Selection(f, argnums, "value_and_grad")
        _need_real(f, "value_and_grad")
        ret = Struct({"value": REAL, "grad": by.type})

        def both(*args: Any) -> dict[str, object]:
            pullback = vjp(f)(*args)
            return {"value": pullback.ret, "grad": by.pulled(pullback, 1.0)}

        return derived(f, "value_and_grad", f.func.param_types, ret, both)

    return of_any_size(f, "value_and_grad", make)


def hvp(f: Function | Generic, argnums: int | Sequence[int] = 0) -> Any:
    """The product of the Hessian of ``f`` with a direction, which is one more argument."""

    def make(f: Function) -> Function:
        by = Selection(f, argnums, "hvp")
        gradient = grad(f, argnums)

        def along(*args: Any) -> object:
            return push(gradient, args[:-1], by.scattered(args[-1]))[1]

        return derived(f, "hvp", [*f.func.param_types, by.type], by.type, along)

    return of_any_size(f, "hvp", make, lambda params: [*params, _selected(params, argnums, f.__name__)])


class Pushforward:
    """What `linearize` gives: the value ``ret``, and ``push`` from changes of the arguments to its change."""

    __slots__ = ("_args", "_function", "ret")

    def __init__(self, function: Function, args: Sequence[object]) -> None:
        self._function = function
        self._args = args
        self.ret = function(*args)

    def push(self, *directions: object) -> object:
        """The Jacobian times a direction, of which there is one for each argument.

        What is not Real has no derivative; in its place stands the value's own.
        """
        name, expected = self._function.func.name, len(self._args)
        if len(directions) != expected:
            raise TypeError(
                f"the push of {name} takes {counted(expected, 'direction')}, got {len(directions)}"
            )
        return push(self._function, self._args, dict(enumerate(directions)))[1]

    def __iter__(self) -> Iterator[object]:
        return iter((self.ret, self.push))


def linearize(f: Function | Generic) -> Callable[..., Pushforward]:
    """``f`` as the linear function that it is near its arguments: its value, and the map of directions."""
    if not isinstance(f, Generic):
        function_of(f, "linearize")

    def pushforward(*args: object) -> Pushforward:
        return Pushforward(f.at_args(args) if isinstance(f, Generic) else f, args)

    return pushforward


# -- what they are made of ------------------------------------------------------------------------------


class Selection:
    """The arguments that a derivative is taken by, as one value."""

    def __init__(self, f: Function, argnums: int | Sequence[int], what: str) -> None:
        params = f.func.param_types
        self.numbers = _numbers(argnums, what, f.func.name, len(params))
        self.alone = whole(argnums) is not None
        """Whether it is one argument, and not a struct of some."""
        for k in self.numbers:
            need_reals(params[k], f"{what}: argument {k} of {f.func.name}")
        types = {str(k): params[k] for k in self.numbers}
        self.type: Type = params[self.numbers[0]] if self.alone else Struct(types)

    def gathered(self, values: Sequence[object]) -> Any:
        """One value for each of the arguments, as a value of ``type``."""
        return values[0] if self.alone else dict(zip(map(str, self.numbers), values, strict=True))

    def scattered(self, x: Any) -> dict[int, object]:
        """A value of ``type`` as one for each of the arguments, by number."""
        return {k: x if self.alone else x[str(k)] for k in self.numbers}

    def of(self, args: Sequence[object]) -> Any:
        """The arguments themselves."""
        return self.gathered([args[k] for k in self.numbers])

    def pulled(self, pullback: Any, cotangent: object) -> Any:
        """Their cotangents."""
        return self.gathered(pullback.grad_of(cotangent, self.numbers))


def _numbers(argnums: int | Sequence[int], what: str, name: str, count: int) -> list[int]:
    """The numbers of arguments, of which the function of this name has so many."""
    alone = whole(argnums)
    several = argnums if isinstance(argnums, Iterable) else ()
    numbers = list(map(whole, several)) if alone is None else [alone]
    known = [k for k in numbers if k is not None]
    if not numbers or len(set(known)) < len(numbers):
        raise TypeError(f"{what}: expected an argument number, or several, got {describe(argnums)}")
    last = count - 1
    those = "it takes none" if last < 0 else f"only 0 to {last}" if last else "only 0"
    for k in known:
        if not 0 <= k <= last:
            raise IndexError(f"{what}: {name} has no argument {k}, {those}")
    return known


def _selected(params: Sequence[Any], argnums: int | Sequence[int], name: str) -> Any:
    """The type of the selected arguments of the function of this name, as an author writes it."""
    numbers = _numbers(argnums, "hvp", name, len(params))
    return params[numbers[0]] if whole(argnums) is not None else {str(k): params[k] for k in numbers}


def _need_real(f: Function, what: str) -> None:
    if f.func.ret is not REAL:
        raise TypeError(f"{what}: {f.func.name} gives a {f.func.ret}, expected a Real; use jacobian")


def of_any_size(
    f: Function | Generic,
    what: str,
    make: Callable[[Function], Function],
    params: Callable[[Sequence[object]], Sequence[object]] = lambda params: params,
) -> Any:
    """``make(f)``, made for every set of sizes if ``f`` is generic.

    ``params`` gives the types of the parameters from those of ``f``, as an author writes them.
    """
    if isinstance(f, Generic):
        name = f"{what}_{f.__name__}"
        return Generic(name, params(f.params), f.sizes, lambda: make(f.instance(f.now())))
    return make(function_of(f, what))


def derived(
    f: Function, what: str, params: Sequence[Type], ret: Type, body: Callable[..., object]
) -> Function:
    """The function ``body``, which is made from ``f``: its parameters are those of ``f``, and directions."""
    made = fn(list(params), ret, lambda *args: body(*args))
    assert isinstance(made, Function)
    made.func.name = made.__name__ = f"{what}_{f.func.name}"
    if names := list(f.func.param_names):
        while len(names) < len(params):
            names.append(unused("direction", names))
        made.func.param_names = names
        made.defaults = f.defaults
    return made


def unused(name: str, names: Collection[str]) -> str:
    """The name, or one like it, that is none of these."""
    while name in names:
        name += "_"
    return name


def push(f: Function, args: Sequence[object], directions: dict[int, object]) -> tuple[Any, Any]:
    """The value of ``f`` and its change along directions, given by number of the argument."""
    trace = current()
    b = trace.builder
    given: list[int] = []
    primals = lift_args(trace, f, args)
    at = 0
    for k, t in enumerate(f.func.param_types):
        types = leaves(t)
        tangents = (
            lift(trace, directions[k], t, f"direction {k + 1} of {f.func.name}")
            if k in directions
            else [b.const(0.0, leaf) if is_real(leaf) else 0 for leaf in types]
        )
        for leaf, tangent in zip(types, tangents, strict=True):
            given += [tangent, primals[at]] if is_real(leaf) else [primals[at]]
            at += 1
    derivative = on_numbers(f)
    call = b.call(derivative.func, [*given, *captured(trace, derivative)])
    values, changes = [], []
    result = 0
    for leaf in leaves(f.func.ret):
        changes.append(b.get(call, result))
        result += is_real(leaf)
        values.append(b.get(call, result))
        result += 1
    return wrap(trace, values, f.func.ret), wrap(trace, changes, f.func.ret)
