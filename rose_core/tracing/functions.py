"""Defining functions in Python: `fn` runs a body once with symbolic values and keeps what it did.

A function exists only when its body has returned; a mistake in it leaves nothing half-built.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from rose_core.errors import counted
from rose_core.language.ir import Func, is_real
from rose_core.language.types import Type, dual, leaves
from rose_core.tracing.declare import annotated, describe, type_for
from rose_core.tracing.generic import Generic
from rose_core.tracing.lifting import lift, parameters, wrap
from rose_core.tracing.sizes import sizes_in
from rose_core.tracing.trace import Trace, check_scope, current, this_thread
from rose_core.tracing.values import build, flatten, ordered

Capture = tuple[Trace, int] | Type
"""A value of an enclosing function, or in its place the zero of a type."""


def captured_type(capture: Capture) -> Type:
    """The type of what is captured."""
    return capture if isinstance(capture, Type) else capture[0].func.type_of(capture[1])


class Function:
    """A Rose function, to be called on symbolic values, differentiated and compiled."""

    def __init__(self, func: Func, captures: Sequence[Capture] = ()) -> None:
        self.func = func
        self.captures = captures
        """Values of enclosing functions that it uses, which are passed to it after its arguments."""
        self.defaults: dict[str, object] = {}
        """The arguments that a call need not give, by the names of their parameters."""
        self._jvp: Function | None = None
        self.__name__ = func.name

    def _described(self) -> str:
        return f"the function {self.func.name}"

    def __repr__(self) -> str:
        params = ", ".join(map(str, self.func.param_types))
        return f"<fn {self.func.name}({params}) -> {self.func.ret}>"

    def __call__(self, *args: object, **named: object) -> object:
        trace = current()
        call = trace.builder.call(self.func, lift_args(trace, self, self.ordered(args, named)))
        return _results(trace, self.func, call)

    def ordered(self, args: Sequence[object], named: Mapping[str, object]) -> Sequence[object]:
        """The arguments of a call, in which some may be given by name, in their order."""
        return ordered(self.func.name, self.func.param_names, self.defaults, args, named)

    def around(self) -> str:
        """The name of a function whose values it uses."""
        return next(c[0].func.name for c in self.captures if isinstance(c, tuple))

    @property
    def jvp(self) -> Function | None:
        """The custom derivative, a function from duals to duals; None where there is none."""
        return self._jvp

    @jvp.setter
    def jvp(self, rule: Function) -> None:
        name = self.func.name
        if not isinstance(rule, Function):
            raise TypeError(f"{name}.jvp: expected a function, got {describe(rule)}")
        params, ret = [dual(t) for t in self.func.param_types], dual(self.func.ret)
        if rule.func.param_types != params or rule.func.ret != ret:
            raise TypeError(
                f"{name}.jvp: expected a function ({', '.join(map(str, params))}) -> {ret}, "
                f"got ({', '.join(map(str, rule.func.param_types))}) -> {rule.func.ret}"
            )
        for f in (self, rule):
            if f.captures:
                raise TypeError(
                    f"{name}.jvp: {f.func.name} uses values of the function {f.around()} around it, "
                    "of which a custom derivative knows nothing; pass them as arguments, or use functional"
                )
        self._jvp = rule
        self.func.jvp = rule.func


def lift_args(trace: Trace, function: Function, args: Sequence[object]) -> list[int]:
    """The leaves of a call's arguments, checked against the signature, and of what is captured."""
    f = function.func
    if len(args) != len(f.param_types):
        raise TypeError(f"{f.name} takes {counted(len(f.param_types), 'argument')}, got {len(args)}")
    ids = [
        v
        for k, (x, t) in enumerate(zip(args, f.param_types, strict=True))
        for v in lift(trace, x, t, f"argument {k + 1} of {f.name}")
    ]
    return ids + captured(trace, function)


def captured(trace: Trace, function: Function) -> list[int]:
    """The leaves of enclosing functions that ``function`` uses, to be passed to it."""
    f = function.func
    ids = []
    for capture in function.captures:
        if isinstance(capture, Type):
            ids.append(trace.builder.const(0.0, capture))
            continue
        owner, v = capture
        described = partial("{} uses a {}, which".format, f.name, owner.func.type_of(v))
        check_scope(owner, owner.func.home_of(v), described)
        ids.append(v if owner is trace else trace.capture(owner, v))
    return ids


def _results(trace: Trace, f: Func, call: int) -> object:
    return wrap(trace, [trace.builder.get(call, k) for k in range(len(leaves(f.ret)))], f.ret)


def fn(*args: object) -> Any:
    """Define a `Function`: ``fn([Real, Vec(3, Real)], Real, body)``, or ``@fn`` above an annotated one.

    With a `Size` in the parameters' types it is a `Generic`, made anew for every set of sizes.

    Raises:
        TypeError: the signature is not one, or the body returns something else than it says.
    """
    body: Any
    if len(args) == 1 and callable(args[0]):
        body = args[0]
        params, ret = _signature(body, sys._getframe(1).f_locals)
    elif len(args) == 3 and callable(args[2]):
        params, ret, body = _listed("fn", args[0]), args[1], args[2]
    else:
        raise TypeError(
            "fn takes parameter types, a result type and a body, or decorates an annotated function"
        )
    name = getattr(body, "__name__", "f")
    name = "f" if name == "<lambda>" else name
    if sizes := sizes_in(params):
        names, defaults = _parameters(body, len(params))
        return Generic(name, params, tuple(sizes), lambda: _trace(name, params, ret, body), names, defaults)
    return _trace(name, params, ret, body)


def _listed(what: str, params: object) -> list[object]:
    """The types of parameters, as an author gives them."""
    if not isinstance(params, (list, tuple)):
        raise TypeError(f"{what}: expected a list of parameter types, got {describe(params)}")
    return list(params)


def _trace(name: str, written: Sequence[object], result: object, body: Callable[..., object]) -> Function:
    """The function that one run of ``body`` makes."""
    names, defaults = _parameters(body, len(written))
    params, ret = signature(name, written, result, names)
    func = Func(name, params, ret)
    traces = this_thread.traces
    with Trace(func, traces[-1] if traces else None) as trace:
        values = parameters(trace, params)
        func.blocks[0].results = lift(trace, body(*values), ret, f"the result of {func.name}")
    made = Function(func, trace.captures)
    func.param_names, made.defaults = names, defaults
    return made


def signature(
    name: str, params: Sequence[object], ret: object, names: Sequence[str] = ()
) -> tuple[list[Type], Type]:
    """The types of a function's parameters, which may have names, and of its result, from an author's."""
    called = names or range(1, len(params) + 1)
    types = [type_for(f"parameter {k} of {name}", t) for k, t in zip(called, params, strict=True)]
    return types, type_for(f"the result of {name}", ret)


_ANY_NUMBER = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def _undecorated(body: Any) -> Any:
    """The function that ``body`` passes all arguments on to, if a decorator has made it so."""
    while inspect.isfunction(body) and hasattr(body, "__wrapped__") and body.__code__.co_flags & _ANY_NUMBER:
        body = body.__wrapped__
    return body


def _parameters(body: Callable[..., object], count: int) -> tuple[list[str], dict[str, object]]:
    """The names of the parameters of ``body``, if it has so many, and the defaults of the last ones."""
    own: Any = _undecorated(body)
    code = getattr(own, "__code__", None)
    if code is None or code.co_argcount != count:
        return [], {}
    names = list(code.co_varnames[:count])
    given = own.__defaults__ or ()
    return names, dict(zip(names[count - len(given) :], given, strict=True))


def _signature(body: Callable[..., object], local: Mapping[str, object]) -> tuple[list[object], object]:
    """The types in a function's annotations; ``local`` are the names where it is defined."""
    body = _undecorated(body)
    if not inspect.isfunction(body):
        raise TypeError(f"@fn: expected a function with annotations, got {describe(body)}")
    written = dict(body.__annotations__)
    code = body.__code__
    if code.co_kwonlyargcount or code.co_flags & _ANY_NUMBER:
        raise TypeError(f"@fn: {body.__name__} can only have parameters by position, each with its type")
    scope = {**body.__globals__, **local}

    def type_of(name: str, what: str) -> object:
        if name not in written:
            raise TypeError(f"@fn: {what} of {body.__name__} has no type annotation")
        return annotated(written[name], scope)

    params = [type_of(p, f"parameter {p}") for p in code.co_varnames[: code.co_argcount]]
    return params, type_of("return", "the result")


def opaque(params: Sequence[object], ret: object, host: Callable[..., object]) -> Function:
    """A function that runs ``host`` on ordinary values, of which Rose knows nothing.

    It is called exactly as often as the program says. Give it a derivative with ``.jvp``.
    """
    listed = _listed("opaque", params)
    if not callable(host):
        raise TypeError(f"opaque: expected a function of Python, got {describe(host)}")
    name = getattr(host, "__name__", "opaque")
    types, result = signature(name, listed, ret)
    func = Func(name, types, result)
    func.params = [leaf for t in types for leaf in leaves(t)]
    func.effects = True

    def run(*values: Any) -> list[Any]:
        args, at = [], 0
        for t in types:
            size = len(leaves(t))
            args.append(build(values[at : at + size], t))
            at += size
        return flatten(host(*args), result, f"the result of {name}")

    func.host = run
    return Function(func)


def function_of(f: object, what: str) -> Function:
    """``f``, if it is a Rose function; ``what`` asks for it."""
    if isinstance(f, Generic):
        names = ", ".join(f"{size.name}=…" for size in f.sizes)
        raise TypeError(f"{what}: {f.__name__} has sizes that are not known; give them with .at({names})")
    if not isinstance(f, Function):
        raise TypeError(f"{what}: expected a function made with fn or opaque, got {describe(f)}")
    return f


def closed(f: object, what: str) -> Func:
    """A Rose function that can stand alone."""
    function = function_of(f, what)
    if function.captures:
        raise TypeError(
            f"{what}: {function.func.name} uses values of the function {function.around()} around it, "
            "so it can be called only there"
        )
    return function.func


class Pullback:
    """What `vjp` gives: the value ``ret``, and ``grad`` from a cotangent of it to one of the arguments."""

    __slots__ = ("_args", "_call", "_func", "_trace", "ret")

    def __init__(self, trace: Trace, func: Func, args: list[int]) -> None:
        self._trace = trace
        self._func = func
        self._args = args
        self._call = trace.builder.vjp(func, args)
        self.ret = _results(trace, func, self._call)

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
