"""Random loops whose iterations take the least or largest, or replace the state, and nearly such ones."""

from __future__ import annotations

from math import inf
from random import Random

from rose_core import Real, Vec, fn, fori, igt, ineq, max, min, select, sin, struct, sum, tanh

N = 6
V = Vec(N, Real)


class Iterations:
    """A function of two vectors, a number and an index, and arguments for it; the same for a seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        draw = self.draw = Random(seed)
        self.names = ["r", "s", "t"][: draw.choice([1, 2, 2, 3])]
        self.state = struct(dict.fromkeys(self.names, Real))
        self.replaces = draw.random() < 0.3
        """Whether it is mostly replaced as a whole, not by extremes."""
        self.chooses = self.replaces or draw.random() < 0.6
        self.left_first = draw.random() < 0.3
        """Whether what is left as it is stands mostly on the side where conditions hold."""
        self.is_inside = draw.random() < 0.4
        """Whether another loop does so in each of its iterations."""
        self.function = fn([V, V, Real, N], Real, self.whole)

    def whole(self, x, y, a, n):
        return (
            sum(N, lambda k: self.body(x, y, a - y[k] * x[k], n)) if self.is_inside else self.body(x, y, a, n)
        )

    def body(self, x, y, a, n):
        draw = self.draw = Random(self.seed + 1)
        start = {name: draw.choice([x[0], a, inf, -inf, 0.1, y[1] * a]) for name in self.names}
        trips, seed = draw.choice([4, 5, N, N, n]), draw.random()

        def iteration(i, s):
            self.draw = Random(seed)
            return self.iteration({name: s[name] for name in self.names}, i, x, y, a)

        last = fori(trips, self.state, start, iteration)
        total = 0.0
        for k, name in enumerate(self.names, 1):
            total += k * tanh(last[name]) * (1.0 + a)
        return total

    def condition(self, s, i, x, y):
        kinds = [
            lambda: x[i] > 0.1,
            lambda: y[i] <= x[i],
            lambda: igt(N, i, 2),
            lambda: s[self.draw.choice(self.names)] > 0.2,
            lambda: ineq(N, i, 1),
        ]
        return self.draw.choice(kinds)()

    def number(self, i, x, y, a):
        kinds = [
            lambda: x[i],
            lambda: y[i] * x[i],
            lambda: sin(x[i]) * a,
            lambda: self.draw.choice([0.25, -0.5]),
            lambda: x[i] * x[i],
            lambda: y[i] - a,
            lambda: select(y[i] > 0, x[i], a),
        ]
        return self.draw.choice(kinds)()

    def iteration(self, s, i, x, y, a):
        draw = self.draw
        p, is_one = self.condition(s, i, x, y), draw.random() < 0.7
        made, after = [], {}
        for name in self.names:
            extreme, new, which = draw.choice([min, max]), self.number(i, x, y, a), draw.random()
            if not (self.replaces and which < 0.8):
                if which < 0.5:
                    new = extreme(s[name], new)
                elif which < 0.6:
                    new = extreme(new, self.number(i, x, y, a))
                elif which < 0.75:
                    new = extreme(s[name], s[draw.choice(self.names)])
                elif which < 0.9 and made:
                    new = extreme(s[name], draw.choice(made))
            made.append(new)
            if self.replaces or (self.chooses and draw.random() < 0.6):
                q = p if is_one else self.condition(s, i, x, y)
                sides = [s[name], new] if self.left_first ^ (draw.random() < 0.1) else [new, s[name]]
                new = select(q, Real, *sides)
            after[name] = new
        return after

    def args(self, k: int):
        """The ``k``-th arguments, of which some are the same numbers."""
        draw = Random(f"{self.seed} {k}")

        def numbers():
            return [
                draw.choice([draw.uniform(-1, 1), draw.uniform(-1, 1), 0.5, -0.5, 0.0, 0.25])
                for _ in range(N)
            ]

        return numbers(), numbers(), draw.uniform(-1, 1), draw.randrange(N)
