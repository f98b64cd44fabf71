"""Choices between the same functions share the derivatives of these, whatever is asked of each."""

from random import Random

import pytest
from random_copies import FOUR, KINDS, MATRIX, PARAMS, POINT, REAL, SHORT, SIZE, TYPES, VECTOR
from recordings import Writer, recording

from rose_core.derivatives import linearize
from rose_core.derivatives.expand import Expansion
from rose_core.host import instantiate
from rose_core.language.check import check
from rose_core.language.ir import Func
from rose_core.language.queries import callees_first
from rose_core.wasm.program import Program

GRADIENT, RESULTS = len(TYPES), len(TYPES) + 1


def side(choices: Random, op: str) -> tuple[Writer, list[int]]:
    """A function of two numbers and a short vector that gives three numbers and a short vector."""
    f = Writer(op, [REAL, REAL, SHORT], RESULTS, KINDS)
    x, y, v = (f.row("param", k) for k in range(3))
    found = []
    for k in range(3):
        a = f.row(op, f.row("mul", x, f.row("index", v, f.literal(k, FOUR))))
        found.append(f.row(choices.choice(["add", "mul", "sub"]), a, choices.choice([x, y, a])))
    found.append(f.rows_of("set", v, f.literal(choices.randrange(4), FOUR), f.row("mul", x, y)))
    return f, found


def program(seed: int) -> tuple[list[Writer], list[list[int]]]:
    """Choices between two functions, of each of which something else is used."""
    choices = Random(seed)
    sides = [side(choices, op) for op in ("sin", "cos")]
    f = Writer("f", PARAMS, REAL, KINDS)
    for k in range(2):
        f.row("param", k)
    total = f.literal(0, REAL)
    x, v = f.row("index", 0, f.literal(0, SIZE)), f.row("index", 1, f.literal(0, SIZE))
    for k in range(6):
        y = f.row("index", 0, f.literal(k, SIZE)) if choices.random() < 0.7 else f.literal(0.5, REAL)
        if choices.random() < 0.5:
            v = f.row("index", 1, f.literal(k, SIZE))
        p = f.row("lt", f.row("index", 0, f.literal(k, SIZE)), f.literal(0.1, REAL))
        numbers = [f.refer(n) for n in range(2)]
        row = f.rows_of("cond", *numbers, 3, p, x, y, v, y, x, v)
        results = [f.row("get", row, n) for n in range(4)]
        for n in range(3):
            if choices.random() < 0.4:
                total = f.row("add", total, results[n])
        if choices.random() < 0.5:
            v = results[3]
            total = f.row("add", total, f.row("index", v, f.literal(choices.randrange(4), FOUR)))
        if choices.random() < 0.5:
            x = results[0]
    return [*(f for f, _ in sides), f], [*(found for _, found in sides), [f.row("add", total, x)]]


def second(seed: int) -> Func:
    """The gradient of the sum of the gradient's squares, and so a second derivative."""
    functions, results = program(seed)
    gradients = []
    for name in ("g", "h"):
        g = Writer(name, PARAMS, GRADIENT if name == "h" else REAL, KINDS)
        of = g.call(len(functions) - 1, g.row("param", 0), g.row("param", 1), op="vjp")
        pull = g.rows_of("pull", of, g.literal(1, REAL))
        gradients = [g.row("get", pull, k) for k in range(2)]
        functions.append(g)
        if name == "h":
            results.append(gradients)
            break
        total = g.literal(0, REAL)
        for k in range(6):
            x = g.row("index", gradients[0], g.literal(k, SIZE))
            y = g.row("index", g.row("index", gradients[1], g.literal(k, SIZE)), g.literal(k % 4, FOUR))
            total = g.row("add", total, g.row("add", g.row("mul", x, x), g.row("mul", y, y)))
        results.append([total])
    types = [*TYPES, ["struct", ["m", "v"], [MATRIX, VECTOR]], ["struct", list("abcd"), [0, 0, 0, SHORT]]]
    return Expansion(recording(types, functions, results).root).root


def functions(f: Func) -> int:
    return len(callees_first(f))


class Forgetful(dict):
    def __setitem__(self, key: object, value: object) -> None:
        pass


@pytest.mark.parametrize("seed", range(60))
def test_choices_between_the_same_functions(seed: int, monkeypatch) -> None:
    shared = second(seed)
    check(shared)
    made = linearize.Linearization.__init__

    def without(self, *args: object, **options: object) -> None:
        made(self, *args, **options)
        self.choices = Forgetful()

    monkeypatch.setattr(linearize.Linearization, "__init__", without)
    alone = second(seed)
    assert functions(shared) < functions(alone)
    found, wanted = (instantiate(Program(f))(POINT) for f in (shared, alone))
    assert [*found[0]] == pytest.approx([*wanted[0]], rel=1e-13, abs=1e-13)
    for x, y in zip(found[1], wanted[1], strict=True):
        assert [*x] == pytest.approx([*y], rel=1e-13, abs=1e-13)
