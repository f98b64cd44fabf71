"""Random loops whose iterations take the least or largest of numbers that are computed alike, or almost."""

from __future__ import annotations

from random import Random

from rose_core import Real, Vec, abs, exp, fn, iadd, max, min, real, select, sin, sqrt, sum, vec

TRIPS, MEMBERS, WIDTH = 9, 5, 3
Centres, Points, Weights = Vec(MEMBERS, Vec(WIDTH, Real)), Vec(TRIPS, Vec(WIDTH, Real)), Vec(MEMBERS, Real)


class Member:
    """A member's expression: the same for each, by the draws, of other operands."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, k, i, centres, points, weights):
        self.draw = Random(self.seed)
        self.literals = [[draw.choice((0.25, 0.5, 3.0)) for _ in range(MEMBERS)] for draw in [Random(7)] * 4]
        self.k, self.i, self.centres, self.points, self.weights = k, i, centres, points, weights
        return self.expression(4) + centres[k][0] * points[i][0]

    def expression(self, depth):
        draw = self.draw
        if not depth or draw.random() < 0.1:
            return self.leaf()
        kind = draw.randrange(10)
        x = self.expression(depth - 1)
        if kind < 5:
            y = self.expression(depth - 1)
            return (x + y, x - y, y - x, x * y, x * y)[kind]
        if kind == 5:
            return sqrt(x * x + 1)
        if kind == 6:
            return (sin, abs, lambda x: exp(-x * x))[draw.randrange(3)](x)
        if kind == 7:
            return draw.choice((min, max))(x, self.leaf())
        if kind == 8:
            return select(x < self.leaf(), Real, x, self.leaf())
        j = draw.randrange(1, WIDTH + 1)
        row = self.centres[self.k]
        return x + sum(j, lambda q: self.points[self.i][iadd(WIDTH, q, 0)] * row[iadd(WIDTH, q, 0)])

    def leaf(self):
        draw, k, q = self.draw, self.k, self.draw.randrange(WIDTH)
        kind = draw.randrange(9)
        if kind < 3:
            return self.points[self.i][q]
        if kind < 5:
            return self.centres[k][q]
        if kind == 5:
            return self.centres[(k + 1) % MEMBERS][q]
        if kind == 6:
            return self.weights[k]
        if kind == 7:
            return draw.choice(self.literals)[k]
        return self.weights[0] * real(self.i)


def extreme_of(draw, members):
    """The least or largest of members, in some order and nesting."""
    extreme, kind = draw.choice((min, max)), draw.randrange(4)
    members = list(members)
    if kind == 1:
        members.reverse()
    if kind == 2:
        while len(members) > 1:
            members = [
                extreme(*members[k : k + 2]) if k + 1 < len(members) else members[k]
                for k in range(0, len(members), 2)
            ]
        return members[0]
    best = members[0]
    for x in members[1:]:
        best = extreme(best, x) if kind else extreme(x, best)
    return best


def program(seed: int):
    """A function of centres, points and weights."""
    draw = Random(seed)
    some = [Member(draw.random()) for _ in range(draw.choice((1, 1, 2)))]
    ways = [draw.random() for _ in some]
    rest = draw.randrange(4)
    starts = draw.choice(([], [], [], [1e9], [0.0], ["weight"], ["point"]))

    def iteration(i, *data):
        total = 0.0
        for member, way in zip(some, ways, strict=True):
            members = [member(k, i, *data) for k in range(MEMBERS)]
            before = [{"weight": data[2][0], "point": data[1][i][0]}.get(start, start) for start in starts]
            best = extreme_of(Random(way), [*before, *members])
            total = total + (best * best if rest % 2 else best)
            if rest == 2:
                total = total + members[1] * members[2]
            if rest == 3:
                for q in range(WIDTH):
                    total = sin(total) + total * data[1][i][q]
        return total

    def body(*data):
        if draw.random() < 0.3:
            x = vec(TRIPS, Real, lambda i: iteration(i, *data))
            return sum(TRIPS, lambda i: x[i] * x[i])
        return sum(TRIPS, lambda i: iteration(i, *data))

    return fn([Centres, Points, Weights], Real, body)
