"""Random programs in which numbers decide: on sides, on elements that are read, on how often a loop runs."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace

from rose_core import (
    Real,
    Vec,
    and_,
    cond,
    floor,
    fn,
    fori,
    index,
    select,
    sin,
    struct,
    sum,
    tanh,
    vec,
    vjp,
    while_loop,
)

N, WIDTH = 3, 2
V = Vec(N, Real)
A = Vec(N, Vec(WIDTH, Real))
STATE = struct({"a": A, "v": V, "x": Real})
COUNTED = struct({"a": A, "v": V, "x": Real, "left": Real})


def parts(s):
    """The parts of a state by name, to be replaced one by one."""
    return SimpleNamespace(a=s["a"], v=s["v"], x=s["x"])


def state(s):
    """A state whose numbers stay between -1 and 1."""
    return {
        "a": vec(N, A.elem, lambda i: vec(WIDTH, Real, lambda j: tanh(s.a[i][j]))),
        "v": vec(N, Real, lambda i: tanh(s.v[i])),
        "x": tanh(s.x),
    }


def total(s):
    """A number that all of a state goes into."""
    rows = sum(N, lambda i: sin(s.v[i]) * sum(WIDTH, lambda j: s.a[i][j]))
    return sin(s.x) * s.a[0][0] + rows


class Choices:
    """What an iteration does to a state: the same each time that it is asked, by the draws."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)

    def again(self, seed: int, s, iteration, depth: int):
        """A step that is drawn by a seed of its own."""
        before, self.draw = self.draw, Random(seed)
        made = self.step(parts(s), iteration, depth)
        self.draw = before
        return made

    def index(self, size: int, s, iteration):
        draw = self.draw
        kind = draw.randrange(4)
        if kind == 0 and iteration is not None and size == N:
            return iteration
        if kind == 1:
            here, there = (float(draw.randrange(size)) for _ in range(2))
            return index(size, select(s.x > draw.uniform(-0.5, 0.5), here, there))
        if kind == 2:
            return index(size, floor(tanh(s.x) * tanh(s.x) * (size - 0.01)))
        return draw.randrange(size)

    def number(self, s, iteration, depth: int = 2):
        draw = self.draw
        kind = draw.randrange(7 if depth else 2)
        if kind < 2:
            element = s.a[self.index(N, s, iteration)][self.index(WIDTH, s, None)]
            return draw.choice([s.x, s.v[self.index(N, s, iteration)], element])
        if kind == 2:
            return sin(self.number(s, iteration, depth - 1))
        if kind == 3:
            return self.number(s, iteration, depth - 1) * self.number(s, iteration, depth - 1)
        if kind == 4:
            p = self.number(s, iteration, 0) > draw.uniform(-1, 1)
            return select(p, self.number(s, iteration, depth - 1), self.number(s, iteration, depth - 1))
        if kind == 5:
            return floor(self.number(s, iteration, depth - 1)) + self.number(s, iteration, 0)
        column = draw.randrange(WIDTH)
        return 0.1 * sum(N, lambda j: s.a[j][column] * s.v[j])

    def step(self, s, iteration, depth: int):
        """A state after one change."""
        draw = self.draw
        kind, seed = draw.randrange(9 if depth else 5), draw.randrange(1 << 30)
        if kind == 0:
            s.x = self.number(s, iteration)
        elif kind == 1:
            s.v = s.v.set(self.index(N, s, iteration), self.number(s, iteration))
        elif kind == 2:
            s.a = s.a.at[self.index(N, s, iteration), self.index(WIDTH, s, None)].set(
                self.number(s, iteration)
            )
        elif kind == 3:
            s.a = s.a.set(self.index(N, s, iteration), [self.number(s, iteration) for _ in range(WIDTH)])
        elif kind == 4:
            k, a, v = draw.randrange(N), s.a, s.v
            s.a = vec(N, A.elem, lambda i: vec(WIDTH, Real, lambda j: sin(a[i][j]) * v[k]))
        else:
            s = parts(
                [self.side, self.trips, self.until, self.derivative][kind - 5](
                    state(s), iteration, depth, seed
                )
            )
        return s

    def side(self, s, iteration, depth: int, seed: int):
        p = self.number(parts(s), iteration, 1) > self.draw.uniform(-0.7, 0.7)
        sides = [lambda k=k: state(self.again(seed + k, s, iteration, depth - 1)) for k in range(2)]
        return cond(p, STATE, *sides)

    def trips(self, s, iteration, depth: int, seed: int):
        return fori(N, STATE, s, lambda i, s: state(self.again(seed, s, i, depth - 1)))

    def until(self, s, iteration, depth: int, seed: int):
        bound = self.draw.uniform(-1.2, -0.2)
        return while_loop(
            COUNTED,
            {**s, "left": 3.0},
            lambda s: and_(s.left > 0, s.x > bound),
            lambda s: {**state(self.again(seed, s, None, depth - 1)), "left": s.left - 1.0},
            limit=10,
        )

    def derivative(self, s, iteration, depth: int, seed: int):
        def inner(v):
            return total(self.again(seed, {**s, "v": v}, None, depth - 1))

        return {**s, "v": vjp(fn([V], Real, inner))(s["v"]).grad(1.0)}


def program(seed: int):
    """A function of a matrix, a vector and a number, which are changed a few times."""

    def body(a, v, x):
        choices = Choices(seed)
        s = {"a": a, "v": v, "x": x}
        for _ in range(choices.draw.randrange(2, 5)):
            s = state(choices.step(parts(s), None, 2))
        return total(parts(s))

    return fn([A, V, Real], Real, body)
