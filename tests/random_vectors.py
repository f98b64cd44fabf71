"""Random programs whose loops have short vectors as state, which they make element by element, or not."""

from __future__ import annotations

from functools import partial
from random import Random

from rose_core import (
    Real,
    Vec,
    cond,
    fn,
    fori,
    imod,
    max,
    real,
    scan,
    select,
    sin,
    struct,
    sum,
    vec,
    while_loop,
)

ROW = Vec(3, Real)
KINDS = {"x": ROW, "y": ROW, "m": Vec(2, Vec(2, Real)), "s": Real}
STATE = struct(KINDS)
MOST_TRIPS = 5


class Vectors:
    """A function of such a state and a number; the same for a seed."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)
        self.whole = self.draw.random() < 0.3
        """Whether iterations may also read and set elements at their own numbers."""
        self.trips = self.draw.randrange(1 + MOST_TRIPS)
        self.seed = seed
        self.result = struct({**KINDS, "kept": Real})
        self.function = fn([STATE, Real], self.result, self.body)

    def args(self) -> tuple[dict, float]:
        draw = Random(self.seed)
        x, y, (a, b, c) = ([draw.uniform(-1.0, 1.0) for _ in range(3)] for _ in range(3))
        return {"x": x, "y": y, "m": [[a, b], [c, a * b]], "s": c}, draw.uniform(-1.0, 1.0)

    def body(self, state, z):
        self.draw = Random(self.seed + 1)
        seed, kind, kept = self.draw.random(), self.draw.randrange(4), 0.0
        name = self.draw.choice([*KINDS])

        def iteration(i, state):
            self.draw = Random(seed)
            return self.iteration(i, state, z)

        if kind == 0:
            state = while_loop(
                STATE, state, lambda s: s["x"][0] + s["m"][1][0] < z, partial(iteration, 1), limit=MOST_TRIPS
            )
        elif kind == 1:
            state, rows = scan(self.trips, STATE, state, lambda s, i: (iteration(i, s), s[name]))
            kept = sum(self.trips, lambda i: (1 + real(i)) * self.numbers_of(name, rows[i])[-1])
        elif kind == 2:  # in another loop
            state = fori(2, STATE, state, lambda _, s: fori(self.trips, STATE, s, iteration))
        else:
            state = fori(self.trips, STATE, state, iteration)
        return {**{name: state[name] for name in KINDS}, "kept": kept}

    def iteration(self, i, state, z):
        values = {name: state[name] for name in KINDS}
        for _ in range(self.draw.randrange(1, 5)):
            name = self.draw.choice([*KINDS])
            values[name] = self.changed(name, i, values, z)
        return values

    def changed(self, name, i, values, z):
        draw, x, number = self.draw, values[name], partial(self.number, i, values, z)
        if name == "s":
            return draw.choice([number, lambda: sum(3, lambda d: values["x"][d] * values["y"][d])])()
        if name == "m":
            k, j = draw.randrange(2), draw.randrange(2)
            kinds = [
                lambda: vec(2, Vec(2, Real), [[number(), number()], [number(), number()]]),
                lambda: x.at[k][j].set(number()),
                lambda: x.set(k, [number(), x[j][k]]),
                lambda: vec(2, Vec(2, Real), lambda a: vec(2, Real, lambda b: 0.5 * x[b][a] + z)),
                lambda: select(number() < z, KINDS["m"], x, x.set(k, x[j])),
            ]
            return draw.choice(kinds)()
        other, k = values["y" if name == "x" else "x"], draw.randrange(3)
        kinds = [
            lambda: vec(3, Real, [number(), number(), number()]),
            lambda: x.set(k, number()),
            lambda: x.at[k].add(number()).set(draw.randrange(3), number()),
            lambda: vec(3, Real, lambda d: 0.7 * x[d] - z * other[d] + number()),
            lambda: other,
            lambda: select(number() < z, ROW, x, other),
            lambda: cond(number() < z, ROW, lambda: x.set(k, z), lambda: other),
        ]
        if self.whole:
            kinds += [lambda: x.set(imod(3, i), number()), lambda: x.set(k, other[imod(3, i)])]
        return draw.choice(kinds)()

    def number(self, i, values, z):
        draw = self.draw
        names = [draw.choice([*KINDS]) for _ in range(2)]
        x, y = (draw.choice(self.numbers_of(name, values[name])) for name in names)
        kinds = [
            lambda: sin(x + y),
            lambda: 0.5 * x * z,
            lambda: max(x, y) - 0.5 * z,
            lambda: x - 0.25 * real(i),
        ]
        return draw.choice(kinds)()

    @staticmethod
    def numbers_of(name, x):
        """The numbers of a part of the state."""
        if name == "s":
            return [x]
        return [x[0][0], x[0][1], x[1][0], x[1][1]] if name == "m" else [x[0], x[1], x[2]]
