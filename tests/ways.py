"""What a program of ``random_repeats`` says, in several ways that have nothing in common."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from itertools import count
from typing import Any

import hyperdual
from hyperdual import lifted

from rose_core import (
    Real,
    Vec,
    and_,
    cond,
    exp,
    fn,
    fori,
    iadd,
    igeq,
    ileq,
    ilt,
    imod,
    max,
    min,
    not_,
    scan,
    select,
    sin,
    sqrt,
    sum,
    vec,
)


class Plain:
    """Hyper-dual numbers, and lists and loops of Python.

    Attributes:
        has_kink: whether there was a least or a largest of numbers that are equal here, and not beside it.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.has_kink = False

    def vector(self, f):
        return [f(i) for i in range(self.n)]

    def matrix(self, f):
        return [[f(i, j) for j in range(self.n)] for i in range(self.n)]

    def total(self, f):
        return builtins.sum(self.vector(f), 0.0)

    def steps(self, trips, start, f, of_vectors):
        for i in range(trips):
            start = f(i, start)
        return start

    def outputs(self, trips, start, f):
        found = [0.0] * self.n
        for i in range(trips):
            start, found[i] = f(i, start)
        return start, found

    def call(self, body, v, x, i):
        return body(self, {"v": v, "x": x, "i": i})

    def changed(self, v, i, x):
        return [*v[:i], x, *v[i + 1 :]]

    def after(self, i, k):
        return (i + k) % self.n

    def before(self, i):
        return i - 1

    def is_negative(self, x):
        return x < 0.0

    def bell(self, x):
        return hyperdual.exp(-x * x)

    def wave(self, x):
        return hyperdual.sin(x)

    def least(self, x, y):
        return self.extreme(lifted(x), lifted(y), lifted(y) < x)

    def largest(self, x, y):
        return self.extreme(lifted(x), lifted(y), lifted(x) < y)

    def extreme(self, x, y, is_second):
        self.has_kink |= x.value == y.value and (x.a, x.b, x.ab) != (y.a, y.b, y.ab)
        return y if is_second else x

    def either(self, p, one, other):
        return one() if p else other()

    def chosen(self, p, x, y):
        return x if p else y

    def root(self, x):
        return hyperdual.sqrt(x)

    def is_below(self, i, j):
        return i < j

    def is_up_to(self, i, j):
        return i <= j

    def is_from(self, i, j):
        return i >= j

    def is_not(self, p):
        return not p

    def are_both(self, p, q):
        return p and q


class Traced:
    """Values of Rose."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.type = Vec(n, Real)
        self.functions: dict[Callable[..., Any], Any] = {}

    def vector(self, f):
        return vec(self.n, Real, f)

    def matrix(self, f):
        return vec(self.n, self.type, lambda i: self.vector(lambda j: f(i, j)))

    def total(self, f):
        return sum(self.n, f)

    def steps(self, trips, start, f, of_vectors):
        return fori(trips, self.type if of_vectors else Real, start, f)

    def outputs(self, trips, start, f):
        return scan(trips, Real, start, lambda s, i: f(i, s))

    def call(self, body, v, x, i):
        if body not in self.functions:
            self.functions[body] = fn(
                [self.type, Real, self.n], Real, lambda v, x, i: body(self, {"v": v, "x": x, "i": i})
            )
        return self.functions[body](v, x, i)

    def changed(self, v, i, x):
        return v.set(i, x)

    def after(self, i, k):
        return imod(self.n, iadd(2 * self.n, i, k))

    def before(self, i):
        return i - 1

    def is_negative(self, x):
        return x < 0.0

    def bell(self, x):
        return exp(-x * x)

    def wave(self, x):
        return sin(x)

    def least(self, x, y):
        return min(x, y)

    def largest(self, x, y):
        return max(x, y)

    def either(self, p, one, other):
        return cond(p, Real, one, other)

    def chosen(self, p, x, y):
        return select(p, x, y)

    def root(self, x):
        return sqrt(x)

    def is_below(self, i, j):
        return ilt(self.n, i, j)

    def is_up_to(self, i, j):
        return ileq(self.n, i, j)

    def is_from(self, i, j):
        return igeq(self.n, i, j)

    def is_not(self, p):
        return not_(p)

    def are_both(self, p, q):
        return and_(p, q)


class Text:
    """What a name stands for in a program that is being written."""

    def __init__(self, ops: Written, name: str) -> None:
        self.ops, self.name = ops, name

    def __str__(self) -> str:
        return self.name

    def __getitem__(self, i):
        return Text(self.ops, f"{self}[{i}]")

    def __add__(self, other):
        return self.ops.named(f"add({self}, {other})")

    def __radd__(self, other):
        return self.ops.named(f"add({other}, {self})")

    def __sub__(self, other):
        return self.ops.named(f"sub({self}, {other})")

    def __rsub__(self, other):
        return self.ops.named(f"sub({other}, {self})")

    def __mul__(self, other):
        return self.ops.named(f"mul({self}, {other})")

    def __rmul__(self, other):
        return self.ops.named(f"mul({other}, {self})")

    def __truediv__(self, other):
        return self.ops.named(f"div({self}, {other})")

    def __rtruediv__(self, other):
        return self.ops.named(f"div({other}, {self})")


class Written:
    """JavaScript for the bridge, of whose names this takes all to be in scope."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.lines: list[str] = []
        self.functions: dict[Callable[..., Any], str] = {}
        self.declared: list[str] = []
        self.numbers = count()

    def program(self, body, **types: str) -> str:
        """An expression for the function of arguments with these names and types, in a block of its own."""
        written = self.function(body, types)
        return f"(() => {{ {' '.join(self.declared)} return {written}; }})()"

    def function(self, body, types) -> str:
        def named(*args):
            return body(self, dict(zip(types, args, strict=True)))

        return f"fn([{', '.join(types.values())}], Real, {self.block(len(types), named)})"

    def name(self) -> str:
        return f"t{next(self.numbers)}"

    def named(self, expression: str) -> Text:
        name = self.name()
        self.lines.append(f"const {name} = {expression};")
        return Text(self, name)

    def block(self, arity: int, f, result=str) -> str:
        """A function of symbolic values."""
        names = [self.name() for _ in range(arity)]
        around, self.lines = self.lines, []
        found = result(f(*(Text(self, name) for name in names)))
        lines, self.lines = self.lines, around
        return f"({', '.join(names)}) => {{ {' '.join(lines)} return {found}; }}"

    def vector(self, f):
        return self.named(f"vec({self.n}, Real, {self.block(1, f)})")

    def matrix(self, f):
        rows = self.block(1, lambda i: self.vector(lambda j: f(i, j)))
        return self.named(f"vec({self.n}, Vec({self.n}, Real), {rows})")

    def total(self, f):
        return self.named(f"sum({self.n}, {self.block(1, f)})")

    def steps(self, trips, start, f, of_vectors):
        t = f"Vec({self.n}, Real)" if of_vectors else "Real"
        return self.named(f"fori({trips}, {t}, {start}, {self.block(2, f)})")

    def outputs(self, trips, start, f):
        def pair(found):
            return f"[{found[0]}, {found[1]}]"

        step = self.block(2, lambda s, i: f(i, s), pair)
        found = self.named(f"scan({trips}, Real, {start}, {step})")
        return found[0], found[1]

    def call(self, body, v, x, i):
        if body not in self.functions:
            types = {"v": f"Vec({self.n}, Real)", "x": "Real", "i": str(self.n)}
            written = self.function(body, types)
            self.functions[body] = self.name()
            self.declared.append(f"const {self.functions[body]} = {written};")
        return self.named(f"{self.functions[body]}({v}, {x}, {i})")

    def changed(self, v, i, x):
        return self.named(f"{v}.set({i}, {x})")

    def after(self, i, k):
        return self.named(f"imod({self.n}, iadd({2 * self.n}, {i}, {k}))")

    def before(self, i):
        return self.named(f"isub({self.n}, {i}, 1)")

    def bell(self, x):
        return self.named(f"exp(neg(mul({x}, {x})))")

    def wave(self, x):
        return self.named(f"sin({x})")

    def least(self, x, y):
        return self.named(f"min({x}, {y})")

    def largest(self, x, y):
        return self.named(f"max({x}, {y})")

    def either(self, p, one, other):
        return self.named(f"cond({p}, Real, {self.block(0, one)}, {self.block(0, other)})")

    def chosen(self, p, x, y):
        return self.named(f"select({p}, Real, {x}, {y})")

    def root(self, x):
        return self.named(f"sqrt({x})")

    def is_negative(self, x):
        return self.named(f"lt({x}, 0)")

    def is_below(self, i, j):
        return self.named(f"ilt({self.n}, {i}, {j})")

    def is_up_to(self, i, j):
        return self.named(f"ileq({self.n}, {i}, {j})")

    def is_from(self, i, j):
        return self.named(f"igeq({self.n}, {i}, {j})")

    def is_not(self, p):
        return self.named(f"not({p})")

    def are_both(self, p, q):
        return self.named(f"and({p}, {q})")
