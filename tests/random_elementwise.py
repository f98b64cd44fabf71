"""Random programs of arrays made element by element from others, one after the other and in steps."""

from __future__ import annotations

from random import Random

from rose_core import (
    Real,
    Vec,
    abs,
    cond,
    exp,
    fn,
    fori,
    iadd,
    imin,
    imod,
    max,
    min,
    real,
    sin,
    struct,
    sum,
    vec,
)


class Elementwise:
    """Arrays of ``n`` numbers, or of ``n`` rows of ``m``: the same each time that they are asked for."""

    def __init__(self, seed: int) -> None:
        self.draw = draw = Random(seed)
        self.n = draw.choice((4, 9, 12, 20))
        self.m = draw.choice((0, 0, 2, 3, 4, 18))
        self.type = Vec(self.n, Vec(self.m, Real) if self.m else Real)

    def number(self, arrays, shared, i, j):
        """A number of an element; mostly of others at the same place."""
        draw = self.draw
        terms = [self.term(arrays, shared, i, j) for _ in range(draw.randrange(1, 4))]
        found = terms[0]
        for x in terms[1:]:
            kind = draw.randrange(6)
            if kind < 2:
                found = found + x
            elif kind < 4:
                found = found * x
            elif kind == 4:
                found = found - x
            else:
                found = draw.choice((max, min))(found, x)
        return found

    def term(self, arrays, shared, i, j):
        draw, n, m = self.draw, self.n, self.m
        row = draw.choice(arrays)
        kind = draw.randrange(12)
        if kind == 0:
            row = row[imod(n, iadd(2 * n, i, draw.randrange(n)))]
        elif kind == 1:
            row = row[imin(n, iadd(n + 1, i, 1), n - 1)]
        elif kind == 2:
            row = row[draw.randrange(n)]
        elif kind == 3:
            row = cond(i < draw.randrange(1, 3), self.type.elem, lambda: row[i], lambda: row[i - 1])
        else:
            row = row[i]
        x = row if not m else row[draw.randrange(m)] if draw.random() < 0.3 else row[j]
        kind = draw.randrange(10)
        if kind == 0:
            return draw.choice((sin, exp, abs))(0.5 * x)
        if kind == 1:
            return x * draw.choice(shared)
        if kind == 2:
            return cond(x > 0.1, Real, lambda: 0.5 * x, lambda: -x)
        if kind == 3:
            return draw.choice((0.0, -0.0, 2.0, real(i))) * x
        return x

    def array(self, arrays, shared):
        """A new array."""
        draw, n, m = self.draw, self.n, self.m
        if not m:
            return vec(n, Real, lambda i: self.number(arrays, shared, i, None))
        if m < 5 and draw.random() < 0.5:
            return vec(n, Vec(m, Real), lambda i: [self.number(arrays, shared, i, j) for j in range(m)])
        return vec(n, Vec(m, Real), lambda i: vec(m, Real, lambda j: self.number(arrays, shared, i, j)))

    def total(self, a, b):
        if not self.m:
            return sum(self.n, lambda i: a[i] * b[i])
        return sum(self.n, lambda i: sum(self.m, lambda j: a[i][j] * b[i][j]))

    def made(self, arrays, shared):
        """Arrays made one after the other; and numbers of all their elements."""
        arrays, shared = [*arrays], [*shared]
        for _ in range(self.draw.randrange(1, 4)):
            arrays.append(self.array(arrays, shared))
            if self.draw.random() < 0.2:
                shared.append(0.1 * self.total(arrays[-1], self.draw.choice(arrays)))
        return arrays

    def program(self, x, y, p):
        draw = self.draw
        shared = [p[0], 0.1 * p[1]]
        arrays = self.made([x, y], shared)
        if draw.random() < 0.7:
            state = struct({"a": self.type, "b": self.type})
            start = {"a": draw.choice(arrays), "b": draw.choice(arrays)}
            at = draw.getstate()

            def step(_, s):
                draw.setstate(at)
                found = self.made([s["a"], s["b"], y], shared)
                return {"a": found[-1], "b": draw.choice(found)}

            end = fori(draw.choice((1, 3)), state, start, step)
            arrays += [end["a"], end["b"]]
        return self.total(arrays[-1], arrays[-1]) + self.total(arrays[-1], draw.choice(arrays))


def elementwise(seed: int):
    """A program of two arrays and two numbers, and such arguments."""
    made = Elementwise(seed)
    f = fn([made.type, made.type, Vec(2, Real)], Real, made.program)
    d = Random(seed + 1)

    def number() -> float:
        return d.choice((0.0, -0.0, 1.0, d.uniform(-1, 1), d.uniform(-1, 1)))

    def array():
        return [[number() for _ in range(made.m)] if made.m else number() for _ in range(made.n)]

    return f, (array(), array(), [number(), number()])
