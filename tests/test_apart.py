"""What is said of two indices holds of their numbers, in every iteration of the loops that they are of."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from rose_core import Real, Vec, compile, fn, iadd, imin, imod, imul, index, vec
from rose_core import sum as total
from rose_core.language.ir import IDX
from rose_core.language.ops import OPS, TABLE_END
from rose_core.language.types import Fin
from rose_core.wasm import lower
from rose_core.wasm.apart import beside, differ, is_beyond

OUTER, INNER, SIZE = 12, 9, 60


class Indices:
    """Random indices of two loops, below `SIZE`."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)
        self.bases = self.draw.choices(["outer", "inner", "both"], k=2)
        self.edges = self.draw.sample([2, 5, 9, 12, 16], 2)
        self.rules = [self.rule() for _ in range(6)]

    def rule(self):
        """What an index is made of, and by what steps, each with a number."""
        draw = self.draw
        steps = [(step, draw.choice([1, 2, 3])) for step in draw.choice([(), (), ("scale",), ("double",)])]
        steps.append(("add", draw.choice([0, 1, 2, 4])))
        steps += [(step, draw.choice(self.edges)) for step in draw.choice([(), ("round",), ("below",)])]
        return draw.choice(self.bases), steps

    def made(self, rule, outer, inner):
        base, steps = rule
        found, size = {
            "outer": (outer, OUTER),
            "inner": (inner, INNER),
            "both": (iadd(OUTER + INNER, outer, inner), OUTER + INNER),
        }[base]
        for step, number in steps:
            if step == "add":
                found, size = iadd(size + number, found, number), size + number
            elif step == "scale" and size * number <= SIZE:
                found, size = imul(size * number, found, number), size * number
            elif step == "round":
                found, size = imod(number, found), number
            elif step == "below":
                found, size = imin(number + 1, found, number), number + 1
            elif step == "double" and 2 * size <= SIZE:
                found, size = iadd(2 * size, found, found), 2 * size
        return index(SIZE, found)


class Known:
    """The numbers of a function's indices in every iteration of its loops."""

    def __init__(self, func) -> None:
        self.func = func
        loops = [v for v, ins in enumerate(func.code) if ins[0] == IDX]
        self.settings = [
            dict(zip(loops, trips, strict=True))
            for trips in product(*[range(func.type_of(v).size) for v in loops])
        ]
        constants = [~k for k, (_, t) in enumerate(func.pool) if isinstance(t, Fin)]
        computed = [v for v, t in enumerate(func.types) if isinstance(t, Fin)]
        self.numbers = {
            v: [self.number(v, trips) for trips in self.settings] for v in [*constants, *computed]
        }

    def number(self, v: int, trips) -> int:
        if v < 0:
            return int(self.func.pool[~v][0])
        if v in trips:
            return trips[v]
        op, *given = self.func.code[v]
        assert op < TABLE_END
        return OPS[op].evaluate(*[self.number(x, trips) for x in given])

    def are_apart(self, i: int, j: int) -> bool:
        return all(a != b for a, b in zip(self.numbers[i], self.numbers[j], strict=True))


@pytest.fixture
def loops(monkeypatch):
    """The loops that are lowered from then on: what lowers them, and their numbers."""
    found = []
    in_lanes = lower.in_lanes

    def noted(body, number, columns):
        found.append((body, number))
        return in_lanes(body, number, columns)

    monkeypatch.setattr(lower, "in_lanes", noted)
    return found


def check(body, number: int) -> list[str]:
    """Check all that is said of indices in a loop; what was."""
    func, known = body.func, Known(body.func)
    iteration = func.blocks[number].index
    said = []
    within = [v for v in known.numbers if v >= 0 and func.home[v] == number]
    outside = [v for v in known.numbers if v < 0 or func.home[v] < number]
    for i, j in product(known.numbers, repeat=2):
        if differ(body, i, j):
            said.append("differ")
            assert known.are_apart(i, j)
    for i, j in product(outside, within):
        if is_beyond(body, number, i, j):
            said.append("beyond")
            assert known.are_apart(i, j)
    for v in within:
        if found := beside(body, number, v):
            said.append("beside")
            x, more = found
            sums = [a + b + more for a, b in zip(known.numbers[iteration], known.numbers[x], strict=True)]
            assert known.numbers[v] == sums
    return said


@pytest.mark.parametrize("seeds", [range(k, k + 10) for k in range(0, 60, 10)], ids=str)
def test_what_is_said_holds(seeds, loops) -> None:
    said = []
    for seed in seeds:
        indices = Indices(seed)

        def element(x, i, j, indices=indices):
            factors = [x[indices.made(rule, i, j)] for rule in indices.rules]
            found = factors[0]
            for k, factor in enumerate(factors[1:]):
                found = found * factor if k % 2 else found + factor
            return found

        def rows(x, element=element):
            return vec(OUTER, Real, lambda i: total(INNER, lambda j: element(x, i, j)))

        loops.clear()
        compile(fn([Vec(SIZE, Real)], Vec(OUTER, Real), rows))
        for body, number in loops:
            said += check(body, number)
    assert {*said} == {"differ", "beyond", "beside"}
