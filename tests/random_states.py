"""Random loops whose state is vectors that change places."""

from __future__ import annotations

from random import Random

from rose_core import Real, Vec, cond, fn, fori, imod, scan, sin, struct, sum, vec, while_loop

SIZES = (3, 4)


class States:
    """A state of vectors, and what an iteration makes of it: the same each time that it is asked."""

    def __init__(self, seed: int, loops: int = 2) -> None:
        self.draw = Random(seed)
        self.loops = loops
        self.sizes = [self.draw.choice(SIZES) for _ in range(self.draw.randrange(2, 6))]
        self.names = [f"v{k}" for k in range(len(self.sizes))]
        self.types = [Vec(n, Real) for n in self.sizes]
        self.type = struct({**dict(zip(self.names, self.types, strict=True)), "x": Real})

    def vectors(self, s):
        return [s[name] for name in self.names]

    def state(self, vectors, x):
        return {**dict(zip(self.names, vectors, strict=True)), "x": x}

    def element(self, iteration, vectors, x):
        v = self.draw.choice(vectors)
        return (
            sin(v[imod(len(v), iteration)] + x)
            if self.draw.random() < 0.7
            else 0.5 * v[self.draw.randrange(3)]
        )

    def changed(self, iteration, v, vectors, x):
        """A vector of the size of ``v``, from it or new."""
        kind = self.draw.randrange(6)
        if kind < 2:
            return v.set(imod(len(v), iteration), self.element(iteration, vectors, x))
        if kind == 2:
            return v.at[self.draw.randrange(3)].add(self.element(iteration, vectors, x))
        if kind == 3:
            e = self.element(iteration, vectors, x)
            return vec(len(v), Real, lambda i: 0.8 * v[i] + 0.1 * e)
        return v

    def iteration(self, iteration, s, around):
        """Vectors change places with others of their size, mostly; some come from around the loop."""
        draw, vectors, x = self.draw, self.vectors(s), s["x"]
        after = list(vectors)
        for size in SIZES:
            places = [k for k, n in enumerate(self.sizes) if n == size]
            froms = draw.sample(places, len(places)) if draw.random() < 0.8 else [*places]
            if places and draw.random() < 0.2:
                froms[0] = draw.choice(places)  # one of them twice
            for k, j in zip(places, froms, strict=True):
                after[k] = self.changed(iteration, vectors[j], vectors, x)
                if draw.random() < 0.1:
                    after[k] = self.changed(iteration, around[j], vectors, x)
        x = 0.5 * x + 0.2 * self.element(iteration, vectors, x)
        kind, seed = draw.randrange(6), draw.random()
        if kind < 2 and self.loops:
            return self.loop(self.state(after, x), vectors if kind else around, seed)
        if kind == 2:
            other = draw.sample(range(len(after)), 2)
            if self.sizes[other[0]] == self.sizes[other[1]]:
                swapped = list(after)
                for a, b in (other, other[::-1]):
                    swapped[a] = after[b]
                made = self.state(after, x)
                return cond(x > 0.1, self.type, lambda: self.state(swapped, x), lambda: made)
        return self.state(after, x)

    def loop(self, start, around, seed):
        draw, kind, trips = self.draw, self.draw.randrange(4), self.draw.randrange(5)

        def body(i, s):
            self.draw, self.loops = Random(seed), self.loops - 1
            found = self.iteration(i, s, around)
            self.draw, self.loops = draw, self.loops + 1
            return found

        if kind == 0:

            def scanned(s, i):
                found = body(i, s)
                return found, found[self.names[0]][0]

            s, kept = scan(3, self.type, start, scanned)
            return self.state(self.vectors(s), s["x"] + 0.1 * sum(3, lambda i: kept[i]))
        if kind == 1:
            counted = struct({"s": self.type, "left": Real})
            made = while_loop(
                counted,
                {"s": start, "left": float(trips)},
                lambda c: c.left > 0.5,
                lambda c: {"s": body(0, c.s), "left": c.left - 1.0},
                limit=10,
            )
            return made.s
        return fori(trips, self.type, start, body)


def program(seed: int):
    """A function of vectors and a Real, which are the state of loops."""
    states = States(seed)

    def body(*args):
        *vectors, x = args
        states.draw = Random(seed)
        start = [states.draw.choice([v for v in vectors if len(v) == len(u)]) for u in vectors]
        s = states.loop(states.state(start, x), vectors, seed)
        total = s["x"]
        for k, (v, u) in enumerate(zip(states.vectors(s), vectors, strict=True)):
            total += sum(len(v), lambda i, v=v, u=u, k=k: sin(v[i]) * (1.0 + 0.1 * k + 0.2 * u[i]))
        return total

    return fn([*states.types, Real], Real, body)
