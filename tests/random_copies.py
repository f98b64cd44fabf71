"""Random recordings of unrolled loops, whose copies have loops, choices and calls in them."""

from __future__ import annotations

import math
from random import Random

from recordings import Writer

REAL, SIZE, VECTOR, FOUR, SHORT, ANY, BOOL, MATRIX = range(8)
N = 40
TYPES = ["real", N, ["vec", N, 0], 4, ["vec", 4, 0], 1 << 31, "bool", ["vec", N, 4]]
PARAMS = [VECTOR, MATRIX]
KINDS = [REAL, SIZE, VECTOR, FOUR, SHORT, ANY, BOOL, MATRIX]
POINT = [[math.sin(3 * k) for k in range(N)], [[math.cos(k + 7 * j) for j in range(4)] for k in range(N)]]
"""Of the vector and the matrix."""


class Copy:
    """One copy: ``choices`` are the same in all of them, ``numbers`` are its own."""

    def __init__(self, program: Program, choices: Random, numbers: Random, k: int) -> None:
        self.program, self.choices, self.numbers, self.k = program, choices, numbers, k

    def body(self, f: Writer, reals: list[int], vectors: list[int]) -> tuple[int, int]:
        """The rows of the copy, from what it may use; a Real and a short vector that it gives."""
        reals, vectors = list(reals), list(vectors)
        for _ in range(self.choices.randint(1, 4)):
            self.operation(f, reals, vectors, None, 2)
        x = self.mixed(f, reals[-2:])
        i = f.row("for", FOUR)
        inner = self.mixed(f, [x, f.row("index", vectors[-1], i)])
        y = f.row("get", f.rows_of("end", f.row("sin", inner)), 0)
        return x, y

    def mixed(self, f: Writer, reals: list[int]) -> int:
        x = self.number(f)
        for y in reals:
            x = f.row(self.choices.choice(["add", "sub", "mul"]), x, y)
        return f.row(self.choices.choice(["sin", "cos"]), x)

    def number(self, f: Writer) -> int:
        return f.literal(self.numbers.choice([0.5, -0.25, 0.75, self.numbers.uniform(-1, 1)]), REAL)

    def operation(self, f: Writer, reals: list[int], vectors: list[int], i: int | None, depth: int) -> None:
        """One more Real or short vector; ``i``: the index of the loop around it."""
        choose = self.choices.choice
        kinds = ["mixed", "short", "update"]
        if f is self.program.main:
            kinds += ["element", "entry"]
        if depth:
            kinds += ["sum", "vec", "cond", "call", "fori", "sum", "cond"]
        kind = choose(kinds)
        if kind == "element":
            reals.append(f.row("index", 0, f.literal(self.place(), SIZE)))
        elif kind == "mixed":
            reals.append(self.mixed(f, [choose(reals), choose(reals)]))
        elif kind == "entry":
            row = f.row("index", 1, f.literal(self.place(), SIZE))
            at = f.literal(self.numbers.randrange(4), FOUR) if i is None or choose([True, False]) else i
            reals.append(f.row("index", row, at))
        elif kind == "short":
            vectors.append(f.rows_of("vec", SHORT, *(choose(reals) for _ in range(4))))
        elif kind == "update":
            at = f.literal(self.numbers.randrange(4), FOUR)
            vectors.append(f.rows_of("set", choose(vectors), at, self.mixed(f, [choose(reals)])))
        elif kind in ("sum", "vec"):
            self.loop(f, reals, vectors, kind, depth)
        elif kind == "cond":
            p = f.row("lt", choose(reals), self.number(f))
            x, v, y = choose(reals), choose(vectors), choose(reals)
            sides = [self.function([REAL, SHORT], depth), self.function([REAL], depth)]
            first, second = map(f.refer, sides)
            reals.append(f.row("get", f.rows_of("cond", first, second, 2, p, x, v, y), 0))
        elif kind == "call":
            called = f.call(self.function([REAL, SHORT], depth), choose(reals), choose(vectors))
            reals.append(f.row("get", called, 0))
        else:
            body = f.refer(self.function([ANY, REAL, SHORT], depth))
            count = f.literal(self.numbers.randrange(4) if choose([True, False]) else 3, ANY)
            turned = f.rows_of("loop", body, -1, 1, ANY, 0, 0, 0, count, choose(reals), choose(vectors))
            reals.append(f.row("get", turned, 0))

    def loop(self, f: Writer, reals: list[int], vectors: list[int], kind: str, depth: int) -> None:
        total = f.row("accum", f.literal(0, REAL)) if kind == "sum" else -1
        i = f.row("for", FOUR)
        inner, inner_vectors = list(reals), list(vectors)
        inner.append(f.row("index", self.choices.choice(vectors), i))
        for _ in range(self.choices.randint(1, 3)):
            self.operation(f, inner, inner_vectors, i, depth - 1)
        x = self.mixed(f, inner[-2:])
        if kind == "sum":
            f.row("add_to", total, x)
            f.rows_of("end")
            reals.append(f.row("resolve", total))
        else:
            vectors.append(f.row("get", f.rows_of("end", x), 0))

    def function(self, params: list[int], depth: int) -> int:
        """A function of a Real and maybe a short vector; the first parameter may be an index."""
        g = Writer("g", params, REAL, KINDS)
        ids = [g.row("param", k) for k in range(len(params))]
        reals = [x for x, t in zip(ids, params, strict=True) if t == REAL]
        vectors = [x for x, t in zip(ids, params, strict=True) if t == SHORT]
        if params[0] == ANY:
            reals.append(g.row("real", ids[0]))
        for v in vectors:
            reals.append(g.row("index", v, g.literal(self.numbers.randrange(4), FOUR)))
        if not vectors:
            vectors.append(g.rows_of("vec", SHORT, *(self.number(g) for _ in range(4))))
        if depth > 1 and self.choices.random() < 0.3:
            self.loop(g, reals, vectors, "sum", 1)
        return self.program.add(g, self.mixed(g, reals[-3:]))

    def place(self) -> int:
        return self.k if self.choices.random() < 0.7 else self.numbers.randrange(N)


class Program:
    """A function of a vector and a matrix, made of copies, and all that it calls."""

    def __init__(self, seed: int) -> None:
        self.functions: list[Writer] = []
        self.results: list[int] = []
        shape = Random(seed)
        f = self.main = Writer("f", PARAMS, REAL, KINDS)
        for k in range(2):
            f.row("param", k)
        x = f.literal(0.5, REAL)
        v = f.rows_of("vec", SHORT, *(f.literal(0.1 * k, REAL) for k in range(4)))
        total = f.literal(0, REAL)
        goes_on, terms = shape.random() < 0.5, []
        first_x, first_v = x, v
        for k in range(shape.randint(14, N)):
            copy = Copy(self, Random(seed), Random(seed * 1000 + k), k)
            found, vector = copy.body(f, [x, f.row("index", 0, f.literal(k, SIZE))], [v])
            terms.append(found)
            x, v = (found, vector) if goes_on else (first_x, first_v)
        for term in terms:
            total = f.row("add", total, term)
        last = f.row("index", v, f.literal(2, FOUR))
        self.add(f, f.row("add", total, f.row("mul", last, terms[5])))

    def add(self, f: Writer, result: int) -> int:
        self.functions.append(f)
        self.results.append(result)
        return len(self.functions) - 1
