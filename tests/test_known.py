"""Programs that have been edited: the same bytes as if they were new, and most of it is not made again."""

from __future__ import annotations

import gc
import json
import math
import operator
import random
from array import array
from functools import reduce

import pytest
from recordings import Writer, sent

from rose_core import Real, Vec, bridge, errors, fn, fori, imod, select, vjp
from rose_core import min as lowest
from rose_core import sum as total
from rose_core.derivatives.expand import DerivativeError
from rose_core.derivatives.known import Known
from rose_core.language.ir import CALL, COND, FOR, INDEX, LOOP, VEC
from rose_core.language.queries import callees_first, opcodes
from rose_core.recording.serialize import serialize
from rose_core.wasm import lowered
from rose_core.wasm.program import Program

REAL, DUAL = 0, 2
TYPES = ["real", "tan", ["struct", ["du", "re"], [1, 0]]]
UNARY, BINARY = ("sin", "exp", "neg", "abs"), ("add", "mul", "sub", "max")
PIECES = 50

Piece = list[tuple[str, int, int]]
"""Operations on the results of those before; operands count back."""


def piece(rng: random.Random) -> Piece:
    return [
        (rng.choice(UNARY + BINARY), rng.randint(1, k + 1), rng.randint(1, k + 1))
        for k in range(rng.randint(8, 60))
    ]


def function(operations: Piece, rng: random.Random, number: int) -> tuple[Writer, list[int]]:
    """A piece as a function of one Real; some call one of the functions before."""
    f = Writer("piece", [REAL], REAL, [REAL])
    values = [f.row("param", 0)]
    if number % 3 == 2:
        values.append(f.row("get", f.call(rng.randrange(2, 2 + number - 1), values[0])))
    for op, a, b in operations:
        x, y = values[-min(a, len(values))], values[-min(b, len(values))]
        values.append(f.row(op, x, y if op in BINARY else 0))
    return f, [values[-1]]


def softened() -> list[tuple[Writer, list[int]]]:
    """x ↦ x, whose derivative by its author is x², and that derivative."""
    f = Writer("softened", [REAL], REAL, [REAL])
    x = f.row("param", 0)
    f.entry["jvp"] = 1
    rule = Writer("rule", [DUAL], DUAL, [REAL])
    du, re = rule.row("param", 0), rule.row("param", 1)
    y = rule.row("get", rule.call(0, re))
    return [(f, [x]), (rule, [rule.row("mul", rule.row("mul", du, y), re), y])]


def program(pieces: list[Piece]) -> tuple[str, bytes, bytes, str]:
    """The derivative of the sum of the pieces, at one number."""
    rng = random.Random(0)
    functions = softened() + [function(p, rng, k) for k, p in enumerate(pieces)]
    total = Writer("total", [REAL], REAL, [REAL])
    x = total.row("param", 0)
    at = total.row("get", total.call(0, x))
    for k in range(len(pieces)):
        at = total.row("add", at, total.row("get", total.call(2 + k, x)))
    functions.append((total, [at]))
    root = Writer("root", [REAL], REAL, [REAL])
    vjp = root.call(len(functions) - 1, root.row("param", 0), op="vjp")
    pull = root.rows_of("pull", vjp, root.literal(1, 0))
    functions.append((root, [root.row("get", pull, 0)]))
    header, ints, reals = sent(TYPES, [f for f, _ in functions], [r for _, r in functions])
    return header, ints, array("d", reals).tobytes(), ""


@pytest.fixture
def core(monkeypatch):
    """A core that knows nothing yet; gives the functions that it has written."""
    written = []
    make = lowered.Body

    def body(func, *rest):
        written.append(func)
        return make(func, *rest)

    monkeypatch.setattr(lowered, "Body", body)
    monkeypatch.setattr(bridge, "_known", Known())
    return written


def as_new(monkeypatch, given):
    """What a core makes of a program that knows nothing of others."""
    with monkeypatch.context() as patch:
        patch.setattr(bridge, "_known", Known())
        return bridge.compile_recording(*given)


def test_the_same_program_once_more(core):
    rng = random.Random(1)
    given = program([piece(rng) for _ in range(PIECES)])
    first = bridge.compile_recording(*given)
    assert len(core) > PIECES
    core.clear()
    assert bridge.compile_recording(*given) == first
    assert len(core) == 1  # the entry


def test_one_function_of_fifty(core, monkeypatch):
    rng = random.Random(2)
    pieces = [piece(rng) for _ in range(PIECES)]
    bridge.compile_recording(*program(pieces))
    core.clear()
    pieces[7] = [*pieces[7], ("mul", 1, 2)]
    given = program(pieces)
    edited = bridge.compile_recording(*given)
    assert len(core) < 12  # its forward and its backward function, those of its callers, and the entry
    assert edited == as_new(monkeypatch, given)


@pytest.mark.parametrize("seed", range(12))
def test_random_edits(core, monkeypatch, seed):
    rng = random.Random(seed)
    pieces = [piece(rng) for _ in range(9)]
    for _ in range(12):
        at = rng.randrange(len(pieces))
        kind = rng.randrange(3)
        if kind == 0:
            pieces[at] = piece(rng)
        elif kind == 1:
            pieces[at] = [*pieces[at], (rng.choice(UNARY + BINARY), 1, 3)]
        else:
            pieces[at] = pieces[rng.randrange(len(pieces))]
        given = program(pieces)
        assert bridge.compile_recording(*given) == as_new(monkeypatch, given)


SIZE = 12


def loops(kind: int, c: float):
    """A function of a vector with loops in it, of which some are searched and some written out."""

    def of_all(start, iteration):
        return lambda x: fori(SIZE, Real, start, lambda k, s: iteration(x, k, s))

    bodies = [
        of_all(math.inf, lambda x, k, s: lowest(s, (x[k] - c) * (x[k] - c))),
        of_all(c, lambda x, k, s: select(x[k] * x[k] < s, x[k] * x[k], s)),
        of_all(math.inf, lambda x, k, s: lowest(s, of_all(c, lambda x, j, t: lowest(t, x[k] * x[j]))(x))),
        lambda x: total(SIZE, lambda i: fori(4, Real, c, lambda k, s: s * x[i] + x[imod(SIZE, k)])),
        lambda x: fori(4, Real, c, lambda k, s: s * x[imod(SIZE, k)] + x[0]),
    ]
    return fn([Vec(SIZE, Real)], Real, bodies[kind])


@pytest.mark.parametrize("seed", range(6))
def test_edits_of_loops(core, monkeypatch, seed):
    rng = random.Random(seed)
    v = Vec(SIZE, Real)
    pieces = [loops(rng.randrange(5), 0.5) for _ in range(5)]
    for _ in range(6):
        pieces[rng.randrange(5)] = loops(rng.randrange(5), rng.choice((0.25, 0.5, 2.0)))
        f = fn([v], Real, lambda x, pieces=pieces: reduce(operator.add, [g(x) for g in pieces]))
        root = fn([v], v, lambda x, f=f: vjp(f)(x).grad(1)).func
        made = serialize([root])
        header = {"types": made.types, "functions": made.functions, "notes": [], "root": made.numbers[root]}
        reals = array("d", made.reals).tobytes()
        given = json.dumps(header), array("i", made.ints).tobytes(), reals, ""
        assert bridge.compile_recording(*given) == as_new(monkeypatch, given)


def test_what_cannot_be_compiled_is_forgotten(core):
    """However often in a row, as while somebody edits what is wrong."""
    rng = random.Random(3)
    known = bridge._known
    for _ in range(30):
        header, *rest = program([piece(rng) for _ in range(3)])
        content = json.loads(header)
        content["functions"][-2]["fault"] = "no"
        with pytest.raises(DerivativeError):
            bridge.compile_recording(json.dumps(content), *rest)
        assert len(known.functions) < 40


@pytest.mark.parametrize("iteration", range(3))
def test_practice_keeps_nothing(core, monkeypatch, iteration):
    """And what is compiled after it is as if there had been none."""
    known, notes = bridge._known, len(errors.notes)
    given = program([piece(random.Random(4)) for _ in range(3)])
    compiled = []
    made = Program.__init__
    monkeypatch.setattr(Program, "__init__", lambda *args: compiled.append(args) or made(*args))
    bridge.practise(iteration)
    assert len(compiled) == 1
    assert (known.programs, known.functions, len(errors.notes)) == (0, {}, notes)
    first = bridge.compile_recording(*given)
    bridge.practise(iteration)
    assert gc.isenabled()
    bridge.tidy()
    bridge.practise(iteration)
    assert known.programs == 1
    assert bridge.compile_recording(*given) == first


def test_practice_has_what_programs_have(monkeypatch):
    """Choices, calls, loops, and loops with a state; in iterations, which begin anew."""
    compiled = []
    made = Program.__init__

    def noted(self, root, *options):
        compiled.append(set().union(*map(opcodes, callees_first(root))))
        made(self, root, *options)

    monkeypatch.setattr(Program, "__init__", noted)
    for iteration in range(6):
        bridge.practise(iteration)
    assert compiled[:3] == compiled[3:]
    assert set().union(*compiled) >= {CALL, COND, FOR, INDEX, LOOP, VEC}
    assert all(LOOP in ops for ops in compiled[2::3])
