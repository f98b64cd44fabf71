"""Random programs of points: what neighbouring iterations read of points that are near each other."""

from __future__ import annotations

from random import Random

from rose_core import Real, Vec, fn, fori, iadd, imax, isub, sin
from rose_core import sum as total


def points(seed: int):
    """A function of points and of a vector, a draw for numbers, and how many points, of how many numbers."""
    draw = Random(seed)
    n, k = draw.choice([5, 6, 7, 9, 12, 13]), draw.choice([1, 2, 2, 3, 3, 4])
    parts = [n, k, draw.choice([1, 2])] if draw.random() < 0.25 else [n, k]
    offsets = [draw.randrange(4) for _ in range(draw.randrange(1, 4))]
    trips = n - max(offsets)
    if draw.random() < 0.2:
        trips = max(1, trips - draw.randrange(3))
    reads = [
        (draw.choice(offsets), [draw.randrange(m) for m in parts[1:]]) for _ in range(draw.randrange(1, 6))
    ]
    how = [draw.randrange(3) for _ in reads]
    clamped, nested, again, carried, fixed = (draw.random() < p for p in (0.4, 0.25, 0.3, 0.15, 0.25))

    def part(x, path):
        for at in path:
            x = x[at]
        return x

    def term(x, y, i):
        out = 0.3
        for (offset, path), kind in zip(reads, how, strict=True):
            e = part(x, [iadd(n, i, offset), *path])
            out = [out + 0.5 * sin(e), out * e + 0.1, out - e * e][kind]
        return out * y[isub(n, imax(n, iadd(n, i, 0), 1), 1) if clamped else iadd(n, i, 0)]

    def body(x, y):
        if nested:
            s = total(3, lambda j: total(trips, lambda i: term(x, y, i)) * y[iadd(n, j, 0)])
        elif carried:
            s = fori(trips, Real, 0.5, lambda i, s: 0.5 * s + term(x, y, i))
        else:
            s = total(trips, lambda i: term(x, y, i))
        if again:
            s = s + total(trips, lambda i: term(x, y, i) * y[iadd(n, i, 0)])
        return s * part(x, [2, *(0 for _ in parts[1:])]) if fixed else s

    t = Real
    for m in reversed(parts):
        t = Vec(m, t)
    return fn([t, Vec(n, Real)], Real, body), draw, parts


def numbers(draw: Random, sizes: list[int]):
    return [numbers(draw, sizes[1:]) for _ in range(sizes[0])] if sizes else draw.uniform(-1, 1)
