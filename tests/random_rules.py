"""Random programs over numbers or duals: functions, and rules for their derivatives as authors write them."""

from __future__ import annotations

from random import Random

from rose_core import (
    Dual,
    Real,
    Vec,
    cond,
    cos,
    fn,
    fori,
    iadd,
    igt,
    imod,
    isub,
    real,
    scan,
    select,
    sin,
    struct,
    sum,
    vec,
    zero,
)


class Numbers:
    """What can be done with numbers."""

    type = Real
    value = staticmethod(lambda x: x)
    constant = staticmethod(lambda x: x)
    add = staticmethod(lambda x, y: x + y)
    mul = staticmethod(lambda x, y: x * y)
    scaled = staticmethod(lambda x, factor: x * factor)
    sin = staticmethod(sin)


class Duals:
    """The same, of numbers and their tangents."""

    type = Dual
    value = staticmethod(lambda x: x["re"])
    constant = staticmethod(lambda x: {"re": x, "du": zero()})
    add = staticmethod(lambda x, y: {"re": x["re"] + y["re"], "du": x["du"] + y["du"]})
    mul = staticmethod(lambda x, y: {"re": x["re"] * y["re"], "du": x["du"] * y["re"] + y["du"] * x["re"]})
    scaled = staticmethod(lambda x, factor: {"re": x["re"] * factor, "du": x["du"] * factor})
    sin = staticmethod(lambda x: {"re": sin(x["re"]), "du": x["du"] * cos(x["re"])})


class Rule:
    """A function of a vector, a matrix, a number and an index, and its rule; the same for a seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        draw = Random(seed)
        self.n, self.m = draw.choice([3, 5, 18, 20]), draw.choice([2, 3])
        """With 18 numbers and more, updates are taken back on the way back."""
        self.plain = self.over(Numbers)
        self.ruled = self.over(Numbers)
        self.ruled.jvp = self.over(Duals)

    def over(self, kind):
        """The program over numbers, or over duals."""
        self.kind, t = kind, kind.type
        self.vector, self.matrix = Vec(self.n, t), Vec(self.n, Vec(self.m, t))

        def body(x, a, s, k):
            self.draw, self.left = Random(self.seed + 1), 22
            self.known = {"vectors": [x], "matrices": [a], "numbers": [s], "indices": [k]}
            for _ in range(self.draw.randrange(1, 4)):
                self.step(3)
            return self.number(3)

        return fn([self.vector, self.matrix, t, self.n], t, body)

    def inside(self, make, **more):
        """What ``make`` makes where there are these, too."""
        before = self.known
        self.known = {kind: [*found, *more.get(kind, [])] for kind, found in before.items()}
        made = make()
        self.known = before
        return made

    def any(self, kind):
        return self.draw.choice(self.known[kind])

    def index(self, n: int):
        draw, i = self.draw, self.any("indices")
        kinds = [
            lambda: i if i.type.size == n else imod(n, i),
            lambda: i if i.type.size == n else imod(n, i),
            lambda: imod(n, iadd(99, i, draw.randrange(1, 3))),
            lambda: draw.randrange(n),
            lambda: isub(n, n - 1, imod(n, i)),
        ]
        return draw.choice(kinds)()

    def element(self):
        kind = self.draw.randrange(4)
        if kind == 0:
            return self.any("numbers")
        if kind == 1:
            return self.any("matrices")[self.index(self.n)][self.index(self.m)]
        return self.any("vectors")[self.index(self.n)]

    def condition(self):
        if self.draw.random() < 0.5:
            return igt(99, self.any("indices"), self.draw.randrange(4))
        return self.kind.value(self.element()) > self.draw.choice([0.0, 0.2])

    def number(self, depth: int):
        draw, kind = self.draw, self.kind
        self.left -= 1
        which = draw.randrange(11) if depth > 0 and self.left > 0 else -1
        if which in (0, 1):
            return kind.mul(self.number(depth - 1), self.element())
        if which in (2, 3):
            return kind.add(self.number(depth - 1), kind.scaled(self.element(), -0.5))
        if which == 4:
            return kind.sin(self.number(depth - 1))
        if which == 5:
            return select(self.condition(), kind.type, self.number(depth - 1), self.element())
        if which == 6:
            other = draw.choice([self.element, lambda: kind.constant(0.5)])
            return cond(self.condition(), kind.type, lambda: self.number(depth - 1), other)
        if which == 7:
            return self.loop(kind.constant(0.0), lambda s, x: kind.add(s, kind.scaled(x, 0.3)), depth)
        if which == 8:
            return self.loop(self.element(), lambda _, x: kind.sin(x), depth)
        return self.element()

    def loop(self, start, iteration, depth: int):
        def body(i, s):
            return iteration(s, self.inside(lambda: self.number(depth - 1), indices=[i], numbers=[s, s]))

        trips, kept = self.draw.choice([self.n, self.m, 4]), self.draw.choice(["none", "none", 1, 2])
        return fori(trips, self.kind.type, start, body, checkpoint=kept)

    def bounded(self, depth: int):
        return self.kind.sin(self.number(depth))

    def set(self, v, depth: int):
        return v.set(self.index(self.n), self.bounded(depth))

    def set_row(self, a, depth: int):
        i, draw = self.index(self.n), self.draw
        kinds = [
            lambda: a[self.index(self.n)],
            lambda: vec(self.m, self.kind.type, lambda j: self.kind.scaled(a[i][j], 0.5)),
            lambda: a[i].set(self.index(self.m), self.bounded(depth)),
        ]
        return a.set(i, draw.choice(kinds)())

    def step(self, depth: int) -> None:
        """Something more that is known."""
        draw, known, v, a = self.draw, self.known, self.any("vectors"), self.any("matrices")
        which = draw.randrange(6)
        if which == 0:
            known["vectors"] += [self.set(v, depth - 1)] * 2
        elif which == 1:
            made = cond(self.condition(), self.vector, lambda: self.set(v, depth - 2), lambda: v)
            known["vectors"] += [made] * 2
        elif which in (2, 3):
            state = struct({"v": self.vector, "s": self.kind.type})

            def iteration(i, s):
                def made():
                    w = s.v
                    for _ in range(draw.choice([1, 2])):
                        w = self.inside(lambda w=w: self.set(w, depth - 1), vectors=[w])
                    return {"v": w, "s": self.inside(lambda: self.bounded(depth - 2), vectors=[w])}

                return self.inside(made, indices=[i], numbers=[s.s], vectors=[s.v] * 3)

            trips = draw.choice([self.n, 4, 3, self.any("indices")])
            kept = draw.choice(["none", "none", 1, 2])
            last = fori(trips, state, {"v": v, "s": self.element()}, iteration, checkpoint=kept)
            known["vectors"] += [last.v] * 3
            known["numbers"].append(last.s)
        elif which == 4:

            def rows(i, b):
                def made():
                    return self.set_row(self.set_row(b, depth - 1), depth - 1)

                return self.inside(made, indices=[i], matrices=[b] * 3)

            known["matrices"] += [fori(draw.choice([self.n, 4]), self.matrix, a, rows)] * 3
        else:

            def kept_iteration(s, i):
                after = self.inside(lambda: self.bounded(depth - 1), indices=[i], numbers=[s, s])
                return after, self.inside(lambda: self.number(depth - 2), indices=[i], numbers=[after])

            last, ys = scan(self.n, self.kind.type, self.element(), kept_iteration)
            known["numbers"].append(last)
            known["vectors"] += [ys] * 2

    def args(self):
        draw = Random(self.seed + 2)

        def numbers(count):
            return [draw.uniform(-1, 1) for _ in range(count)]

        return (
            numbers(self.n),
            [numbers(self.m) for _ in range(self.n)],
            numbers(1)[0],
            draw.randrange(self.n),
        )


def slope(f, rule: Rule):
    """A number that all of the gradient of ``f`` goes into."""

    def body(x, a, s, k):
        g = f(x, a, s, k)
        rows = sum(rule.n, lambda i: g["0"][i] * (1.0 + 0.1 * real(i)) + g["1"][i][0] * x[i])
        return rows + g["2"]

    return fn(f.func.param_types, Real, body)
