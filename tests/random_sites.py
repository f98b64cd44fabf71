"""Random loops that add to elements of few accumulators, in neighbouring iterations, in rows, or in all
iterations.

They are in the notation of the IR, where accumulators may be given to functions, and two of them be one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random

ANY = 1 << 31


class Sites:
    """A program, and arguments for it.

    Attributes:
        source: the function ``f`` gives the accumulators, after calls of others that add to them.
        args: arguments, whose sums are other ones in every other order.
    """

    KINDS: Sequence[list[str]] = [
        [],
        ["far"],
        ["far", "up to"],
        ["far", "from"],
        ["up to"],
        ["fixed"],
        ["backward", "beside", "fixed"],
    ]
    """What an index may be besides near the iteration."""
    SHAPES: Sequence[str] = ["[{w}]", "[{w}]", "[{w}][2]", "[3][{w}]", "[{w}][{w}]", "[2]"]
    LONGEST = 0
    """The most iterations of a loop, if that is more than they usually have."""

    def __init__(self, seed: int, kinds: Sequence[str] = ()) -> None:
        self.draw = draw = Random(seed)
        self.trips = draw.choice([4, 5, 6, 7, 9, 12])
        self.size = max(self.trips, self.LONGEST) + 10
        self.count = 0
        some = self.SHAPES if draw.random() < 0.5 else draw.sample(self.SHAPES, 1)
        shapes = [draw.choice(some).format(w=self.size) for _ in range(draw.randrange(1, 4))]
        types = [f"{shape}Real" for shape in shapes]
        self.shapes = dict(zip("pqr", shapes, strict=False))
        self.given = f"x: [{self.size}]Real, y: [{self.size}]Real, k: 3, l: 3, s: Real"
        vectors = "x, y, k, l, s"
        params = ", ".join(f"{name}: &{t}" for name, t in zip(self.shapes, types, strict=True))
        self.kinds = ["near"] * 4 + draw.choice(self.KINDS) + [*kinds]
        """How indices follow the iterations."""
        self.has_large = draw.random() < 0.5
        loops = " ".join(self.loop() for _ in range(draw.choice([1, 1, 2])))
        if draw.random() < 0.5:
            body, functions = f"({loops} ())", ""
        else:  # of one type, two may be one
            alike = [draw.choice([a for a in self.shapes if self.shapes[a] == of]) for of in shapes]
            functions = f"def add({params}, {self.given}): () = {loops} ()\n"
            body = f"add({', '.join(alike)}, {vectors})"
        result = "()"
        for name, shape in reversed(self.shapes.items()):
            start = draw.choice(["0.0", "0.0", "s"])
            for n in reversed(shape[1:-1].split("][")):
                start = f"[for _: {n}, {start}]"
            if shape == f"[{self.size}]" and draw.random() < 0.3:
                start = "x"
            body, result = f"(accum {name} from {start} in {body})", f"({shape}Real, {result})"
        self.source = f"{functions}def f({self.given}): {result} = {body}"
        numbers = [[self.number() for _ in range(self.size)] for _ in range(2)]
        self.args = [*numbers, draw.randrange(3), draw.randrange(3), 0.75]

    def number(self) -> float:
        """Next to large numbers, others show in no sum: half of the programs have only small ones."""
        large = [1.0, -3.0, 0.1, 1e16, -1e16, 1e8] if self.has_large else []
        return self.draw.choice([*large, self.draw.uniform(-1, 1)])

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def loop(self) -> str:
        """A loop, perhaps in another one."""
        draw = self.draw
        iteration = self.name()
        fixed = ["k", "l"]
        around = draw.random() < 0.3
        if around:
            fixed.append(self.name())
        code = self.body(iteration, fixed)
        code = f"let {self.name()}: [{self.trips}]() = [for {iteration}: {self.trips}, {code} ()] in"
        if around:
            code = f"let {self.name()}: [3]() = [for {fixed[-1]}: 3, {code} ()] in"
        return code

    def body(self, iteration: str, fixed: list[str]) -> str:
        draw = self.draw
        code, values = [], ["s"]
        for vector in "xyx":
            at = self.index(code, iteration, self.size, fixed)
            values.append(self.let(code, "Real", f"{vector}[{at}]"))
        for _ in range(draw.choice([5, 10, 20])):
            operands = draw.choice(values), draw.choice(values[-3:])
            values.append(self.let(code, "Real", f" {draw.choice('+-×')} ".join(operands)))
        for _ in range(draw.randrange(1, 6)):
            place = self.place(code, iteration, fixed)
            self.let(code, "()", f"{place} += {draw.choice(values)}")
        return " ".join(code)

    def let(self, code: list[str], t: str, value: str) -> str:
        name = self.name()
        code.append(f"let {name}: {t} = {value} in")
        return name

    def place(self, code: list[str], iteration: str, fixed: list[str]) -> str:
        """A number of an accumulator."""
        place, shape = self.draw.choice([*self.shapes.items()])
        sizes = [int(n) for n in shape[1:-1].split("][")]
        for k, n in enumerate(sizes, 1):
            at = self.index(code, iteration, n, fixed)
            rest = "".join(f"[{m}]" for m in sizes[k:])
            place = self.let(code, f"&{rest}Real", f"&{place}[{at}]")
        return place

    def index(self, code: list[str], iteration: str, size: int, fixed: list[str]) -> str:
        """Below a size: near the iteration, or the same in all iterations."""
        draw = self.draw
        if size < self.size:
            return draw.choice(fixed) if size == 3 and draw.random() < 0.5 else str(draw.randrange(size))
        kind = draw.choice(self.kinds)
        if kind == "fixed":
            at = draw.choice([*fixed, "2", "3"])
            return self.narrow(code, f"1 + {at}") if at in fixed else at
        if kind == "backward":
            return self.narrow(code, f"{size - 1} - {iteration}")
        if kind == "beside":
            return self.narrow(code, f"{draw.choice(fixed)} + {iteration}")
        near = f"{draw.choice([1, 1, 2, 3])} + {iteration}"
        if kind == "far":
            return self.narrow(code, f"10 + {iteration}")
        if kind == "up to":
            return self.narrow(code, f"min({self.trips}, {self.let(code, str(ANY), near)})")
        if kind == "from":
            return self.narrow(code, f"max({draw.randrange(1, 3)}, {iteration})")
        return self.narrow(code, near)

    def narrow(self, code: list[str], value: str) -> str:
        number = self.let(code, str(ANY), value)
        return self.let(code, str(self.size), f"narrow({number}, {self.size})")


class Nests(Sites):
    """The same of loops in loops: what an index follows is the iteration of any of them.

    An outer iteration has sums of its own, to which loops in it add, or it only computes what these add
    elsewhere.
    """

    KINDS: Sequence[list[str]] = [[], [], ["far"], ["fixed"], ["up to"], ["backward", "beside", "fixed"]]
    SHAPES: Sequence[str] = ["[{w}][{w}]", "[{w}][{w}]", "[{w}][{w}]", "[{w}]", "[3][{w}]"]
    LONGEST = 18

    def loop(self) -> str:
        draw, self.around = self.draw, list[str]()
        self.has_sums = draw.random() < 0.6
        self.inner = draw.choice([3, 8, self.LONGEST - 1, self.LONGEST])
        if draw.random() < 0.8:
            return self.turned(self.trips, self.outer)
        return self.turned(3, lambda: self.turned(self.trips, self.outer))

    def turned(self, trips: int, body: Callable[[], str]) -> str:
        iteration = self.name()
        self.around.append(iteration)
        code = body()
        self.around.pop()
        return f"let {self.name()}: [{trips}]() = [for {iteration}: {trips}, {code} ()] in"

    def outer(self) -> str:
        draw = self.draw
        code: list[str] = []
        values = self.computed(code, ["s"])
        for _ in range(draw.choice([1, 1, 2]) if self.has_sums else 1):
            sums = [self.name() for _ in range(draw.choice([0, 1, 1, 2]) if self.has_sums else 0)]
            steps = [self.turned(self.inner, partial(self.within, values, sums))]
            if draw.random() < 0.5:
                steps += [f"let {self.name()}: () = {r} += {draw.choice(values)} in" for r in sums]
                draw.shuffle(steps)
            value, pattern, starts = f"({' '.join(steps)} ())", "_", ["0.0", *values]
            for r in sums:
                value = f"(accum {r} from {draw.choice(starts)} in {value})"
                values.append(self.name())
                pattern = f"({values[-1]}, {pattern})"
            code.append(f"let {pattern} = {value} in")
        for _ in range(draw.choice([0, 0, 1] if self.has_sums else [0, 0, 0, 1])):
            self.addition(code, values)
        return " ".join(code)

    def within(self, values: list[str], sums: list[str]) -> str:
        draw = self.draw
        code: list[str] = []
        values = self.computed(code, values)
        for r in sums:
            self.let(code, "()", f"{r} += {draw.choice(values[-3:])}")
        for _ in range(draw.choice([0, 0, 1]) if sums else draw.choice([1, 1, 2])):
            self.addition(code, values)
        return " ".join(code)

    def computed(self, code: list[str], values: list[str]) -> list[str]:
        """These, and others that are computed of them and of elements."""
        draw, values = self.draw, [*values]
        for vector in draw.choice(["x", "y", "xy"]):
            at = self.index(code, "", self.size, ["k", "l"])
            values.append(self.let(code, "Real", f"{vector}[{at}]"))
        for _ in range(draw.choice([1, 2, 3])):
            operands = draw.choice(values), draw.choice(values[-3:])
            values.append(self.let(code, "Real", f" {draw.choice('+-×')} ".join(operands)))
        return values

    def addition(self, code: list[str], values: list[str]) -> None:
        self.let(code, "()", f"{self.place(code, '', ['k', 'l'])} += {self.draw.choice(values[-3:])}")

    def index(self, code: list[str], iteration: str, size: int, fixed: list[str]) -> str:
        return super().index(code, self.draw.choice(self.around), size, fixed)
