"""Random programs that change vectors and matrices in loops."""

from __future__ import annotations

from random import Random

from rose_core import (
    Real,
    Vec,
    cond,
    fn,
    fori,
    iadd,
    igt,
    imod,
    imul,
    select,
    sin,
    struct,
    sum,
    vec,
)

N = 4
V = Vec(N, Real)
M = Vec(N, V)


class Steps:
    """What an iteration does to a matrix and a vector: the same each time that it is asked, by the draws."""

    def __init__(self, seed: int, depth: int = 0) -> None:
        self.draw = Random(seed)
        self.type = M
        for _ in range(depth):
            self.type = Vec(2, self.type)
        self.state = struct({"m": self.type, "v": V})
        """With arrays of matrices in place of the matrix, as deep as wanted."""
        self.rows: list[object] = []
        """What may be read besides the state."""

    def index(self, iteration, *others):
        """Some index: of the iterations, or a constant."""
        draw = self.draw
        if others and draw.random() < 0.5:
            return draw.choice(others)
        if draw.random() < 0.2:
            return draw.randrange(N)
        return imod(N, iadd(99, imul(99, iteration, draw.randrange(1, 4)), draw.randrange(N)))

    def number(self, iteration, m, v, depth=2):
        """Some number that the state gives, smaller than 2."""
        draw = self.draw
        kind = draw.randrange(7 if depth else 4)
        i, j = self.index(iteration), self.index(iteration)
        if kind < 2:
            return m[i][j]
        if kind < 4:
            return v[i]
        if kind == 4:
            return sin(self.number(iteration, m, v, depth - 1)) * self.number(iteration, m, v, depth - 1)
        if kind == 5:
            row = draw.choice([*self.rows, m[i]])
            return 0.2 * sum(N, lambda k: row[k] * v[k])
        start = self.number(iteration, m, v, 0)
        return fori(2, Real, start, lambda k, s: 0.5 * s + 0.3 * m[imod(N, k)][j] * v[imod(N, k)])

    def element(self, iteration, m, v, i, j):
        """The matrix with another element, or with more in it."""
        x, old = sin(self.number(iteration, m, v)), m[i][j]
        kind = self.draw.randrange(8)
        if kind < 2:
            return m.at[i, j].add(0.3 * x)
        if kind == 2:  # another element of the row, which reads the first
            k, m = self.index(iteration), m.at[i, j].set(x)
            return m.at[i, k].set(0.4 * m[i][j] - 0.5 * m[i][k])
        new = {3: lambda: x - 0.6 * old, 4: lambda: -old / 2, 5: lambda: x * old, 6: lambda: old - 0.2 * x}
        return m.at[i, j].set(new[kind]() if kind in new else x)

    def row(self, iteration, m, v, i):
        """The matrix with another row."""
        j, x = self.index(iteration), self.number(iteration, m, v)
        kind = self.draw.randrange(6)
        if kind == 0:
            return m.set(i, m[j]).set(j, m[i])
        if kind == 4:  # two rows by each other, as they were
            one = vec(N, Real, lambda k: 0.5 * m[i][k] + 0.4 * x * m[j][k])
            return m.set(i, one).set(j, vec(N, Real, lambda k: 0.5 * m[j][k] - 0.3 * m[i][k]))
        if kind == 5:  # rows that were read before the choice
            a, b = m[i], m[j]
            p = a[0] > x if self.draw.random() < 0.5 else b[1] < a[1]
            other = self.draw.choice([m, m.set(j, a)])
            return cond(p, M, lambda: m.set(i, b).set(j, a), lambda: other)
        if kind == 1:
            return m.set(i, select(x > 0, m[j], v) if self.draw.random() < 0.5 else v)
        if kind == 2:
            row = m[i]
            for k in range(self.draw.randrange(1, 4)):
                row = row.set(self.index(iteration), sin(x + k))
            return m.set(i, row)
        return m.set(i, vec(N, Real, lambda k: 0.5 * m[i][k] - 0.4 * sin(x) * m[j][k]))

    def mixed(self, iteration, m, v):
        """Another matrix."""
        x = self.number(iteration, m, v)
        return vec(N, V, lambda a: vec(N, Real, lambda b: 0.6 * m[a][b] + 0.2 * x * v[b]))

    def inside(self, t, change, type=None):
        """The array ``t`` of matrices with one of these changed."""
        type = type or self.type
        if type is M:
            return change(t)
        k = self.draw.randrange(2)
        return t.set(k, self.inside(t[k], change, type.elem))

    def matrix(self, t):
        """One of the matrices of an array."""
        type = self.type
        while type is not M:
            type, t = type.elem, t[self.draw.randrange(2)]
        return t

    def iteration(self, iteration, m, v, depth):
        """What is done in an iteration, in a few steps."""
        draw = self.draw
        before = m, v
        for _ in range(draw.randrange(1, 4)):
            kind = draw.randrange(8 if depth else 4)
            i, j = self.index(iteration), self.index(iteration)
            rows = self.rows
            if kind in (4, 5, 7):
                self.rows = [self.matrix(m)[i]] if draw.random() < 0.5 else []
            old_m, old_v = (m, v) if draw.random() < 0.8 else before
            if kind == 0 and draw.random() < 0.4:
                row = self.matrix(old_m)[i]
                v = select(old_v[j] > 0, row, old_v) if draw.random() < 0.5 else row
            elif kind == 0:
                v = v.set(i, sin(self.number(iteration, self.matrix(old_m), old_v)))
            elif kind == 1:
                v = v.at[i].add(0.4 * self.number(iteration, self.matrix(old_m), old_v)).at[j].add(0.1)
            elif kind == 2:
                m = self.inside(m, lambda m, v=v, i=i: self.row(iteration, m, v, i))
            elif kind == 3:
                m = self.inside(m, lambda m, v=v, i=i, j=j: self.element(iteration, m, v, i, j))
            elif kind == 4:
                steps = Random(draw.random())
                sides = [steps.random(), steps.random()]

                def side(k, m=m, v=v, sides=sides):
                    self.draw, outer = Random(sides[k]), self.draw
                    found = self.iteration(iteration, m, v, depth - 1) if sides[k] < 0.7 else (m, v)
                    self.draw = outer
                    return {"m": found[0], "v": found[1]}

                p = igt(N, i, j) if draw.random() < 0.5 else self.matrix(m)[i][j] > 0.1
                s = cond(p, self.state, lambda side=side: side(0), lambda side=side: side(1))
                m, v = s.m, s.v
            elif kind == 5:
                seed = draw.random()

                def inner(k, s, seed=seed):
                    self.draw, outer = Random(seed), self.draw
                    found = self.iteration(k, s.m, s.v, depth - 1)
                    self.draw = outer
                    return {"m": found[0], "v": found[1]}

                s = fori(draw.randrange(4), self.state, {"m": m, "v": v}, inner)
                m, v = s.m, s.v
            elif kind == 7:
                seed, given = draw.random(), self.rows

                def called(t, m, v, *given, seed=seed):
                    self.draw, outer = Random(seed), self.draw
                    self.rows, around = given, self.rows
                    found = self.iteration(t, m, v, depth - 1)
                    for _ in range(2):  # so that it is not short
                        m, v = found
                        i, j = self.index(t), self.index(t)
                        found = (
                            self.inside(m, lambda m, v=v, i=i, j=j: self.element(t, m, v, i, j)),
                            v,
                        )
                    self.draw, self.rows = outer, around
                    return {"m": found[0], "v": found[1]}

                step = fn([N, self.type, V, *[V for _ in given]], self.state, called)
                for _ in range(draw.randrange(1, 3)):
                    s = step(imod(N, iteration), m, v, *given)
                    m, v = s.m, s.v
            else:
                m = self.inside(m, lambda m, v=v: self.mixed(iteration, m, v))
            self.rows = rows
        return m, v


def program(seed: int, depth: int = 0):
    """A function of a matrix, or an array of such, and a vector, which are changed in iterations."""
    steps = Steps(seed, depth)

    def spread(m, v, type=steps.type):
        if type is not M:
            return sum(2, lambda k: spread(m[k], v, type.elem))
        return sum(N, lambda i: v[i] * sum(N, lambda j: sin(m[i][j]) * (1.0 + m[j][i])))

    def body(m, v):
        def iteration(k, s):
            steps.draw = Random(seed + 1)
            after = steps.iteration(k, s.m, s.v, 2)
            return {"m": after[0], "v": after[1]}

        s = fori(7, steps.state, {"m": m, "v": v}, iteration)
        steps.draw = Random(seed)
        first = select(s.v[0] > 0, s.v[1], steps.matrix(s.m)[0][0])
        return first + spread(s.m, s.v)

    return fn([steps.type, V], Real, body)
