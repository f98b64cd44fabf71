"""Random programs written for two libraries at once: an expression is a function of a library and of values.

What is drawn is drawn when a program is made, so it is the same however often a library runs it. Every
value stays moderate, and nothing is at the border of a choice.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Kind = int
"""0 for a Real, or the length of a vector of Reals; -n for an index below n."""

Body = Callable[..., Any]


class Library(Protocol):
    """What a program uses. A state is a Real, a vector, or a struct of a Real ``a`` and a vector ``v``."""

    def unary(self, name: str, x: Any) -> Any: ...
    def binary(self, name: str, x: Any, y: Any) -> Any: ...
    def less(self, x: Any, y: Any) -> Any: ...
    def select(self, p: Any, kind: Kind, x: Any, y: Any) -> Any: ...
    def cond(self, p: Any, kind: Kind, yes: Body, no: Body) -> Any: ...
    def vector(self, xs: Sequence[Any]) -> Any: ...
    def vec(self, n: int, body: Body) -> Any: ...
    def sum(self, n: int, body: Body) -> Any: ...
    def get(self, v: Any, n: int, i: Any) -> Any: ...
    def set(self, v: Any, n: int, i: Any, x: Any) -> Any: ...
    def real(self, i: Any) -> Any: ...
    def fori(self, n: int, state: State, start: Any, body: Body, checkpoint: int) -> Any: ...
    def up_to(self, most: int, count: Any, state: State, start: Any, body: Body) -> Any: ...
    def while_loop(self, most: int, state: State, start: Any, test: Body, body: Body) -> Any: ...
    def scan(self, n: int, state: State, start: Any, body: Body) -> Any: ...
    def call(
        self, kinds: Sequence[Kind], result: Kind, body: Body, args: Sequence[Any], again: bool
    ) -> Any: ...
    def grad(self, kind: Kind, body: Body, x: Any) -> Any: ...
    def tangent(self, kind: Kind, result: Kind, body: Body, x: Any, dx: Any) -> Any: ...


@dataclass(frozen=True)
class State:
    """What a loop carries: one value, or a Real and a vector."""

    kind: Kind
    struct: bool = False


Values = Sequence[Any]
Expression = Callable[[Library, Values], Any]

UNARY = ("sin", "cos", "tanh", "exp", "atan", "abs", "root", "log", "square", "sinh", "cbrt", "expm1")
BINARY = ("add", "sub", "mul", "ratio", "max", "min", "atan2", "hypot", "power")
LENGTHS = (2, 3, 4)


class TwinProgram:
    """A function of a vector of ``length`` Reals, which gives a Real, or a vector of ``result``."""

    def __init__(self, seed: int, result: Kind = 0) -> None:
        self.rng = random.Random(f"{seed} {result}")
        self.length = self.rng.choice(LENGTHS)
        self.result = result
        steps = [self.length]
        self.steps = []
        for _ in range(self.rng.randint(2, 5)):
            kind = self.kind()
            self.steps.append(self.expression(kind, steps, 3))
            steps.append(kind)
        if result:
            self.last = self.expression(result, steps, 2)
        else:
            parts = [self.leaf(0, [kind]) for kind in steps]
            self.last = lambda lib, values: _total(
                lib, [part(lib, [value]) for part, value in zip(parts, values, strict=True)]
            )

    def run(self, lib: Library, x: Any) -> Any:
        values = [x]
        for step in self.steps:
            values.append(step(lib, values))
        return self.last(lib, values)

    def argument(self) -> list[float]:
        return [self.rng.uniform(-1.5, 1.5) for _ in range(self.length)]

    def cotangent(self) -> Any:
        return [self.rng.uniform(-1, 1) for _ in range(self.result)] or self.rng.uniform(-1, 1)

    # -- expressions ------------------------------------------------------------------------------------

    def kind(self) -> Kind:
        return self.rng.choice((0, 0, *LENGTHS))

    def expression(self, kind: Kind, scope: Sequence[Kind], depth: int) -> Expression:
        """An expression of a kind, of values of the kinds in ``scope``."""
        if not depth or self.rng.random() < 0.15:
            return self.leaf(kind, scope)
        makers = [self.choice, self.side, self.looped, self.counted, self.ended, self.called]
        makers += [self.unary, self.unary, self.binary, self.binary, self.summed, self.slope, self.push]
        if kind:
            makers = [
                *makers[:6],
                self.scanned,
                self.built,
                self.built,
                self.updated,
                self.updated,
                self.listed,
            ]
        return self.rng.choice(makers)(kind, scope, depth - 1)

    def leaf(self, kind: Kind, scope: Sequence[Kind]) -> Expression:
        """A value that there is, an element of one, or a number."""
        rng = self.rng
        same = [k for k, other in enumerate(scope) if other == kind]
        if same and rng.random() < 0.8:
            k = rng.choice(same)
            return lambda lib, values: values[k]
        if kind:
            parts = [self.leaf(0, scope) for _ in range(kind)]
            return lambda lib, values: lib.vector([part(lib, values) for part in parts])
        vectors = [k for k, other in enumerate(scope) if other > 0]
        if vectors and rng.random() < 0.9:
            k = rng.choice(vectors)
            n = scope[k]
            at = self.index(n, scope)
            return lambda lib, values: lib.get(values[k], n, at(lib, values))
        indices = [k for k, other in enumerate(scope) if other < 0]
        if indices and rng.random() < 0.5:
            k = rng.choice(indices)
            return lambda lib, values: lib.real(values[k]) * 0.3
        c = rng.choice((0.5, -1.25, 1.0, 2.0, -0.3))
        return lambda lib, values: c

    def index(self, n: int, scope: Sequence[Kind]) -> Expression:
        """An index, known or not, which is taken modulo ``n``."""
        indices = [k for k, other in enumerate(scope) if other < 0]
        if indices and self.rng.random() < 0.7:
            k = self.rng.choice(indices)
            return lambda lib, values: values[k]
        i = self.rng.randrange(n)
        return lambda lib, values: i

    def unary(self, kind: Kind, scope: Sequence[Kind], depth: int) -> Expression:
        name, x = self.rng.choice(UNARY), self.expression(0, scope, depth)
        return lambda lib, values: _unary(lib, name, x(lib, values))

    def binary(self, kind: Kind, scope: Sequence[Kind], depth: int) -> Expression:
        name = self.rng.choice(BINARY)
        x, y = self.expression(0, scope, depth), self.expression(0, scope, depth)
        return lambda lib, values: _binary(lib, name, x(lib, values), y(lib, values))

    def condition(self, scope: Sequence[Kind]) -> Expression:
        """Whether one value is less than another; at equality there is no derivative to compare."""
        x, y, shift = self.leaf(0, scope), self.leaf(0, scope), self.rng.uniform(-0.5, 0.5)
        return lambda lib, values: lib.less(x(lib, values), y(lib, values) + shift)

    def choice(self, kind: Kind, scope: Sequence[Kind], depth: int) -> Expression:
        p, x, y = (
            self.condition(scope),
            self.expression(kind, scope, depth),
            self.expression(kind, scope, depth),
        )
        return lambda lib, values: lib.select(p(lib, values), kind, x(lib, values), y(lib, values))

    def side(self, kind: Kind, scope: Sequence[Kind], depth: int) -> Expression:
        p, x, y = (
            self.condition(scope),
            self.expression(kind, scope, depth),
            self.expression(kind, scope, depth),
        )
        return lambda lib, values: lib.cond(
            p(lib, values), kind, lambda: x(lib, values), lambda: y(lib, values)
        )

    def summed(self, kind: Kind, scope: Sequence[Kind], depth: int) -> Expression:
        n = self.rng.choice(LENGTHS)
        x = self.expression(0, [*scope, -n], depth)
        return lambda lib, values: lib.unary("tanh", lib.sum(n, lambda i: x(lib, [*values, i])))

    def built(self, kind: Kind, scope: Sequence[Kind], depth: int) -> Expression:
        x = self.expression(0, [*scope, -kind], depth)
        return lambda lib, values: lib.vec(kind, lambda i: x(lib, [*values, i]))

    def listed(self, kind: Kind, scope: Sequence[Kind], depth: int) -> Expression:
        parts = [self.expression(0, scope, depth - 1 if depth else 0) for _ in range(kind)]
        return lambda lib, values: lib.vector([part(lib, values) for part in parts])

    def updated(self, kind: Kind, scope: Sequence[Kind], depth: int) -> Expression:
        v, at = self.expression(kind, scope, depth), self.index(kind, scope)
        x = self.expression(0, scope, depth)
        return lambda lib, values: lib.set(v(lib, values), kind, at(lib, values), x(lib, values))

    # -- loops ------------------------------------------------------------------------------------------

    def state(self, kind: Kind) -> State:
        struct = self.rng.random() < 0.4
        return State(kind if kind or not struct else self.rng.choice(LENGTHS), struct)

    def start(self, state: State, scope: Sequence[Kind], depth: int) -> Expression:
        x = self.expression(state.kind, scope, depth)
        if not state.struct:
            return x
        a = self.expression(0, scope, depth)
        return lambda lib, values: {"a": a(lib, values), "v": x(lib, values)}

    def iteration(self, state: State, scope: Sequence[Kind], depth: int) -> Expression:
        """The next state, which stays moderate; the values end with what there is of the state."""
        inner = [*scope, *((0, state.kind) if state.struct else (state.kind,))]
        x = self.expression(state.kind, inner, depth)
        a = self.expression(0, inner, depth)

        def next_state(lib: Library, values: Values) -> Any:
            tame = _tame(lib, state.kind, x(lib, values))
            return {"a": lib.unary("tanh", a(lib, values)), "v": tame} if state.struct else tame

        return next_state

    def read(self, kind: Kind, state: State) -> Expression:
        """A value of ``kind`` of the last state."""
        part = self.leaf(kind, [0, state.kind] if state.struct else [state.kind])
        return lambda lib, values: part(lib, _parts(state, values[0]))

    def looped(self, kind: Kind, scope: Sequence[Kind], depth: int) -> Expression:
        state, n, every = self.state(kind), self.rng.choice(LENGTHS), self.rng.choice((0, 0, 2))
        start, iteration = self.start(state, scope, depth), self.iteration(state, [*scope, -n], depth)
        read = self.read(kind, state)

        def run(lib: Library, values: Values) -> Any:
            body = lambda i, s: iteration(lib, [*values, i, *_parts(state, s)])  # noqa: E731
            return read(lib, [lib.fori(n, state, start(lib, values), body, every)])

        return run

    def counted(self, kind: Kind, scope: Sequence[Kind], depth: int) -> Expression:
        """A loop whose number of iterations is known when it runs: one of two."""
        state, most = self.state(kind), 4
        p, few = self.condition(scope), self.rng.randint(0, 3)
        start, iteration = self.start(state, scope, depth), self.iteration(state, [*scope, -most], depth)
        read = self.read(kind, state)

        def run(lib: Library, values: Values) -> Any:
            count = lib.select(p(lib, values), 0, float(most), float(few))
            body = lambda i, s: iteration(lib, [*values, i, *_parts(state, s)])  # noqa: E731
            return read(lib, [lib.up_to(most, count, state, start(lib, values), body)])

        return run

    def ended(self, kind: Kind, scope: Sequence[Kind], depth: int) -> Expression:
        """A loop that ends when its first Real is small enough, which every iteration makes smaller."""
        state = State(self.state(kind).kind or 2, True)
        start, iteration = self.start(state, scope, depth), self.iteration(state, scope, depth)
        read = self.read(kind, state)
        least, factor = self.rng.uniform(0.5, 1.0), self.rng.uniform(0.4, 0.7)

        def run(lib: Library, values: Values) -> Any:
            def body(s: Any) -> Any:
                after = iteration(lib, [*values, s["a"], s["v"]])
                return {"a": factor * s["a"], "v": after["v"]}

            first = start(lib, values)
            first = {"a": 3.0 + lib.unary("tanh", first["a"]), "v": first["v"]}
            test = lambda s: lib.less(least, s["a"])  # noqa: E731
            return read(lib, [lib.while_loop(12, state, first, test, body)])

        return run

    def scanned(self, kind: Kind, scope: Sequence[Kind], depth: int) -> Expression:
        state = self.state(self.kind())
        start, iteration = self.start(state, scope, depth), self.iteration(state, [*scope, -kind], depth)
        inner = [*scope, -kind, *((0, state.kind) if state.struct else (state.kind,))]
        kept = self.expression(0, inner, depth)

        def run(lib: Library, values: Values) -> Any:
            def body(s: Any, i: Any) -> Any:
                there = [*values, i, *_parts(state, s)]
                return iteration(lib, there), kept(lib, there)

            return lib.scan(kind, state, start(lib, values), body)

        return run

    # -- functions --------------------------------------------------------------------------------------

    def called(self, kind: Kind, scope: Sequence[Kind], depth: int) -> Expression:
        """A function, which may use what is around it, and may be computed again in reverse."""
        kinds = [self.kind() for _ in range(self.rng.randint(1, 2))]
        args = [self.expression(k, scope, depth) for k in kinds]
        body, again = self.expression(kind, [*scope, *kinds], depth), self.rng.random() < 0.3

        def run(lib: Library, values: Values) -> Any:
            given = [arg(lib, values) for arg in args]
            return lib.call(kinds, kind, lambda *xs: body(lib, [*values, *xs]), given, again)

        return run

    def slope(self, kind: Kind, scope: Sequence[Kind], depth: int) -> Expression:
        """An element of a gradient in the midst of a program."""
        of = self.kind()
        x, body = self.expression(of, scope, depth), self.expression(0, [*scope, of], depth)
        i = self.rng.randrange(of) if of else 0

        def run(lib: Library, values: Values) -> Any:
            gradient = lib.grad(of, lambda x: lib.unary("sin", body(lib, [*values, x])), x(lib, values))
            return lib.unary("tanh", lib.get(gradient, of, i) if of else gradient)

        return run

    def push(self, kind: Kind, scope: Sequence[Kind], depth: int) -> Expression:
        """A change along a direction in the midst of a program."""
        of = self.kind()
        x, dx = self.expression(of, scope, depth), self.expression(of, scope, depth)
        body = self.expression(0, [*scope, of], depth)

        def run(lib: Library, values: Values) -> Any:
            inner = lambda x: lib.unary("sin", body(lib, [*values, x]))  # noqa: E731
            return lib.unary("tanh", lib.tangent(of, 0, inner, x(lib, values), dx(lib, values)))

        return run


def result_of(seed: int) -> int:
    """Whether a program gives a Real, or a vector."""
    return (0, 0, 3)[seed % 3]


def _parts(state: State, s: Any) -> Values:
    return (s["a"], s["v"]) if state.struct else (s,)


def _tame(lib: Library, kind: Kind, x: Any) -> Any:
    return lib.vec(kind, lambda i: lib.unary("tanh", lib.get(x, kind, i))) if kind else lib.unary("tanh", x)


def _total(lib: Library, parts: Sequence[Any]) -> Any:
    total = 0.0
    for k, part in enumerate(parts):
        total = total + lib.unary("sin", part * (0.5 + k))
    return total


def _unary(lib: Library, name: str, x: Any) -> Any:
    """A function of the name, where it is smooth and moderate."""
    if name == "root":
        return lib.unary("sqrt", 1.5 + x * x)
    if name == "log":
        return lib.unary("log", 1.5 + x * x)
    if name == "square":
        return lib.unary("tanh", x * x)
    if name in ("exp", "expm1", "sinh"):
        return lib.unary(name, lib.unary("sin", x))
    if name == "cbrt":
        return lib.unary(name, 2.0 + lib.unary("cos", x))
    return lib.unary(name, x)


def _binary(lib: Library, name: str, x: Any, y: Any) -> Any:
    if name == "add":
        return x + y
    if name == "sub":
        return x - y
    if name == "mul":
        return lib.unary("sin", x) * y
    if name == "ratio":
        return x / (1.5 + y * y)
    if name == "power":
        return lib.binary("pow", 1.5 + lib.unary("sin", x), lib.unary("tanh", y))
    if name in ("atan2", "hypot"):
        return lib.binary(name, x, 2.5 + lib.unary("sin", y))
    return lib.binary(name, x, y + 0.1)
