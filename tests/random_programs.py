"""Random programs: functions that call each other, with vectors, structs, loops, choices, sums and solvers.

Every value stays moderate and every operation smooth where it is used, so that finite differences
mean something.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from rose_core import (
    Bool,
    Real,
    Vec,
    checkpoint,
    cond,
    cos,
    fixed_point,
    fn,
    fori,
    imod,
    index,
    jet,
    linearize,
    minimize,
    odeint,
    quad,
    root,
    scan,
    select,
    sin,
    sqrt,
    struct,
    tanh,
    vec,
    vjp,
    vmap,
    while_loop,
)
from rose_core import max as rose_max
from rose_core import min as rose_min
from rose_core import sum as rose_sum
from rose_core.language.types import Array, Fin, Struct, Type
from rose_core.tracing.functions import Function

SIZES = (1, 2, 3, 5)


class RandomProgram:
    """Functions made from a seed; ``functions[-1]`` is the one to look at."""

    def __init__(self, seed: int, count: int = 3, steps: int = 7, integrals: bool = False) -> None:
        self.rng = random.Random(seed)
        self.steps = steps
        self.integrals = integrals
        """Whether there are solvers that go on until an error is small enough."""
        self.functions: list[Function] = []
        for _ in range(count):
            self.functions.append(self.function())

    # -- types -------------------------------------------------------------------------------------

    def type(self, depth: int = 2) -> Type:
        kind = self.rng.randrange(6) if depth else 0
        if kind <= 2:
            return Real
        if kind == 3:
            return Vec(self.rng.choice(SIZES), self.type(depth - 1))
        if kind == 4:
            return struct(
                {name: self.type(depth - 1) for name in self.rng.sample("abcd", self.rng.randint(1, 3))}
            )
        return Vec(self.rng.choice(SIZES), Real)

    def argument(self, t: Type) -> object:
        """A concrete value of a type."""
        if isinstance(t, Array):
            return [self.argument(t.elem) for _ in range(t.size)]
        if isinstance(t, Struct):
            return {name: self.argument(u) for name, u in t.fields.items()}
        if isinstance(t, Fin):
            return self.rng.randrange(t.size)
        return self.rng.random() < 0.5 if t is Bool else self.rng.uniform(-2, 2)

    # -- bodies ------------------------------------------------------------------------------------

    def function(self) -> Function:
        params = [self.type() for _ in range(self.rng.randint(1, 3))]
        ret = self.type()

        def body(*args: object) -> object:
            values = list(args)
            for _ in range(self.rng.randint(1, self.steps)):
                values.append(self.step(values, 2))
            return self.value(ret, values, 2)

        return fn(params, ret, body)

    def reals(self, values: list[object]) -> list[object]:
        """All Reals that can be reached in ``values`` by literal indices and field names."""
        found: list[object] = []
        for x in values:
            t = getattr(x, "_type", None)
            if t is Real:
                found.append(x)
            elif isinstance(t, Array) and t.size:
                found += self.reals([x[self.rng.randrange(t.size)]])
            elif isinstance(t, Struct):
                found += self.reals([x[name] for name in t.fields])
        return found

    def real(self, values: list[object]) -> object:
        choices = self.reals(values)
        if not choices or self.rng.random() < 0.1:
            return self.rng.choice([0.5, -1.5, 1.0, 2.0, 0.0, 3.25])
        return self.rng.choice(choices)

    def step(self, values: list[object], depth: int) -> object:
        rng = self.rng
        x, y = self.real(values), self.real(values)
        kind = rng.randrange(24)
        if kind == 0:
            return sin(x) * y
        if kind == 1:
            return tanh(x * y)
        if kind == 2:
            return x / (2.0 + y * y)
        if kind == 3:
            return sqrt(1.5 + x * x) - y
        if kind == 4:
            return cos(x + y)
        if kind == 5:
            return select(_less(x, y), Real, x * 0.5, y * x) if rng.random() < 0.5 else x - y * 0.25
        if kind == 6 and self.functions:
            return self.called(rng.choice(self.functions), values, depth)
        if kind == 7 and depth:
            n = rng.choice(SIZES)
            return tanh(rose_sum(n, self.loop_body(Real, values, depth)))
        if kind in (8, 9) and depth:
            t = self.type(1)
            return vec(rng.choice(SIZES), t, self.loop_body(t, values, depth))
        if kind == 10:
            vectors = [v for v in values if isinstance(getattr(v, "_type", None), Array)]
            if vectors:
                u = rng.choice(vectors)
                same = [v for v in vectors if v.type == u.type]
                return select(_less(x, y), u.type, u, rng.choice(same))
        if kind == 11:
            t = self.type(1)
            return self.value(t, values, depth) if t is not Real else x + y
        if kind == 12 and depth:
            t = self.type(1)
            sides = [self.side(t, values, depth) for _ in range(2)]
            return cond(_less(x, y), t, *sides)
        if kind == 13 and depth:
            return self.counted(values, depth)
        if kind == 14 and depth:
            t = self.type(1)
            last, ys = scan(
                rng.choice(SIZES), t, self.value(t, values, depth), self.iteration(t, values, depth)
            )
            return rng.choice([last, ys])
        if kind == 15 and depth:
            return self.repeated(values, depth)
        if kind == 16:
            vectors = [v for v in values if isinstance(getattr(v, "_type", None), Array)]
            if vectors:
                v = rng.choice(vectors)
                i = rng.randrange(v.type.size)
                if hasattr(x, "type") and rng.random() < 0.5:
                    i = select(x < y, v.type.index, i, rng.randrange(v.type.size))
                x = self.value(v.type.elem, values, depth)
                return v.set(i, x) if rng.random() < 0.5 else v.at[i].add(tame(x))
        if kind == 17 and depth:
            return self.updated(values, depth)
        if kind == 18 and depth:
            return self.mixed(values, depth)
        if kind == 19 and self.functions and depth == 2:
            return self.derivative(rng.choice(self.functions), values, depth)
        if kind == 20 and depth:
            return self.solved(values)
        if kind == 21 and depth == 2:
            return self.best(values)
        return x * y - 0.5 * x

    def called(self, f: Function, values: list[object], depth: int) -> object:
        """A call of ``f``: as it is, with its arguments kept only, or for some arguments at once."""
        types = f.func.param_types
        how = self.rng.randrange(4 if depth == 2 else 3)
        if how < 3:
            return (f if how else checkpoint(f))(*[self.value(t, values, depth) for t in types])
        n = self.rng.choice(SIZES)
        axes = [self.rng.choice((0, None)) for _ in types]
        axes[self.rng.randrange(len(axes))] = 0
        args = [t if axis is None else Vec(n, t) for t, axis in zip(types, axes, strict=True)]
        return vmap(f, axes)(*[self.value(t, values, depth) for t in args])

    def derivative(self, f: Function, values: list[object], depth: int) -> object:
        """A derivative of ``f``, with moderate numbers."""
        args = [self.value(t, values, depth) for t in f.func.param_types]
        directions = [tame(self.value(t, values, depth)) for t in f.func.param_types]
        how = self.rng.randrange(3)
        if how == 0:
            return tame(linearize(f)(*args).push(*directions))
        if how == 1:
            series = [[x, d] for x, d in zip(args, directions, strict=True)]
            return tame(jet(f, 1)(*series)[1])
        pulled = vjp(f)(*args).grad(tame(self.value(f.func.ret, values, depth)))
        return tame(pulled if len(args) == 1 else self.rng.choice(pulled))

    def solved(self, values: list[object]) -> object:
        """What a solver gives, of an equation with one solution, whatever its parameters are."""
        x, y = self.real(values), tanh(self.real(values))
        kind = self.rng.randrange(5 if self.integrals else 2)
        if kind == 0:
            return root(lambda z: 2 * z + sin(z + x) - y, 0.5)
        if kind == 1:
            return fixed_point(lambda z: 0.25 * cos(z * y) + sin(x), 0.5)
        if kind == 2:
            return minimize(lambda z: (z - y) * (z - y) + cos(z + x) * 0.5, 0.5, method="newton")
        if kind == 3:
            return quad(lambda t: cos(t * y + x) * t, y - 0.5, 1.25, tolerance=1e-13)
        f = lambda z, t: sin(z * y + x) + t * 0.5  # noqa: E731
        return odeint(f, y, [0.0, 0.25, 0.5 + 0.25 * y], rtol=1e-11, atol=1e-12, checkpoint=self.kept())[2]

    def kept(self) -> int | str:
        """What reverse mode keeps of the iterations of a loop."""
        return self.rng.choice(("none", "none", "revolve", 1, 2, 3))

    def side(self, t: Type, values: list[object], depth: int) -> Callable[[], object]:
        """One side of a choice."""

        def body() -> object:
            inner = list(values)
            for _ in range(self.rng.randint(0, 3)):
                inner.append(self.step(inner, depth - 1))
            return self.value(t, inner[::-1], depth - 1)

        return body

    def iteration(self, t: Type, values: list[object], depth: int) -> Callable[[object, object], object]:
        """The body of a `scan`: a state that stays moderate, and what it keeps."""

        def body(state: object, i: object) -> object:
            inner = [*values, state]
            for v in values:
                u = getattr(v, "_type", None)
                if isinstance(u, Array):
                    inner.append(v[imod(u.size, i)])
            for _ in range(self.rng.randint(1, 3)):
                inner.append(self.step(inner, depth - 1))
            return tame(self.value(t, inner[::-1], depth - 1)), self.real(inner[::-1])

        return body

    def counted(self, values: list[object], depth: int) -> object:
        """A `fori` of a number of iterations that is known now or when it runs."""
        t = self.type(1)
        iteration = self.iteration(t, values, depth)
        n: object = self.rng.choice(SIZES)
        if self.rng.random() < 0.5:
            x, y = self.real(values), self.real(values)
            n = select(_less(x, y), Real, 1.0, float(self.rng.choice(SIZES)))
            n = index(9, n) if self.rng.random() < 0.5 else n
        init = self.value(t, values, depth)
        return fori(n, t, init, lambda i, s: iteration(s, i)[0], checkpoint=self.kept())

    def repeated(self, values: list[object], depth: int) -> object:
        """A `while_loop` of a few iterations."""
        t = self.type(1)
        iteration = self.iteration(t, values, depth)
        most = self.rng.choice((0, 1, 2, 4))
        state = struct({"n": 9, "x": t})
        start = {"n": 0, "x": self.value(t, values, depth)}
        body = lambda s: {"n": s.n + 1, "x": iteration(s.x, s.n)[0]}  # noqa: E731
        return while_loop(state, start, lambda s: s.n < most, body, checkpoint=self.kept()).x

    def updated(self, values: list[object], depth: int) -> object:
        """Loops in a loop that change a vector element by element."""
        n = self.rng.choice(SIZES)
        t = Vec(n, self.type(1))

        def iteration(i: object, j: object, s: object) -> object:
            inner = [*values, s, s[imod(n, i)], s[imod(n, j)]]
            for _ in range(self.rng.randint(0, 2)):
                inner.append(self.step(inner, depth - 1))
            place = s.at[imod(n, self.rng.choice((i, j)))]
            new = tame(self.value(t.elem, inner[::-1], depth - 1))
            return place.set(new) if self.rng.random() < 0.5 else place.add(new)

        def outer(i: object, s: object) -> object:
            return fori(
                self.rng.choice((1, 2)), t, s, lambda j, u: iteration(i, j, u), checkpoint=self.kept()
            )

        start = tame(self.value(t, values, depth))
        return fori(self.rng.choice((1, 2, 3)), t, start, outer, checkpoint=self.kept())

    def mixed(self, values: list[object], depth: int) -> object:
        """A loop whose state has Bools and indices among its numbers, which choose what is done."""
        t, n = self.type(1), self.rng.choice(SIZES)
        state = struct({"x": t, "p": Bool, "k": n, "r": struct({"y": Real, "k": n})})

        def body(i: object, s: object) -> dict[str, object]:
            inner = [*values, s.x, s.r.y]
            for v in values:
                u = getattr(v, "_type", None)
                if isinstance(u, Array):
                    inner.append(v[imod(u.size, s.k)])
            y = tanh(self.real([self.step(inner, 0)])) if self.rng.random() < 0.5 else s.r.y * 0.5
            x = self.real(inner)
            after = tame(cond(s.p, t, self.side(t, inner, depth - 1), self.side(t, inner, depth - 1)))
            return {"x": after, "p": _less(x, y), "k": s.r.k, "r": {"y": s.r.y * y, "k": imod(n, i)}}

        start = {"x": self.value(t, values, depth), "p": True, "k": n - 1, "r": {"y": 0.75, "k": 0}}
        last = fori(self.rng.choice(SIZES), state, start, body, checkpoint=self.kept())
        return self.rng.choice((last.x, last.r.y))

    def best(self, values: list[object]) -> object:
        """A loop that keeps the least or the largest of its iterations, or what is in the one with the
        least.
        """
        n, candidate = self.rng.choice((4, 5)), self.loop_body(Real, values, 1)
        start, how = self.real(values), self.rng.randrange(4)
        if how < 2:
            extreme, none = ((rose_min, math.inf), (rose_max, -math.inf))[how]
            start = none if self.rng.random() < 0.5 else start
            return tame(fori(n, Real, start, lambda i, s: extreme(s, candidate(i))))
        t = self.type(1)
        state, other = struct({"x": Real, "y": t, "k": n}), self.loop_body(t, values, 1)

        def iteration(i: object, s: object) -> object:
            x = candidate(i)
            new = {"x": x, "y": other(i), "k": i}
            return select(_less(x, s.x), state, *((new, s) if how == 2 else (s, new)))

        last = fori(n, state, {"x": start, "y": self.value(t, values, 1), "k": 0}, iteration)
        return tame(self.rng.choice((last.x, last.y)))

    def loop_body(self, t: Type, values: list[object], depth: int) -> Callable[[object], object]:
        def body(i: object) -> object:
            inner = list(values)
            n = i.type.size
            for v in values:
                u = getattr(v, "_type", None)
                if isinstance(u, Array) and u.size == n:
                    inner.append(v[i])
            for _ in range(self.rng.randint(0, 3)):
                inner.append(self.step(inner, depth - 1))
            return self.value(t, inner[::-1], depth - 1)

        return body

    def value(self, t: Type, values: list[object], depth: int) -> object:
        """A value of type ``t`` made from what there is."""
        if t is Real:
            return self.real(values)
        same = [v for v in values if getattr(v, "_type", None) == t]
        if same and self.rng.random() < 0.6:
            return self.rng.choice(same)
        if isinstance(t, Array):
            if depth and self.rng.random() < 0.4:
                return vec(t.size, t.elem, self.loop_body(t.elem, values, depth))
            return [self.value(t.elem, values, depth) for _ in range(t.size)]
        assert isinstance(t, Struct)
        return {name: self.value(u, values, depth) for name, u in t.fields.items()}


def tame(x: object) -> object:
    """``x`` with every number between -1 and 1."""
    t = getattr(x, "_type", None)
    if isinstance(t, Array):
        return vec(t.size, t.elem, lambda i: tame(x[i]))
    if isinstance(t, Struct):
        return {name: tame(x[name]) for name in t.fields}
    if isinstance(x, dict):
        return {name: tame(y) for name, y in x.items()}
    return [tame(y) for y in x] if isinstance(x, list) else tanh(x)


def _less(x: object, y: object) -> object:
    return x < y if hasattr(x, "type") or hasattr(y, "type") else bool(x < y)


def flat(x: object) -> list[float]:
    """All numbers in a value, in a fixed order."""
    if isinstance(x, dict):
        return [y for name in sorted(x) for y in flat(x[name])]
    if isinstance(x, (list, tuple)):
        return [y for item in x for y in flat(item)]
    return [x]  # type: ignore[list-item]


def like(x: object, numbers: list[float]) -> object:
    """A value of the shape of ``x`` made of ``numbers``, which are used up: the inverse of `flat`."""
    if isinstance(x, dict):
        found = {name: like(x[name], numbers) for name in sorted(x)}
        return {name: found[name] for name in x}
    if isinstance(x, (list, tuple)):
        return [like(item, numbers) for item in x]
    return numbers.pop(0)


def duals(x: object, dx: object) -> object:
    """A value and a tangent of the same shape, as a value of duals."""
    if isinstance(x, dict):
        return {name: duals(x[name], dx[name]) for name in x}  # type: ignore[index]
    if isinstance(x, (list, tuple)):
        return [duals(a, b) for a, b in zip(x, dx, strict=True)]  # type: ignore[call-overload]
    return {"re": x, "du": dx}


def tangents(x: object) -> object:
    """The tangents of a value of duals."""
    if isinstance(x, dict):
        return x["du"] if set(x) == {"re", "du"} else {name: tangents(x[name]) for name in x}
    if isinstance(x, (list, tuple)):
        return [tangents(item) for item in x]
    return x
