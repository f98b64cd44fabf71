"""Random programs that read and change matrices and vectors under several names, old and new ones."""

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
    isub,
    select,
    sin,
    struct,
    tanh,
    vec,
)

ROWS, COLUMNS = 6, 7
V = Vec(COLUMNS, Real)
M = Vec(ROWS, V)
STATE = struct(m=M, n=M, v=V, x=Real)


class Names:
    """A function that gives two matrices, a vector and a number of all that it has made, and arguments."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.function = fn([M, M, V, Real, ROWS, COLUMNS], STATE, self.body)

    def body(self, m, n, v, x, i, j):
        draw = self.draw = Random(self.seed)
        known = {"matrices": [m, n], "vectors": [v], "numbers": [x], "indices": [i, j]}
        self.steps(known, draw.randrange(2, 7), 2)
        matrices = known["matrices"]
        vector = draw.choice([*known["vectors"], self.row(known)])
        return {"m": matrices[-1], "n": draw.choice(matrices), "v": vector, "x": self.number(known)}

    def args(self):
        draw = Random(self.seed + 1)

        def row():
            return [draw.uniform(-1, 1) for _ in range(COLUMNS)]

        m, n = ([row() for _ in range(ROWS)] for _ in range(2))
        return m, n, row(), draw.uniform(-1, 1), draw.randrange(ROWS), draw.randrange(COLUMNS)

    def index(self, known, size: int):
        draw, i = self.draw, self.draw.choice(known["indices"])
        kinds = [
            lambda: imod(size, i),
            lambda: imod(size, i),
            lambda: imod(size, iadd(99, i, 1)),
            lambda: draw.randrange(size),
            lambda: isub(size, size - 1, imod(size, i)),
        ]
        return draw.choice(kinds)()

    def number(self, known):
        kind = self.draw.randrange(5)
        if kind == 0:
            return self.draw.choice(known["numbers"])
        if kind < 3:
            return self.row(known)[self.index(known, COLUMNS)]
        return self.draw.choice(known["vectors"])[self.index(known, COLUMNS)]

    def condition(self, known):
        draw = self.draw
        if draw.random() < 0.3:
            return igt(9, draw.choice(known["indices"]), draw.randrange(4))
        return self.number(known) > draw.choice([0.0, 0.4])

    def row(self, known):
        """A row as it is."""
        return self.draw.choice(known["matrices"])[self.index(known, ROWS)]

    def vector(self, known):
        draw = self.draw
        kind = draw.randrange(6)
        if kind < 2:
            return self.row(known)
        v = draw.choice([*known["vectors"], self.row(known)])
        if kind == 2:
            return select(self.condition(known), V, self.vector(known), v)
        x = self.number(known)
        if kind == 3:
            return v.set(self.index(known, COLUMNS), x * 0.5 + 0.1)
        return vec(COLUMNS, Real, lambda j: v[j] * 0.5 + x) if kind == 4 else v

    def matrix(self, known, depth: int = 1):
        """A matrix that is another one, or changed."""
        draw, m = self.draw, self.draw.choice(known["matrices"])
        i, j = self.index(known, ROWS), self.index(known, ROWS)
        kind = draw.randrange(10 if depth else 7)
        if kind == 0:
            return m.set(i, m[i].set(self.index(known, COLUMNS), self.number(known) * 0.7))
        if kind == 1:
            return m.at[i, self.index(known, COLUMNS)].add(0.3 * self.number(known))
        if kind == 2:
            return select(self.condition(known), M, m, draw.choice(known["matrices"]))
        if kind == 3:
            return m.set(i, m[j]).set(j, m[i])
        if kind == 4:
            v = self.row(known)
            return m.set(i, vec(COLUMNS, Real, lambda k: v[k] * 0.5 + 0.25 * m[i][k]))
        if kind < 7:
            return m.set(i, self.vector(known))
        if kind < 9:
            other = draw.choice([lambda: m, lambda: self.matrix(known, 0)])
            return cond(self.condition(known), M, lambda: self.matrix(known, 0), other)
        return self.called(m, self.row(known), i)

    def called(self, m, v, i):
        def body(m, v, i):
            known = {"matrices": [m], "vectors": [v], "numbers": [v[0]], "indices": [i]}
            for _ in range(2):
                known["matrices"].append(self.matrix(known, 0))
            return known["matrices"][-1]

        return fn([M, V, ROWS], M, body)(m, v, i)

    def changed_row(self, known) -> None:
        """A matrix whose row is changed, of which old and new rows may be known as well."""
        draw, matrices, vectors = self.draw, known["matrices"], known["vectors"]
        m, i = draw.choice(matrices[-2:]), self.index(known, ROWS)
        row = m[i]
        if draw.random() < 0.3:
            vectors.append(row)
        if draw.random() < 0.3:
            vectors.append(select(self.condition(known), V, row, self.row(known)))
        for _ in range(draw.choice([1, 1, 2])):
            row = row.set(self.index(known, COLUMNS), self.number(known) * 0.6 + 0.1)
            if draw.random() < 0.35:
                vectors.append(row)
        matrices.append(m.set(i, row))
        if draw.random() < 0.3:
            vectors.append(matrices[-1][draw.choice([i, self.index(known, ROWS)])])
        if draw.random() < 0.3:
            at = draw.choice([i, self.index(known, ROWS)])
            matrices.append(matrices[-1].set(at, self.vector(known)))

    def steps(self, known, count: int, loops: int) -> None:
        for _ in range(count):
            kind = self.draw.randrange(8)
            if kind < 2:
                self.changed_row(known)
            elif kind < 5:
                known["matrices"].append(self.matrix(known))
            elif kind == 5:
                known["vectors"].append(self.vector(known))
            elif kind == 6:
                known["numbers"].append(sin(self.number(known)))
            elif loops:
                self.loop(known, loops - 1)

    def loop(self, known, loops: int) -> None:
        draw, seed = self.draw, self.draw.random()

        def iteration(i, s):
            before, self.draw = self.draw, Random(seed)
            inside = {
                "matrices": [s.m, s.n, known["matrices"][-1]],
                "vectors": [s.v, known["vectors"][-1]],
                "numbers": [s.x],
                "indices": [i, known["indices"][0]],
            }
            self.steps(inside, self.draw.randrange(1, 4), loops)
            other = self.draw.choice([s.n, self.draw.choice(inside["matrices"])])
            after = [inside["matrices"][-1], other]
            if self.draw.random() < 0.15:
                after.reverse()
            self.draw = before
            return {
                "m": after[0],
                "n": after[1],
                "v": inside["vectors"][-1],
                "x": tanh(inside["numbers"][-1]),
            }

        start = {
            "m": draw.choice(known["matrices"]),
            "n": draw.choice(known["matrices"]),
            "v": self.row(known),
            "x": self.number(known),
        }
        last = fori(draw.choice([2, 5, ROWS, known["indices"][-1]]), STATE, start, iteration)
        known["matrices"] += [last.m, last.n]
        known["vectors"].append(last.v)
        known["numbers"].append(last.x)
