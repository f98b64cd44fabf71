"""Random programs in which loops within loops compute the same few terms again and again.

Each of them runs in several ways (`ways`): traced, as a function of Rose; written in JavaScript; and by loops
and hyper-dual numbers of Python. These have nothing in common with the compiler: where that takes two values
for one before there is any code, the interpreter and WebAssembly agree on what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from random import Random
from typing import Any

from hyperdual import HyperDual, lifted
from ways import Plain, Traced, Written

from rose_core import Real, Vec, fn

Scope = Mapping[str, Any]
"""What names stand for: indices of loops, numbers, vectors."""

Term = Callable[[Any, Scope], Any]
"""A number, in one of the two ways, of what is in scope."""

MOST_ITERATIONS = 1000


class Repeats:
    """A program of two vectors ``x`` and ``y`` and a matrix ``m``.

    Attributes:
        n: how many numbers the vectors have, and iterations the loops.
        args: arguments for it.
    """

    def __init__(self, seed: int) -> None:
        self.draw = draw = Random(seed)
        self.n = draw.choice([3, 4, 5, 6, 8, 9])
        self.names = (f"v{k}" for k in count())
        self.common: list[Term] = []
        """The terms that come again, each of the index ``i``."""
        self.bodies: list[Term] = []
        """Those of functions of a vector ``v``, a number ``x`` and an index ``i``."""
        self.left = 20
        """How many terms there may still be besides leaves."""
        terms = [self.term(["i"], ["x", "y"], [], 2) for _ in range(draw.choice([1, 2, 3]))]
        for _ in range(draw.randrange(3)):
            self.bodies.append(self.term(["i"], ["v"], ["x"], 2))
        self.common = terms
        self.left = draw.choice([12, 25, 40])
        self.whole = self.loop([], ["x", "y"], [], draw.choice([3, 4, 5]))
        vectors = [[round(draw.uniform(-2, 2), 3) for _ in range(self.n)] for _ in range(2 + self.n)]
        self.args = *vectors[:2], vectors[2:]

    def function(self):
        """The program, traced."""
        ops = Traced(self.n)
        return fn(
            [ops.type, ops.type, Vec(self.n, ops.type)],
            Real,
            lambda x, y, m: self.whole(ops, {"x": x, "y": y, "m": m}),
        )

    def javascript(self) -> str:
        """An expression for the program in JavaScript."""
        v = f"Vec({self.n}, Real)"
        return Written(self.n).program(self.whole, x=v, y=v, m=f"Vec({self.n}, {v})")

    def plain(self, *directions: Sequence[Sequence[float]]) -> tuple[HyperDual, bool]:
        """What it gives of its arguments, by Python, with derivatives along up to two directions of ``x`` and
        ``y``; and whether it has a kink here."""
        ops, (*point, m) = Plain(self.n), self.args
        x, y = ([*map(HyperDual, *ways)] for ways in zip(point, *directions, strict=True))
        found = lifted(self.whole(ops, {"x": x, "y": y, "m": m}))
        return found, ops.has_kink

    def term(self, at: Sequence[str], vectors: Sequence[str], numbers: Sequence[str], depth: int) -> Term:
        """A number of the indices ``at``, and of vectors and numbers, by their names in scope."""
        self.left -= 1
        kinds = [self.operation] * 4 + [self.choice]
        if self.common and self.n ** (len(at) + 1) <= MOST_ITERATIONS:
            kinds += [self.loop] * 3 + [self.twins] * 3 + [self.guarded] * 2 + [self.vector] * 2
            kinds += [self.number, self.recurrence, self.recurrence_of_vectors, self.outputs, self.rows]
            kinds += [self.extreme] * 2 + [self.call] * 3
        kind = self.leaf if depth <= 0 or self.left < 0 else self.draw.choice(kinds)
        return kind(at, vectors, numbers, depth)

    def leaf(self, at, vectors, numbers, depth) -> Term:
        draw, i, j = self.draw, self.draw.choice(at), self.draw.choice(at)
        kind = draw.randrange(8)
        if kind < 3 and vectors:
            v = draw.choice(vectors)
            return lambda ops, scope: scope[v][scope[i]]
        if kind < 4 and numbers:
            x = draw.choice(numbers)
            return lambda ops, scope: scope[x]
        if kind < 5 and self.common:
            again = draw.choice(self.common)
            return lambda ops, scope: again(ops, {**scope, "i": scope[i]})
        if kind == 5 and self.common:
            return lambda ops, scope: scope["m"][scope[i]][scope[j]]
        if kind == 6:
            c = draw.choice([2.0, -1.0, 0.5, 0.0])
            return lambda ops, scope: c
        v, k = draw.choice(vectors), draw.choice([0, 0, 0, 1, self.n - 1])
        return lambda ops, scope: scope[v][ops.after(scope[i], k) if k else scope[i]]

    def operation(self, at, vectors, numbers, depth) -> Term:
        a, b = (self.term(at, vectors, numbers, depth - 1) for _ in range(2))
        kind = self.draw.randrange(9)
        if kind == 0:
            return lambda ops, scope: a(ops, scope) + b(ops, scope)
        if kind == 1:
            return lambda ops, scope: a(ops, scope) - b(ops, scope)
        if kind < 4:
            return lambda ops, scope: a(ops, scope) * b(ops, scope)
        if kind == 4:
            return lambda ops, scope: ops.root(1.0 + square(a(ops, scope)))
        if kind == 5:
            return lambda ops, scope: ops.wave(a(ops, scope)) + b(ops, scope)
        if kind == 6:
            return lambda ops, scope: ops.bell(a(ops, scope)) * b(ops, scope)
        if kind == 7:
            return lambda ops, scope: ops.least(a(ops, scope), b(ops, scope))
        return lambda ops, scope: 1.0 / (2.0 + square(a(ops, scope)))

    def choice(self, at, vectors, numbers, depth) -> Term:
        a, b = (self.term(at, vectors, numbers, depth - 1) for _ in range(2))
        p = self.condition(at, vectors)
        if self.draw.random() < 0.5:
            return lambda ops, scope: ops.chosen(p(ops, scope), a(ops, scope), b(ops, scope))
        return lambda ops, scope: ops.either(p(ops, scope), lambda: a(ops, scope), lambda: b(ops, scope))

    def condition(self, at, vectors) -> Term:
        draw, i, j = self.draw, self.draw.choice(at), self.draw.choice(at)
        kind, c = draw.randrange(6), draw.randrange(self.n)
        if kind == 0:
            return lambda ops, scope: ops.is_below(scope[i], scope[j])
        if kind == 1:
            return lambda ops, scope: ops.is_up_to(scope[i], scope[j])
        if kind == 2:
            return lambda ops, scope: ops.is_from(scope[i], c)
        if kind == 3:
            x = self.leaf(at, vectors, [], 0)
            return lambda ops, scope: ops.is_negative(x(ops, scope))
        p = self.condition(at, vectors)
        if kind == 4:
            return lambda ops, scope: ops.is_not(p(ops, scope))
        q = self.condition(at, vectors)
        return lambda ops, scope: ops.are_both(p(ops, scope), q(ops, scope))

    def loop(self, at, vectors, numbers, depth) -> Term:
        """A sum."""
        j = next(self.names)
        body = self.term([*at, j] if not at or self.draw.random() < 0.8 else at, vectors, numbers, depth - 1)
        return lambda ops, scope: ops.total(lambda i: body(ops, {**scope, j: i}))

    def vector(self, at, vectors, numbers, depth) -> Term:
        """A term with a new vector in scope."""
        j, v = next(self.names), next(self.names)
        element = self.term([*at, j] if self.draw.random() < 0.75 else at, vectors, numbers, depth - 2)
        rest = self.term(at, [*vectors, v], numbers, depth - 1)

        def value(ops, scope):
            return rest(ops, {**scope, v: ops.vector(lambda i: element(ops, {**scope, j: i}))})

        return value

    def number(self, at, vectors, numbers, depth) -> Term:
        """A term with a new number in scope."""
        x = next(self.names)
        first = self.term(at, vectors, numbers, depth - 2)
        rest = self.term(at, vectors, [*numbers, x], depth - 1)
        return lambda ops, scope: rest(ops, {**scope, x: first(ops, scope)})

    def twins(self, at, vectors, numbers, depth) -> Term:
        """Twice the same of two sums that are alike, or two vectors, of the same or of different numbers."""
        j, found, k = next(self.names), next(self.names), next(self.names)
        again, places = self.draw.choice(self.common), [self.draw.choice([j, j, *at]) for _ in range(2)]
        of_vectors = self.draw.random() < 0.5
        inner = ([*vectors, found], numbers) if of_vectors else (vectors, [*numbers, found])
        factor = self.term([*at, k], *inner, depth - 2)

        def one(ops, scope, place):
            def element(i):
                return again(ops, {**scope, "i": i if place == j else scope[place]})

            here = {**scope, found: ops.vector(element) if of_vectors else ops.total(element)}

            def product(i):
                return (here[found][i] if of_vectors else here[found]) * factor(ops, {**here, k: i})

            return ops.total(product)

        return lambda ops, scope: one(ops, scope, places[0]) + 3.0 * one(ops, scope, places[1])

    def guarded(self, at, vectors, numbers, depth) -> Term:
        """A sum of elements before the index of a loop around, where these are there."""
        i, j, v = self.draw.choice(at), next(self.names), self.draw.choice("xy")
        rest = self.term([*at, j], vectors, numbers, depth - 2)

        def element(ops, scope):
            return ops.either(
                ops.is_below(scope[j], scope[i]),
                lambda: scope[v][ops.before(scope[i])] * rest(ops, scope),
                lambda: 0.0,
            )

        return lambda ops, scope: ops.total(lambda k: element(ops, {**scope, j: k}))

    def call(self, at, vectors, numbers, depth) -> Term:
        """A call of a function, if there are any."""
        x = self.term(at, vectors, numbers, depth - 1)
        if not self.bodies:
            return x
        body, v, i = self.draw.choice(self.bodies), self.draw.choice(vectors), self.draw.choice(at)
        return lambda ops, scope: ops.call(body, scope[v], x(ops, scope), scope[i])

    def extreme(self, at, vectors, numbers, depth) -> Term:
        """The least or the largest of numbers."""
        j, kind, first = (
            next(self.names),
            self.draw.choice(["least", "largest"]),
            self.draw.choice([9.0, 0.1]),
        )
        body = self.term([*at, j], vectors, numbers, depth - 1)

        def value(ops, scope):
            of = getattr(ops, kind)
            return ops.steps(self.n, first, lambda k, now: of(now, body(ops, {**scope, j: k})), False)

        return value

    def rows(self, at, vectors, numbers, depth) -> Term:
        """A term with a row of a new matrix in scope."""
        if self.n ** (len(at) + 2) > MOST_ITERATIONS:
            return self.leaf(at, vectors, numbers, 0)
        j, k, row = next(self.names), next(self.names), next(self.names)
        body = self.term([*at, j, k], vectors, numbers, depth - 2)
        i, other = self.draw.choice(at), self.draw.randrange(self.n)
        rest = self.term(at, [*vectors, row, row], numbers, depth - 1)

        def value(ops, scope):
            m = ops.matrix(lambda a, b: body(ops, {**scope, j: a, k: b}))
            return rest(ops, {**scope, row: m[scope[i]]}) + m[other][scope[i]]

        return value

    def outputs(self, at, vectors, numbers, depth) -> Term:
        """A term with the end of a recurrence and all that it gives on the way in scope."""
        j, s, v, i = next(self.names), next(self.names), next(self.names), self.draw.choice([None, *at])
        body = self.term([*at, j], vectors, [*numbers, s], depth - 2)
        given = self.leaf([*at, j], vectors, [*numbers, s], 0)
        rest = self.term(at, [*vectors, v], [*numbers, s], depth - 1)

        def value(ops, scope):
            def step(k, now):
                here = {**scope, j: k, s: now}
                return 0.5 * now + body(ops, here), given(ops, here)

            end, found = ops.outputs(self.n if i is None else scope[i], 0.5, step)
            return rest(ops, {**scope, s: end, v: found})

        return value

    def recurrence(self, at, vectors, numbers, depth) -> Term:
        """A loop with a number as its state, of ``n`` iterations, or of as many as a loop around has done."""
        j, s, i = next(self.names), next(self.names), self.draw.choice([None, *at])
        start = self.leaf(at, vectors, numbers, 0)
        body = self.term([*at, j], vectors, [*numbers, s], depth - 1)

        def value(ops, scope):
            def step(k, now):
                return 0.75 * now + body(ops, {**scope, j: k, s: 0.5 * now})

            return ops.steps(self.n if i is None else scope[i], start(ops, scope), step, False)

        return value

    def recurrence_of_vectors(self, at, vectors, numbers, depth) -> Term:
        """A term with a vector in scope of which each step changes an element, or all."""
        j, t, s, v = (next(self.names) for _ in range(4))
        start, changes_all = self.draw.choice(vectors), self.draw.random() < 0.5
        body = self.term([*at, j, t] if changes_all else [*at, j], [*vectors, s, s], numbers, depth - 2)
        place = self.draw.choice([*at, j])
        rest = self.term(at, [*vectors, v, v], numbers, depth - 1)

        def step(ops, scope):
            if changes_all:
                return ops.vector(lambda k: 0.5 * scope[s][k] + 0.25 * body(ops, {**scope, t: k}))
            return ops.changed(scope[s], scope[place], 0.5 * body(ops, scope))

        def value(ops, scope):
            made = ops.steps(self.n, scope[start], lambda k, now: step(ops, {**scope, j: k, s: now}), True)
            return rest(ops, {**scope, v: made})

        return value


def square(x):
    return x * x
